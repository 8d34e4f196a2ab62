// SPDX-License-Identifier: Apache-2.0
// What somebody wishes who writes one of the words for it, the usual ones or an account's own, and how that is answered.
import { type Language, usualWishOf, type Wish, wordOf } from '../../../kernel/handset-words.ts'

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
  const usual = usualWishOf(text)
  return usual && wished(usual.wish, wordOf(text), usual.language)
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
