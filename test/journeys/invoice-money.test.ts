// SPDX-License-Identifier: Apache-2.0
// Whatever is billed, paid, failed and taken back, in whatever order and at once: what a customer paid is on the invoices or
// in hand, to the last cent, and nobody waits for somebody who waits for them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type pg from 'pg'
import { createInvoice } from '../../src/areas/billing/invoices/create.ts'
import { payInvoice } from '../../src/areas/billing/invoices/pay.ts'
import { lockInvoice } from '../../src/areas/billing/invoices/store.ts'
import { voidInvoice } from '../../src/areas/billing/invoices/void.ts'
import { settle } from '../../src/areas/payments/collect/settle.ts'
import type { Verdict } from '../../src/areas/payments/providers/provider.ts'
import { attemptOfPayment } from '../../src/areas/payments/records/store.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { bucketOf, uuidOf } from '../../src/kernel/ids.ts'
import { walletsOf } from '../../src/ledger/wallets.ts'
import { one } from '../../src/platform/db.ts'
import type { Occasion } from '../../src/platform/events.ts'
import { lookInto } from '../looking.ts'
import { runs } from '../properties.ts'
import { startWorld, type World } from '../world.ts'

let world: World
let sql: pg.Client

before(async () => {
  world = await startWorld()
  sql = lookInto(world)
  await sql.connect()
})
after(async () => {
  await sql.end()
  await world.stop()
})

type Step =
  | { kind: 'bill'; amount: number }
  | { kind: 'pay'; which: number; part: number; isPaid: boolean; isTwice: boolean }
  | { kind: 'void'; which: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('bill' as const), amount: fc.integer({ min: 0, max: 400 }) }),
  fc.record({
    kind: fc.constant('pay' as const),
    which: fc.nat(5),
    part: fc.integer({ min: 1, max: 100 }),
    isPaid: fc.boolean(),
    isTwice: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('void' as const), which: fc.nat(5) }),
)

/** Groups of steps; those of a group are taken at once. */
const history = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })

test('what a customer paid is on the invoices or in hand, and the wallet holds it', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (groups) => {
      const { id } = await world.account()
      const account = uuidOf('account', id) ?? ''
      const nowMs = world.app.clock.nowMs()
      const tenant = { bucket: bucketOf(account), account, environment: 'test' as const }
      const occasion = { tenant, receivedMs: nowMs, nowMs, requestId: null }
      const invoices: string[] = [await bill(occasion, 100)]
      for (const group of groups)
        await Promise.all(
          group.map((wanted) => take(occasion, wanted, invoices).catch((error) => assert.ok(isRefusal(error), error))),
        )
      const { rows } = await sql.query(
        `select (select coalesce(sum(amount), 0) from payments.payments where account_id = $1 and status = 'completed') as paid,
                (select coalesce(sum(fee), 0) from payments.payments where account_id = $1 and status = 'completed') as fees,
                (select coalesce(sum(amount_paid), 0) from billing.invoices where account_id = $1) as billed,
                (select coalesce(sum(balance), 0) from billing.credits where account_id = $1) as in_hand,
                (select coalesce(sum(amount), 0) from billing.credit_entries where account_id = $1) as entries,
                (select count(*)::int from billing.invoices where account_id = $1
                    and (status = 'paid') <> (amount_paid = total and status in ('open', 'paid'))) as misjudged,
                (select count(*)::int from events.events where account_id = $1 and type = 'invoice.payment_succeeded')
                  - (select count(*)::int from billing.invoices where account_id = $1 and status = 'paid') as untold`,
        [account],
      )
      const { paid, fees, billed, in_hand, entries, misjudged, untold } = rows[0]
      assert.equal(BigInt(paid), BigInt(billed) + BigInt(in_hand))
      assert.equal(in_hand, entries)
      assert.deepEqual([misjudged, untold], [0, 0])
      const [wallet] = await walletsOf(world.app.db, tenant)
      assert.equal(wallet?.balanceMicros ?? 0n, BigInt(paid) - BigInt(fees))
    }),
    { numRuns: runs(25) },
  )
})

async function take(occasion: Occasion, wanted: Step, invoices: string[]): Promise<void> {
  if (wanted.kind === 'bill') return void invoices.push(await bill(occasion, wanted.amount))
  const id = invoices[wanted.which % invoices.length] ?? ''
  if (wanted.kind === 'pay') return pay(occasion, id, wanted)
  await world.app.db.acrossTx(async (tx) => {
    const row = await one(tx.query(lockInvoice, { ...occasion.tenant, id }))
    await voidInvoice(world.app, tx, occasion, row, null)
  })
}

async function bill(occasion: Occasion, amount: number): Promise<string> {
  const wanted = {
    customer: { email: 'asha@example.com' },
    currency: 'KES' as const,
    items: [{ description: 'x', unit_amount: amount }],
    open: true,
  }
  return (await world.app.db.acrossTx((tx) => createInvoice(world.app, tx, occasion, wanted))).id
}

/** Asks for some of what is due, and then tells what came of it, also twice. */
async function pay(
  occasion: Occasion,
  id: string,
  { part, isPaid, isTwice }: Extract<Step, { kind: 'pay' }>,
): Promise<void> {
  const { tenant } = occasion
  const payment = await world.app.db.acrossTx(async (tx) => {
    const row = await one(tx.query(lockInvoice, { ...tenant, id }))
    const due = (row.total - row.amount_paid) / 1_000_000n
    const amount = Number(due > BigInt(part) ? BigInt(part) : due)
    return payInvoice(world.app, tx, occasion, row, { phone: '+254700000001', amount }, true)
  })
  const attempt = await one(world.app.db.query(attemptOfPayment, { ...tenant, payment: payment.id }))
  const verdict: Verdict = isPaid
    ? { kind: 'paid', micros: null, receipt: null }
    : { kind: 'refused', reason: 'USER_CANCELLED', code: '1032' }
  const told = isTwice ? [verdict, verdict] : [verdict]
  await Promise.all(told.map((one) => settle(world.app, tenant, attempt, one)))
}

/** Nothing due, or not in a state for it. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'INVALID_STATE' || error.code === 'VALIDATION_ERROR')
}
