// SPDX-License-Identifier: Apache-2.0
// Routes of invoices.
import { type Static, Type } from 'typebox'
import { bucketOf, idOf, nilUuid, uuidOf } from '../../../kernel/ids.ts'
import { senderPattern, senderRule } from '../../../kernel/sender.ts'
import { dayOf } from '../../../kernel/time.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, read, write, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { askedMetadata, metadataQuery } from '../../../platform/metadata/filter.ts'
import { checkCallback } from '../../../platform/outbound/callback-url.ts'
import { AmountIn, dayRangeQuery, listQuery, Phone } from '../../../platform/schema/fields.ts'
import { pageOf, shownBounds, windowOf } from '../../../platform/schema/lists.ts'
import {
  accepting,
  Payment,
  PaymentCreate,
  passed,
  recordOf as paymentRecordOf,
  paymentUuid,
  sendNow,
} from '../../payments/area.ts'
import { Invoice, invoiceEvents } from '../events.ts'
import { createInvoice } from './create.ts'
import { isDelivered } from './deliver.ts'
import { givenUp } from './hooks.ts'
import { invoiceOf, invoiceUuid, noSuchInvoice, notWhile, tellInvoice } from './invoice.ts'
import { payInvoice } from './pay.ts'
import { InvoiceCreate, newInvoice } from './schema.ts'
import { deliverAndTell, openToSend } from './send.ts'
import {
  clockOffset,
  environmentOf,
  findInvoice,
  type InvoiceRow,
  listInvoices,
  lockInvoice,
  writeOff,
} from './store.ts'
import { requireSubscriptionId } from './subscription.ts'
import { voidInvoice } from './void.ts'

const InvoiceParam = Type.Object({ invoice_id: Type.String({ description: 'Id of the invoice, such as `inv_…`' }) })
const reply = { status: 200, schema: Invoice } as const

const create = write({
  method: 'POST',
  path: '/v1/billing/invoices',
  operation: 'billing.createInvoice',
  summary: 'Create an invoice',
  description:
    'Creates a draft, or with `send` an open invoice, with its link in `invoice.opened`. The number is assigned and the customer’s credit is applied when the invoice is opened. Each line is rounded to the minor unit, ties to even.',
  scope: 'billing:write',
  limit: 'payments',
  bodyLimitBytes: 512 * 1_024,
  body: InvoiceCreate,
  reply: {
    status: 201,
    schema: Invoice,
    location: ({ invoice_id }) => `/v1/billing/invoices/${invoice_id}`,
  },
  errors: [
    'VALIDATION_ERROR',
    'INVALID_PHONE',
    'INVALID_URL',
    'UNSUPPORTED_CURRENCY',
    'NOT_FOUND',
    'DUPLICATE_REFERENCE',
  ],
  examples: [
    {
      name: 'Two hours of work',
      body: {
        customer: { name: 'Asha', email: 'asha@example.com' },
        currency: 'KES',
        items: [{ description: 'Setup', quantity: 2, unit_amount: 1500, tax_rate: 16 }],
        send: true,
      },
    },
  ],
  prepare: (app, { body }, caller) => checkCallback(app, caller.tenant, body.callback_url),
  handle: async (app, tx, { body }, caller) => {
    const { subscription_id: of } = body
    const goesWith = of === undefined ? {} : { subscriptionId: await requireSubscriptionId(tx, caller.tenant, of) }
    const made = await createInvoice(app, tx, caller, { ...newInvoice(app, body), ...goesWith })
    if (body.send === true) await tellInvoice(app, tx, invoiceEvents.opened, caller, made)
    return recorded(app, tx, caller, 'invoice.create', made)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/billing/invoices/:invoice_id',
  operation: 'billing.getInvoice',
  summary: 'Get an invoice',
  scope: 'billing:read',
  params: InvoiceParam,
  reply,
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant, nowMs }) => {
    const row = await maybe(app.db.query(findInvoice, { ...tenant, id: invoiceUuid(params.invoice_id) }))
    if (!row) throw noSuchInvoice()
    return invoiceOf(app, row, nowMs)
  },
})

