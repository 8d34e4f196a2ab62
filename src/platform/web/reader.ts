// SPDX-License-Identifier: Apache-2.0
// Reader of a page: language, and formats of amounts and times, in the sender's time zone.
import { type Currency, currencies, formatMicros, type Money } from '../../kernel/money.ts'
import { type Asked, chosen, directionOf, type Language, type Texts, type Words, wordsIn } from './language.ts'

export interface Reader {
  readonly language: Language
  money(money: Money): string
  /** Formats a day such as 2026-03-01. */
  day(day: string): string
  moment(at: Date): string
  /** Texts of a table. */
  words<Name extends string>(texts: Texts<Name>): Words<Name>
  /** Number or name kept left to right in any text. */
  leftToRight(text: string): string
}

export function readerOf(asked: Asked, timeZone: string): Reader {
  const { language, locale } = chosen(asked)
  // Latin digits in Arabic too, as on phones and receipts.
  const digits = { numberingSystem: 'latn' } as const
  // Portuguese writes short months as numbers, easily mistaken for days.
  const day = { day: 'numeric', month: language === 'pt' ? 'long' : 'short', year: 'numeric' } as const
  const hour = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const
  return {
    language,
    money: ({ micros, currency }) => signed(amountIn(locale, currency).format(exact(micros))),
    day: (given) => new Intl.DateTimeFormat(locale, { ...digits, ...day, timeZone: 'UTC' }).format(new Date(given)),
    moment: (at) => new Intl.DateTimeFormat(locale, { ...digits, ...day, ...hour, timeZone }).format(at),
    words: (texts) => wordsIn(texts, language),
    // Unicode isolates, so that the surrounding text does not reverse it.
    leftToRight: (text) => (directionOf(language) === 'rtl' ? `\u2066${text}\u2069` : text),
  }
}

function amountIn(locale: string, currency: Currency): Intl.NumberFormat {
  const minimumFractionDigits = currencies[currency]
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    numberingSystem: 'latn',
    minimumFractionDigits,
    maximumFractionDigits: 6,
  })
}

/** Number whose minus sign stays with it: in Arabic the sign reverses what follows. */
function signed(text: string): string {
  return text.replace(/\u200e-([\d.,]+)/, '\u2066-$1\u2069')
}

/** Decimal text is formatted exactly; a number would be rounded first. */
function exact(micros: bigint): `${number}` {
  const text = formatMicros(micros)
  return isDecimal(text) ? text : '0'
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text)
}
