// SPDX-License-Identifier: Apache-2.0
// Texts of the pages behind links in messages: the question before an opt-out, its outcome, and a link that is none.
import type { Texts } from '../../../platform/web/language.ts'

export const linkTexts = {
  question: {
    en: 'No more messages from {sender} to {number}?',
    fr: 'Plus de messages de {sender} au {number} ?',
    pt: 'Não quer mais mensagens de {sender} para {number}?',
    sw: 'Usipokee tena ujumbe wa {sender} kwenye {number}?',
    ar: 'إيقاف الرسائل من {sender} إلى {number}؟',
  },
  stop: { en: 'Stop them', fr: 'Les arrêter', pt: 'Parar', sw: 'Zisimamishe', ar: 'أوقفها' },
  done: {
    en: 'You are off the list',
    fr: 'Vous n’êtes plus sur la liste',
    pt: 'Já não está na lista',
    sw: 'Umeondolewa kwenye orodha',
    ar: 'لم تعد في القائمة',
  },
  noMore: {
    en: '{sender} will send no more messages to {number}.',
    fr: '{sender} n’enverra plus de messages au {number}.',
    pt: '{sender} não enviará mais mensagens para {number}.',
    sw: '{sender} haitatuma tena ujumbe kwa {number}.',
    ar: 'لن يرسل {sender} رسائل أخرى إلى {number}.',
  },
  noSuchLink: {
    en: 'There is no such link. Copy all of it from the message.',
    fr: 'Ce lien n’existe pas. Copiez-le en entier depuis le message.',
    pt: 'Esta ligação não existe. Copie-a toda da mensagem.',
    sw: 'Hakuna kiungo kama hicho. Nakili chote kutoka kwenye ujumbe.',
    ar: 'لا يوجد رابط كهذا. انسخه كاملًا من الرسالة.',
  },
} as const satisfies Texts<string>
