// SPDX-License-Identifier: Apache-2.0
// Assignment of a statement line to a payment by an operator: the money leaves suspense, and the payment is settled as
// by a callback.
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, uuidOf } from '../../../kernel/ids.ts'
import { houseOf } from '../../../ledger/house.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { paymentUuid } from '../records/payment.ts'
import { lockPayment, open, type PaymentRow } from '../records/store.ts'
import { accountOf, book, houseKey, matchJob } from './match.ts'
import { assignLine, type LineRow, lineOfPayment, lockLine, type StatementRow } from './store.ts'

/** Books the line to the payment, which the request then settles, or the job if the node dies first. */
export async function assign(
  app: App,
  tx: Tx,
  statement: StatementRow,
  lineId: string,
  named: { account_id: string; payment_id: string },
): Promise<LineRow> {
  const line = await unclaimedLine(tx, statement, lineId)
  const payment = await paymentFor(tx, line, named)
  await requireUnknown(tx, line, payment)
  const house = houseOf(line.environment)
  const assigned = await one(
    tx.query(assignLine, {
      ...house,
      id: line.id,
      paymentBucket: payment.bucket,
      paymentAccount: payment.account_id,
      paymentId: payment.id,
    }),
  )
  await book(app, tx, accountOf(line))
  const settles = app.work.prepare(matchJob, house, { statement: line.statement_id }, { delayMs: 1_000 })
  await app.work.add(tx, settles)
  return assigned
}

/** Line of money that came and is not assigned yet. */
async function unclaimedLine(tx: Tx, statement: StatementRow, id: string): Promise<LineRow> {
  const uuid = uuidOf('statementLine', id)
  const line = uuid && (await maybe(tx.query(lockLine, { ...houseKey(houseOf('live')), id: uuid })))
  if (!line || line.statement_id !== statement.id)
    throw new AppError('NOT_FOUND', 'there is no such line; the ids of lines begin with stl_')
  if (line.class !== 'theirs_only' || line.kind !== 'collection')
    throw new AppError('INVALID_STATE', `the line is a ${line.kind} that is ${line.class ?? 'not matched yet'}`, {
      extra: { status: line.class },
    })
  return line
}

async function paymentFor(
  tx: Tx,
  line: LineRow,
  { account_id, payment_id }: { account_id: string; payment_id: string },
): Promise<PaymentRow> {
  const account = uuidOf('account', account_id)
  const tenant = account && { bucket: bucketOf(account), account, environment: line.environment }
  const payment = tenant && (await maybe(tx.query(lockPayment, { ...tenant, id: paymentUuid(payment_id) })))
  if (!payment) throw new AppError('NOT_FOUND', 'the account has no such payment')
  if (payment.provider !== line.provider || payment.currency !== line.currency || payment.amount !== line.amount)
    throw new AppError('VALIDATION_ERROR', 'payment_id has another provider, currency or amount than the line')
  return payment
}

/** Requires a payment whose money is not accounted for yet. */
async function requireUnknown(tx: Tx, line: LineRow, payment: PaymentRow): Promise<void> {
  const { status } = payment
  const isUnpaid = open.includes(status) || ['expired', 'cancelled', 'failed'].includes(status)
  const lacksReceipt = status === 'completed' && payment.provider_reference === null
  const taken = await maybe(tx.query(lineOfPayment, { ...houseOf(line.environment), payment: payment.id }))
  if (taken || payment.failure_reason === 'AMOUNT_MISMATCH' || !(isUnpaid || lacksReceipt))
    throw new AppError('INVALID_STATE', `the payment is ${status}, and its money is accounted for`, {
      extra: { status },
    })
}
