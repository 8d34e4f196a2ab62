// SPDX-License-Identifier: Apache-2.0
// Sender of an inbound message, in the one form by which a handset is known: opt-outs, replies and conversations are found by it.
// Carriers also write numbers as people of the country do; which country that is has to come from elsewhere.
import { factsOf, placeOf, writtenIn } from '../../kernel/phone.ts'

const international = /^\+[1-9]\d{6,14}$/
/** Number as dialled at home, or international without the plus sign. */
const local = /^(0\d{6,14}|[1-9]\d{6,14})$/
const shortCode = /^[1-9]\d{2,7}$/
/** SMPP has no room for more. */
const longestName = 20

/** Whether a text is a possible sender: a number, a short code or a name. */
export function isSomebody(from: string): boolean {
  const number = bare(from)
  return isName(from) || international.test(number) || local.test(number) || shortCode.test(number)
}

/** Whether a number is local, so that the country decides whose it is. */
export function isLocal(from: string): boolean {
  const number = bare(from)
  if (isName(from)) return false
  return local.test(number) || (international.test(number) && !factsOf(number).valid)
}

/**
 * The sender of a message: a number as E.164, or a short code or a name as it is. Null when it is none. The first group of
 * countries counts of which exactly one has such numbers.
 */
export function handsetOf(from: string, groups: readonly (readonly string[])[]): string | null {
  if (isName(from)) return from
  const number = bare(from)
  if (isLocal(from))
    for (const countries of groups) {
      const [completed, ...others] = completions(number.replace('+', ''), countries)
      if (completed !== undefined && others.length === 0) return completed
    }
  return international.test(number) || shortCode.test(number) ? number : null
}

/** The country of a number that is written as E.164, as a list of one; of anything else none. */
export function countriesOf(number: string): string[] {
  const { country } = international.test(number) ? placeOf(number) : { country: null }
  return country === null ? [] : [country]
}

function completions(number: string, countries: readonly string[]): string[] {
  return [...new Set(countries.flatMap((country) => writtenIn(number, [country]) ?? []))]
}

function isName(from: string): boolean {
  return /\p{L}/u.test(from) && from.length <= longestName
}

/** Number without separators, and with a plus in place of leading zeros. */
function bare(from: string): string {
  return from.replace(/[\s().-]/g, '').replace(/^00(?=[1-9])/, '+')
}
