// SPDX-License-Identifier: Apache-2.0
// Matching of a provider's statement with the books: each line finds its payment, payout or refund, or is booked, once;
// a payment with an unknown outcome is settled by its line, as by a callback. A node that takes over finds what is
// done.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt, idOf, newUuid, nilUuid } from '../../../kernel/ids.ts'
import { type Currency, formatMicros, isCurrency } from '../../../kernel/money.ts'
import { minuteMs } from '../../../kernel/time.ts'
import { type ContraMove, debitedInAll, houseOf, postContra } from '../../../ledger/house.ts'
import type { App } from '../../../platform/app.ts'
import { type AcrossTx, maybe, one, type Tx } from '../../../platform/db.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { settle } from '../collect/settle.ts'
import { attemptOfPayment } from '../records/store.ts'
import { countClasses, noteGaps } from './gaps.ts'
import { movedSince } from './movements.ts'
import { type Account, fetchObjects, forgetObjects, type Places, placesOf, requireUnmoved } from './objects.ts'
import { matchOutgoing, settleOutgoing } from './outgoing.ts'
import type { Booked, LineRow, StatementRow } from './store.ts'
import * as store from './store.ts'

const linesAtOnce = 5_000

/** Time until a match is begun again when some accounts could not be reached. */
const awayMs = 5_000

const Payload = Type.Object({ statement: Type.String() })

export const matchJob: Job<App, typeof Payload> = {
  lane: 'payments.match',
  role: 'timers',
  payload: Payload,
  concurrency: 2,
  retrySeconds: [5, 30, 300],
  async handle(app, { payload, tenant }) {
    const house = houseOf(tenant?.environment ?? 'live')
    const statement = await maybe(app.db.query(store.findStatement, { ...houseKey(house), id: payload.statement }))
    try {
      if (statement) await match(app, statement)
    } catch (error) {
      // A database is away, or a bucket has just moved: however long it takes, nothing was matched, and it is begun again.
      if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') return { kind: 'again', afterMs: awayMs }
      throw error
    }
    return { kind: 'done' }
  },
}

/** Adding up a large book takes longer than any customer may wait. */
const ample = { statementTimeoutMs: 10 * minuteMs }

/** Matches everything that waits on the account of a statement, and says how the statement stands then. */
async function match(app: App, statement: StatementRow): Promise<void> {
  const account = accountOf(statement)
  const { environment, provider, country, id } = statement
  const house = houseOf(environment)
  const ofAccount = { ...house, provider, country }
  await app.db.acrossTx(async (tx) => {
    const places = await begin(app, tx, account)
    const here = { ...ofAccount, buckets: places.here }
    await fetchObjects(tx, ofAccount, places)
    await tx.query(store.matchReceipts, here)
    await tx.query(store.matchPayers, here)
    await nameReceipts(tx, ofAccount)
    await matchOutgoing(tx, here)
    await tx.query(forgetObjects, house)
    await tx.query(store.classifyRest, ofAccount)
    await book(app, tx, account)
    requireUnmoved(app.db, house, places)
  }, ample)
  await settleLines(app, account)
  await app.db.acrossTx(async (tx) => {
    const places = await begin(app, tx, account)
    await book(app, tx, account)
    // As it is by now: another file may have come.
    const after = await one(tx.query(store.findStatement, { ...houseKey(house), id }))
    await noteGaps(tx, house, after, places)
    await finish(app, tx, after, places)
    requireUnmoved(app.db, house, places)
  }, ample)
  await alert(app, statement)
}

/** Locks a provider's account; gives the databases that are asked. */
async function begin(app: App, tx: Tx, { environment, name }: ProviderAccount): Promise<Places> {
  const house = houseOf(environment)
  await tx.query(store.planForMany, { bucket: house.bucket })
  await tx.query(store.lockAccount, { bucket: house.bucket, account: name })
  return placesOf(app.db, house)
}

/** Gives payments that were completed without a receipt the one of their line: nothing else is to be settled of them. */
async function nameReceipts(tx: Tx, account: Account): Promise<void> {
  let after = nilUuid
  for (;;) {
    const lines = await tx.query(store.unsettled, { ...account, after, limit: linesAtOnce })
    const ofPayments = lines.flatMap(({ object, receipt, payment_bucket, payment_account, payment_id }) =>
      object !== 'payment' || payment_bucket === null || payment_account === null || payment_id === null
        ? []
        : [{ receipt, bucket: payment_bucket, account: payment_account, id: payment_id }],
    )
    for (const part of tx.apart(ofPayments, ({ bucket }) => bucket)) {
      const named = await tx.query(store.nameReceipts, {
        environment: account.environment,
        buckets: part.map(({ bucket }) => bucket),
        accounts: part.map((line) => line.account),
        ids: part.map(({ id }) => id),
        receipts: part.map(({ receipt }) => receipt),
      })
      await tx.query(store.noteNamed, { ...account, ids: named.map(({ id }) => id) })
    }
    const last = lines.at(-1)
    if (!last) return
    after = last.id
  }
}

/** An account with a provider, as lines name it. */
export interface ProviderAccount {
  environment: Environment
  provider: string
  country: string
  currency: Currency
  name: string
}

export function accountOf({
  environment,
  provider,
  country,
  currency,
}: Pick<LineRow, 'environment' | 'provider' | 'country' | 'currency'>): ProviderAccount {
  if (!isCurrency(currency)) throw new Error(`a statement in an unknown currency: ${currency}`)
  return { environment, provider, country, currency, name: `${environment} ${provider} ${country}` }
}

