// SPDX-License-Identifier: Apache-2.0
// A card as a request brings it, and what may be kept of one. The number and the security code are in the memory of the
// request only: they go to the acquirer and nowhere else.
import { type Static, Type } from 'typebox'
import { brandOf, type CardBrand, cardBrands, fullYear, isPast, passesLuhn } from '../../../kernel/card.ts'
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { OneOf } from '../../../platform/schema/fields.ts'
import type { Environment } from '../../../platform/tenant.ts'
import type { CardData } from '../../../protocols/acquirer.ts'
import { playOfCard } from '../../../protocols/test-cards.ts'
import { riskHintOf } from '../fraud/card.ts'
import type { RiskHint } from '../fraud/fields.ts'

const securityCode = Type.Optional(
  Type.String({
    pattern: '^[0-9]{3,4}$',
    rule: 'must have 3 or 4 digits',
    errorCode: 'INVALID_CARD',
    sensitive: true,
    description: 'Card security code, never stored; `cvv` and `cvc` are aliases',
  }),
)

const CardInput = Type.Object(
  {
    number: Type.String({
      pattern: '^[0-9 -]{12,30}$',
      rule: 'must be the number on the card',
      errorCode: 'INVALID_CARD',
      sensitive: true,
      description: 'Card number, with or without blanks',
    }),
    exp_month: Type.Integer({
      minimum: 1,
      maximum: 12,
      rule: 'must be 1 to 12',
      errorCode: 'INVALID_CARD',
      description: 'Expiry month',
    }),
    exp_year: Type.Integer({
      minimum: 0,
      maximum: 2_099,
      rule: 'must be a year such as 2030, or its last two digits',
      errorCode: 'INVALID_CARD',
      description: 'Expiry year',
    }),
    cvv: securityCode,
    cvc: securityCode,
    name: Type.Optional(
      Type.String({
        maxLength: 100,
        rule: 'must have at most 100 characters',
        sensitive: true,
        description: 'Name of the holder as printed on the card',
      }),
    ),
  },
  {
    additionalProperties: false,
    rule: 'has an unknown field',
    sensitive: true,
    description: 'Card details as the payer typed them; omitted for other methods and for `card_token`',
  },
)

/** Fields of a request for a payment by card, beside those of every payment. */
export const cardFields = {
  card: Type.Optional(CardInput),
  card_token: Type.Optional(
    Type.String({ maxLength: 40, description: 'Token of a saved card; the payer need not be present' }),
  ),
  save_card: Type.Optional(Type.Boolean({ description: 'True returns a card_token for later charges' })),
  capture: Type.Optional(
    Type.Boolean({ description: 'False only reserves the amount, until it is captured or for seven days' }),
  ),
  require_3ds: Type.Optional(
    Type.Boolean({ description: 'True requires 3-D Secure, even if the bank does not; not with `card_token`' }),
  ),
  return_url: Type.Optional(
    Type.String({
      maxLength: 2_048,
      description: 'URL to return to after 3-D Secure, https; default the receipt',
    }),
  ),
}

export const CardShown = Type.Object(
  {
    brand: OneOf(cardBrands, { description: 'Brand of the card, by its first digits' }),
    last4: Type.String({ description: 'The last digits of its number' }),
    exp_month: Type.Integer({ description: 'Expiry month' }),
    exp_year: Type.Integer({ description: 'Expiry year, in four digits' }),
  },
  { title: 'Card', description: 'The card that pays' },
)
export type CardShown = Static<typeof CardShown>

/** Stored part of a card. */
export interface KeptCard extends CardShown {
  bin: string
  /** Fingerprint, equal for equal numbers in this installation; the number cannot be derived from it. */
  fingerprint: Buffer
  /** Risk that a test card provokes. */
  riskHint?: RiskHint | null
}

/** Kept part of a card that can be right; throws INVALID_CARD for any other. */
export function keptOf(app: App, given: Static<typeof CardInput>, environment: Environment, nowMs: number): KeptCard {
  const digits = digitsOf(given)
  const brand = brandOf(digits)
  if (!passesLuhn(digits)) throw invalidCard('card.number', 'is mistyped')
  if (brand === null) throw invalidCard('card.number', `is not of ${cardBrands.join(', ')}`)
  if (isPast(given.exp_month, given.exp_year, nowMs))
    throw invalidCard('card.exp_year', 'is past: the card has expired')
  if (securityCodeOf(given) === undefined) throw invalidCard('card.cvv', 'is required')
  // The number of a real card has no business in a sandbox.
  if (environment === 'test' && playOfCard(digits) === null)
    throw invalidCard('card.number', 'is not a test number: take one of those in the documentation')
  return {
    ...shownOf(brand, digits, given),
    bin: digits.slice(0, 6),
    fingerprint: app.secrets.fingerprint('payments.cards', digits),
    riskHint: riskHintOf(digits, environment),
  }
}

/** Card as the acquirer gets it. */
export function dataOf(given: Static<typeof CardInput>): CardData {
  return {
    number: digitsOf(given),
    exp_month: given.exp_month,
    exp_year: fullYear(given.exp_year),
    cvc: securityCodeOf(given) ?? '',
  }
}

export function invalidCard(field: string, message: string): AppError {
  const fields = [{ field, code: 'INVALID_CARD', message } as const]
  return new AppError('INVALID_CARD', `${field} ${message}`, { fields })
}

function shownOf(brand: CardBrand, digits: string, { exp_month, exp_year }: Static<typeof CardInput>): CardShown {
  return { brand, last4: digits.slice(-4), exp_month, exp_year: fullYear(exp_year) }
}

function digitsOf({ number }: Static<typeof CardInput>): string {
  return number.replace(/[ -]/g, '')
}

function securityCodeOf({ cvv, cvc }: Static<typeof CardInput>): string | undefined {
  return cvv ?? cvc
}
