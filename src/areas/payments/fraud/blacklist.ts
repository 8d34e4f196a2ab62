// SPDX-License-Identifier: Apache-2.0
// Blacklist: kinds of entries, the one way in which each value is written, and under which entries a subject could
// be found. A range of addresses is found by asking for every prefix of the address, so that no list is ever walked through.
import { domainToASCII } from 'node:url'
import { parseAddress, parseAddressRange } from '../../../kernel/addresses.ts'
import { isE164, placeOf } from '../../../kernel/phone.ts'
import { addressText, type Subject, writtenAddress } from './fields.ts'

export const blacklistTypes = [
  'phone',
  'email',
  'email_domain',
  'card',
  'card_bin',
  'card_fingerprint',
  'ip',
  'ip_range',
  'device_id',
  'bank_account',
  'customer_id',
  'country',
] as const
export type BlacklistType = (typeof blacklistTypes)[number]

/** A place in a list where something may be found. */
export interface Candidate {
  readonly type: BlacklistType
  readonly value: string
}

const binLengths = [6, 8] as const

interface Form {
  /** Value in its canonical form; null when the text is none of this type. */
  read(text: string): string | null
  readonly rule: string
}

const matching = (pattern: RegExp, rule: string, write: (text: string) => string): Form => ({
  read: (text) => (pattern.test(text) ? write(text) : null),
  rule,
})
const lower = (text: string): string => text.toLowerCase()
const name: Form = { read: lower, rule: 'must have 1 to 254 characters' }

const forms: Readonly<Record<BlacklistType, Form>> = {
  phone: { read: (text) => phoneOf(text), rule: 'must be E.164, such as +254711000001' },
  email: matching(/^[^@\s]+@[^@\s]+\.[^@\s]+$/, 'must be an email address', emailText),
  email_domain: matching(/^@?[^@\s.]+(\.[^@\s.]+)+\.?$/, 'must be a domain such as example.com', (text) =>
    domainText(text.replace(/^@/, '')),
  ),
  card: matching(/^\d(?:[ -]?\d){11,18}$/, 'must be a card number', (text) => text.replace(/[ -]/g, '')),
  card_bin: matching(/^(\d{6}|\d{8})$/, 'must be the first 6 or 8 digits of a card number', lower),
  card_fingerprint: matching(/^[0-9a-fA-F]{64}$/, 'must be a card fingerprint of 64 hexadecimal digits', lower),
  ip: { read: addressText, rule: 'must be an IP address' },
  ip_range: { read: rangeText, rule: 'must be an address and a prefix length, such as 203.0.113.0/24' },
  device_id: name,
  bank_account: matching(
    /^([A-Za-z0-9]{1,20}:)?[A-Za-z0-9 -]{1,40}$/,
    'must be an account number, or bank_code:account_number',
    accountText,
  ),
  customer_id: name,
  country: matching(/^[A-Za-z]{2}$/, 'must be an ISO 3166 country code, such as KE', (text) => text.toUpperCase()),
}

export function ruleOf(type: BlacklistType): string {
  return forms[type].rule
}

/** Canonical form of a value; null when it is none of the type. */
export function normalised(type: BlacklistType, value: string): string | null {
  return forms[type].read(value.trim())
}

/** Everywhere the subject could be found. */
export function candidatesOf(subject: Subject): Candidate[] {
  const { phone, customer, card, bank, ipAddress, deviceId, country } = subject
  const found: Candidate[] = []
  const look = (type: BlacklistType, ...values: readonly (string | null | undefined)[]): void => {
    for (const value of values) if (value) found.push(...placesOf(type, value))
  }
  look('phone', phone, customer?.phone)
  look('email', customer?.email)
  look('email_domain', customer?.email?.split('@').at(-1))
  if (card?.fingerprint) found.push({ type: 'card', value: card.fingerprint })
  look('card_fingerprint', card?.fingerprint)
  look('card_bin', card?.bin)
  look('ip', ipAddress)
  look('ip_range', ipAddress)
  look('device_id', deviceId)
  look('bank_account', bank?.accountNumber, bank?.code && bank.accountNumber && `${bank.code}:${bank.accountNumber}`)
  look('customer_id', customer?.customer_id)
  look('country', country, card?.country, phone && placeOf(phone).country)
  return found
}

/** The entries of one kind under which a value would be found. */
export function placesOf(type: BlacklistType, value: string): Candidate[] {
  if (type === 'ip_range') return rangesOf(value).map((range) => ({ type, value: range }))
  if (type === 'card_bin')
    return binLengths
      .filter((length) => value.length >= length)
      .map((length) => ({ type, value: value.slice(0, length) }))
  const written = type === 'card' ? forms.card_fingerprint.read(value) : normalised(type, value)
  return written === null ? [] : [{ type, value: written }]
}

/** `424242******4242`, for an entry whose number is not kept. */
export function maskedCard(number: string): string {
  return `${number.slice(0, 6)}${'*'.repeat(number.length - 10)}${number.slice(-4)}`
}

function phoneOf(text: string): string | null {
  const written = text.replace(/[ ()-]/g, '')
  return isE164(written) ? written : null
}

function emailText(text: string): string {
  const at = text.lastIndexOf('@')
  return `${lower(text.slice(0, at))}@${domainText(text.slice(at + 1))}`
}

/** Domain as mail servers read it: `ｅvil.com` and `evil.com.` are evil.com. */
function domainText(text: string): string {
  const name = text.replace(/\.+$/, '')
  return domainToASCII(name) || lower(name)
}

function accountText(text: string): string {
  return text.replace(/[ -]/g, '').toUpperCase()
}

function rangeText(text: string): string | null {
  const range = text.includes('/') ? parseAddressRange(text) : null
  if (range === null) return null
  const { version, prefix, freeBits } = range
  return `${writtenAddress(version, prefix << freeBits)}/${(version === 4 ? 32n : 128n) - freeBits}`
}

function rangesOf(text: string): string[] {
  const address = parseAddress(text)
  if (address === null) return []
  const length = address.version === 4 ? 32 : 128
  return Array.from({ length: length + 1 }, (_, i) => {
    const free = BigInt(length - i)
    return `${writtenAddress(address.version, (address.bits >> free) << free)}/${i}`
  })
}
