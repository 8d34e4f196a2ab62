// SPDX-License-Identifier: Apache-2.0
// Fields of a payment or payout that rules compare, and the type of each. A field that is not known
// is not there at all, and a comparison with it is false. Texts are held in lower case, so that comparing ignores it.
import { Type } from 'typebox'
import { parseAddress } from '../../../kernel/addresses.ts'
import type { Currency } from '../../../kernel/money.ts'
import { placeOf } from '../../../kernel/phone.ts'
import { CountryCode } from '../../../platform/schema/fields.ts'

export type FieldType = 'text' | 'number' | 'money' | 'boolean' | 'any'
export type FieldValue = string | number | bigint | boolean
export type Facts = ReadonlyMap<string, FieldValue>

const fieldTypes: Readonly<Record<string, FieldType>> = {
  amount: 'money',
  amount_usd: 'money',
  currency: 'text',
  method: 'text',
  provider: 'text',
  phone: 'text',
  phone_country: 'text',
  phone_prefix: 'text',
  email: 'text',
  email_domain: 'text',
  customer_name: 'text',
  customer_age_days: 'number',
  ip_address: 'text',
  ip_country: 'text',
  device_id: 'text',
  card_brand: 'text',
  card_bin: 'text',
  card_country: 'text',
  card_fingerprint: 'text',
  bank_code: 'text',
  hour_of_day: 'number',
  day_of_week: 'number',
  is_first_payment: 'boolean',
  failed_last_24h: 'number',
  risk_score: 'number',
}

export const fieldNames: readonly string[] = [...Object.keys(fieldTypes), 'metadata.<key>']
const metadataForm = /^metadata\..{1,40}$/su
/** Length of a phone prefix that identifies a network's range: +254 711. */
const prefixLength = 7

/** Type of a field; null when there is no such field. */
export function fieldType(name: string): FieldType | null {
  if (Object.hasOwn(fieldTypes, name)) return fieldTypes[name] ?? null
  return metadataForm.test(name) ? 'any' : null
}

/** Request fields that serve the risk decision only; they are not shown again. */
export const riskFields = {
  ip_address: Type.Optional(
    Type.Union([Type.String({ format: 'ipv4' }), Type.String({ format: 'ipv6' })], {
      rule: 'must be an IP address',
      description: 'IP address of the payer',
    }),
  ),
  device_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      rule: 'must have 1 to 200 characters',
      description: 'Your own id for the paying device',
    }),
  ),
  country: Type.Optional(CountryCode({ description: 'Country that the payer’s request came from' })),
}

export type Direction = 'payment' | 'payout'

/** Subject of a decision: money on its way in or out, and what is known of the other side. */
export interface Subject {
  /** The UUID of the payment or payout, or of a check that moves nothing. */
  readonly id: string
  readonly direction: Direction
  readonly micros: bigint
  readonly currency: Currency
  readonly method: string
  readonly provider: string | null
  /** E.164: the payer's, or the recipient's. */
  readonly phone?: string | null
  readonly customer?: Readonly<Record<string, string>>
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  readonly ipAddress?: string | null
  readonly deviceId?: string | null
  /** ISO 3166, where the request came from. */
  readonly country?: string | null
  readonly card?: SubjectCard | null
  readonly bank?: { readonly code: string | null; readonly accountNumber: string | null } | null
  /** Risk that a test card provokes; ignored outside the test environment. */
  readonly riskHint?: RiskHint | null
}

/** Facts of a card, without its number. */
export interface SubjectCard {
  readonly brand?: string | null
  /** The first six or eight digits. */
  readonly bin?: string | null
  readonly country?: string | null
  readonly fingerprint?: string | null
  /** Whether it is charged without the payer. */
  readonly isSaved?: boolean
}

export type RiskHint = 'high' | 'very_high'

/** Facts of the subject itself; those from the database are added later. */
export function factsOf(subject: Subject, nowMs: number): Map<string, FieldValue> {
  const { micros, currency, method, provider, phone, customer, card, bank } = subject
  const facts = new Map<string, FieldValue>()
  const say = (name: string, value: string | null | undefined): void => {
    if (value !== null && value !== undefined && value !== '') facts.set(name, value.toLowerCase())
  }
  const at = new Date(nowMs)
  facts.set('amount', micros)
  // No rates of exchange are kept, so that this is known of dollars only.
  if (currency === 'USD') facts.set('amount_usd', micros)
  say('currency', currency)
  say('method', method)
  say('provider', provider)
  say('phone', phone)
  say('phone_country', phone && placeOf(phone).country)
  say('phone_prefix', phone?.slice(0, prefixLength))
  say('email', customer?.email)
  say('email_domain', customer?.email?.split('@').at(-1))
  say('customer_name', customer?.name)
  say('ip_address', subject.ipAddress && addressText(subject.ipAddress))
  say('ip_country', subject.country)
  say('device_id', subject.deviceId)
  say('card_brand', card?.brand)
  say('card_bin', card?.bin)
  say('card_country', card?.country)
  say('card_fingerprint', card?.fingerprint)
  say('bank_code', bank?.code)
  facts.set('hour_of_day', at.getUTCHours())
  facts.set('day_of_week', at.getUTCDay() || 7)
  for (const [key, value] of Object.entries(subject.metadata ?? {}))
    facts.set(`metadata.${key}`, typeof value === 'string' ? value.toLowerCase() : value)
  return facts
}

/** Canonical IP address: ::ffff:192.0.2.1 is 192.0.2.1, and 2001:DB8:0::1 is 2001:db8:0:0:0:0:0:1. */
export function addressText(text: string): string | null {
  const address = parseAddress(text)
  return address && writtenAddress(address.version, address.bits)
}

export function writtenAddress(version: 4 | 6, bits: bigint): string {
  const [parts, size, base] = version === 4 ? [4, 8n, 10] : [8, 16n, 16]
  return Array.from({ length: parts }, (_, i) =>
    ((bits >> (size * BigInt(parts - 1 - i))) & ((1n << size) - 1n)).toString(base),
  ).join(version === 4 ? '.' : ':')
}

/** Facts as they are stored, and read again. Amounts are micros in a text. */
export function storedFacts(facts: Facts): Record<string, string | number | boolean> {
  return Object.fromEntries(
    [...facts].map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  )
}

export function readFacts(stored: Readonly<Record<string, string | number | boolean>>): Map<string, FieldValue> {
  return new Map(
    Object.entries(stored).map(([name, value]) => [name, fieldType(name) === 'money' ? BigInt(value) : value]),
  )
}
