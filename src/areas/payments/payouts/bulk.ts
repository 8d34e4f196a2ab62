// SPDX-License-Identifier: Apache-2.0
// Many payouts at once: what can be accepted shares one hold, and each takes its share of it or gives it back. A job hands
// them on a few at a time, so that ten thousand take no more memory than a hundred.

import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, alreadyUsed, type ErrorCode, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { currencyOf, currencyTaken } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import { type Caller, makerOf } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { bodyChecker } from '../../../platform/http/validate.ts'
import { callbackProblems } from '../../../platform/outbound/callback-url.ts'
import { Amount, Metadata, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { membersOf } from '../../../protocols/json.ts'
import { PaymentCreate } from '../records/input.ts'
import { batchFields, payoutStatus } from '../records/payout-events.ts'
import {
  type BatchItem,
  type BatchRow,
  findBatch,
  findBatchReference,
  insertBatch,
  insertRefusals,
  listItems,
  takeUnqueued,
} from './batch-store.ts'
import { chunkJob, chunkSize } from './chunk.ts'
import { draftOf, holdMoney, insert, PayoutItem, shared } from './create.ts'
import { batchOf } from './payout.ts'
import { cancelMany, tellBatchOver } from './settle.ts'
import { findPayoutReferences, type NewPayout } from './store.ts'
import { batchedPayoutJob } from './submit.ts'

const maxItems = 10_000
/** Payouts per insert. */
const storedAtOnce = 500
/** Items named in the refusal of a batch. */
const maxProblems = 100
/** A callback address that many items name is checked once, and a batch may name so many. */
const maxCallbackUrls = 20

const { description, metadata, callback_url, reference } = PaymentCreate.properties

// Each item has a verdict of its own, so items are checked one by one.
const Items = (description: string) =>
  Type.Array(Type.Unsafe<unknown>({ description: 'A payout, with the fields of a single one' }), {
    rule: `must be a list of 1 to ${maxItems} payouts`,
    description,
  })

export const BulkCreate = Type.Object({
  items: Type.Optional(Items('Payouts to make; each is checked on its own')),
  payouts: Type.Optional(Items('Alias of items; one of them is required')),
  currency: Type.Optional(shared.currency),
  method: shared.method,
  provider: shared.provider,
  reference,
  description,
  metadata,
  callback_url,
  on_error: Type.Optional(
    OneOf(['continue', 'abort'], { description: 'Handling of invalid items; `abort` refuses the whole request' }),
  ),
})

const Item = Type.Object({
  index: Type.Integer({ description: 'Position in your list, from 0' }),
  payout_id: Nullable(Type.String({ description: 'Id of the payout; null if it was refused' })),
  status: payoutStatus,
  amount: Type.Optional(Amount({ description: 'Amount in major units' })),
  currency: Type.Optional(Type.String({ description: 'Currency of the amount, ISO 4217' })),
  reference: Type.Optional(Nullable(Type.String({ description: 'Your own id for the object' }))),
  failure_reason: Type.Optional(
    Nullable(Type.String({ description: 'Failure code such as INVALID_PHONE; null unless it failed' })),
  ),
  error: Type.Optional(
    Type.Object(
      {
        code: Type.String({ description: 'Error code such as INVALID_PHONE' }),
        message: Type.String({ description: 'Human-readable explanation' }),
      },
      { description: 'Reason for the refusal' },
    ),
  ),
})

export const Batch = Type.Object(
  {
    ...batchFields,
    reference: Nullable(Type.String({ description: 'Your own id for the object' })),
    description: Nullable(Type.String({ description: 'Your description; null if none' })),
    metadata: Metadata,
    payouts: Type.Array(Item, { description: 'The items, in your order' }),
    next_cursor: Nullable(Type.String({ description: 'Cursor of the next items' })),
  },
  { title: 'PayoutBatchRecord' },
)

interface Refusal {
  index: number
  code: ErrorCode
  details: string
}

const checkItem = bodyChecker(Type.Object({ ...PayoutItem.properties, currency: Type.Optional(shared.currency) }))

type BulkInput = Static<typeof BulkCreate>

/** Callback URLs of items that are not allowed, and why. */
type Unreachable = ReadonlyMap<string, AppError>

/** Callback URLs of a batch and of its items are looked up before its transaction begins. */
export async function checkCallbacks(app: App, input: BulkInput, { tenant }: Caller): Promise<Unreachable> {
  const urls = new Set<string>()
  for (const { callback_url } of [input, ...itemsOf(input).map(membersOf)])
    if (typeof callback_url === 'string') urls.add(callback_url)
  if (urls.size > maxCallbackUrls)
    throw invalid('callback_url', `may differ at most ${maxCallbackUrls} times in a batch`)
  const unreachable = await callbackProblems(app, tenant, [...urls])
  const ownProblem = unreachable.get(input.callback_url ?? '')
  if (ownProblem) throw ownProblem
  return unreachable
}

export async function acceptMany(
  app: App,
  tx: Tx,
  input: BulkInput,
  caller: Caller,
  unreachable: Unreachable,
): Promise<Static<typeof Batch>> {
  const { tenant } = caller
  const given = itemsOf(input)
  refuseCardNumbers({ description: input.description, metadata: input.metadata })
  const currency = currencyTaken(app, currencyIn(input, given))
  const judged = await sorted(app, tx, input, given, currency, caller, unreachable)
  const id = newUuid(caller.receivedMs)
  // Before its batch, because only then is it known which references were free.
  const drafts = await store(tx, caller, id, currency, judged.drafts)
  const refusals = [...judged.refusals, ...takenMeanwhile(judged.drafts, drafts)]
  if (refusals.length > 0 && input.on_error === 'abort') throw refused(refusals)
  const total = drafts.reduce((sum, draft) => sum + BigInt(draft.amount), 0n)
  const fee = drafts.reduce((sum, draft) => sum + BigInt(draft.fee), 0n)
  const batch = await maybe(
    tx.query(insertBatch, {
      ...tenant,
      id,
      currency,
      total: given.length,
      accepted: drafts.length,
      amount: total,
      fee,
      reference: input.reference ?? null,
      description: input.description ?? null,
      metadata: JSON.stringify(input.metadata ?? {}),
      callbackUrl: input.callback_url ?? null,
      requestId: caller.requestId,
      at: new Date(caller.nowMs),
    }),
  )
  if (!batch) throw await usedBefore(tx, tenant, input.reference ?? '')
  await storeRefusals(tx, tenant, id, refusals)
  if (drafts.length === 0) await tellBatchOver(app, tx, caller, batch)
  else {
    await holdMoney(app, tx, caller, { id, batch_id: id }, total + fee, currency)
    await app.work.add(tx, app.work.prepare(spreadJob, tenant, { batch: id }, { delayMs: 1 }))
    tx.afterCommit(() => app.work.poke())
  }
  return answerOf(batch, itemsFrom(drafts, refusals), null)
}

/** Items accepted, and items refused with their reasons. */
async function sorted(
  app: App,
  tx: Tx,
  input: BulkInput,
  given: readonly unknown[],
  currency: ReturnType<typeof currencyOf>,
  caller: Caller,
  unreachable: Unreachable,
): Promise<{ drafts: NewPayout[]; refusals: Refusal[] }> {
  const { method, provider } = input
  const drafts: NewPayout[] = []
  const refusals: Refusal[] = []
  const wanted = given.map(membersOf).flatMap(({ reference }) => (typeof reference === 'string' ? [reference] : []))
  const used = await tx.query(findPayoutReferences, { ...caller.tenant, references: wanted })
  const taken = new Set(used.map(({ reference }) => reference))
  given.forEach((item, index) => {
    try {
      if (typeof item !== 'object' || item === null || Array.isArray(item))
        throw new AppError('VALIDATION_ERROR', 'a payout must be an object')
      const { value } = checkItem({ ...(method ? { method } : {}), ...(provider ? { provider } : {}), ...item })
      if (value.currency !== undefined && currencyOf(value.currency) !== currency)
        throw invalid('currency', `must be ${currency}, the one currency of the batch`)
      if (value.reference !== undefined && taken.has(value.reference))
        throw new AppError('DUPLICATE_REFERENCE', `the reference ${value.reference} was used before`)
      const refusal = unreachable.get(value.callback_url ?? '')
      if (refusal) throw refusal
      drafts.push({ ...draftOf(app, value, currency, caller), batch_index: index, queued: false })
      if (value.reference !== undefined) taken.add(value.reference)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      refusals.push({ index, code: error.code, details: error.details })
    }
  })
  return { drafts, refusals }
}

/**
 * Stores payouts and gives those that were: a reference may have been used by another request in this very moment. By
 * reference, so that two batches with the same ones wait for each other in one order.
 */
async function store(
  tx: Tx,
  caller: Caller,
  batch: string,
  currency: ReturnType<typeof currencyOf>,
  drafts: readonly NewPayout[],
): Promise<NewPayout[]> {
  const inOrder = [...drafts].sort((a, b) => compare(a.reference ?? '', b.reference ?? ''))
  const stored = new Set<string>()
  for (let start = 0; start < inOrder.length; start += storedAtOnce) {
    const chunk = inOrder.slice(start, start + storedAtOnce)
    const rows = await insert(tx, { ...caller, madeBy: makerOf(caller) }, batch, currency, chunk)
    for (const { id } of rows) stored.add(id)
  }
  return drafts.filter(({ id }) => stored.has(id))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function takenMeanwhile(wanted: readonly NewPayout[], stored: readonly NewPayout[]): Refusal[] {
  const ids = new Set(stored.map(({ id }) => id))
  return wanted
    .filter(({ id }) => !ids.has(id))
    .map(({ batch_index, reference }) => ({
      index: batch_index ?? 0,
      code: 'DUPLICATE_REFERENCE',
      details: `the reference ${reference} was used before`,
    }))
}

async function storeRefusals(tx: Tx, tenant: Tenant, batch: string, refusals: readonly Refusal[]): Promise<void> {
  if (refusals.length === 0) return
  await tx.query(insertRefusals, {
    ...tenant,
    batch,
    indexes: refusals.map(({ index }) => index),
    codes: refusals.map(({ code }) => code),
    details: refusals.map(({ details }) => details),
  })
}

const Spread = Type.Object({ batch: Type.String() })

/** Hands the payouts of a batch to workers. */
export const spreadJob: Job<App, typeof Spread> = {
  lane: 'payments.spread_batch',
  role: 'carriers',
  payload: Spread,
  concurrency: 4,
  retrySeconds: [1, 5, 30, 60, 300],
  async handle(app, { tenant, payload: { batch } }) {
    if (!tenant) throw new Error('a batch belongs to an account')
    const taken = await app.db.tx(tenant, async (tx) => {
      const rows = await tx.query(takeUnqueued, { ...tenant, batch, limit: chunkSize })
      const isDue = ({ status }: (typeof rows)[number]): boolean => status === 'processing'
      const due = rows.filter(isDue).map(({ id }) => id)
      const jobs = rows
        .filter((row) => !isDue(row))
        .map(({ id }) => app.work.prepare(batchedPayoutJob, tenant, { payout: id, inline: false }))
      if (due.length > 0) jobs.push(app.work.prepare(chunkJob, tenant, { payouts: due }))
      for (const job of jobs) {
        await app.work.add(tx, job)
        tx.afterCommit(() => app.work.begin(job))
      }
      return rows.length
    })
    return taken < chunkSize ? { kind: 'done' } : { kind: 'again', afterMs: 0 }
  },
}

/** A batch with some of its items, from the one after the cursor on. */
export async function readBatch(
  db: Queryable,
  tenant: Tenant,
  batchId: string,
  { limit = 50, cursor }: { limit?: number; cursor?: string },
): Promise<Static<typeof Batch>> {
  const id = batchUuid(batchId)
  const after = cursor === undefined ? -1 : Number(Buffer.from(cursor, 'base64url').toString())
  if (!Number.isInteger(after) || after < -1 || after > maxItems)
    throw new AppError('INVALID_REQUEST', 'cursor is invalid')
  const batch = await maybe(db.query(findBatch, { ...tenant, id }))
  if (!batch) throw noSuchBatch()
  const rows = await db.query(listItems, { ...tenant, id, after, limit })
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return answerOf(batch, page, last ? Buffer.from(String(last.index)).toString('base64url') : null)
}

/** Withdraws those of a batch that are still pending. */
export async function cancelBatch(app: App, tx: Tx, caller: Caller, batchId: string): Promise<BatchRow> {
  const { tenant } = caller
  const id = batchUuid(batchId)
  const batch = await maybe(tx.query(findBatch, { ...tenant, id }))
  if (!batch) throw noSuchBatch()
  if ((await cancelMany(app, tx, caller, id)) === 0)
    throw new AppError('INVALID_STATE', 'no payout of the batch is pending', { extra: { status: batch.status } })
  return one(tx.query(findBatch, { ...tenant, id }))
}

function answerOf(batch: BatchRow, items: readonly BatchItem[], nextCursor: string | null): Static<typeof Batch> {
  return {
    ...batchOf(batch),
    reference: batch.reference,
    description: batch.description,
    metadata: batch.metadata,
    payouts: items.map((item) => itemOf(item, batch.currency)),
    next_cursor: nextCursor,
  }
}

function itemOf(item: BatchItem, currency: string): Static<typeof Item> {
  const { index, id, status, amount, reference, failure_reason, code, details } = item
  if (id === null || amount === null)
    return { index, payout_id: null, status, error: { code: code ?? '', message: details ?? '' } }
  return { index, payout_id: idOf('payout', id), status, amount, currency, reference, failure_reason }
}

function itemsFrom(drafts: readonly NewPayout[], refusals: readonly Refusal[]): BatchItem[] {
  const accepted = drafts.map(({ batch_index, id, status, amount, reference }) => {
    const head = { index: batch_index ?? 0, id, status, amount: BigInt(amount), reference }
    return { ...head, failure_reason: null, code: null, details: null }
  })
  const others = refusals.map((refusal) => {
    const nothing = { id: null, amount: null, reference: null, failure_reason: null }
    return { ...nothing, ...refusal, status: 'failed' as const }
  })
  return [...accepted, ...others].sort((a, b) => a.index - b.index)
}

function itemsOf({ items, payouts }: BulkInput): readonly unknown[] {
  // Two lists are refused: paying the wrong one could not be undone.
  if (items !== undefined && payouts !== undefined) throw invalid('payouts', 'must be absent where items is given')
  const given = items ?? payouts ?? []
  if (given.length > maxItems)
    throw new AppError('BATCH_TOO_LARGE', `the batch has ${given.length} payouts; at most ${maxItems} go at once`)
  if (given.length === 0) throw invalid('items', `must be a list of 1 to ${maxItems} payouts`)
  const withCard = given.findIndex((item) => Object.hasOwn(membersOf(item), 'card'))
  if (withCard >= 0) throw invalid(`items[${withCard}].card`, 'must not be sent here: cards are not paid to')
  return given
}

/** Currency of a batch: the one given for all, or the first item's. */
function currencyIn({ currency }: BulkInput, given: readonly unknown[]): string {
  const first = currency ?? given.map((item) => membersOf(item).currency).find((one) => typeof one === 'string')
  if (typeof first !== 'string') throw invalid('currency', 'is required, for all of them or in each')
  return first
}

function refused(refusals: readonly Refusal[]): AppError {
  return new AppError('VALIDATION_ERROR', `${refusals.length} of the payouts cannot be accepted; nothing was`, {
    extra: { errors: refusals.slice(0, maxProblems) },
  })
}

async function usedBefore(tx: Tx, tenant: Tenant, reference: string): Promise<AppError> {
  const { id, status } = await one(tx.query(findBatchReference, { ...tenant, reference }))
  return alreadyUsed(`the reference ${reference}`, idOf('payoutBatch', id), status)
}

function batchUuid(id: string): string {
  const uuid = uuidOf('payoutBatch', id)
  if (uuid === null) throw noSuchBatch()
  return uuid
}

function noSuchBatch(): AppError {
  return new AppError('NOT_FOUND', 'there is no such batch; the ids of batches begin with pob_')
}
