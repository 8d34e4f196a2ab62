// SPDX-License-Identifier: Apache-2.0
// Apology to a caller when no flow could be loaded, in the language of the called number's country.

export interface Apology {
  readonly language: string
  readonly text: string
}

const english = 'We are sorry. This service is not available at the moment. Please try again later.'
const french = 'Nous sommes désolés. Ce service n’est pas disponible pour le moment. Veuillez réessayer plus tard.'
const swahili = 'Samahani. Huduma hii haipatikani kwa sasa. Tafadhali jaribu tena baadaye.'
const portuguese = 'Lamentamos. Este serviço não está disponível neste momento. Por favor, tente mais tarde.'
const arabic = 'نأسف. هذه الخدمة غير متاحة الآن. يرجى المحاولة مرة أخرى لاحقا.'
const amharic = 'ይቅርታ። ይህ አገልግሎት አሁን አይገኝም። እባክዎ ቆየት ብለው እንደገና ይሞክሩ።'
const somali = 'Waan ka xunnahay. Adeeggan hadda lama heli karo. Fadlan mar dambe isku day.'

/** Beginnings of numbers, and what is spoken there; anywhere else it is English. */
const byPrefix: readonly (readonly [prefixes: readonly string[], apology: Apology])[] = [
  [['+254', '+255'], { language: 'sw-KE', text: swahili }],
  [['+234'], { language: 'en-NG', text: english }],
  [['+27'], { language: 'en-ZA', text: english }],
  [
    [
      '+221',
      '+222',
      '+223',
      '+224',
      '+225',
      '+226',
      '+227',
      '+228',
      '+229',
      '+235',
      '+236',
      '+237',
      '+241',
      '+242',
      '+243',
    ],
    { language: 'fr-SN', text: french },
  ],
  [['+33'], { language: 'fr-FR', text: french }],
  [['+20'], { language: 'ar-EG', text: arabic }],
  [['+212', '+213', '+216', '+218', '+249'], { language: 'ar-001', text: arabic }],
  [['+244', '+258'], { language: 'pt-AO', text: portuguese }],
  [['+251'], { language: 'am-ET', text: amharic }],
  [['+252'], { language: 'so-SO', text: somali }],
]

export function apologyFor(number: string): Apology {
  const found = byPrefix.find(([prefixes]) => prefixes.some((prefix) => number.startsWith(prefix)))
  return found?.[1] ?? { language: 'en-US', text: english }
}
