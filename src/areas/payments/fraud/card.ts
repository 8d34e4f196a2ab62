// SPDX-License-Identifier: Apache-2.0
// What may be kept of a card: never its number, but a keyed hash by which it is known again. The key is made once for the
// installation and sealed like every other secret.
import { createHmac, randomBytes } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import type { Environment } from '../../../platform/tenant.ts'
import type { RiskHint, SubjectCard } from './fields.ts'

/** The key belongs to no account: a data key of nobody seals it, which is wrapped anew with all others. */
const nobody = { bucket: 0, account: '00000000-0000-0000-0000-000000000000' }
const place = 'payments.card_keys.sealed:1'
const keyBytes = 32
const binLength = 6

const findKey = statement<Record<never, never>, { sealed: Buffer }>(
  'payments.find_card_key',
  `select sealed from payments.card_keys`,
)

const insertKey = statement<{ sealed: Buffer }, object>(
  'payments.insert_card_key',
  `insert into payments.card_keys (id, sealed) values (1, $sealed) on conflict do nothing`,
)

const keys = new WeakMap<App, Promise<Buffer>>()

/** By which a card is known again; 64 hexadecimal digits. */
export async function fingerprintOf(app: App, number: string): Promise<string> {
  let key = keys.get(app)
  if (!key) {
    key = readKey(app)
    keys.set(app, key)
    key.catch(() => keys.delete(app))
  }
  return createHmac('sha256', await key)
    .update(number)
    .digest('hex')
}

async function readKey(app: App): Promise<Buffer> {
  const found = await sealedKey(app.db)
  if (found) return app.secrets.open(nobody, place, found)
  await app.db.query(insertKey, { sealed: await app.secrets.seal(nobody, place, randomBytes(keyBytes)) })
  // Where two nodes made one at once, the first one's stays.
  const stored = await sealedKey(app.db)
  if (!stored) throw new Error('the key of card fingerprints was not stored')
  return app.secrets.open(nobody, place, stored)
}

async function sealedKey(queryable: Queryable): Promise<Buffer | null> {
  return (await maybe(queryable.query(findKey, {})))?.sealed ?? null
}

/** What is known of a card by its number. */
export async function cardOf(app: App, number: string): Promise<SubjectCard> {
  return { brand: brandOf(number), bin: number.slice(0, binLength), fingerprint: await fingerprintOf(app, number) }
}

/** Whether the digits are a card number: the length is one, and the last digit is right. */
export function isCardNumber(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false
  let sum = 0
  for (let i = 0; i < number.length; i++) {
    const digit = Number(number[number.length - 1 - i])
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

const brands: readonly (readonly [brand: string, form: RegExp])[] = [
  ['verve', /^(506[01]|6500)/],
  ['visa', /^4/],
  ['mastercard', /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/],
  ['american-express', /^3[47]/],
]

export function brandOf(bin: string): string | null {
  return brands.find(([, form]) => form.test(bin))?.[0] ?? null
}

const hints: Readonly<Record<string, RiskHint>> = { '4000000000009235': 'high', '4000000000004954': 'very_high' }

/** What a test card is there to provoke. */
export function riskHintOf(number: string, environment: Environment): RiskHint | null {
  return environment === 'test' && Object.hasOwn(hints, number) ? (hints[number] ?? null) : null
}
