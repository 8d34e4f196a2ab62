// SPDX-License-Identifier: Apache-2.0
// Words of a handset that mean no more messages, messages again, or help; in English, French, Portuguese, Swahili,
// Arabic and Amharic. The whole message must be the word, in any spelling.

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

/** Command and language of a message that is one of these words; otherwise null. */
export function usualCommandOf(text: string): { command: Command; language: Language } | null {
  const word = wordOf(text)
  if (!Object.hasOwn(words, word)) return null
  const [command, language] = words[word] ?? []
  return command && language ? { command, language } : null
}

/** A message that is nothing but a word, in the one form of it. */
export function wordOf(text: string): string {
  // Right-to-left handsets put invisible marks around a word.
  return text
    .normalize('NFC')
    .replace(/^[\p{P}\p{S}\p{C}\s]+|[\p{P}\p{S}\p{C}\s]+$/gu, '')
    .toUpperCase()
}
