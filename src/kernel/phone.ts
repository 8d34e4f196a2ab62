// SPDX-License-Identifier: Apache-2.0
// Facts of a phone number itself: whether it is E.164, its country, and the network that its range was assigned to.
import {
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { numberPlan } from './number-plan.ts'

export const e164 = '^\\+[1-9]\\d{1,14}$'
export const e164Rule = 'must be E.164, such as +254711000001'
const e164Form = new RegExp(e164)

/** Number of a query string, where an unescaped plus sign became a space. */
export function numberInQuery(text: string): string {
  return text.replace(/^ /, '+')
}

/** Number of every caller who withholds theirs, or whose network gives none: nobody has it, and it says nothing of who calls. */
export const withheldNumber = '+10000000000'

export function isE164(text: string): boolean {
  return e164Form.test(text)
}

const possible = new Map<string, boolean>()

/**
 * Whether a number in international form has as many digits as its country gives them. Whether the range is in use is not
 * asked: countries open new ones. Asked for every line of long lists, and the calling code and the length decide.
 */
export function hasLengthOfItsCountry(phone: string): boolean {
  const key = `${phone.slice(0, 4)} ${phone.length}`
  const known = possible.get(key)
  if (known !== undefined) return known
  const found = parsePhoneNumberFromString(phone)?.isPossible() ?? false
  possible.set(key, found)
  return found
}

export interface Place {
  /** ISO 3166; null when no country has such numbers. */
  country: string | null
  network: string | null
}

/**
 * Country and network of a number. Called for every message, so a full parse is made only where countries share a
 * calling code.
 */
export function placeOf(phone: string): Place {
  if (phone === withheldNumber) return { country: null, network: null }
  const range = rangeOf(phone)
  return { country: range?.country ?? countryOf(phone), network: range?.network ?? null }
}

interface NumberFacts {
  valid: boolean
  country: string | null
  callingCode: string | null
  nationalFormat: string | null
  type: string | null
  network: string | null
  networkCode: string | null
}

/** Everything the numbering plans say of a number. */
export function factsOf(phone: string): NumberFacts {
  const parsed = parsePhoneNumberFromString(phone)
  const range = rangeOf(phone)
  return {
    valid: parsed?.isValid() ?? false,
    country: placeOf(phone).country,
    callingCode: parsed?.countryCallingCode ?? null,
    nationalFormat: parsed?.formatNational() ?? null,
    type: parsed?.getType()?.toLowerCase() ?? null,
    network: range?.network ?? null,
    networkCode: range?.code ?? null,
  }
}

export interface Network {
  country: string
  network: string
  /** Mobile country and network code, where it is known. */
  code: string | null
}

export const networks: readonly Network[] = numberPlan.map(([country, network, code]) => ({
  country,
  network,
  code: code || null,
}))

const byCode = new Map(networks.map((network) => [network.code, network]))
const byName = new Map(networks.map((one) => [`${one.country} ${one.network.toLowerCase()}`, one]))

/** Network by its name or code as a customer wrote it; an unknown one keeps its written name. */
export function resolveNetwork(phone: string, written: string): { network: string; code: string | null } {
  if (/^\d{5,6}$/.test(written)) return { network: byCode.get(written)?.network ?? written, code: written }
  const known = byName.get(`${placeOf(phone).country} ${written.toLowerCase()}`)
  return known ? { network: known.network, code: known.code } : { network: written, code: null }
}

const ranges = new Map<string, Network>()
numberPlan.forEach(([, , , prefixes], i) => {
  const network = networks[i]
  if (network) for (const prefix of prefixes.split(' ')) ranges.set(prefix, network)
})
const prefixLengths = [...new Set([...ranges.keys()].map(({ length }) => length))].sort((a, b) => b - a)

/** The longest range that holds the number. */
function rangeOf(phone: string): Network | undefined {
  for (const length of prefixLengths) {
    const found = ranges.get(phone.slice(1, length + 1))
    if (found) return found
  }
  return undefined
}

const countriesByCode = new Map<string, string[]>()
for (const country of getCountries()) {
  const code = getCountryCallingCode(country)
  countriesByCode.set(code, [...(countriesByCode.get(code) ?? []), country])
}

function countryOf(phone: string): string | null {
  for (const length of [1, 2, 3]) {
    const countries = countriesByCode.get(phone.slice(1, length + 1))
    if (!countries) continue
    const [only = null] = countries
    return countries.length === 1 ? only : (parsePhoneNumberFromString(phone)?.country ?? only)
  }
  return null
}

/** Calling code of a country, such as 254; null when there is no such country. */
export function callingCodeOf(country: string): string | null {
  return isSupportedCountry(country) ? getCountryCallingCode(country) : null
}

/** A number as people write it, at home in one of some countries, as E.164; null when it is none there. */
export function writtenIn(text: string, countries: readonly string[]): string | null {
  for (const country of countries.filter((one) => isSupportedCountry(one))) {
    const parsed = parsePhoneNumberFromString(text.slice(0, 40), country)
    if (parsed?.isValid()) return parsed.number
  }
  return null
}

/**
 * A mobile number as an example of what to type: as it is written at home where there is one country, and with its
 * calling code where there are several. Null where none is known.
 */
export function exampleIn(countries: readonly string[]): string | null {
  const [country, ...others] = new Set(countries)
  if (country === undefined || !isSupportedCountry(country)) return null
  const example = getExampleNumber(country, examples)
  return (others.length === 0 ? example?.formatNational() : example?.formatInternational()) ?? null
}
