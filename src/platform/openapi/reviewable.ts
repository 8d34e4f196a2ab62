// SPDX-License-Identifier: Apache-2.0
// JSON formatted for review: compact, but in lines, so that a change is seen where it is. Values that fit a line stand on one,
// members share lines as long as there is room, and what closes stands behind the last.

const width = 600

export function reviewable(value: unknown, indent = ''): string {
  const short = JSON.stringify(value)
  if (indent.length + short.length <= width || typeof value !== 'object' || value === null) return short
  const deeper = `${indent} `
  if (Array.isArray(value))
    return `[\n${packed(
      value.map((one) => reviewable(one, deeper)),
      deeper,
    )}]`
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}:${reviewable(one, deeper)}`)
  return `{\n${packed(members, deeper)}}`
}

/** Packs members that stand on one line each into shared lines. */
function packed(members: readonly string[], indent: string): string {
  const lines: string[] = []
  for (const text of members) {
    const line = lines.at(-1)
    const fits = line !== undefined && line.length + text.length < width && !`${line}${text}`.includes('\n')
    if (fits) lines[lines.length - 1] = `${line},${text}`
    else lines.push(indent + text)
  }
  return lines.join(',\n')
}
