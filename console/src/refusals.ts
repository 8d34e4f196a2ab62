// SPDX-License-Identifier: Apache-2.0
// Words for the refusals of the API: by the code of the error in the reader's language, in the API's own words otherwise.
import { has, t } from './words.ts'

/** Error of the API, of a desk's websocket, or of the browser, which has no code. */
interface Refusal {
  readonly message: string
  readonly code?: string
  /** Seconds to wait, where the API says so. */
  readonly retryAfter?: number | null
  readonly fields?: readonly { readonly field: string }[]
}

/** Reason of a refusal, as a sentence. */
export function sentenceOf(refusal: Refusal): string {
  return translated(refusal) ?? ownWords(refusal)
}

/** The same in the API's own words, where the sentence is another: they tell more, such as who is busy. */
export function detailOf(refusal: Refusal): string | null {
  return translated(refusal) === null ? null : ownWords(refusal)
}

/** Reason why a field was refused, by its rule. */
export function ruleOf(code: string, rule: string): string {
  if (code !== 'VALIDATION_ERROR') return sentenceOf({ code, message: rule })
  return has('Check this value: {rule}')
    ? t('Check this value: {rule}', { rule: `\u2068${rule}\u2069` })
    : ownWords({ message: rule })
}

function ownWords({ message }: Refusal): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`
}

/** Words of a code with the most that is known: the seconds to wait, the field. */
function translated({ code, retryAfter, fields = [] }: Refusal): string | null {
  if (code === undefined) return null
  const [first] = fields
  const values = {
    ...(retryAfter == null ? {} : { seconds: Math.ceil(retryAfter) }),
    ...(first === undefined ? {} : { field: `\u2068${first.field}\u2069` }),
  }
  const phrase = [...Object.keys(values).map((name) => `${code} {${name}}`), code].find(has)
  if (phrase === undefined) return null
  return t(phrase, values)
}
