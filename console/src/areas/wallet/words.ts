// SPDX-License-Identifier: Apache-2.0
// Words of the area in Swahili, French, Portuguese and Arabic.
// biome-ignore format: a line is a phrase
export const words: Readonly<Record<string, readonly [sw: string, fr: string, pt: string, ar: string]>> = {
  'Auto-recharge': ['Kujazwa kiotomatiki', 'Recharge automatique', 'Recarga automática', 'الشحن التلقائي'],
  Off: ['Imezimwa', 'Désactivé', 'Desligado', 'متوقف'],
  'On its way': ['Njiani', 'En chemin', 'A caminho', 'في الطريق'],
  'When the balance is below': ['Kikibaki chini ya', 'Quand il reste moins de', 'Quando resta menos de', 'حين يتبقى أقل من'],
  'Maximum per day': ['Mara kwa siku zisizozidi', 'Fois par jour au plus', 'Vezes por dia no máximo', 'مرات يوميًا على الأكثر'],
  'Top up': ['Jaza', 'Recharger', 'Carregar', 'شحن'],
  'Waiting for the PIN on {phone}.': ['Tazama {phone}: inaomba PIN.', 'Regardez le {phone} : il demande le code PIN.', 'Veja o {phone}: pede o PIN.', 'انظر إلى {phone}: يطلب الرقم السري.'],
  'Another top-up': ['Jaza tena', 'Une autre recharge', 'Outro carregamento', 'شحن آخر'],
  '{count} days, {amount}': ['Siku {count}, {amount}', '{count} jours, {amount}', '{count} dias, {amount}', '{count} يومًا، {amount}'],
  '{amount} in {count} days, by area': ['{amount} zimetumika kwa siku {count}, kwa eneo', '{amount} dépensés en {count} jours, par domaine', '{amount} gastos em {count} dias, por área', 'أُنفق {amount} خلال {count} يومًا، حسب المجال'],
  'Lasts about {count} days at {amount} a day': ['Zinatosha siku {count} hivi, {amount} kwa siku', 'Suffit pour {count} jours environ, à {amount} par jour', 'Dura cerca de {count} dias, a {amount} por dia', 'يكفي نحو {count} يومًا بمعدل {amount} يوميًا'],
  '{amount} when below {threshold}': ['{amount} zikishuka chini ya {threshold}', '{amount} en dessous de {threshold}', '{amount} quando abaixo de {threshold}', '{amount} عندما يقل عن {threshold}'],
  'Fees of payments': ['Ada za malipo', 'Frais des paiements', 'Taxas dos pagamentos', 'رسوم المدفوعات'],
  'Fees of payouts': ['Ada za kutuma pesa', 'Frais des versements', 'Taxas dos pagamentos feitos', 'رسوم التحويلات'],
}
