// SPDX-License-Identifier: Apache-2.0
// The words by which somebody says on a handset that they want no more messages, want them again, or want help; in
// English, French, Portuguese, Swahili, Arabic and Amharic. The whole message must be the word, however it is written.

export type Wish = 'stop' | 'start' | 'help'

export type Language = 'en' | 'fr' | 'pt' | 'sw' | 'ar' | 'am'

const words: Readonly<Record<string, readonly [Wish, Language]>> = {
  STOP: ['stop', 'en'],
  STOPALL: ['stop', 'en'],
  UNSUBSCRIBE: ['stop', 'en'],
  CANCEL: ['stop', 'en'],
  END: ['stop', 'en'],
  QUIT: ['stop', 'en'],
  OPTOUT: ['stop', 'en'],
  ARRET: ['stop', 'fr'],
  ARRÊT: ['stop', 'fr'],
  PARAR: ['stop', 'pt'],
  SAIR: ['stop', 'pt'],
  ACHA: ['stop', 'sw'],
  SITISHA: ['stop', 'sw'],
  إيقاف: ['stop', 'ar'],
  توقف: ['stop', 'ar'],
  ቁም: ['stop', 'am'],
  START: ['start', 'en'],
  UNSTOP: ['start', 'en'],
  JIUNGE: ['start', 'sw'],
  HELP: ['help', 'en'],
  INFO: ['help', 'en'],
  MSAADA: ['help', 'sw'],
}

/** What a message wishes by one of these words, and in which language; null when it is none of them. */
export function usualWishOf(text: string): { wish: Wish; language: Language } | null {
  const word = wordOf(text)
  if (!Object.hasOwn(words, word)) return null
  const [wish, language] = words[word] ?? []
  return wish && language ? { wish, language } : null
}

/** A message that is nothing but a word, in the one form of it. */
export function wordOf(text: string): string {
  // Handsets that write from right to left put marks that nobody sees around a word.
  return text
    .normalize('NFC')
    .replace(/^[\p{P}\p{S}\p{C}\s]+|[\p{P}\p{S}\p{C}\s]+$/gu, '')
    .toUpperCase()
}
