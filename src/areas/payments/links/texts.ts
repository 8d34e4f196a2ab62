// SPDX-License-Identifier: Apache-2.0
// Texts of a payment link's page when nothing can be paid there.
import type { Texts } from '../../../platform/web/language.ts'

// biome-ignore format: a line is a phrase
export const linkTexts = {
  closed: { en: 'Nothing to pay here any more', fr: 'Il n’y a plus rien à payer ici', pt: 'Já não há nada a pagar aqui', sw: 'Hakuna tena cha kulipa hapa', ar: 'لم يعد هنا شيء للدفع' },
  completed: { en: 'It was paid already.', fr: 'Le paiement a déjà été fait.', pt: 'Já foi pago.', sw: 'Tayari imelipwa.', ar: 'تم الدفع من قبل.' },
  expired: { en: 'The payment link has expired. Ask the sender for a new link.', fr: 'Le délai de paiement est passé. Demandez un autre lien à l’expéditeur.', pt: 'O prazo de pagamento passou. Peça outra ligação a quem lha enviou.', sw: 'Muda wa kulipa umekwisha. Mwombe aliyekutumia kiungo kingine.', ar: 'انتهت مهلة الدفع. اطلب رابطًا آخر ممن أرسله إليك.' },
  inactive: { en: 'The link was closed. Ask the sender for a new one.', fr: 'Le lien a été fermé. Adressez-vous à l’expéditeur.', pt: 'A ligação foi fechada. Pergunte a quem lha enviou.', sw: 'Kiungo kimefungwa. Muulize aliyekutumia.', ar: 'أُغلق الرابط. اسأل من أرسله إليك.' },
  beingPaid: { en: 'A payment is in progress. Try again in a few minutes.', fr: 'Quelqu’un est en train de payer. Revenez dans quelques minutes.', pt: 'Alguém está a pagar neste momento. Volte dentro de alguns minutos.', sw: 'Mtu mwingine analipa sasa hivi. Angalia tena baada ya dakika chache.', ar: 'شخص ما يدفع الآن. عُد بعد بضع دقائق.' },
  noSuchLink: { en: 'There is nothing to pay under this address. Check the link.', fr: 'Il n’y a rien à payer à cette adresse. Vérifiez le lien.', pt: 'Não há nada a pagar neste endereço. Verifique a ligação.', sw: 'Hakuna cha kulipa kwenye anwani hii. Kagua kiungo.', ar: 'لا يوجد شيء للدفع في هذا العنوان. تحقّق من الرابط.' },
} as const satisfies Texts<string>
