// SPDX-License-Identifier: Apache-2.0
// Numbers of payment cards: whose they are, whether they can be right, and how to find and mask them where they must not
// be. Nothing here keeps one.
import { invalid } from './errors.ts'

export const cardBrands = ['visa', 'mastercard', 'verve', 'american-express'] as const
export type CardBrand = (typeof cardBrands)[number]

interface Range {
  brand: CardBrand
  /** First digits, both included; all of a row have the same length. */
  from: number
  to: number
  lengths: readonly number[]
}

const ranges: readonly Range[] = [
  { brand: 'verve', from: 506_099, to: 506_198, lengths: [16, 18, 19] },
  { brand: 'verve', from: 507_865, to: 507_964, lengths: [16, 18, 19] },
  { brand: 'verve', from: 650_002, to: 650_027, lengths: [16, 18, 19] },
  { brand: 'visa', from: 4, to: 4, lengths: [13, 16, 19] },
  { brand: 'mastercard', from: 51, to: 55, lengths: [16] },
  { brand: 'mastercard', from: 2_221, to: 2_720, lengths: [16] },
  { brand: 'american-express', from: 34, to: 34, lengths: [15] },
  { brand: 'american-express', from: 37, to: 37, lengths: [15] },
]

/** The brand of a number of digits; null when no brand that is known here has such numbers. */
export function brandOf(digits: string): CardBrand | null {
  return ranges.find((range) => isIn(range, digits) && range.lengths.includes(digits.length))?.brand ?? null
}

/** Brand by the first six digits or more. */
export function brandOfBeginning(digits: string): CardBrand | null {
  return ranges.find((range) => isIn(range, digits))?.brand ?? null
}

function isIn({ from, to }: Range, digits: string): boolean {
  const start = Number(digits.slice(0, String(from).length))
  return start >= from && start <= to
}

/** Whether the last digit is the check digit of the others. */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48
    const doubled = i % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** The year in full; two digits are of this century. */
export function fullYear(year: number): number {
  return year < 100 ? 2_000 + year : year
}

/** A card is good to the end of its month, wherever on earth its owner is. */
export function isPast(month: number, year: number, nowMs: number): boolean {
  const dateLineMs = 12 * 3_600_000
  return nowMs - dateLineMs >= Date.UTC(fullYear(year), month, 1)
}

/** Digits of the shortest number. */
const shortest = 13
/** Digits in a row, or in groups with a blank between. */
const run = /(?<!\d)\d(?: ?\d){12,18}(?!\d)/g
const groups = /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g
/** Whether there may be any; told without a search for where they begin. */
const someDigits = /\d(?:[ -]?\d){12}/

/** Text for a log: every possible card number is masked. */
export function withoutCardNumbers(text: string): string {
  if (!/\d{4}/.test(text)) return text
  return text.replace(run, (found) => (passesLuhn(found.replaceAll(' ', '')) ? '[redacted]' : found))
}

/** JSON line for a log, which stays valid JSON: a number is replaced by a number. */
export function lineWithoutCardNumbers(line: string): string {
  return line.replace(run, (found, at: number) => {
    if (!passesLuhn(found.replaceAll(' ', ''))) return found
    const isNumber = /[:,[]/.test(line[at - 1] ?? '') && /[,}\]]/.test(line[at + found.length] ?? '')
    return isNumber ? '0' : '[redacted]'
  })
}

/** Whether a text holds the number of a card: of a known brand, with its check digit. */
export function holdsCardNumber(text: string): boolean {
  if (text.length < shortest || !someDigits.test(text)) return false
  for (const [found] of text.matchAll(groups)) {
    const digits = found.replace(/[ -]/g, '')
    if (passesLuhn(digits) && brandOf(digits) !== null) return true
  }
  return false
}

/** Refuses fields whose text, or any text within them, holds the number of a card: they are stored, and card numbers must not be. */
export function refuseCardNumbers(kept: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(kept)) {
    if (typeof value === 'object' && value !== null) {
      refuseCardNumbers({ [field]: Object.keys(value).join('\n') })
      for (const member of Object.values(value)) refuseCardNumbers({ [field]: member })
    } else if (holdsCardNumber(String(value ?? ''))) {
      throw invalid(field, 'must not hold the number of a card')
    }
  }
}
