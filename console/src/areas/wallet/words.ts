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
  'Waiting for the PIN': ['Inaombwa PIN yake', 'Son code PIN lui est demandé', 'É-lhe pedido o PIN', 'يُطلب منه رقمه السري'],
}
