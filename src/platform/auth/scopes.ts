// SPDX-License-Identifier: Apache-2.0
// Scopes of credentials, declared by areas: `<area>:read`, `<area>:write`, which includes reading, and further words
// such as `identity:review`. `*` is everything except operating the installation.

export type Scope = `${string}:${string}` | 'operator'

/** Scope word → words of the same area that include it. */
type Words = Readonly<Record<string, readonly string[]>>

export interface ScopeArea {
  readonly name: string
  readonly words: Words
  /** Plan limit of requests with `<name>:write`. */
  readonly limit?: string
}

const usualWords: Words = { read: ['write'], write: [] }

const declared = new Map<string, ScopeArea>()

/** Declares `<name>:read`, `<name>:write` and further words; a word included by no other has an empty list. */
export function scopeArea(name: string, { words, limit }: { words?: Words; limit?: string } = {}): ScopeArea {
  if (declared.has(name)) throw new Error(`the scopes of ${name} are declared twice`)
  const made = { name, words: { ...usualWords, ...words }, ...(limit === undefined ? {} : { limit }) }
  declared.set(name, made)
  return made
}

export function isScope(text: string): boolean {
  return text === '*' || text === 'operator' || alsoAllowedBy(text) !== undefined
}

/** Whether scopes include the wanted one. */
export function allows(scopes: ReadonlySet<string>, wanted: string): boolean {
  if (scopes.has(wanted)) return true
  if (wanted === 'operator') return false
  if (scopes.has('*')) return true
  const area = wanted.slice(0, wanted.indexOf(':'))
  return alsoAllowedBy(wanted)?.some((word) => scopes.has(`${area}:${word}`)) ?? false
}

/** What two lists of scopes have in common. */
export function commonScopes(some: readonly string[], others: readonly string[]): string[] {
  const within = (inner: readonly string[], outer: ReadonlySet<string>) => inner.filter((scope) => allows(outer, scope))
  return [...new Set([...within(some, new Set(others)), ...within(others, new Set(some))])]
}

function alsoAllowedBy(scope: string): readonly string[] | undefined {
  const [area = '', word = '', ...rest] = scope.split(':')
  const words = declared.get(area)?.words
  return rest.length === 0 && words && Object.hasOwn(words, word) ? words[word] : undefined
}
