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
    amount: Type.Optional(AmountIn({ description: 'Amount in the currency of the invoice' })),
  },
  {
    rule: 'must have either percent or amount',
    description: 'Discount before tax; a discount on the invoice is distributed over its lines',
  },
)

const ItemIn = Type.Object({
  description: text(500, 'Description of the item, shown to the customer'),
  quantity: Type.Optional(
    AmountIn({ rule: 'must be a number with at most 6 decimals', description: 'Quantity; default 1' }),
  ),
  unit_amount: AmountIn({ description: 'Price per unit' }),
  tax_rate: Type.Optional(
    AmountIn({ rule: 'must be a percentage', description: 'Tax rate in percent, with at most 4 decimals' }),
  ),
  discount: Type.Optional(
    Type.Union([Type.Number(), Type.String({ maxLength: 40 }), DiscountIn], {
      rule: 'must be an amount, or an object with either percent or amount',
      description: 'Discount on the line, before tax',
    }),
  ),
})

export const InvoiceCreate = Type.Object({
  customer: CustomerIn,
  currency: Type.String({ maxLength: 3, description: 'Currency of all amounts, such as KES' }),
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
      description: 'True if the amounts contain the tax; default false',
    }),
  ),
  due_date: Type.Optional(Day({ description: 'Last day to pay, UTC; default 14 days ahead' })),
  notes: Type.Optional(text(2_000, 'Notes shown on the invoice')),
  payment_methods: Type.Optional(
    Type.Array(OneOfAnyCase(['mobile_money', 'bank_transfer', 'card']), {
      minItems: 1,
      maxItems: 3,
      rule: 'must be a list of mobile_money, bank_transfer, card',
      description: 'Accepted payment methods; default all available',
    }),
  ),
  reference: PaymentCreate.properties.reference,
  subscription_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of a related subscription, such as `sub_…`' }),
  ),
  metadata: Type.Optional(Metadata),
  callback_url: PaymentCreate.properties.callback_url,
  send: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'True opens the invoice at once, without sending it; default false, for a draft',
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
