// SPDX-License-Identifier: Apache-2.0
// Scopes of credentials. Areas declare theirs: `<area>:read` covers reading, `<area>:write` the rest
// and reading too, and an area may have further words (`identity:review`). `*` is everything except operating the installation.

export type Scope = `${string}:${string}` | 'operator'

/** Word of a scope -> the words of the same scope area that allow the same. */
type Words = Readonly<Record<string, readonly string[]>>

export interface ScopeArea {
  readonly name: string
  readonly words: Words
  /** The plan limit that requests with `<name>:write` count against. */
  readonly limit?: string
}

const usualWords: Words = { read: ['write'], write: [] }

const declared = new Map<string, ScopeArea>()

/** Declares `<name>:read`, `<name>:write` and the words given; a word that nothing else allows has an empty list. */
export function scopeArea(name: string, { words, limit }: { words?: Words; limit?: string } = {}): ScopeArea {
  if (declared.has(name)) throw new Error(`the scopes of ${name} are declared twice`)
  const made = { name, words: { ...usualWords, ...words }, ...(limit === undefined ? {} : { limit }) }
  declared.set(name, made)
  return made
}

export function isScope(text: string): boolean {
  return text === '*' || text === 'operator' || alsoAllowedBy(text) !== undefined
}

/** Whether these scopes allow what needs `wanted`. */
export function allows(scopes: ReadonlySet<string>, wanted: string): boolean {
  if (scopes.has(wanted)) return true
  if (wanted === 'operator') return false
  if (scopes.has('*')) return true
  const area = wanted.slice(0, wanted.indexOf(':'))
  return alsoAllowedBy(wanted)?.some((word) => scopes.has(`${area}:${word}`)) ?? false
}

function alsoAllowedBy(scope: string): readonly string[] | undefined {
  const [area = '', word = '', ...rest] = scope.split(':')
  const words = declared.get(area)?.words
  return rest.length === 0 && words && Object.hasOwn(words, word) ? words[word] : undefined
}