const invoices = list({
  path: '/v1/billing/invoices',
  operation: 'billing.listInvoices',
  summary: 'List invoices',
  scope: 'billing:read',
  query: Type.Object({
    ...listQuery,
    ...dayRangeQuery,
    status: Type.Optional(Invoice.properties.status),
    overdue: Type.Optional(
      Type.Literal(true, { rule: 'must be true', description: 'True lists only open invoices past their due date' }),
    ),
    customer_id: Type.Optional(Type.String({ maxLength: 40, description: 'Filter by customer, such as `cus_…`' })),
    subscription_id: Type.Optional(
      Type.String({ maxLength: 40, description: 'Filter by subscription, such as `sub_…`' }),
    ),
    reference: Type.Optional(Type.String({ maxLength: 100, description: 'Filter by your own id for the invoice' })),
    number: Type.Optional(Type.String({ maxLength: 100, description: 'Filter by invoice number, as printed' })),
    ...metadataQuery,
  }),
  row: Invoice,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Open invoices', query: { status: 'open' } }],
  handle: async (app, { query }, caller) => {
    const { tenant, nowMs } = caller
    const window = windowOf(query)
    const rows = await app.db.query(listInvoices, {
      ...tenant,
      ...window,
      ...shownBounds(query, caller),
      status: query.status ?? null,
      customer: query.customer_id === undefined ? null : (uuidOf('customer', query.customer_id) ?? nilUuid),
      subscription:
        query.subscription_id === undefined ? null : (uuidOf('subscription', query.subscription_id) ?? nilUuid),
      reference: query.reference ?? null,
      number: query.number ?? null,
      metadata: askedMetadata(query),
      overdueOn: query.overdue === undefined ? null : dayOf(new Date(nowMs)),
    })
    return pageOf(window, rows, (row) => invoiceOf(app, row, nowMs))
  },
})

const send = write({
  method: 'POST',
  path: '/v1/billing/invoices/:invoice_id/send',
  operation: 'billing.sendInvoice',
  summary: 'Finalize an invoice and send its link',
  description:
    'With `phone` the link is sent as a text, at the price of a text; with `email` it is mailed with the PDF, from your verified domain. Without either, nothing is sent and `invoice.opened` replaces `invoice.sent`: deliver `hosted_url` to your customer yourself. It can be repeated as a reminder. If the text or mail is refused, the invoice stays open and unsent.',
  scope: 'billing:write',
  limit: 'payments',
  params: InvoiceParam,
  body: Type.Object({
    phone: Type.Optional(Phone({ description: 'Phone number that receives the link' })),
    email: Type.Optional(Type.String({ maxLength: 320, description: 'Email address that receives the link' })),
    from: Type.Optional(
      Type.String({
        pattern: senderPattern,
        rule: senderRule,
        description: 'Sender of the text; default: the account’s default_sender, or PAMOJA',
      }),
    ),
    message: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 300,
        rule: 'must have 1 to 300 characters',
        description: 'Text before the link, instead of the default',
      }),
    ),
  }),
  reply,
  errors: [
    'NOT_FOUND',
    'INVALID_STATE',
    'INVALID_PHONE',
    'INVALID_EMAIL',
    'MAIL_NOT_CONFIGURED',
    'VALIDATION_ERROR',
    'INSUFFICIENT_BALANCE',
    'SENDER_NOT_ALLOWED',
    'COUNTRY_NOT_ENABLED',
    'OPTED_OUT',
  ],
  examples: [{ name: 'By text', body: { phone: '+254711000001', from: 'PAMOJA' } }],
  handle: async (app, tx, { params, body }, caller) => {
    const invoice = await openToSend(app, tx, caller, params.invoice_id, body)
    await record(tx, caller, 'invoice.send', invoice.invoice_id, { after: { status: invoice.status } })
    return invoice
  },
  follow: async (app, { params, body }, caller, invoice) =>
    isDelivered(body) ? deliverAndTell(app, caller, params.invoice_id, body) : invoice,
})

const voidOne = write({
  method: 'POST',
  path: '/v1/billing/invoices/:invoice_id/void',
  operation: 'billing.voidInvoice',
  summary: 'Void an invoice',
  description:
    'Voids a draft, or an open invoice without payments. Its number is not reused; credit is returned to the customer.',
  scope: 'billing:write',
  limit: 'payments',
  params: InvoiceParam,
  body: Type.Object({
    reason: Type.Optional(
      Type.String({
        maxLength: 500,
        rule: 'must have at most 500 characters',
        description: 'Note shown on the voided invoice',
      }),
    ),
  }),
  reply,
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_STATE'],
  examples: [{ name: 'A duplicate invoice', body: { reason: 'sent twice' } }],
  handle: async (app, tx, { params, body }, caller) => {
    const before = await locked(tx, caller, params.invoice_id)
    return recorded(app, tx, caller, 'invoice.void', await voidInvoice(app, tx, caller, before, body.reason ?? null))
  },
})

