// SPDX-License-Identifier: Apache-2.0
// The words by which somebody says on a handset that they want no more messages, want them again, or want help; in
// English, French, Portuguese, Swahili, Arabic and Amharic. The whole message must be the word, however it is written.

export type Command = 'stop' | 'start' | 'help'

export type Language = 'en' | 'fr' | 'pt' | 'sw' | 'ar' | 'am'

const words: Readonly<Record<string, readonly [Command, Language]>> = {
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

/** What a message commands by one of these words, and in which language; null when it is none of them. */
export function usualCommandOf(text: string): { command: Command; language: Language } | null {
  const word = wordOf(text)
  if (!Object.hasOwn(words, word)) return null
  const [command, language] = words[word] ?? []
  return command && language ? { command, language } : null
}

/** A message that is nothing but a word, in the one form of it. */
export function wordOf(text: string): string {
  // Handsets that write from right to left put marks that nobody sees around a word.
  return text
    .normalize('NFC')
    .replace(/^[\p{P}\p{S}\p{C}\s]+|[\p{P}\p{S}\p{C}\s]+$/gu, '')
    .toUpperCase()
}
