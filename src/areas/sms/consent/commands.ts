// SPDX-License-Identifier: Apache-2.0
// STOP, START and HELP, which a handset commands by the usual words or by an account's own, and how each is answered.
import { type Command, type Language, usualCommandOf, wordOf } from '../../../kernel/handset-words.ts'

/** Answers to commands, by command and language; `{sender}` is the sender of the texts. */
const answers: Readonly<Record<Command, Readonly<Partial<Record<Language, string>> & { en: string }>>> = {
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

/** A command as it was given. */
export interface GivenCommand {
  readonly command: Command
  readonly word: string
  readonly isAboutAll: boolean
  answer(sender: string): string
}

/** The command that a message is by the usual words; null when it is none of them. */
export function commandIn(text: string): GivenCommand | null {
  const usual = usualCommandOf(text)
  return usual && given(usual.command, wordOf(text), usual.language)
}

/** The words of an account's own, by what they command. */
export type OwnWords = Partial<Record<Command, readonly string[]>>

/** Command by an account's own words, whose language is unknown. */
export function ownCommandIn(text: string, own: OwnWords): GivenCommand | null {
  const word = wordOf(text)
  const command = commands.find((one) => word !== '' && own[one]?.some((candidate) => wordOf(candidate) === word))
  return command ? given(command, word, 'en') : null
}

const commands: readonly Command[] = ['stop', 'start', 'help']

function given(command: Command, word: string, language: Language): GivenCommand {
  const isAboutAll = word === aboutAll
  const answer = isAboutAll ? answerAboutAll : (answers[command][language] ?? answers[command].en)
  return { command, word, isAboutAll, answer: (sender) => answer.replace('{sender}', sender) }
}