const asPaid = Type.Pick(PaymentCreate, [
  ...(['phone', 'phone_number', 'provider', 'method', 'card_token', 'bank'] as const),
  ...(['description', 'reference', 'metadata', 'callback_url', 'expires_in'] as const),
])

const pay = write({
  ...accepting,
  method: 'POST',
  path: '/v1/billing/invoices/:invoice_id/pay',
  operation: 'billing.payInvoice',
  summary: 'Pay an invoice',
  description:
    'Prompts the payer on the phone, charges a saved card (`card_token`) or debits an account (`bank`), as with every payment. A part of the amount due can be requested; the invoice stays open until it is paid in full.',
  scope: 'billing:write',
  params: InvoiceParam,
  body: Type.Object({
    amount: Type.Optional(AmountIn({ description: 'Amount in major units; default: the amount due' })),
    ...asPaid.properties,
  }),
  reply: {
    status: 201,
    schema: Payment,
    location: ({ payment_id }: Static<typeof Payment>) => `/v1/payments/${payment_id}`,
  },
  errors: [...accepting.errors, 'NOT_FOUND', 'INVALID_STATE', 'PAYMENT_BLOCKED'],
  examples: [{ name: 'From a phone', body: { phone: '+254700000001' } }],
  prepare: (app, { body }, caller) => checkCallback(app, caller.tenant, body.callback_url),
  handle: async (app, tx, { params, query, body }, caller) => {
    const invoice = await locked(tx, caller, params.invoice_id)
    return paymentRecordOf(await payInvoice(app, tx, caller, invoice, body, query.wait !== 0))
  },
  follow: async (app, { query }, caller, payment) =>
    query.wait === 0 ? passed(payment) : paymentRecordOf(await sendNow(app, caller, paymentUuid(payment.payment_id))),
})

const writeOffOne = writeAcross({
  method: 'POST',
  path: '/v1/operator/accounts/:account_id/invoices/:invoice_id/write-off',
  operation: 'operator.writeOffInvoice',
  summary: 'Write off an open invoice',
  description:
    'The invoice becomes uncollectible. A later payment still marks it as paid. Its subscription continues without it.',
  scope: 'operator',
  params: Type.Object({
    account_id: Type.String({ description: 'Id of the account, such as `acc_…`' }),
    invoice_id: Type.String({ description: 'Id of the invoice, such as `inv_…`' }),
  }),
  reply,
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  handle: async (app, tx, { params }, caller) => {
    const account = uuidOf('account', params.account_id)
    if (account === null) throw noSuchInvoice()
    const id = invoiceUuid(params.invoice_id)
    const place = { bucket: bucketOf(account), account }
    const found = await maybe(tx.query(environmentOf, { ...place, id }))
    if (!found) throw noSuchInvoice()
    const tenant = { ...place, environment: found.environment }
    const { offset_ms } = await one(tx.query(clockOffset, tenant))
    const owner = { ...caller, tenant, nowMs: caller.receivedMs + Number(offset_ms) }
    const before = await locked(tx, owner, params.invoice_id)
    const after = await maybe(tx.query(writeOff, { ...tenant, id, at: new Date(owner.nowMs) }))
    if (!after) throw notWhile(before, 'only an open one can be given up')
    await givenUp(app, tx, owner, after)
    return recorded(app, tx, owner, 'invoice.write_off', after)
  },
})

async function locked(tx: Tx, { tenant }: Caller, id: string): Promise<InvoiceRow> {
  const row = await maybe(tx.query(lockInvoice, { ...tenant, id: invoiceUuid(id) }))
  if (!row) throw noSuchInvoice()
  return row
}

async function recorded(app: App, tx: Tx, caller: Caller, action: string, row: InvoiceRow) {
  await record(tx, caller, action, idOf('invoice', row.id), { after: { status: row.status, number: row.number } })
  return invoiceOf(app, row, caller.nowMs)
}

export const invoiceRoutes: readonly Route[] = [create, invoices, get, send, voidOne, pay, writeOffOne]
