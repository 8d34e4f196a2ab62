// SPDX-License-Identifier: Apache-2.0
// Range and If-None-Match as RFC 9110 has them (14.1.2, 13.1), for one range: whoever asks for several is given everything,
// which the RFC allows and which nobody can use to make a server send more than it has.
import type { ByteRange } from './download.ts'

/** The range that is asked for; null: everything, and `outside`: there is nothing there. What cannot be read is passed over. */
export function rangeOf(header: string | undefined, size: number): ByteRange | 'outside' | null {
  const [, from, to] = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return null
  if (from === '')
    return Number(to) === 0 || size === 0 ? 'outside' : { first: Math.max(0, size - Number(to)), last: size - 1 }
  if (to !== '' && Number(to) < Number(from)) return null
  return Number(from) >= size
    ? 'outside'
    : { first: Number(from), last: Math.min(size - 1, to === '' ? size - 1 : Number(to)) }
}

/** Whether a client has the content of a tag. A proxy that zips makes a tag a weak one, and there may be several. */
export function knows(ifNoneMatch: string | undefined, tag: string): boolean {
  const known = (ifNoneMatch ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}
