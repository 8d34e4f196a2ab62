// SPDX-License-Identifier: Apache-2.0
// Which of the two forms of a list a request prefers: JSON, unless CSV is asked for by name or weighs more.

interface Range {
  type: string
  quality: number
  place: number
}

/** Whether CSV is wanted: as `format` says, or as `Accept` weighs it. Of two that weigh the same the first counts. */
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

/** The most exact range that a media type is in, as RFC 9110 has it. */
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
  // A weight that is none counts as the usual one: whoever wrote it wants the type.
  return { type, quality: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 1, place }
}
