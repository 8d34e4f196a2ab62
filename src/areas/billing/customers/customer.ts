// SPDX-License-Identifier: Apache-2.0
// Customers of an account, and their credit: overpayments and amounts the account granted. Credit pays the customer's
// next invoices and is never refunded automatically.

import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { invalid } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { least } from '../../../kernel/money.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { MergeCustomers } from '../../../platform/operator/history.ts'
import { Phone } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type CustomerRow, customerByContact, heldCustomer } from '../../customers/area.ts'
import { PaymentCreate } from '../../payments/area.ts'
import { creditsOf, insertCreditEntry, lockCredit, moveCredit, moveInvoices, moveSubscriptions } from './store.ts'

const { name, email } = PaymentCreate.properties.customer.properties

/** Customer fields of a request. */
export const CustomerIn = Type.Object(
  {
    name,
    email: Type.Optional(Type.String({ ...email, description: 'Email address for invoices' })),
    phone: Type.Optional(Phone({ description: 'Number for invoices by text, and for payment requests' })),
    tax_number: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        rule: 'must have 1 to 40 characters',
        description: 'Tax number on the PDF',
      }),
    ),
    address: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 300,
        rule: 'must have 1 to 300 characters',
        description: 'Address on the PDF; line breaks are kept',
      }),
    ),
    customer_id: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Id of an existing customer (`cus_…`); the other fields are then ignored',
      }),
    ),
  },
  { description: 'Customer to bill: found by customer_id, email or phone, or created' },
)

export type NewCustomer = Static<typeof CustomerIn>

/**
 * Finds or creates the customer of a request: by id, then email address, then phone number. `needsContact` refuses a name
 * alone.
 */
export async function customerFor(
  tx: Tx,
  occasion: Occasion,
  given: NewCustomer,
  { needsContact = false }: { needsContact?: boolean } = {},
): Promise<CustomerRow> {
  if (given.customer_id !== undefined) {
    const known = await heldCustomer(tx, occasion, given.customer_id)
    return needsContact ? withContact(known) : known
  }
  const { name = null, email = null, phone = null, tax_number: taxNumber = null, address = null } = given
  if (name === null && email === null && phone === null)
    throw invalid('customer', 'must have a name, an email, a phone or a customer_id')
  refuseCardNumbers({ 'customer.name': name, 'customer.email': email, 'customer.address': address })
  if (needsContact) withContact({ email, phone })
  return customerByContact(tx, occasion, { name, email, phone, taxNumber, address })
}

function withContact<T extends Pick<CustomerRow, 'email' | 'phone'>>(customer: T): T {
  if (customer.email === null && customer.phone === null) throw invalid('customer', 'must have an email or a phone')
  return customer
}

/** Customer fields shown on invoices, subscriptions and payments; unknown ones are left out. */
export function customerFacts({ id, name, email, phone, tax_number, address }: CustomerRow): Record<string, string> {
  const known = Object.entries({ name, email, phone, tax_number, address }).flatMap(([key, value]) =>
    value === null ? [] : [[key, value]],
  )
  return { customer_id: idOf('customer', id), ...Object.fromEntries(known) }
}

/** Reason for a credit change: its source and step. A unique key lets each step apply once. */
export interface CreditStep {
  customerId: string
  currency: string
  sourceId: string
  step: string
}

/** Credit step for the paid but unused part of an invoice. */
export const unusedStep = 'unused'

/** Adds credit to a customer. */
export async function addCredit(
  tx: Tx,
  { tenant, nowMs }: Pick<Occasion, 'tenant' | 'nowMs'>,
  credit: CreditStep,
  micros: bigint,
): Promise<void> {
  if (micros <= 0n) return
  const { customerId: customer, currency, sourceId: source, step } = credit
  const entry = { ...tenant, source, step, customer, currency, amount: micros, at: new Date(nowMs) }
  if (!(await maybe(tx.query(insertCreditEntry, entry)))) return
  await tx.query(moveCredit, { ...tenant, customer, currency, amount: micros })
}

/** Current credit of a customer, read without a lock: another transaction may take it. */
export async function creditOf(tx: Tx, tenant: Tenant, customerId: string, currency: string): Promise<bigint> {
  const credits = await tx.query(creditsOf, { ...tenant, customers: [customerId] })
  return credits.find((credit) => credit.currency === currency)?.balance ?? 0n
}

/** Takes up to `most` of a customer's credit and returns the amount taken. */
export async function takeCredit(
  tx: Tx,
  { tenant, nowMs }: Pick<Occasion, 'tenant' | 'nowMs'>,
  credit: CreditStep,
  maxMicros: bigint,
): Promise<bigint> {
  const { customerId: customer, currency, sourceId: source, step } = credit
  const { balance = 0n } = (await maybe(tx.query(lockCredit, { ...tenant, customer, currency }))) ?? {}
  const micros = least(balance, maxMicros)
  if (micros <= 0n) return 0n
  const entry = { ...tenant, source, step, customer, currency, amount: -micros, at: new Date(nowMs) }
  if (!(await maybe(tx.query(insertCreditEntry, entry)))) return 0n
  await tx.query(moveCredit, { ...tenant, customer, currency, amount: -micros })
  return micros
}

/** Moves the invoices, subscriptions and credit of a merged customer. Locks as the area says: invoice, subscription, credit. */
export const mergeBilling: MergeCustomers = async (tx, tenant, { from, into, at }) => {
  await tx.query(moveInvoices, { ...tenant, from, into })
  await tx.query(moveSubscriptions, { ...tenant, from, into })
  const occasion = { tenant, nowMs: at.getTime() }
  for (const { currency, balance } of await tx.query(creditsOf, { ...tenant, customers: [from] })) {
    const step = (name: string) => ({ currency, sourceId: from, step: `${name}:${currency}` })
    const taken = await takeCredit(tx, occasion, { ...step('merged_from'), customerId: from }, balance)
    await addCredit(tx, occasion, { ...step('merged_into'), customerId: into }, taken)
  }
}
