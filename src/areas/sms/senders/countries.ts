// SPDX-License-Identifier: Apache-2.0
// Defaults of countries, before an operator says otherwise.
import { getCountries } from 'libphonenumber-js/max'

/** `required`: its networks take messages only from senders that were registered with them. */
export type SenderRegistration = 'required' | 'open'

/** Countries of Africa whose regulator or networks block unregistered senders. */
const registering = new Set(['BJ', 'CI', 'CM', 'EG', 'ET', 'GH', 'KE', 'NG', 'RW', 'TZ', 'UG', 'ZM'])

export function usualRegistration(country: string): SenderRegistration {
  return registering.has(country) ? 'required' : 'open'
}

const known = new Set<string>(getCountries())

/** Whether a text is the ISO 3166 code of a country that has telephone numbers. */
export function isCountry(code: string): boolean {
  return known.has(code)
}
