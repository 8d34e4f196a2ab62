// SPDX-License-Identifier: Apache-2.0
// Movements of a wallet: type, source and balance after each; and, where asked for, holds among them in one order.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, type Kind, timeOfUuid, uuidText } from '../../kernel/ids.ts'
import type { Currency } from '../../kernel/money.ts'
import { currencyOf } from '../../ledger/currencies.ts'
import { type Entry, entriesOf, entryTypes } from '../../ledger/entries.ts'
import { type Hold, holdsOf } from '../../ledger/holds.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Queryable } from '../../platform/db.ts'
import { Amount, At, dayRangeQuery, listQuery, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { idBounds, type Page } from '../../platform/schema/lists.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { findPayments, findPayouts } from '../payments/area.ts'

/** Areas that charge accounts. */
const paidFor = ['sms', 'messenger', 'email', 'voice', 'ussd', 'identity'] as const

const defaultLimit = 50
const rowTypes = [...entryTypes, 'hold'] as const
/** Types of movements that nothing makes yet: a list of them is empty. */
const comingTypes = ['payment_fee', 'plan_fee', 'conversion'] as const
/** The last row of the page before, and the balance there if it was final. */
const cursorForm = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?::(-?\d{1,18}))?$/

export const TransactionQuery = Type.Object({
  ...listQuery,
  ...dayRangeQuery,
  type: Type.Optional(
    OneOf([...rowTypes, ...comingTypes], {
      description:
        'Filter by kind of transaction; `hold` lists current and past holds. payment_fee, plan_fee and conversion are not used yet',
    }),
  ),
  include: Type.Optional(OneOf(['holds'], { description: '`holds` includes current and past holds' })),
  currency: Type.Optional(Type.String({ maxLength: 3, description: 'Currency of the wallet; default: the account’s' })),
})

export const WalletTransaction = Type.Object(
  {
    transaction_id: Type.Optional(Type.String({ description: 'Id of the transaction; absent for a hold' })),
    type: OneOf(rowTypes, { description: 'Kind of transaction' }),
    direction: OneOf(['debit', 'credit'], {
      description: 'Direction: `debit` takes from the wallet, `credit` adds to it',
    }),
    amount: Amount({ description: 'Amount in major units; always positive' }),
    currency: Type.String({ description: 'Currency of the wallet, ISO 4217' }),
    balance_after: Type.Optional(
      Amount({ description: 'Balance afterwards; absent for a hold, which changes the available amount only' }),
    ),
    description: Nullable(Type.String({ description: 'Description in words' })),
    source: Type.Object(
      {
        type: OneOf([...paidFor, 'payment', 'payout', 'payout_batch', 'refund', 'dispute', 'credit'], {
          description: 'Kind of object that caused it',
        }),
        id: Type.String({ description: 'Id of the object, such as `sms_…`' }),
      },
      { description: 'Cause of the transaction' },
    ),
    reference: Nullable(Type.String({ description: 'Your own id for the object' })),
    metadata: Metadata,
    created_at: At({ description: 'Time of the booking' }),
    hold_id: Type.Optional(Type.String({ description: 'Id of the hold; present for a hold, with the fields below' })),
    status: Type.Optional(
      OneOf(['open', 'captured', 'released'], {
        description: 'Status of the hold; `captured`: paid in full or in part',
      }),
    ),
    captured: Type.Optional(Amount({ description: 'Amount paid from the hold' })),
    released: Type.Optional(Amount({ description: 'Amount released from the hold' })),
    expires_at: Type.Optional(
      Nullable(At({ description: 'Expiry time of the hold; null: held until the outcome is certain' })),
    ),
  },
  { title: 'WalletTransaction' },
)

type Row = Static<typeof WalletTransaction>
type Query = Static<typeof TransactionQuery>

/** Start of the next page, and the balance there if it is final. */
interface Next {
  id: string
  openingMicros: bigint | null
}

