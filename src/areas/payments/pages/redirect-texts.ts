// SPDX-License-Identifier: Apache-2.0
// Texts of the pages around a confirmation, for payers by card or with a wallet that has a page.
import type { Texts } from '../../../platform/web/language.ts'

// biome-ignore format: a line is a phrase
export const redirectTexts = {
  cardTitle: { en: 'Card payment', fr: 'Paiement par carte', pt: 'Pagamento com cartão', sw: 'Malipo kwa kadi', ar: 'دفع بالبطاقة' },
  bank: { en: 'Test bank', fr: 'Banque de test', pt: 'Banco de teste', sw: 'Benki ya majaribio', ar: 'بنك الاختبار' },
  walletTitle: { en: 'Payment with {provider}', fr: 'Paiement avec {provider}', pt: 'Pagamento com {provider}', sw: 'Malipo kwa {provider}', ar: 'دفع عبر {provider}' },
  walletQuestion: { en: 'Do you pay from the account of {number}?', fr: 'Payez-vous depuis le compte du {number} ?', pt: 'Paga com a conta do {number}?', sw: 'Je, unalipa kutoka akaunti ya {number}?', ar: 'هل تدفع من حساب {number}؟' },
  standsForWallet: { en: 'This page stands for {provider} in the sandbox. The last digits of the number decide what happens.', fr: 'Cette page tient lieu de {provider} dans le bac à sable. Les derniers chiffres du numéro décident de la suite.', pt: 'Esta página faz de {provider} no ambiente de teste. Os últimos algarismos do número decidem o que acontece.', sw: 'Ukurasa huu unawakilisha {provider} katika majaribio. Tarakimu za mwisho za namba huamua kitakachotokea.', ar: 'تمثّل هذه الصفحة {provider} في بيئة الاختبار. تحدّد الأرقام الأخيرة ما يحدث.' },
  cardQuestion: { en: 'Is it you who pays with the card that ends in {digits}?', fr: 'Est-ce vous qui payez avec la carte se terminant par {digits} ?', pt: 'É você quem paga com o cartão que termina em {digits}?', sw: 'Je, ni wewe unayelipa kwa kadi inayoishia na {digits}?', ar: 'هل أنت من يدفع بالبطاقة المنتهية بـ {digits}؟' },
  approve: { en: 'Approve', fr: 'Approuver', pt: 'Aprovar', sw: 'Idhinisha', ar: 'موافقة' },
  fail: { en: 'Fail', fr: 'Échouer', pt: 'Falhar', sw: 'Shindwa', ar: 'إخفاق' },
  abandon: { en: 'Abandon', fr: 'Abandonner', pt: 'Abandonar', sw: 'Acha', ar: 'ترك' },
  standsForBank: { en: 'This page stands for the payer’s bank in the sandbox.', fr: 'Cette page tient lieu de banque du payeur dans le bac à sable.', pt: 'Esta página faz de banco do pagador no ambiente de teste.', sw: 'Ukurasa huu unawakilisha benki ya mlipaji katika majaribio.', ar: 'تمثّل هذه الصفحة بنك الدافع في بيئة الاختبار.' },
  noPayment: { en: 'There is no payment at this address. Check the link.', fr: 'Il n’y a pas de paiement à cette adresse. Vérifiez le lien.', pt: 'Não há nenhum pagamento neste endereço. Verifique a ligação.', sw: 'Hakuna malipo kwenye anwani hii. Kagua kiungo.', ar: 'لا توجد دفعة في هذا العنوان. تحقّق من الرابط.' },
  notTaken: { en: 'Not taken', fr: 'Non accepté', pt: 'Não aceite', sw: 'Haikukubaliwa', ar: 'لم يُقبل' },
  chooseOne: { en: 'Go back, and choose one of the buttons.', fr: 'Revenez en arrière et choisissez l’un des boutons.', pt: 'Volte atrás e escolha um dos botões.', sw: 'Rudi nyuma, uchague kimojawapo cha vitufe.', ar: 'ارجع واختر أحد الأزرار.' },
  thanks: { en: 'Paid, thank you', fr: 'Payé, merci', pt: 'Pago, obrigado', sw: 'Imelipwa, asante', ar: 'تم الدفع، شكرًا لك' },
  made: { en: 'The payment is made. You can close this page.', fr: 'Le paiement est fait. Vous pouvez fermer cette page.', pt: 'O pagamento está feito. Pode fechar esta página.', sw: 'Malipo yamefanyika. Unaweza kufunga ukurasa huu.', ar: 'تم الدفع. يمكنك إغلاق هذه الصفحة.' },
  oneMoment: { en: 'One moment', fr: 'Un instant', pt: 'Um momento', sw: 'Subiri kidogo', ar: 'لحظة واحدة' },
  lookedInto: { en: 'The payment is being looked into. You can close this page.', fr: 'Le paiement est à l’examen. Vous pouvez fermer cette page.', pt: 'O pagamento está a ser verificado. Pode fechar esta página.', sw: 'Malipo yanachunguzwa. Unaweza kufunga ukurasa huu.', ar: 'يجري التحقق من الدفع. يمكنك إغلاق هذه الصفحة.' },
  notPaid: { en: 'It was not paid', fr: 'Le paiement n’a pas eu lieu', pt: 'Não foi pago', sw: 'Haikulipwa', ar: 'لم يتم الدفع' },
  notMade: { en: 'The payment was not made. You can close this page.', fr: 'Le paiement n’a pas été fait. Vous pouvez fermer cette page.', pt: 'O pagamento não foi feito. Pode fechar esta página.', sw: 'Malipo hayakufanyika. Unaweza kufunga ukurasa huu.', ar: 'لم يُجرَ الدفع. يمكنك إغلاق هذه الصفحة.' },
  over: { en: 'This page is over', fr: 'Cette page n’est plus valable', pt: 'Esta página já não é válida', sw: 'Ukurasa huu umekwisha muda', ar: 'انتهت صلاحية هذه الصفحة' },
  beginAgain: { en: 'This page was used, or has expired. Go back to the payment and start again.', fr: 'Cette page a déjà servi, ou son délai est passé. Retournez là où vous payez et recommencez.', pt: 'Esta página já foi usada, ou o seu tempo terminou. Volte ao local do pagamento e comece de novo.', sw: 'Ukurasa huu umeshatumika, au muda wake umekwisha. Rudi unapolipia, uanze tena.', ar: 'استُعملت هذه الصفحة أو انتهى وقتها. ارجع إلى مكان الدفع وابدأ من جديد.' },
} as const satisfies Texts<string>
