// SPDX-License-Identifier: Apache-2.0
// Dialect of a callback: the address `twilio+https://…` is told of events as Twilio tells them, `https://…` in the own
// form. It is stored so, and doors write it so, so that whatever keeps an address keeps its dialect too. Customers give a
// standing address and its dialect in two fields. Words after the dialect are its own: `twilio.get+https://…` is asked with GET.
import { dialectNames } from '../../kernel/door-names.ts'
import { AppError } from '../../kernel/errors.ts'
import { OneOf } from '../schema/fields.ts'

const form = new RegExp(`^(${dialectNames.join('|')})((?:\\.[a-z]+)*)\\+(https?://.*)$`, 's')

export interface DialectUrl {
  /** Name of the dialect; null for the own form. */
  readonly dialect: string | null
  readonly options: readonly string[]
  /** URL that is called. */
  readonly url: string
}

export function dialectOf(address: string): DialectUrl {
  const [, dialect = null, options = '', url = address] = form.exec(address) ?? []
  return { dialect, options: options.split('.').slice(1), url }
}

const named = ['pamoja', 'africastalking', 'twilio', 'cloud', 'sendgrid', 'resend'] as const
type NamedDialect = (typeof named)[number]

/** Dialect of a standing address, as requests and replies name it. */
export const DialectName = OneOf(named, {
  description: 'Payload format: `pamoja` (default), or the format of another provider, for clients written for it',
})

/** Address of a URL and a dialect. A URL never names its own. */
export function addressIn(dialect: NamedDialect | null | undefined, url: string, field: string): string {
  if (dialectOf(url).dialect !== null) throw new AppError('INVALID_URL', `${field} must be https://; see dialect`)
  return dialect === 'pamoja' || dialect === null || dialect === undefined ? url : `${dialect}+${url}`
}

/** Dialect of an address as replies name it. */
export function dialectNamed(address: string | null): NamedDialect {
  const { dialect } = dialectOf(address ?? '')
  return named.find((name) => name === dialect) ?? 'pamoja'
}

/** URL of an address. */
export function urlOf(address: string): string
export function urlOf(address: string | null): string | null
export function urlOf(address: string | null): string | null {
  return address === null ? null : dialectOf(address).url
}
