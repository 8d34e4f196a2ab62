// SPDX-License-Identifier: Apache-2.0
// Texts of the pages behind the unsubscribe link of a message.
import type { Texts } from '../../../platform/web/language.ts'

// biome-ignore format: a line is a phrase
export const unsubscribeTexts = {
  noSuchLink: { en: 'No such link', fr: 'Ce lien n’existe pas', pt: 'Esta ligação não existe', sw: 'Hakuna kiungo kama hicho', ar: 'لا يوجد رابط كهذا' },
  noSuchMessage: { en: 'No such message', fr: 'Ce message n’existe pas', pt: 'Esta mensagem não existe', sw: 'Hakuna ujumbe kama huo', ar: 'لا توجد رسالة كهذه' },
  changed: { en: 'The address is not complete, or was changed.', fr: 'L’adresse n’est pas complète, ou a été modifiée.', pt: 'O endereço não está completo, ou foi alterado.', sw: 'Anwani haijakamilika, au imebadilishwa.', ar: 'العنوان غير كامل، أو قد غُيّر.' },
  unsubscribe: { en: 'Unsubscribe', fr: 'Se désabonner', pt: 'Cancelar a subscrição', sw: 'Jiondoe', ar: 'إلغاء الاشتراك' },
  thisAddress: { en: 'This address', fr: 'Cette adresse', pt: 'Este endereço', sw: 'Anwani hii', ar: 'هذا العنوان' },
  willGetNone: { en: '{email} will get no more messages of this kind.', fr: '{email} ne recevra plus de messages de ce genre.', pt: '{email} não receberá mais mensagens deste tipo.', sw: '{email} haitapokea tena ujumbe wa aina hii.', ar: 'لن يتلقى {email} رسائل أخرى من هذا النوع.' },
  unsubscribed: { en: 'Unsubscribed', fr: 'Désabonné', pt: 'Subscrição cancelada', sw: 'Umejiondoa', ar: 'أُلغي الاشتراك' },
  youGetNone: { en: 'You will get no more messages of this kind.', fr: 'Vous ne recevrez plus de messages de ce genre.', pt: 'Não receberá mais mensagens deste tipo.', sw: 'Hutapokea tena ujumbe wa aina hii.', ar: 'لن تتلقى رسائل أخرى من هذا النوع.' },
  undo: { en: 'Undo', fr: 'Annuler', pt: 'Anular', sw: 'Tendua', ar: 'تراجع' },
  subscribedAgain: { en: 'Subscribed again', fr: 'Réabonné', pt: 'Subscrito de novo', sw: 'Umejiunga tena', ar: 'عاد الاشتراك' },
  asBefore: { en: 'You will get these messages as before.', fr: 'Vous recevrez ces messages comme avant.', pt: 'Receberá estas mensagens como antes.', sw: 'Utapokea ujumbe huu kama zamani.', ar: 'ستتلقى هذه الرسائل كما في السابق.' },
} as const satisfies Texts<string>
