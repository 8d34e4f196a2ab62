// SPDX-License-Identifier: Apache-2.0
// Times, amounts and states as people read them.

let timeZone = 'UTC'

/** All times are told in the zone of the account. */
export function tellTimesIn(zone: string): void {
  timeZone = zone
}

export function moment(text: string | null): string {
  if (text === null) return '–'
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    timeZoneName: 'short',
  })
  return format.format(new Date(text))
}

export function clockTime(text: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(new Date(text))
}

export function money(amount: number, currency: string): string {
  return new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code' }).format(amount)
}

export function count(number: number): string {
  return new Intl.NumberFormat('en').format(number)
}

/** `requires_action` -> `Requires action`. */
export function words(state: string): string {
  const text = state.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
