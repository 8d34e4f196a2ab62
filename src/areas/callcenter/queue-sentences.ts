// SPDX-License-Identifier: Apache-2.0
// Sentences that callers of a queue or a menu hear, in its language, or in English where they are not known in it.
import { chosen, type Texts, type Words, wordsIn } from '../../platform/web/language.ts'

type Sentence = 'hold' | 'position' | 'minute' | 'minutes' | 'sorry' | 'callback' | 'choice'

const sentences: Texts<Sentence> = {
  hold: {
    en: 'Please hold the line.',
    sw: 'Tafadhali subiri kwenye laini.',
    fr: 'Veuillez rester en ligne.',
    pt: 'Por favor, aguarde em linha.',
    ar: 'يرجى الانتظار على الخط.',
  },
  position: {
    en: 'You are number {position} in the queue.',
    sw: 'Wewe ni namba {position} kwenye foleni.',
    fr: 'Vous êtes numéro {position} dans la file d’attente.',
    pt: 'A sua posição na fila é {position}.',
    ar: 'رقمك في قائمة الانتظار هو {position}.',
  },
  minute: {
    en: 'The wait is about one minute.',
    sw: 'Muda wa kusubiri ni takriban dakika moja.',
    fr: 'L’attente est d’environ une minute.',
    pt: 'O tempo de espera é de cerca de um minuto.',
    ar: 'مدة الانتظار حوالي دقيقة واحدة.',
  },
  minutes: {
    en: 'The wait is about {minutes} minutes.',
    sw: 'Muda wa kusubiri ni takriban dakika {minutes}.',
    fr: 'L’attente est d’environ {minutes} minutes.',
    pt: 'O tempo de espera é de cerca de {minutes} minutos.',
    ar: 'مدة الانتظار بالدقائق حوالي {minutes}.',
  },
  sorry: {
    en: 'We are sorry. No agent is available to take your call. Please call again later.',
    sw: 'Samahani. Hakuna aliyeweza kupokea simu yako. Tafadhali piga tena baadaye.',
    fr: 'Nous sommes désolés. Personne n’a pu prendre votre appel. Veuillez rappeler plus tard.',
    pt: 'Lamentamos. Ninguém pôde atender a sua chamada. Por favor, ligue mais tarde.',
    ar: 'نأسف، لم يتمكن أحد من الرد على مكالمتك. يرجى الاتصال لاحقًا.',
  },
  callback: {
    en: 'Thank you. You keep your place in the queue, and we will call you back.',
    sw: 'Asante. Nafasi yako kwenye foleni imehifadhiwa, na tutakupigia simu.',
    fr: 'Merci. Vous gardez votre place dans la file d’attente, et nous vous rappellerons.',
    pt: 'Obrigado. Mantém o seu lugar na fila e nós ligaremos de volta.',
    ar: 'شكرًا لك. سنحتفظ بدورك في قائمة الانتظار وسنعاود الاتصال بك.',
  },
  choice: {
    en: 'For {name}, press {key}.',
    sw: 'Kwa {name}, bonyeza {key}.',
    fr: 'Pour {name}, appuyez sur {key}.',
    pt: 'Para {name}, prima {key}.',
    ar: 'للتحدث إلى {name} اضغط {key}.',
  },
}

/** Voice of sentences that are not known in the language asked for. */
const fallback = 'en-US'

/** Sentences for a language tag, and the tag to speak them with. */
export function sentencesIn(tag: string): { words: Words<Sentence>; language: string } {
  const { language } = chosen({ lang: tag })
  const isKnown = tag.toLowerCase().split('-')[0] === language
  return { words: wordsIn(sentences, language), language: isKnown ? tag : fallback }
}

/** Announcement to a caller who waits: the queue's own text, the position and the expected wait. */
export function announcementOf(
  wanted: { text?: string; position?: boolean; estimated_wait?: boolean },
  tag: string,
  position: number,
  estimatedWaitSeconds: number | null,
): { text: string; language: string } {
  const { words, language } = sentencesIn(tag)
  const minutes = estimatedWaitSeconds === null ? null : Math.max(1, Math.round(estimatedWaitSeconds / 60))
  const parts = [
    wanted.text,
    wanted.position ? words('position', { position }) : undefined,
    wanted.estimated_wait && minutes !== null ? words(minutes === 1 ? 'minute' : 'minutes', { minutes }) : undefined,
  ].filter((part) => part !== undefined)
  // A text of the queue's own is in its language, whatever ours are in.
  return { text: parts.join(' ') || words('hold'), language: wanted.text === undefined ? language : tag }
}
