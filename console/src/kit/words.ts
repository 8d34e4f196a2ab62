// SPDX-License-Identifier: Apache-2.0
// Times, amounts and states as people read them.
import { currentLanguage, t } from '../words.ts'

let timeZone = 'UTC'

/** Digits are the ones that ids and amounts are written with everywhere else. */
function locale(): string {
  const language = currentLanguage()
  return language === 'en' ? 'en-GB' : `${language}-u-nu-latn`
}

/** All times are told in the zone of the account. */
export function tellTimesIn(zone: string): void {
  timeZone = zone
}

export function moment(text: string | null): string {
  if (text === null) return '–'
  const format = new Intl.DateTimeFormat(locale(), {
    ...{ timeZone, day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    timeZoneName: 'short',
  })
  return format.format(new Date(text))
}

export function clockTime(text: string): string {
  return new Intl.DateTimeFormat(locale(), { timeZone, hour: '2-digit', minute: '2-digit' }).format(new Date(text))
}

export function money(amount: number, currency: string): string {
  return new Intl.NumberFormat(locale(), { style: 'currency', currency, currencyDisplay: 'code' }).format(amount)
}

export function count(number: number): string {
  return new Intl.NumberFormat(locale()).format(number)
}

/** `requires_action` -> `Requires action`. */
export function words(state: string): string {
  if (state === 'sms' || state === 'ussd') return state.toUpperCase()
  const text = state.replaceAll('_', ' ')
  return t(text.charAt(0).toUpperCase() + text.slice(1))
}