/** Rows by their ids, in order, and where they go on. */
interface Part {
  rows: { id: string; row: Row }[]
  next: Next | null
}

interface Place {
  tenant: Tenant
  currency: Currency
  from: string
  to: string
  descending: boolean
  limit: number
}

export async function listTransactions(
  app: App,
  query: Query,
  { tenant, principal, receivedMs }: Caller,
): Promise<Page<Row>> {
  const currency = currencyOf(query.currency ?? principal.facts.currency)
  const descending = query.order !== 'asc'
  const range = idBounds(query)
  const cursor = query.cursor === undefined ? null : cursorOf(query.cursor)
  const { from, to } = cursor === null ? range : after(range, cursor.id, descending)
  const { type } = query
  if (isComing(type)) return { rows: [], nextCursor: null }
  const limit = query.limit ?? defaultLimit
  const place = { tenant, currency, from, to, descending, limit }
  const parts: Part[] = []
  if (type !== 'hold') parts.push(await movements(app, place, type ?? null, cursor?.openingMicros ?? null, receivedMs))
  if (type === 'hold' || (query.include === 'holds' && type === undefined)) parts.push(await holds(app, place))
  const { rows, next } = merged(parts, descending, limit)
  return {
    rows: rows.map(({ row }) => row),
    nextCursor: next && Buffer.from([next.id, next.openingMicros ?? []].flat().join(':')).toString('base64url'),
  }
}

function isComing(type: Query['type']): type is (typeof comingTypes)[number] {
  return comingTypes.some((coming) => coming === type)
}

/** Two lists as one. Where one of them breaks off before its end, the other one goes no further. */
function merged(parts: readonly Part[], descending: boolean, limit: number): Part {
  const [first, second] = parts
  if (!first || !second) return first ?? { rows: [], next: null }
  const isBefore = (a: string, b: string): boolean => (descending ? a > b : a < b)
  const next = [first.next, second.next].reduce((a, b) => (a === null || (b !== null && isBefore(b.id, a.id)) ? b : a))
  const known = [...first.rows, ...second.rows]
    .filter(({ id }) => next === null || !isBefore(next.id, id))
    .sort((a, b) => (isBefore(a.id, b.id) ? -1 : 1))
  const rows = known.slice(0, limit)
  const last = rows.at(-1)
  if (known.length === rows.length || !last) return { rows, next }
  return { rows, next: last.id === first.next?.id ? first.next : { id: last.id, openingMicros: null } }
}

async function movements(
  app: App,
  { tenant, currency, ...window }: Place,
  type: Entry['type'] | null,
  openingMicros: bigint | null,
  receivedMs: number,
): Promise<Part> {
  const { entries, next } = await entriesOf(app.db, tenant, currency, { ...window, openingMicros, type }, receivedMs)
  const notes = await notesOf(app.db, tenant, entries)
  const rows = entries.map((entry) => ({
    id: entry.id,
    row: {
      transaction_id: idOf('walletTransaction', entry.id),
      type: entry.type,
      direction: entry.micros < 0n ? ('debit' as const) : ('credit' as const),
      amount: entry.micros < 0n ? -entry.micros : entry.micros,
      currency,
      balance_after: entry.balanceAfterMicros,
      source: sourceOf(entry),
      description: entry.description,
      reference: null,
      metadata: {},
      ...notes.get(entry.sourceId),
      created_at: timeOfUuid(entry.id),
    },
  }))
  return { rows, next }
}