/** Brings the ledger to what the lines say: what found its payment leaves suspense, what did not is booked. */
export async function book(app: App, tx: Tx, account: ProviderAccount): Promise<void> {
  const floatOf = ({ covers }: Booked): string => `${covers === 'payouts' ? 'float_out' : 'float'}:${account.provider}`
  const suspense = `suspense:${account.provider}`
  const step = ({ turn }: Booked): string => `statement:suspense:${turn}`
  await inPages(app, tx, account, store.inSuspense, store.noteReleased, (line) => ({
    step: `${step(line)}:reversal`,
    debit: suspense,
    credit: floatOf(line),
    reverses: step(line),
  }))
  await inPages(app, tx, account, store.unbooked, store.noteBooked, (line) => {
    const float = floatOf(line)
    if (line.kind === 'fee')
      return { step: 'statement:fee', debit: 'expense:provider_fees', credit: float, reverses: null }
    if (line.kind === 'settlement') return { step: 'statement:bank', debit: 'bank', credit: float, reverses: null }
    return { step: step(line), debit: float, credit: suspense, reverses: null }
  })
}

async function inPages(
  app: App,
  tx: Tx,
  { environment, provider, country, currency }: ProviderAccount,
  find: typeof store.unbooked,
  note: typeof store.noteBooked,
  move: (line: Booked) => Pick<ContraMove, 'step' | 'debit' | 'credit' | 'reverses'>,
): Promise<void> {
  const house = houseOf(environment)
  for (;;) {
    const lines = await tx.query(find, { ...house, provider, country, limit: linesAtOnce })
    if (lines.length === 0) return
    const nowMs = app.clock.nowMs()
    const moves = lines.map((line) => ({ ...move(line), sourceId: line.id, id: newUuid(nowMs), micros: line.amount }))
    await postContra(tx, house, currency, moves)
    await tx.query(note, { ...house, ids: lines.map(({ id }) => id) })
  }
}

/** Settles the payments whose lines say that they were paid, also those with an unknown outcome. */
export async function settleLines(app: App, { environment, provider, country }: ProviderAccount): Promise<void> {
  const house = houseOf(environment)
  let after = nilUuid
  for (;;) {
    const lines = await app.db.query(store.unsettled, { ...house, provider, country, after, limit: linesAtOnce })
    for (const line of lines) await settleLine(app, house, line)
    const last = lines.at(-1)
    if (!last) return
    after = last.id
  }
}

async function settleLine(app: App, house: Tenant, line: LineRow): Promise<void> {
  if (line.object !== 'payment') return settleOutgoing(app, house, line)
  const { payment_bucket: bucket, payment_account: account, payment_id: payment, receipt, amount } = line
  if (bucket === null || account === null || payment === null)
    throw new Error(`line ${line.id} has no payment to settle`)
  const tenant: Tenant = { bucket, account, environment: line.environment }
  const attempt = await one(app.db.query(attemptOfPayment, { ...tenant, payment }))
  const after = await settle(app, tenant, attempt, { kind: 'paid', receipt, micros: amount })
  // Another receipt may have settled it before: then the line is not about this payment.
  const isPaidByIt = after.status === 'completed' && after.provider_reference === receipt
  const isLookedAt = after.failure_reason === 'AMOUNT_MISMATCH'
  const to = isPaidByIt ? 'matched' : isLookedAt ? 'amount_differs' : 'theirs_only'
  await app.db.query(store.noteSettled, { ...house, id: line.id, class: to, keeps: isPaidByIt || isLookedAt })
}

/** Ledger accounts of what a statement covers: incoming money, outgoing money, or both. */
function floatsOf({ provider, covers }: StatementRow): string[] {
  const names = { collections: [`float:${provider}`], payouts: [`float_out:${provider}`] }
  return covers === 'everything' ? [...names.collections, ...names.payouts] : names[covers]
}

/** The provider's closing balance beside what the ledger has for it, but for what happened after the statement. */
async function finish(app: App, tx: AcrossTx, statement: StatementRow, places: Places): Promise<void> {
  const { environment, provider, currency, covers, id } = statement
  if (!isCurrency(currency)) throw new Error(`a statement in an unknown currency: ${currency}`)
  const house = houseOf(environment)
  const names = floatsOf(statement)
  const closing = await one(tx.query(store.closingBalances, { ...house, provider, currency, covers }))
  const since = firstUuidAt((closing.closing_at ?? new Date(app.clock.nowMs())).getTime())
  let floatBalance = -(await movedSince(tx, house, { names, currency, since }, places))
  for (const name of names) floatBalance += await debitedInAll(tx, environment, name, currency)
  const difference = closing.micros === null ? null : closing.micros - floatBalance
  await tx.query(store.finishStatement, { ...house, id, floatBalance, difference, at: new Date(app.clock.nowMs()) })
}

/** Logs the differences that an operator must resolve; the metric shows them until they are. */
async function alert(app: App, { environment, provider, id }: StatementRow): Promise<void> {
  const house = houseOf(environment)
  const counts = await countClasses(app.db, house, id)
  const lines = Object.fromEntries(counts.map((row) => [row.class, row.lines]))
  const after = await one(app.db.query(store.findStatement, { ...houseKey(house), id }))
  const difference = after.difference === null ? null : formatMicros(after.difference)
  const about = { statement: statementId(after), provider, environment, ...lines, difference }
  const isQuiet = !lines.amount_differs && !lines.ours_only && !after.difference
  if (isQuiet) app.log.info(about, 'statement and ledger agree: nothing to do')
  else app.log.error(about, 'statement and ledger differ: resolve the line under GET /v1/operator/payments/statements')
}

export function statementId({ id }: Pick<StatementRow, 'id'>): string {
  return idOf('paymentStatement', id)
}

export function houseKey({ bucket, account }: Tenant): { bucket: number; account: string } {
  return { bucket, account }
}
