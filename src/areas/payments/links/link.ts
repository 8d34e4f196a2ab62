// SPDX-License-Identifier: Apache-2.0
// Payment link: an address of ours for paying a fixed amount, without an invoice. Shared with many it sells the same
// thing again and again; with max_uses 1 and a redirect_url it is the checkout of one order.
import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { dayMs, parseMoment } from '../../../kernel/time.ts'
import { currencyTaken, microsOf } from '../../../ledger/currencies.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { checkReturnUrl } from '../../../platform/outbound/return-url.ts'
import { AmountIn, Metadata, Moment, OneOfAnyCase } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { newToken, secretName } from '../../../platform/web/secret-name.ts'
import { waysFor } from '../checkout/form.ts'
import { PaymentCreate } from '../records/input.ts'
import type { LinkStatus, PaymentLink } from './events.ts'
import { closeLink, findLink, insertLink, type LinkRow } from './store.ts'

/** Path of the pages of links, before their secret names. */
export const linkPath = '/link'
const maxUses = 100_000
const maxAheadMs = 5 * 366 * dayMs

export const LinkCreate = Type.Object({
  amount: AmountIn({ description: 'Amount of each payment' }),
  currency: PaymentCreate.properties.currency,
  description: Type.String({
    minLength: 1,
    maxLength: 255,
    rule: 'must have 1 to 255 characters',
    description: 'Description shown to the payer, and on the receipt',
  }),
  payment_methods: Type.Optional(
    Type.Array(OneOfAnyCase(['mobile_money', 'bank_transfer', 'card']), {
      minItems: 1,
      maxItems: 3,
      rule: 'must be a list of mobile_money, bank_transfer, card',
      description: 'Accepted payment methods; default all available',
    }),
  ),
  max_uses: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxUses,
      rule: `must be 1 to ${maxUses}`,
      description: 'Maximum number of payments; default no limit',
    }),
  ),
  expires_at: Type.Optional(Moment({ description: 'Time after which no payment can be started' })),
  redirect_url: Type.Optional(
    Type.String({
      maxLength: 2_048,
      rule: 'must have at most 2048 characters',
      description:
        'URL the payer is sent to after paying, with payment_id, status and sig; default: our own thank-you page',
    }),
  ),
  metadata: Type.Optional(Metadata),
})

export async function createLink(
  app: App,
  tx: Tx,
  input: Static<typeof LinkCreate>,
  caller: Caller,
): Promise<Static<typeof PaymentLink>> {
  const { tenant, receivedMs, nowMs } = caller
  const { description, metadata, redirect_url: redirectUrl } = input
  refuseCardNumbers({ description, metadata })
  checkReturnUrl(redirectUrl, tenant.environment, 'redirect_url')
  const currency = currencyTaken(app, input.currency)
  const amount = microsOf('amount', input.amount, currency)
  const methods = input.payment_methods && [...new Set(input.payment_methods.map((one) => one.toLowerCase()))]
  requirePayable(app, tenant, currency, amount, methods ?? null)
  const row = await one(
    tx.query(insertLink, {
      ...tenant,
      id: newUuid(receivedMs),
      token: newToken(),
      amount,
      currency,
      description,
      methods: methods ?? null,
      redirectUrl: redirectUrl ?? null,
      maxUses: input.max_uses ?? null,
      metadata: JSON.stringify(metadata ?? {}),
      expiresAt: expiryOf(input.expires_at, nowMs),
      at: new Date(nowMs),
    }),
  )
  const link = linkOf(app, row, nowMs)
  await record(tx, caller, 'payment_link.create', link.payment_link_id, { after: { status: link.status } })
  return link
}

/** Refuses an amount that no method takes, here and not on the page, where only the payer would see it. */
function requirePayable(app: App, tenant: Tenant, currency: string, micros: bigint, methods: string[] | null): void {
  const { phones, bank, card } = waysFor(app, tenant, { currency, micros, methods })
  if (phones.length === 0 && !bank && !card)
    throw new AppError(
      'UNSUPPORTED_METHOD',
      `nobody takes this amount of ${currency} in these ways: see GET /v1/payments/methods`,
    )
}

function expiryOf(given: string | undefined, nowMs: number): Date | null {
  const at = given === undefined ? null : parseMoment(given)
  if (at && (at.getTime() <= nowMs || at.getTime() > nowMs + maxAheadMs))
    throw invalid('expires_at', 'must be in the future, within five years')
  return at
}

/** Deactivated links take no new payments; pending ones go on. */
export async function deactivateLink(
  app: App,
  tx: Tx,
  name: string,
  caller: Caller,
): Promise<Static<typeof PaymentLink>> {
  const { tenant, nowMs } = caller
  const before = await requireLink(tx, tenant, name)
  const row = await one(tx.query(closeLink, { ...tenant, id: before.id, at: new Date(nowMs) }))
  const link = linkOf(app, row, nowMs)
  const change = { before: { status: statusOf(before, nowMs) }, after: { status: link.status } }
  await record(tx, caller, 'payment_link.deactivate', link.payment_link_id, change)
  return link
}

export async function requireLink(queryable: Queryable, tenant: Tenant, name: string): Promise<LinkRow> {
  const id = uuidOf('paymentLink', name)
  const row = id === null ? null : await maybe(queryable.query(findLink, { ...tenant, id }))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such payment link; their ids begin with plink_')
  return row
}

export function linkOf(app: App, row: LinkRow, nowMs: number): Static<typeof PaymentLink> {
  const { amount, currency, description, payment_methods, redirect_url, max_uses, uses, metadata } = row
  return {
    payment_link_id: idOf('paymentLink', row.id),
    url: `${app.publicUrl}${linkPath}/${secretName(row)}`,
    status: statusOf(row, nowMs),
    amount,
    currency,
    description,
    payment_methods,
    max_uses,
    uses,
    amount_collected: row.collected,
    redirect_url,
    metadata,
    expires_at: row.expires_at,
    deactivated_at: row.deactivated_at,
    created_at: row.created_at,
  }
}

/** Status of a link; lists filter by the same rules in SQL. */
export function statusOf({ deactivated_at, uses, max_uses, expires_at }: LinkRow, nowMs: number): LinkStatus {
  if (deactivated_at !== null) return 'inactive'
  if (max_uses !== null && uses >= max_uses) return 'completed'
  return expires_at !== null && expires_at.getTime() <= nowMs ? 'expired' : 'active'
}
