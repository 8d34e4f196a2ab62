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
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { settle } from '../collect/settle.ts'
import { attemptOfPayment } from '../records/store.ts'
import { matchOutgoing, settleOutgoing } from './outgoing.ts'
import type { Booked, LineRow, StatementRow } from './store.ts'
import * as store from './store.ts'

const linesAtOnce = 5_000

const Payload = Type.Object({ statement: Type.String() })

export const matchJob: Job<App, typeof Payload> = {
  lane: 'payments.match',
  role: 'timers',
  payload: Payload,
  concurrency: 2,
  retrySeconds: [5, 30, 300],
  async handle(app, { payload, tenant }) {
    requireOneCell(app)
    const house = houseOf(tenant?.environment ?? 'live')
    const statement = await maybe(app.db.query(store.findStatement, { ...houseKey(house), id: payload.statement }))
    if (statement) await match(app, statement)
    return { kind: 'done' }
  },
}

/** Lines would find the payments of their own cell alone, and miss all others. */
export function requireOneCell({ db }: App): void {
  if (!db.hasOneCell)
    throw new AppError('VALIDATION_ERROR', 'statements are not matched yet where accounts are divided among databases')
}

/** Adding up a large book takes longer than any customer may wait. */
const ample = { statementTimeoutMs: 10 * minuteMs }

/** Matches everything that waits on the account of a statement, and says how the statement stands then. */
async function match(app: App, statement: StatementRow): Promise<void> {
  const account = accountOf(statement)
  const { environment, provider, country, currency, id } = statement
  const house = houseOf(environment)
  await app.db.acrossTx(async (tx) => {
    await tx.query(store.planForMany, {})
    await tx.query(store.lockAccount, { account: account.name })
    await tx.query(store.matchReceipts, { ...house, provider, country })
    await tx.query(store.matchPayers, { ...house, provider, country })
    await tx.query(store.noteReceipts, { ...house, provider, country })
    await matchOutgoing(tx, { ...house, provider, country })
    await tx.query(store.classifyRest, { ...house, provider, country })
    await book(app, tx, account)
  }, ample)
  await settleLines(app, account)
  await app.db.acrossTx(async (tx) => {
    await tx.query(store.planForMany, {})
    await tx.query(store.lockAccount, { account: account.name })
    await book(app, tx, account)
    await tx.query(store.insertGaps, { ...house, provider, country, currency, id })
    await finish(app, tx, statement)
  }, ample)
  await alert(app, statement)
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
async function finish(app: App, tx: Tx, statement: StatementRow): Promise<void> {
  const { environment, provider, currency, covers, id } = statement
  if (!isCurrency(currency)) throw new Error(`a statement in an unknown currency: ${currency}`)
  const house = houseOf(environment)
  const names = floatsOf(statement)
  const closing = await one(tx.query(store.closingBalances, { ...house, provider, currency, covers }))
  const since = firstUuidAt((closing.closing_at ?? new Date(app.clock.nowMs())).getTime())
  const later = await one(tx.query(store.movedSince, { ...house, names, currency, since }))
  let floatBalance = -later.micros
  for (const name of names) floatBalance += await debitedInAll(tx, environment, name, currency)
  const difference = closing.micros === null ? null : closing.micros - floatBalance
  await tx.query(store.finishStatement, { ...house, id, floatBalance, difference, at: new Date(app.clock.nowMs()) })
}

/** Logs the differences that an operator must resolve; the metric shows them until they are. */
async function alert(app: App, { environment, provider, id }: StatementRow): Promise<void> {
  const house = houseOf(environment)
  const counts = await app.db.query(store.countClasses, { ...house, id })
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
