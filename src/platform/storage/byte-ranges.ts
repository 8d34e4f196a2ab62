// SPDX-License-Identifier: Apache-2.0
// The header Range (RFC 9110, section 14) of whoever wants a part of a file.
import type { ByteRange } from './sealed-chunks.ts'

/** The one range that is asked for; null: all of it; `unsatisfiable`: the file has nothing there. Several count as all of it. */
export function rangeOf(header: string | undefined, size: number): ByteRange | null | 'unsatisfiable' {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  if (first === '') {
    const length = Number(last)
    return length === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return null
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size : Math.min(size, Number(last) + 1) }
}
