// SPDX-License-Identifier: Apache-2.0
// Texts of a receipt.
import type { Texts } from '../../../platform/web/language.ts'

// biome-ignore format: a line is a phrase
export const receiptTexts = {
  receipt: { en: 'Receipt', fr: 'Reçu', pt: 'Recibo', sw: 'Risiti', ar: 'إيصال' },
  noReceipt: { en: 'There is no receipt under this address. Check the link.', fr: 'Il n’y a pas de reçu à cette adresse. Vérifiez le lien.', pt: 'Não há nenhum recibo neste endereço. Verifique a ligação.', sw: 'Hakuna risiti kwenye anwani hii. Kagua kiungo.', ar: 'لا يوجد إيصال في هذا العنوان. تحقّق من الرابط.' },
  paid: { en: 'Paid', fr: 'Payé', pt: 'Pago', sw: 'Imelipwa', ar: 'مدفوع' },
  partlyGivenBack: { en: 'Paid, refunded in part', fr: 'Payé, remboursé en partie', pt: 'Pago, reembolsado em parte', sw: 'Imelipwa, sehemu imerejeshwa', ar: 'مدفوع، وأُعيد جزء منه' },
  givenBack: { en: 'Refunded', fr: 'Remboursé', pt: 'Reembolsado', sw: 'Imerejeshwa', ar: 'مُعاد' },
  taxNumber: { en: 'Tax number', fr: 'Numéro fiscal', pt: 'Número fiscal', sw: 'Nambari ya kodi', ar: 'الرقم الضريبي' },
  paidOn: { en: 'Paid on', fr: 'Payé le', pt: 'Pago em', sw: 'Ililipwa', ar: 'دُفع في' },
  for: { en: 'For', fr: 'Pour', pt: 'Para', sw: 'Kwa ajili ya', ar: 'مقابل' },
  paidWith: { en: 'Paid with', fr: 'Payé avec', pt: 'Pago com', sw: 'Njia ya malipo', ar: 'دُفع بواسطة' },
  card: { en: 'Card', fr: 'Carte', pt: 'Cartão', sw: 'Kadi', ar: 'بطاقة' },
  bank: { en: 'Bank transfer', fr: 'Virement bancaire', pt: 'Transferência bancária', sw: 'Uhamisho wa benki', ar: 'تحويل بنكي' },
  from: { en: 'From', fr: 'De', pt: 'De', sw: 'Kutoka', ar: 'من' },
  endsIn: { en: 'ends in {digits}', fr: 'se termine par {digits}', pt: 'termina em {digits}', sw: 'inayoishia na {digits}', ar: 'ينتهي بـ {digits}' },
  reference: { en: 'Reference', fr: 'Référence', pt: 'Referência', sw: 'Kumbukumbu', ar: 'المرجع' },
  providersReceipt: { en: 'Provider’s receipt', fr: 'Reçu de l’opérateur', pt: 'Recibo da operadora', sw: 'Risiti ya mtoa huduma', ar: 'إيصال المزوّد' },
  payment: { en: 'Payment', fr: 'Paiement', pt: 'Pagamento', sw: 'Malipo', ar: 'الدفعة' },
} as const satisfies Texts<string>
