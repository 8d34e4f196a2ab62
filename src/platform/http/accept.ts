// SPDX-License-Identifier: Apache-2.0
// Content negotiation of lists: JSON, unless CSV is requested or preferred.

interface Range {
  type: string
  quality: number
  place: number
}

/** Whether CSV is wanted, by `format` or by the weights of `Accept`; on a tie the first counts. */
export function prefersCsv(accept: string | undefined, format: unknown): boolean {
  if (format === 'csv' || format === 'json') return format === 'csv'
  if (accept === undefined) return false
  const ranges = accept.split(',').map(rangeOf)
  const csv = matching(ranges, 'text/csv')
  const json = matching(ranges, 'application/json')
  if (!csv || csv.quality === 0) return false
  if (!json || csv.quality !== json.quality) return csv.quality > (json?.quality ?? 0)
  return csv.place < json.place
}

/** Most specific range that matches a media type (RFC 9110). */
function matching(ranges: readonly Range[], media: string): Range | undefined {
  const [group = ''] = media.split('/', 1)
  for (const wanted of [media, `${group}/*`, '*/*']) {
    const found = ranges.find(({ type }) => type === wanted)
    if (found) return found
  }
  return undefined
}

function rangeOf(text: string, place: number): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
  // A malformed weight counts as 1: the client wants the type.
  return { type, quality: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 1, place }
}
