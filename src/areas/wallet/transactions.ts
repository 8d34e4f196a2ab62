// SPDX-License-Identifier: Apache-2.0
// The list of a wallet's movements: what each was, what it was about, and the balance after it.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { type Id, idOf, timeOfUuid } from '../../kernel/ids.ts'
import { type Entry, entriesOf, entryTypes } from '../../ledger/entries.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Queryable } from '../../platform/db.ts'
import { idBounds } from '../../platform/page.ts'
import type { Page } from '../../platform/route.ts'
import { Amount, At, dayRangeQuery, listQuery, Metadata, Nullable, OneOf } from '../../platform/schema.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { currencyOf, findPayments, findPayouts } from '../payments/area.ts'

const defaultLimit = 50
/** The last row of the page before, and the balance there if it was final. */
const cursorForm = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?::(-?\d{1,18}))?$/

export const TransactionQuery = Type.Object({
  ...listQuery,
  ...dayRangeQuery,
  type: Type.Optional(OneOf(entryTypes)),
  currency: Type.Optional(Type.String({ maxLength: 3, description: 'The account’s own unless given' })),
})

export const WalletTransaction = Type.Object(
  {
    transaction_id: Type.String(),
    type: OneOf(entryTypes),
    direction: OneOf(['debit', 'credit']),
    amount: Amount(),
    currency: Type.String(),
    balance_after: Amount(),
    description: Nullable(Type.String()),
    source: Type.Object({
      type: OneOf(['sms', 'payment', 'payout', 'refund', 'dispute', 'credit']),
      id: Type.String(),
    }),
    reference: Nullable(Type.String()),
    metadata: Metadata,
    created_at: At(),
  },
  { title: 'WalletTransaction' },
)

export async function listTransactions(
  app: App,
  query: Static<typeof TransactionQuery>,
  { tenant, principal, receivedMs }: Caller,
): Promise<Page<Static<typeof WalletTransaction>>> {
  const currency = currencyOf(query.currency ?? principal.facts.currency)
  const descending = query.order !== 'asc'
  const range = idBounds(query)
  const cursor = query.cursor === undefined ? null : cursorOf(query.cursor)
  const { from, to } = cursor === null ? range : after(range, cursor.id, descending)
  const { entries, next } = await entriesOf(
    app.db,
    tenant,
    currency,
    {
      from,
      to,
      descending,
      openingMicros: cursor?.openingMicros ?? null,
      limit: query.limit ?? defaultLimit,
      type: query.type ?? null,
    },
    receivedMs,
  )
  const notes = await notesOf(app.db, tenant, entries)
  return {
    rows: entries.map((entry) => ({
      transaction_id: idOf('walletTransaction', entry.id),
      type: entry.type,
      direction: entry.micros < 0n ? 'debit' : 'credit',
      amount: entry.micros < 0n ? -entry.micros : entry.micros,
      currency,
      balance_after: entry.balanceAfterMicros,
      source: sourceOf(entry),
      description: entry.description,
      reference: null,
      metadata: {},
      ...notes.get(entry.sourceId),
      created_at: timeOfUuid(entry.id),
    })),
    nextCursor: next && Buffer.from([next.id, next.openingMicros ?? []].flat().join(':')).toString('base64url'),
  }
}

function cursorOf(text: string): { id: string; openingMicros: bigint | null } {
  const [, id, opening] = cursorForm.exec(Buffer.from(text, 'base64url').toString()) ?? []
  if (id === undefined) throw new AppError('INVALID_REQUEST', 'cursor is not one this service gave out')
  return { id, openingMicros: opening === undefined ? null : BigInt(opening) }
}

/** The part of a range that follows an id. Ids of one length sort as their texts do. */
function after({ from, to }: { from: string; to: string }, id: string, descending: boolean) {
  if (descending) return { from, to: id < to ? id : to }
  const next = successor(id)
  return { from: next > from ? next : from, to }
}

function successor(uuid: string): string {
  const bits = (BigInt(`0x${uuid.replaceAll('-', '')}`) + 1n) & ((1n << 128n) - 1n)
  return bits
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** What customers said of the payments and payouts on a page. */
async function notesOf(queryable: Queryable, tenant: Tenant, entries: readonly Entry[]) {
  const idsOf = (is: (entry: Entry) => boolean) => entries.filter(is).map(({ sourceId }) => sourceId)
  const [payments, payouts] = [idsOf(isPayment), idsOf(isPayout)]
  const rows = [
    ...(payments.length > 0 ? await queryable.query(findPayments, { ...tenant, ids: payments }) : []),
    ...(payouts.length > 0 ? await queryable.query(findPayouts, { ...tenant, ids: payouts }) : []),
  ]
  return new Map(rows.map(({ id, ...notes }) => [id, notes]))
}

function sourceOf(entry: Entry): {
  type: 'sms' | 'payment' | 'payout' | 'refund' | 'dispute' | 'credit'
  id: Id<'sms' | 'payment' | 'payout' | 'refund' | 'dispute' | 'walletTransaction'>
} {
  if (entry.counter === 'revenue:sms') return { type: 'sms', id: idOf('sms', entry.sourceId) }
  if (isPayment(entry)) return { type: 'payment', id: idOf('payment', entry.sourceId) }
  if (isPayout(entry)) return { type: 'payout', id: idOf('payout', entry.sourceId) }
  if (entry.type === 'refund') return { type: 'refund', id: idOf('refund', entry.sourceId) }
  if (entry.type === 'dispute') return { type: 'dispute', id: idOf('dispute', entry.sourceId) }
  return { type: 'credit', id: idOf('walletTransaction', entry.sourceId) }
}

function isPayout({ type }: Entry): boolean {
  return type === 'payout' || type === 'payout_fee' || type === 'payout_reversal'
}

function isPayment({ type }: Entry): boolean {
  return type === 'payment' || type === 'topup'
}
