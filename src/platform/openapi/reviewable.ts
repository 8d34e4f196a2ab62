// SPDX-License-Identifier: Apache-2.0
// JSON as a person reviews it: what fits on a line stands on one, and so do short members beside each other, so that a changed
// field is a changed line and the whole is a third as long as with every bracket on its own.

const width = 140

export function reviewable(value: unknown, indent = ''): string {
  const short = inOneLine(value)
  if (indent.length + short.length <= width || typeof value !== 'object' || value === null) return short
  const only = Object.entries(value)
  // What holds one thing adds no line of its own.
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

/** Small members share lines; every other has lines of its own. */
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

/** A plain value, or what only points to something. */
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
