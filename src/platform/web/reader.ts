// SPDX-License-Identifier: Apache-2.0
// How whoever reads a page writes amounts and times: as its browser says, at the clock of whoever the page is from.
import { type Currency, currencies, formatMicros, type Money } from '../../kernel/money.ts'

export interface Reader {
  money(money: Money): string
  /** A day such as 2026-03-01. */
  day(day: string): string
  moment(at: Date): string
}

/** Long lists of languages are nobody's. */
const maxHeaderCharacters = 200
const usual = 'en-GB'

export function readerOf(acceptLanguage: string | undefined, timeZone: string): Reader {
  const locale = localeOf(acceptLanguage)
  // The words of the pages are English, and run from left to right: so do its digits.
  const digits = { numberingSystem: 'latn' } as const
  return {
    money: ({ micros, currency }) => amountIn(locale, currency).format(exact(micros)),
    day: (day) =>
      new Intl.DateTimeFormat(locale, { ...digits, dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day)),
    moment: (at) =>
      new Intl.DateTimeFormat(locale, {
        ...digits,
        day: 'numeric',
        month: 'short',
        year: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        timeZone,
        timeZoneName: 'short',
      }).format(at),
  }
}

/** The first language of the browser that is one; its weights are in order nearly always. */
function localeOf(acceptLanguage = ''): string {
  for (const part of acceptLanguage.slice(0, maxHeaderCharacters).split(',')) {
    const [tag = ''] = part.trim().split(';')
    const known = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/.test(tag) ? supported(tag) : undefined
    if (known !== undefined) return known
  }
  return usual
}

function supported(tag: string): string | undefined {
  try {
    const [known] = Intl.NumberFormat.supportedLocalesOf([tag])
    return known
  } catch {
    // A tag may look like one and be none.
    return undefined
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

/** A decimal text is formatted digit by digit; a number would be rounded first. */
function exact(micros: bigint): `${number}` {
  const text = formatMicros(micros)
  return isDecimal(text) ? text : '0'
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text)
}
