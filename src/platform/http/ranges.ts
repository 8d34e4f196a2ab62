// SPDX-License-Identifier: Apache-2.0
// Range and If-None-Match (RFC 9110 14.1.2, 13.1), for a single range: a request for several gets everything, as the
// RFC allows, which prevents amplification.
import type { ByteRange } from '../api/download.ts'

/** Requested range; null for everything, `outside` when unsatisfiable. A malformed header is ignored. */
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

/** Whether If-None-Match contains a tag. A compressing proxy makes tags weak, and there may be several. */
export function knows(ifNoneMatch: string | undefined, tag: string): boolean {
  const known = (ifNoneMatch ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}
