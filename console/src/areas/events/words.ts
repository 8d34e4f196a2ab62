// SPDX-License-Identifier: Apache-2.0
// Words of the area in Swahili, French, Portuguese and Arabic.
// biome-ignore format: a line is a phrase
export const words: Readonly<Record<string, readonly [sw: string, fr: string, pt: string, ar: string]>> = {
  'Trigger an event': ['Anzisha tukio', 'Déclencher un événement', 'Desencadear um evento', 'إطلاق حدث'],
  Trigger: ['Anzisha', 'Déclencher', 'Desencadear', 'إطلاق'],
  'Such as payment.completed': ['Kama payment.completed', 'Comme payment.completed', 'Como payment.completed', 'مثل payment.completed'],
  'Custom values': ['Thamani zako mwenyewe', 'Vos propres valeurs', 'Os seus próprios valores', 'قيم من عندك'],
  'JSON, such as {example}': ['JSON, kama {example}', 'JSON, par exemple {example}', 'JSON, como {example}', 'JSON، مثل {example}'],
}
