// SPDX-License-Identifier: Apache-2.0
// Whoever reads a page: in which language, and how amounts and times are written there, at the clock of whoever the page is
// from.
import { type Currency, currencies, formatMicros, type Money } from '../../kernel/money.ts'
import { type Asked, chosen, directionOf, type Language, type Texts, type Words, wordsIn } from './language.ts'

export interface Reader {
  readonly language: Language
  money(money: Money): string
  /** A day such as 2026-03-01. */
  day(day: string): string
  moment(at: Date): string
  /** Says the texts of a table. */
  words<Name extends string>(texts: Texts<Name>): Words<Name>
  /** A number or a name that runs from left to right wherever it stands. */
  leftToRight(text: string): string
}

export function readerOf(asked: Asked, timeZone: string): Reader {
  const { language, locale } = chosen(asked)
  // Digits are those that the payer's phone and the provider's receipt show, in Arabic too.
  const digits = { numberingSystem: 'latn' } as const
  // Portuguese writes short months as numbers, which are easily mistaken for days.
  const day = { day: 'numeric', month: language === 'pt' ? 'long' : 'short', year: 'numeric' } as const
  const hour = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const
  return {
    language,
    money: ({ micros, currency }) => signed(amountIn(locale, currency).format(exact(micros))),
    day: (given) => new Intl.DateTimeFormat(locale, { ...digits, ...day, timeZone: 'UTC' }).format(new Date(given)),
    moment: (at) => new Intl.DateTimeFormat(locale, { ...digits, ...day, ...hour, timeZone }).format(at),
    words: (texts) => wordsIn(texts, language),
    // Isolated, so that the sentence around it does not turn it round.
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

/** In Arabic the sign turns what follows round, and only there: it is kept with its number, so that all amounts run alike. */
function signed(text: string): string {
  return text.replace(/\u200e-([\d.,]+)/, '\u2066-$1\u2069')
}

/** A decimal text is formatted digit by digit; a number would be rounded first. */
function exact(micros: bigint): `${number}` {
  const text = formatMicros(micros)
  return isDecimal(text) ? text : '0'
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text)
}
