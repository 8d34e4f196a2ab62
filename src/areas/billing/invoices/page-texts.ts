// SPDX-License-Identifier: Apache-2.0
// Texts of the invoice page; forms and payment results use the texts shared by all payment pages.
import type { Texts } from '../../../platform/web/language.ts'

// biome-ignore format: a line is a phrase
export const invoiceTexts = {
  invoice: { en: 'Invoice {number}', fr: 'Facture {number}', pt: 'Fatura {number}', sw: 'Ankara {number}', ar: 'الفاتورة {number}' },
  invoiceFor: { en: 'Invoice {number} for {name}', fr: 'Facture {number} pour {name}', pt: 'Fatura {number} para {name}', sw: 'Ankara {number} ya {name}', ar: 'الفاتورة {number} باسم {name}' },
  due: { en: 'Due {day}', fr: 'À payer au plus tard le {day}', pt: 'A pagar até {day}', sw: 'Lipa kufikia {day}', ar: 'تُستحق في {day}' },
  nothingDue: { en: 'Paid. Nothing more is due.', fr: 'Payée. Il ne reste rien à payer.', pt: 'Paga. Não há mais nada a pagar.', sw: 'Imelipwa. Hakuna kilichobaki kulipa.', ar: 'مدفوعة. لم يبقَ شيء للدفع.' },
  withdrawn: { en: 'Withdrawn', fr: 'Annulée', pt: 'Anulada', sw: 'Imefutwa', ar: 'ملغاة' },
  withdrawnWhy: { en: 'This invoice was withdrawn. Nothing is to be paid.', fr: 'Cette facture a été annulée. Il n’y a rien à payer.', pt: 'Esta fatura foi anulada. Não há nada a pagar.', sw: 'Ankara hii imefutwa. Hakuna cha kulipa.', ar: 'أُلغيت هذه الفاتورة. لا شيء للدفع.' },
  more: { en: 'and {count} more, see the PDF', fr: 'et {count} de plus, voir le PDF', pt: 'e mais {count}, ver o PDF', sw: 'na {count} zaidi, tazama PDF', ar: 'و{count} أخرى، انظر ملف PDF' },
  discount: { en: 'Discount', fr: 'Remise', pt: 'Desconto', sw: 'Punguzo', ar: 'خصم' },
  tax: { en: 'Tax', fr: 'Taxe', pt: 'Imposto', sw: 'Kodi', ar: 'ضريبة' },
  taxIncluded: { en: 'Tax (included)', fr: 'Taxe (comprise)', pt: 'Imposto (incluído)', sw: 'Kodi (imejumuishwa)', ar: 'ضريبة (مشمولة)' },
  total: { en: 'Total', fr: 'Total', pt: 'Total', sw: 'Jumla', ar: 'المجموع' },
  credit: { en: 'Credit', fr: 'Avoir', pt: 'Crédito', sw: 'Salio lako', ar: 'رصيد لك' },
  paid: { en: 'Paid', fr: 'Payé', pt: 'Pago', sw: 'Imelipwa', ar: 'مدفوع' },
  refunded: { en: 'Refunded', fr: 'Remboursé', pt: 'Reembolsado', sw: 'Imerejeshwa', ar: 'مُعاد' },
  pdf: { en: 'Invoice as a PDF', fr: 'Facture en PDF', pt: 'Fatura em PDF', sw: 'Ankara kama PDF', ar: 'الفاتورة بصيغة PDF' },
  back: { en: 'Back to the invoice', fr: 'Retour à la facture', pt: 'Voltar à fatura', sw: 'Rudi kwenye ankara', ar: 'العودة إلى الفاتورة' },
  noSuchInvoice: { en: 'There is no invoice under this address. Check the link.', fr: 'Il n’y a pas de facture à cette adresse. Vérifiez le lien.', pt: 'Não há nenhuma fatura neste endereço. Verifique a ligação.', sw: 'Hakuna ankara kwenye anwani hii. Kagua kiungo.', ar: 'لا توجد فاتورة في هذا العنوان. تحقّق من الرابط.' },
} as const satisfies Texts<string>
