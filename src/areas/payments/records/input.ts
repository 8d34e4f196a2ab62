// SPDX-License-Identifier: Apache-2.0
// Shape of a request for a payment, with the fields of all methods; each method checks its own.
import { type Static, Type } from 'typebox'
import { type AppError, invalid } from '../../../kernel/errors.ts'
import { askedMetadata } from '../../../platform/metadata/filter.ts'
import { AmountIn, Metadata, NotTaken, OneOf, OneOfAnyCase, Phone } from '../../../platform/schema/fields.ts'
import { riskFields } from '../fraud/fields.ts'
import { bankFields } from '../providers/banks.ts'
import { cardFields } from '../providers/card.ts'

const text = (maxLength: number, description: string) =>
  Type.String({ maxLength, rule: `must have at most ${maxLength} characters`, description })

const optionalFields = {
  description: Type.Optional(text(255, 'Shown to the payer, as much of it as fits')),
  customer: Type.Optional(
    Type.Object(
      {
        name: Type.Optional(text(100, 'What they are called')),
        email: Type.Optional(
          Type.String({
            pattern: '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
            maxLength: 254,
            rule: 'must be an email address',
            description: 'What your rules and blacklist of fraud look at; nothing is sent to it',
          }),
        ),
        phone: Type.Optional(text(20, 'Where they can be called; what pays is `phone` of the payment')),
        customer_id: Type.Optional(text(100, 'Your own id of them: their saved cards and payments are found by it')),
      },
      { description: 'Who pays, as you know them; told with the payment' },
    ),
  ),
  metadata: Type.Optional(Metadata),
  callback_url: Type.Optional(Type.String({ maxLength: 2_048, description: 'Told of every change, signed' })),
  ...riskFields,
  settle_to: Type.Optional(OneOf(['wallet'], { description: 'Where the money goes; there is no other place yet' })),
  reference: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._:/-]{1,100}$',
      rule: 'must have 1 to 100 letters, digits or . _ : / -',
      description: 'Your own id of the payment; each can be used once',
    }),
  ),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 86_400,
      rule: 'must be 60 to 86400 seconds',
      description:
        'How long the payer may take; unless given 120 seconds on the phone, 900 with a card, which is the most there, 3600 for a debit and 86400 for a transfer',
    }),
  ),
}

const amount = AmountIn({ description: 'What moves, before fees' })
// A text that is too long is refused as an unknown currency.
const currency = Type.String({ maxLength: 40, description: 'What the amount is in, such as KES' })
const provider = Type.Optional(text(40, 'Found by the payer’s network unless given'))
const phone = Phone({ description: 'Number of the mobile money account, which the request is sent to' })

/** Phone number under either of its names. */
export const phoneFields = {
  phone: Type.Optional(phone),
  phone_number: Type.Optional(Phone({ description: 'The same as `phone`' })),
}

export const PaymentCreate = Type.Object({
  amount,
  currency,
  method: Type.Optional(
    OneOfAnyCase(['mobile_money', 'card', 'bank_transfer'], {
      description:
        'Follows from `phone`, `card` or `bank` unless given; `bank_transfer` alone gives an account to pay into',
    }),
  ),
  provider,
  ...phoneFields,
  ...cardFields,
  ...bankFields,
  ...optionalFields,
})

export const MobilePaymentCreate = Type.Object({
  amount,
  currency,
  method: Type.Optional(OneOfAnyCase(['mobile_money'], { description: 'There is no other here' })),
  provider,
  ...phoneFields,
  ...optionalFields,
  // A request that names another source of the money must not charge a phone.
  bank: NotTaken('is not debited here: use POST /v1/payments'),
  card_token: NotTaken('is not charged here: use POST /v1/payments'),
  capture: Type.Optional(
    Type.Literal(true, {
      rule: 'must be true: money is set aside on cards only',
      description: 'For a body that is also sent for cards',
    }),
  ),
  save_card: Type.Optional(
    Type.Literal(false, {
      rule: 'must be false: there is no card to save here',
      description: 'For a body that is also sent for cards',
    }),
  ),
})

export type NewPayment = Static<typeof PaymentCreate>

export const PaymentParam = Type.Object({ payment_id: Type.String({ description: 'Begins with pay_' }) })

export const PayoutParam = Type.Object({ payout_id: Type.String({ description: 'Begins with po_' }) })

export const phoneQuery = Type.Optional(
  Type.String({ maxLength: 20, description: 'Whole number of the mobile money account, such as +254711000001' }),
)

/** Filter of lists of payments and refunds. */
export const methodQuery = Type.Optional(
  OneOfAnyCase(['mobile_money', 'card', 'bank_transfer'], {
    description: 'How the payment was made, of a refund the payment that it gives back',
  }),
)

interface Narrowing {
  currency?: string
  provider?: string
  method?: string
  reference?: string
  phone?: string
  metadata?: Record<string, string>
}

/** Filters of a list as its statement takes them: null is any. */
export function askedOf(query: Narrowing) {
  const { currency, provider, method, reference, phone } = query
  return {
    currency: currency?.toUpperCase() ?? null,
    provider: provider?.toLowerCase() ?? null,
    method: method?.toLowerCase() ?? null,
    reference: reference ?? null,
    // In a query string a plus sign is a blank.
    phone: phone?.replace(/^ ?(?=\d)/, '+') ?? null,
    metadata: askedMetadata(query),
  }
}

/** The number that a request gives, under whichever name; `within` is the path of what holds it. */
export function phoneOf(
  { phone, phone_number }: Pick<NewPayment, 'phone' | 'phone_number'>,
  within = '',
): string | undefined {
  if (phone !== undefined && phone_number !== undefined && phone !== phone_number)
    throw invalid(`${within}phone_number`, 'must be the same as phone, or absent')
  return phone ?? phone_number
}

/** The refusal of a body that lacks a field which its method needs; `otherwise` says what else would do. */
export function missing(field: string, otherwise = ''): AppError {
  return invalid(field, `is required${otherwise}`)
}
