// SPDX-License-Identifier: Apache-2.0
// Numbers as telephone networks write them, either way: with or without the plus, with 00, or as they are dialled at home. Pure.
import { callingCodeOf, factsOf, hasLengthOfItsCountry, isE164, placeOf } from '../../../kernel/phone.ts'

export const numberFormats = ['e164', 'digits', 'international', 'national'] as const

export type NumberFormat = (typeof numberFormats)[number]

/** A number in E.164 as a network wants it; `country` is the network's. */
export function writtenFor(number: string, format: NumberFormat, country: string | null): string {
  const digits = number.replace(/^\+/, '')
  if (format === 'e164' || digits === number) return number
  if (format === 'digits') return digits
  const { nationalFormat } = format === 'national' && placeOf(number).country === country ? factsOf(number) : {}
  return nationalFormat?.replace(/\D/g, '') ?? `00${digits}`
}

/** Numbers in E.164 that a network may mean by the user of an address, the likeliest first. */
export function readingsOf(text: string, country: string | null): string[] {
  const [written = ''] = text.split(';')
  const digits = written.replace(/[().\s-]/g, '')
  // The name of a line may have digits in it, and is no number.
  if (!/^\+?\d+$/.test(digits)) return []
  const code = country === null ? null : callingCodeOf(country)
  const atHome = (rest: string) => (code === null ? [] : [`+${code}${rest}`])
  const all = digits.startsWith('+')
    ? [digits]
    : digits.startsWith('00')
      ? [`+${digits.slice(2)}`]
      : digits.startsWith('0')
        ? // Some countries dial a zero before the number, in others it belongs to it.
          [...atHome(digits.slice(1)), ...atHome(digits)]
        : [`+${digits}`, ...atHome(digits)]
  const numbers = all.filter(isE164)
  return [...numbers.filter(hasLengthOfItsCountry), ...numbers.filter((number) => !hasLengthOfItsCountry(number))]
}

/** Country of a trunk: its own, otherwise that of all its prefixes; null when they are of several. */
export function countryOfTrunk({
  country,
  prefixes,
}: {
  country: string | null
  prefixes: readonly string[]
}): string | null {
  const [first = null, ...others] = new Set(prefixes.map((prefix) => (prefix === '+' ? null : placeOf(prefix).country)))
  return country ?? (others.length === 0 ? first : null)
}
