// SPDX-License-Identifier: Apache-2.0
// Content of a campaign: what each channel says, with what is known of the customer put in.
import type { Person } from '../store.ts'

const placeholder = /\{\{\s*([A-Za-z][A-Za-z0-9_.-]*)\s*(?:\|([^}]*))?\}\}/g
/** Placeholder that the SMS area puts a link into. */
const optOut = 'optout'

/** What may be put into a message: the name, and every attribute. */
export function variablesOf({ name, language, country, external_id, attributes }: Person): Record<string, string> {
  const known = Object.entries({ name, language, country, external_id, ...attributes })
  const first = name === null ? {} : { first_name: name.split(/\s+/)[0] ?? name }
  const texts = known.flatMap(([key, value]) => (value === null ? [] : [[key, String(value)] as const]))
  return { ...first, ...Object.fromEntries(texts) }
}

/** Text with `{{name}}` and `{{name|somebody}}` filled in; what is not known is what stands after the bar, or nothing. */
export function rendered(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(placeholder, (whole, key: string, otherwise = '') =>
    key === optOut ? whole : Object.hasOwn(variables, key) ? (variables[key] ?? '') : otherwise,
  )
}

/** Placeholders of texts for which nothing is known, each once. */
export function unknownIn(
  texts: readonly (string | undefined)[],
  variables: Readonly<Record<string, string>>,
): string[] {
  const named = texts.flatMap((text = '') => Array.from(text.matchAll(placeholder), ([, key = '']) => key))
  return [...new Set(named)].filter((key) => key !== optOut && !Object.hasOwn(variables, key))
}

/** Place of a customer among variants: the same for a customer and a campaign, by their shares of 100. */
export function variantOf(campaign: string, customer: string, shares: readonly number[]): number {
  if (shares.length < 2) return 0
  let hash = 0x811c9dc5
  for (const letter of campaign + customer) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0
  let point = (hash >>> 8) % 100
  for (const [i, share] of shares.entries()) {
    if (point < share) return i
    point -= share
  }
  return shares.length - 1
}
