// SPDX-License-Identifier: Apache-2.0
// JSON formatted for review: values that fit a line stand on one and short members share lines, so that a changed field
// is a changed line and the document is a third as long.

const width = 140

export function reviewable(value: unknown, indent = ''): string {
  const short = inOneLine(value)
  if (indent.length + short.length <= width || typeof value !== 'object' || value === null) return short
  const only = Object.entries(value)
  // A container of one element adds no line.
  if (only.length === 1 && only[0])
    return Array.isArray(value)
      ? `[${reviewable(only[0][1], indent)}]`
      : `{ ${JSON.stringify(only[0][0])}: ${reviewable(only[0][1], indent)} }`
  const deeper = `${indent}  `
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const members = Array.isArray(value)
    ? value.map((one) => ({ isSmall: isSmall(one), text: reviewable(one, deeper) }))
    : Object.entries(value).map(([name, one]) => ({
        isSmall: isSmall(one),
        text: `${JSON.stringify(name)}: ${reviewable(one, deeper)}`,
      }))
  return `${open}\n${packed(members, deeper)}\n${indent}${close}`
}

/** Pack small members into shared lines. */
function packed(members: readonly { isSmall: boolean; text: string }[], indent: string): string {
  const lines: string[] = []
  let isOpen = false
  for (const { isSmall, text } of members) {
    const line = lines.at(-1) ?? ''
    if (isSmall && isOpen && line.length + text.length + 2 <= width) lines[lines.length - 1] = `${line}, ${text}`
    else lines.push(indent + text)
    isOpen = isSmall
  }
  return lines.join(',\n')
}

/** Whether a value is a scalar or a reference. */
function isSmall(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  const names = Object.keys(value)
  return names.length === 1 && names[0] === '$ref'
}

function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${inOneLine(one)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
