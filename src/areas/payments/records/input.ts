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
  description: Type.Optional(text(255, 'Description shown to the payer, truncated to fit')),
  customer: Type.Optional(
    Type.Object(
      {
        name: Type.Optional(text(100, 'Full name')),
        email: Type.Optional(
          Type.String({
            pattern: '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
            maxLength: 254,
            rule: 'must be an email address',
            description: 'Email compared with your fraud rules and blacklist; nothing is sent to it',
          }),
        ),
        phone: Type.Optional(text(20, 'Contact phone; the payment is collected from `phone` of the payment')),
        customer_id: Type.Optional(text(100, 'Your own id for the customer; finds their saved cards and payments')),
      },
      { description: 'Your data of the payer; returned with the payment' },
    ),
  ),
  metadata: Type.Optional(Metadata),
  callback_url: Type.Optional(Type.String({ maxLength: 2_048, description: 'URL that receives every change, signed' })),
  ...riskFields,
  settle_to: Type.Optional(OneOf(['wallet'], { description: 'Destination of the money; only one value so far' })),
  reference: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._:/-]{1,100}$',
      rule: 'must have 1 to 100 letters, digits or . _ : / -',
      description: 'Your own id for the payment; must be unique',
    }),
  ),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 86_400,
      rule: 'must be 60 to 86400 seconds',
      description:
        'Seconds until the payment expires; default 120 by phone, 900 by card (the maximum for cards), 3600 for a debit and 86400 for a transfer',
    }),
  ),
}

const amount = AmountIn({ description: 'Amount, before fees' })
// A text that is too long is refused as an unknown currency.
const currency = Type.String({ maxLength: 40, description: 'Currency of the amount, ISO 4217, such as KES' })
const provider = Type.Optional(text(40, 'Provider; derived from the payer’s network by default'))
const phone = Phone({ description: 'Phone number of the mobile-money account to charge' })

/** Phone number under either of its names. */
export const phoneFields = {
  phone: Type.Optional(phone),
  phone_number: Type.Optional(Phone({ description: 'Alias of `phone`' })),
}

export const PaymentCreate = Type.Object({
  amount,
  currency,
  method: Type.Optional(
    OneOfAnyCase(['mobile_money', 'card', 'bank_transfer'], {
      description:
        'Payment method; derived from `phone`, `card` or `bank` by default. `bank_transfer` alone returns an account to pay into',
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
  method: Type.Optional(OneOfAnyCase(['mobile_money'], { description: 'Payment method; only one value here' })),
  provider,
  ...phoneFields,
  ...optionalFields,
  // A request that names another source of the money must not charge a phone.
  bank: NotTaken('is not accepted for mobile money: to debit an account, use POST /v1/payments'),
  card_token: NotTaken('is not accepted for mobile money: to charge a card, use POST /v1/payments'),
  capture: Type.Optional(
    Type.Literal(true, {
      rule: 'must be true: amounts can be reserved on cards only',
      description: 'Accepted so that the same body can be sent for cards',
    }),
  ),
  save_card: Type.Optional(
    Type.Literal(false, {
      rule: 'must be false: cards are not accepted here',
      description: 'Accepted so that the same body can be sent for cards',
    }),
  ),
})

export type NewPayment = Static<typeof PaymentCreate>

export const PaymentParam = Type.Object({
  payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
})

export const PayoutParam = Type.Object({ payout_id: Type.String({ description: 'Id of the payout, such as `po_…`' }) })

export const phoneQuery = Type.Optional(
  Type.String({ maxLength: 20, description: 'Full number of the mobile-money account, such as +254711000001' }),
)

/** Filter of lists of payments and refunds. */
export const methodQuery = Type.Optional(
  OneOfAnyCase(['mobile_money', 'card', 'bank_transfer'], {
    description: 'Payment method; for a refund, that of the refunded payment',
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
