// SPDX-License-Identifier: Apache-2.0
// Why a payment did not happen, as pages tell the payer. The API says it in English, in the words of `failureMessages`.
import type { Texts } from '../../../platform/web/language.ts'
import type { Reader } from '../../../platform/web/reader.ts'
import { type FailureReason, failureMessages, isFailureReason } from './provider.ts'

// biome-ignore format: a line is a reason
export const failureTexts: Texts<FailureReason> = {
  INSUFFICIENT_FUNDS: { en: failureMessages.INSUFFICIENT_FUNDS, fr: 'Il n’y a pas assez d’argent sur le compte.', pt: 'Não há dinheiro suficiente na conta.', sw: 'Hakuna pesa za kutosha kwenye akaunti.', ar: 'لا يوجد مال كافٍ في الحساب.' },
  USER_CANCELLED: { en: failureMessages.USER_CANCELLED, fr: 'Le paiement a été refusé sur le téléphone.', pt: 'O pagamento foi recusado no telefone.', sw: 'Malipo yalikataliwa kwenye simu.', ar: 'رُفض الدفع على الهاتف.' },
  WRONG_PIN: { en: failureMessages.WRONG_PIN, fr: 'Le code PIN était faux.', pt: 'O PIN estava errado.', sw: 'PIN haikuwa sahihi.', ar: 'الرقم السري غير صحيح.' },
  PAYER_NOT_FOUND: { en: failureMessages.PAYER_NOT_FOUND, fr: 'Aucun compte n’existe pour ce numéro.', pt: 'Não existe conta com este número.', sw: 'Hakuna akaunti ya nambari hii.', ar: 'لا يوجد حساب بهذا الرقم.' },
  PAYER_LIMIT_REACHED: { en: failureMessages.PAYER_LIMIT_REACHED, fr: 'Le paiement dépasse la limite du compte.', pt: 'O pagamento ultrapassa o limite da conta.', sw: 'Malipo yamezidi kikomo cha akaunti.', ar: 'يتجاوز المبلغ حدّ الحساب.' },
  PAYER_UNREACHABLE: { en: failureMessages.PAYER_UNREACHABLE, fr: 'Le téléphone n’a pas pu être joint.', pt: 'Não foi possível contactar o telefone.', sw: 'Simu haikupatikana.', ar: 'تعذّر الوصول إلى الهاتف.' },
  TRANSACTION_IN_PROGRESS: { en: failureMessages.TRANSACTION_IN_PROGRESS, fr: 'Un autre paiement depuis ce téléphone est encore en cours.', pt: 'Outro pagamento deste telefone ainda está em curso.', sw: 'Malipo mengine kutoka simu hii bado yanaendelea.', ar: 'هناك دفعة أخرى من هذا الهاتف لم تنتهِ بعد.' },
  TRANSACTION_TIMEOUT: { en: failureMessages.TRANSACTION_TIMEOUT, fr: 'Le paiement n’a pas été confirmé à temps.', pt: 'O pagamento não foi confirmado a tempo.', sw: 'Malipo hayakuthibitishwa kwa wakati.', ar: 'لم يُؤكَّد الدفع في الوقت المحدد.' },
  CARD_DECLINED: { en: failureMessages.CARD_DECLINED, fr: 'La carte a été refusée.', pt: 'O cartão foi recusado.', sw: 'Kadi imekataliwa.', ar: 'رُفضت البطاقة.' },
  CARD_EXPIRED: { en: failureMessages.CARD_EXPIRED, fr: 'La carte a expiré.', pt: 'O cartão expirou.', sw: 'Muda wa kadi umekwisha.', ar: 'انتهت صلاحية البطاقة.' },
  INCORRECT_CVV: { en: failureMessages.INCORRECT_CVV, fr: 'Le code de sécurité était faux.', pt: 'O código de segurança estava errado.', sw: 'Nambari ya siri ya kadi haikuwa sahihi.', ar: 'رمز الأمان غير صحيح.' },
  AUTHENTICATION_FAILED: { en: failureMessages.AUTHENTICATION_FAILED, fr: 'La banque n’a pas pu confirmer qui payait.', pt: 'O banco não conseguiu confirmar quem pagou.', sw: 'Benki haikuweza kuthibitisha aliyelipa.', ar: 'لم يستطع البنك التأكد من هوية الدافع.' },
  PROVIDER_UNAVAILABLE: { en: failureMessages.PROVIDER_UNAVAILABLE, fr: 'L’opérateur est injoignable pour l’instant.', pt: 'A operadora está fora de alcance neste momento.', sw: 'Mtoa huduma hapatikani kwa sasa.', ar: 'المزوّد غير متاح الآن.' },
  PROVIDER_ERROR: { en: failureMessages.PROVIDER_ERROR, fr: 'L’opérateur n’a pas pu prendre le paiement.', pt: 'A operadora não conseguiu aceitar o pagamento.', sw: 'Mtoa huduma hakuweza kupokea malipo.', ar: 'لم يستطع المزوّد قبول الدفع.' },
  RECIPIENT_NOT_FOUND: { en: failureMessages.RECIPIENT_NOT_FOUND, fr: 'Le destinataire n’a pas de compte à ce numéro.', pt: 'O destinatário não tem conta com este número.', sw: 'Mpokeaji hana akaunti ya nambari hii.', ar: 'ليس للمستلم حساب بهذا الرقم.' },
  RECIPIENT_LIMIT_REACHED: { en: failureMessages.RECIPIENT_LIMIT_REACHED, fr: 'Le compte ne peut pas recevoir autant.', pt: 'A conta não pode receber tanto.', sw: 'Akaunti haiwezi kupokea kiasi hiki.', ar: 'لا يستطيع الحساب استلام هذا المبلغ.' },
  PROVIDER_FLOAT_LOW: { en: failureMessages.PROVIDER_FLOAT_LOW, fr: 'Il n’y a pas assez d’argent à verser pour l’instant.', pt: 'Não há dinheiro suficiente para pagar neste momento.', sw: 'Hakuna pesa za kutosha za kulipa kwa sasa.', ar: 'لا يوجد مال كافٍ للصرف الآن.' },
  REVERSED_BY_PROVIDER: { en: failureMessages.REVERSED_BY_PROVIDER, fr: 'L’opérateur a repris l’argent.', pt: 'A operadora retirou o dinheiro.', sw: 'Mtoa huduma amerudisha pesa.', ar: 'استردّ المزوّد المال.' },
  BLOCKED_BY_RULE: { en: failureMessages.BLOCKED_BY_RULE, fr: 'Le paiement n’a pas été accepté.', pt: 'O pagamento não foi aceite.', sw: 'Malipo hayakukubaliwa.', ar: 'لم يُقبل الدفع.' },
  BLACKLISTED: { en: failureMessages.BLACKLISTED, fr: 'Le paiement n’a pas été accepté.', pt: 'O pagamento não foi aceite.', sw: 'Malipo hayakukubaliwa.', ar: 'لم يُقبل الدفع.' },
  AMOUNT_MISMATCH: { en: failureMessages.AMOUNT_MISMATCH, fr: 'Un autre montant que celui demandé a été payé ; c’est à l’examen.', pt: 'Foi pago um montante diferente do pedido; está a ser analisado.', sw: 'Kiasi kilicholipwa si kilichoombwa; kinachunguzwa.', ar: 'دُفع مبلغ غير المطلوب، ويجري النظر فيه.' },
}

/** Why a payment did not happen, in the language of the reader; null when `reason` is none of a payment's. */
export function failureSentence(reader: Pick<Reader, 'words'>, reason: string | null): string | null {
  return isFailureReason(reason) ? reader.words(failureTexts)(reason) : null
}