async function holds(app: App, { tenant, currency, ...window }: Place): Promise<Part> {
  const { holds: found, next } = await holdsOf(app.db, tenant, currency, window)
  const ids = found.filter(isOfPayout).map(({ id }) => id)
  const payouts = ids.length > 0 ? await app.db.query(findPayouts, { ...tenant, ids }) : []
  const notes = new Map(payouts.map(({ id, ...note }) => [id, note]))
  const rows = found.map((hold) => ({
    id: hold.id,
    row: {
      type: 'hold' as const,
      direction: 'debit' as const,
      amount: hold.micros,
      currency,
      source: heldFor(hold, notes.has(hold.id)),
      description: null,
      reference: null,
      metadata: {},
      ...notes.get(hold.id),
      created_at: timeOfUuid(hold.id),
      hold_id: idOf('hold', hold.id),
      status: hold.status,
      captured: hold.capturedMicros,
      released: hold.releasedMicros,
      expires_at: null,
    },
  }))
  return { rows, next: next === null ? null : { id: next, openingMicros: null } }
}

function isOfPayout({ step }: Hold): boolean {
  return step.startsWith('payout:')
}

/** Step of a hold that an area makes for what it does -> what that is. */
const usageHolds: Readonly<Record<string, { readonly type: (typeof paidFor)[number]; readonly kind: Kind }>> = {
  call: { type: 'voice', kind: 'call' },
  session: { type: 'ussd', kind: 'ussdSession' },
  check: { type: 'identity', kind: 'verification' },
}

function heldFor(hold: Hold, isSinglePayout: boolean): Row['source'] {
  if (isOfPayout(hold))
    return isSinglePayout
      ? { type: 'payout', id: idOf('payout', hold.id) }
      : { type: 'payout_batch', id: idOf('payoutBatch', hold.id) }
  const usage = usageHolds[hold.step]
  if (usage) return { type: usage.type, id: idOf(usage.kind, hold.id) }
  if (hold.step.startsWith('refund:')) return { type: 'refund', id: idOf('refund', hold.id) }
  if (hold.step.startsWith('dispute:')) return { type: 'dispute', id: idOf('dispute', hold.id) }
  return { type: 'credit', id: idOf('walletTransaction', hold.id) }
}

function cursorOf(text: string): { id: string; openingMicros: bigint | null } {
  const [, id, opening] = cursorForm.exec(Buffer.from(text, 'base64url').toString()) ?? []
  if (id === undefined) throw new AppError('INVALID_REQUEST', 'cursor is invalid')
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
  return uuidText(Buffer.from(bits.toString(16).padStart(32, '0'), 'hex'))
}

/** Metadata that customers gave the payments and payouts on a page. */
async function notesOf(queryable: Queryable, tenant: Tenant, entries: readonly Entry[]) {
  const idsOf = (is: (entry: Entry) => boolean) => entries.filter(is).map(({ sourceId }) => sourceId)
  const [payments, payouts] = [idsOf(isPayment), idsOf(isPayout)]
  const rows = [
    ...(payments.length > 0 ? await queryable.query(findPayments, { ...tenant, ids: payments }) : []),
    ...(payouts.length > 0 ? await queryable.query(findPayouts, { ...tenant, ids: payouts }) : []),
  ]
  return new Map(rows.map(({ id, ...notes }) => [id, notes]))
}

/** Checks of identities, by the word that their charge has. */
const checkKinds: Readonly<Record<string, Kind>> = {
  scan: 'scan',
  face_match: 'faceMatch',
  liveness: 'liveness',
  risk_score: 'riskCheck',
}

/** Area that earned a charge -> what it is for. */
const kindsPaidFor: Readonly<Record<(typeof paidFor)[number], (entry: Entry) => Kind>> = {
  sms: () => 'sms',
  messenger: () => 'messengerMessage',
  email: () => 'email',
  voice: () => 'call',
  ussd: () => 'ussdSession',
  identity: ({ description }) => checkKinds[description ?? ''] ?? 'verification',
}

function sourceOf(entry: Entry): Row['source'] {
  const area = paidFor.find((name) => entry.counter === `revenue:${name}`)
  if (area) return { type: area, id: idOf(kindsPaidFor[area](entry), entry.sourceId) }
  // Also what an operator gave out of money that was kept apart for one.
  if (isPayment(entry) || entry.counter.startsWith('suspense:'))
    return { type: 'payment', id: idOf('payment', entry.sourceId) }
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
