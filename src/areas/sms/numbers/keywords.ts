// SPDX-License-Identifier: Apache-2.0
// Keywords: the first word of an inbound message, by which it is assigned. Case, composed or decomposed accents,
// leading punctuation and invisible marks, and the width of spaces make no difference.

/** Actions for messages that begin with a keyword. */
export interface Keyword {
  keyword: string
  webhook_url: string | null
  auto_reply: string | null
}

const wordCharacter = /[\p{L}\p{N}\p{M}]/u
const firstWord = /^[\p{L}\p{N}\p{M}]{1,30}(?![\p{L}\p{N}\p{M}])/u
const words = /^[\p{L}\p{N}\p{M}]+( [\p{L}\p{N}\p{M}]+)*$/u

/** A keyword as it is stored; null when it is not made of words. */
export function keywordForm(text: string): string | null {
  const form = folded(text).trim()
  return words.test(form) ? form : null
}

/** The longest keyword that a message begins with. */
export function keywordIn(text: string, keywords: readonly Keyword[]): Keyword | null {
  const message = folded(text)
  let longest: Keyword | null = null
  for (const candidate of keywords) {
    const { keyword } = candidate
    if (!message.startsWith(keyword) || keyword.length <= (longest?.keyword.length ?? 0)) continue
    const [next = ''] = message.slice(keyword.length)
    if (!wordCharacter.test(next)) longest = candidate
  }
  return longest
}

/** The first word of a message, by which customers tell what it is about where they have named no keyword. */
export function firstWordOf(text: string): string | null {
  return firstWord.exec(folded(text))?.[0] ?? null
}

function folded(text: string): string {
  return text
    .normalize('NFC')
    .replace(/^[\p{P}\p{S}\p{C}\s]+/u, '')
    .replace(/\s+/g, ' ')
    .toUpperCase()
}
