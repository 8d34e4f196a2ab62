// SPDX-License-Identifier: Apache-2.0
// Request schemas of invoices.

import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { invalid } from '../../../kernel/errors.ts'
import { currencyTaken } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import { AmountIn, Day, Metadata, OneOfAnyCase } from '../../../platform/schema/fields.ts'
import { PaymentCreate } from '../../payments/area.ts'
import { CustomerIn } from '../customers/customer.ts'
import type { Discount, NewItem } from './calculation.ts'
import type { NewInvoice } from './create.ts'

const maxItems = 200

const text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, rule: `must have 1 to ${maxLength} characters`, description })

const DiscountIn = Type.Object(
  {
    percent: Type.Optional(
      AmountIn({ rule: 'must be a percentage', description: 'Percent of the line or the invoice, such as 10 or 2.5' }),
    ),
    amount: Type.Optional(AmountIn({ description: 'In the currency of the invoice' })),
  },
  {
    rule: 'must have either percent or amount',
    description: 'Taken off before tax; on the invoice, in shares of its lines',
  },
)

const ItemIn = Type.Object({
  description: text(500, 'What is sold, as the customer reads it'),
  quantity: Type.Optional(
    AmountIn({ rule: 'must be a number with at most 6 decimals', description: 'How many of it; 1 unless given' }),
  ),
  unit_amount: AmountIn({ description: 'For one of it' }),
  tax_rate: Type.Optional(AmountIn({ rule: 'must be a percentage', description: 'Percent, at most 4 decimals' })),
  discount: Type.Optional(
    Type.Union([Type.Number(), Type.String({ maxLength: 40 }), DiscountIn], {
      rule: 'must be an amount, or an object with either percent or amount',
      description: 'Taken off the line before tax',
    }),
  ),
})

export const InvoiceCreate = Type.Object({
  customer: CustomerIn,
  currency: Type.String({ maxLength: 3, description: 'Of all its amounts, such as KES' }),
  items: Type.Array(ItemIn, {
    minItems: 1,
    maxItems,
    rule: `must be a list of 1 to ${maxItems} items`,
    description: 'Lines of the invoice, in this order',
  }),
  discount: Type.Optional(DiscountIn),
  tax_inclusive: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'The amounts hold their tax already; false unless given',
    }),
  ),
  due_date: Type.Optional(Day({ description: 'Last day to pay, UTC; 14 days ahead unless given' })),
  notes: Type.Optional(text(2_000, 'Shown on the invoice')),
  payment_methods: Type.Optional(
    Type.Array(OneOfAnyCase(['mobile_money', 'bank_transfer', 'card']), {
      minItems: 1,
      maxItems: 3,
      rule: 'must be a list of mobile_money, bank_transfer, card',
      description: 'Ways in which it can be paid; all that are offered unless given',
    }),
  ),
  reference: PaymentCreate.properties.reference,
  subscription_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'One that it goes with; begins with sub_' }),
  ),
  metadata: Type.Optional(Metadata),
  callback_url: PaymentCreate.properties.callback_url,
  send: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'Open it at once, as sent by yourself; a draft otherwise',
    }),
  ),
})

/** Converts a request body into a NewInvoice. */
export function newInvoice(app: App, body: Static<typeof InvoiceCreate>): NewInvoice {
  const { customer, currency, items, discount, tax_inclusive, due_date, notes, payment_methods, reference } = body
  const { callback_url, metadata, send = false } = body
  refuseCardNumbers({ notes, metadata })
  for (const [i, { description }] of items.entries()) refuseCardNumbers({ [`items[${i}].description`]: description })
  return {
    customer,
    currency: currencyTaken(app, currency),
    items: items.map(itemOf),
    open: send,
    ...(discount === undefined ? {} : { discount: discountOf(discount, 'discount') }),
    ...(tax_inclusive === undefined ? {} : { taxInclusive: tax_inclusive }),
    ...(due_date === undefined ? {} : { dueDate: due_date }),
    ...(notes === undefined ? {} : { notes }),
    ...(payment_methods === undefined
      ? {}
      : { paymentMethods: [...new Set(payment_methods.map((one) => one.toLowerCase()))] }),
    ...(reference === undefined ? {} : { reference }),
    ...(callback_url === undefined ? {} : { callbackUrl: callback_url }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}

function itemOf({ discount, ...rest }: Static<typeof ItemIn>, i: number): NewItem {
  if (discount === undefined) return rest
  return { ...rest, discount: typeof discount === 'object' ? discountOf(discount, `items[${i}].discount`) : discount }
}

function discountOf({ percent, amount }: Static<typeof DiscountIn>, place: string): Discount {
  if (percent !== undefined && amount === undefined) return { percent }
  if (amount !== undefined && percent === undefined) return { amount }
  throw invalid(place, 'must have either percent or amount')
}
