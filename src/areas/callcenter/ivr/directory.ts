// SPDX-License-Identifier: Apache-2.0
// Dial by name: who is meant by letters on the keys of a telephone, or by a name that was said. Pure.
import type { IvrAction } from './ivr.ts'

export interface Person {
  readonly name: string
  readonly action: IvrAction
}

/** More than these cannot be chosen by one key. */
const maxChoices = 9

const lettersOfKeys = ['', '', 'abc', 'def', 'ghi', 'jkl', 'mno', 'pqrs', 'tuv', 'wxyz']
const keyOf = new Map(lettersOfKeys.flatMap((letters, key) => [...letters].map((letter) => [letter, String(key)])))
/** Letters that are no others with a mark. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ɓ: 'b', ɗ: 'd', ɖ: 'd', đ: 'd', ƙ: 'k', ƴ: 'y', ŋ: 'n', ɲ: 'n', ƒ: 'f', ɣ: 'g', ł: 'l', ø: 'o', ɔ: 'o', ɛ: 'e' },
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ı: 'i' },
}

/** Words of a name in small letters without marks. */
function wordsOf(name: string): string[] {
  const letters = [...name.toLowerCase().normalize('NFD')].map((letter) => plainLetters[letter] ?? letter).join('')
  return letters.replace(/[\p{M}'’ʼ.]/gu, '').match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Keys that spell a word; a letter that no key has ends it. */
function keysOf(word: string): string {
  let keys = ''
  for (const letter of word) {
    const key = /[0-9]/.test(letter) ? letter : keyOf.get(letter)
    if (key === undefined) break
    keys += key
  }
  return keys
}

/** People whose name is spelled so from any of its words on: `264` is Ani Otieno and Otieno Amina. */
export function spelled(people: readonly Person[], digits: string): readonly Person[] {
  return people.filter(({ name }) => {
    const words = wordsOf(name)
    return words.some((_, i) => keysOf(words.slice(i).join('')).startsWith(digits))
  })
}

/** People whom the likeliest text names that names anybody: by the whole name, or else by one of its words. */
export function named(people: readonly Person[], texts: readonly string[]): readonly Person[] {
  for (const text of texts) {
    const said = wordsOf(text).join(' ')
    const whole = people.filter(({ name }) => wordsOf(name).join(' ') === said)
    if (whole.length > 0) return whole
    const some = people.filter(({ name }) => wordsOf(name).includes(said))
    if (some.length > 0) return some
  }
  return []
}

/** Whether one key can choose among them. */
export function canChoose({ length }: readonly Person[]): boolean {
  return length > 0 && length <= maxChoices
}
