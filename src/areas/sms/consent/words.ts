// SPDX-License-Identifier: Apache-2.0
// The words by which somebody says on a handset that they want no more messages, want them again, or want help; in
// English, French, Portuguese, Swahili, Arabic and Amharic. The whole message must be the word, however it is written.

type Wish = 'stop' | 'start' | 'help'

type Language = 'en' | 'fr' | 'pt' | 'sw' | 'ar' | 'am'

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

/** What is answered, by wish and language; `{sender}` is who wrote to them. */
const answers: Readonly<Record<Wish, Readonly<Partial<Record<Language, string>> & { en: string }>>> = {
  stop: {
    en: 'You will get no more messages from {sender}. Reply START to get them again.',
    fr: 'Vous ne recevrez plus de messages de {sender}. Répondez START pour en recevoir à nouveau.',
    pt: 'Não receberá mais mensagens de {sender}. Responda START para voltar a receber.',
    sw: 'Hutapokea tena ujumbe kutoka {sender}. Jibu JIUNGE ili kupokea tena.',
    ar: 'لن تصلك رسائل أخرى من {sender}. أرسل START لاستلامها مجددا.',
    am: 'ከ {sender} ተጨማሪ መልእክት አይደርስዎትም። እንደገና ለመቀበል START ብለው ይላኩ።',
  },
  start: {
    en: 'You will get messages from {sender} again. Reply STOP to end them.',
    sw: 'Utapokea tena ujumbe kutoka {sender}. Jibu ACHA ili kusitisha.',
  },
  help: {
    en: 'Messages from {sender}. Reply STOP to get no more of them, START to get them again.',
    sw: 'Ujumbe kutoka {sender}. Jibu ACHA ili kusitisha, JIUNGE ili kupokea tena.',
  },
}

/** The word that is about every sender of an account, not only about the one it is written to. */
const aboutAll = 'STOPALL'

/** START takes it back, whichever of the senders it is written to. */
const answerAboutAll =
  'You will get no more messages from {sender} or other senders of this organisation. Reply START to get them again.'

/** What a handset wishes. */
export interface Wished {
  readonly wish: Wish
  readonly word: string
  readonly isAboutAll: boolean
  answer(sender: string): string
}

/** What a message wishes, and how that is answered; null when it is an ordinary message. */
export function wishOf(text: string): Wished | null {
  const word = wordOf(text)
  if (!Object.hasOwn(words, word)) return null
  const [wish, language] = words[word] ?? []
  return wish && language ? wished(wish, word, language) : null
}

/** The words of an account's own, by what they wish. */
export type OwnWords = Partial<Record<Wish, readonly string[]>>

/** The same by words of an account's own; nobody knows of what language they are. */
export function ownWishOf(text: string, own: OwnWords): Wished | null {
  const word = wordOf(text)
  const wish = wishes.find((one) => word !== '' && own[one]?.some((candidate) => wordOf(candidate) === word))
  return wish ? wished(wish, word, 'en') : null
}

const wishes: readonly Wish[] = ['stop', 'start', 'help']

function wished(wish: Wish, word: string, language: Language): Wished {
  const isAboutAll = word === aboutAll
  const answer = isAboutAll ? answerAboutAll : (answers[wish][language] ?? answers[wish].en)
  return { wish, word, isAboutAll, answer: (sender) => answer.replace('{sender}', sender) }
}

/** A message that is nothing but a word, in the one form of it. */
function wordOf(text: string): string {
  // Handsets that write from right to left put marks that nobody sees around a word.
  return text
    .normalize('NFC')
    .replace(/^[\p{P}\p{S}\p{C}\s]+|[\p{P}\p{S}\p{C}\s]+$/gu, '')
    .toUpperCase()
}
