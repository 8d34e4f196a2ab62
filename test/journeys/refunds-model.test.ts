// SPDX-License-Identifier: Apache-2.0
// Whatever is asked and whatever providers say, in any order and as often as they like: no more is refunded than was paid,
// the wallet and what it holds back are what a few lines of arithmetic say, and the ledger proves itself. So it is where fees
// stay, and where they go back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { settle } from '../../src/areas/payments/collect/settle.ts'
import { attemptOfPayment } from '../../src/areas/payments/records/store.ts'
import { settleRefund } from '../../src/areas/payments/refunds/settle.ts'
import { beginRefund, findRefund } from '../../src/areas/payments/refunds/store.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { one } from '../../src/platform/db.ts'
import { runs } from '../properties.ts'
import { type Account, startWorld, tenantOf, type World } from '../world.ts'

const fullRuns = 25
const paidAmount = 1_000
const fee = 15

const words = {
  accepted: { kind: 'accepted', providerId: 'x' },
  pending: { kind: 'pending' },
  unknown: { kind: 'unknown', reason: 'cut' },
  missing: { kind: 'missing' },
  unavailable: { kind: 'unavailable', reason: 'busy' },
  asked: { kind: 'asked' },
  reversed: { kind: 'reversed' },
  paid: { kind: 'paid', receipt: 'R1', micros: null },
  otherAmount: { kind: 'paid', receipt: 'R1', micros: 1n },
  otherMoney: { kind: 'paid', receipt: 'R1', micros: null, currency: 'KES' },
  unreadable: { kind: 'unreadable', receipt: 'R1', words: 'much' },
  refused: { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND', code: '1' },
} as const

type Word = keyof typeof words
/** By which the provider says that money went back. */
const saidOther: readonly Word[] = ['otherAmount', 'otherMoney', 'unreadable']
const saidDone: readonly Word[] = ['paid', ...saidOther]
type Step = { refund: number; reference: number | null } | { of: number; says: Word } | { completes: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    refund: fc.integer({ min: 1, max: 700 }),
    reference: fc.option(fc.integer({ min: 0, max: 2 }), { freq: 3 }),
  }),
  fc.record({ of: fc.nat(20), says: fc.constantFrom(...Object.keys(words).filter(isWord)) }),
  fc.record({ completes: fc.nat(20) }),
)

for (const fees of ['kept', 'proportional'] as const)
  test(`any sequence of refunds and verdicts keeps the money right; fees: ${fees}`, async () => {
    // Nobody carries anything: what providers say is said here.
    const world = await startWorld({ PAMOJA_ROLES: ['api', 'sandbox'], PAMOJA_REFUND_FEES: fees })
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 16 }), fc.integer({ min: 0, max: 600 }), (steps, balance) =>
          follow(world, new Model(balance + paidAmount - fee, fees === 'proportional'), steps, balance),
        ),
        { numRuns: runs(fullRuns) },
      )
      assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
    } finally {
      await world.stop()
    }
  })

test('one of which the provider gave something back is not sent again, and is a person’s to decide', async () => {
  const world = await startWorld({ PAMOJA_ROLES: ['api', 'sandbox'] })
  try {
    const account = await world.account({ currency: 'UGX', balance: 0 })
    for (const says of ['otherAmount', 'otherMoney', 'unreadable'] as const) {
      const payment = await completedPayment(world, account)
      const { body } = await account.client.post(`/v1/payments/${payment}/refund?wait=0`, { amount: 100 })
      const refund = { ...tenantOf(account), id: uuidOf('refund', body.refund_id) ?? '' }
      const found = await one(world.app.db.query(beginRefund, { ...refund, sentBy: null, at: new Date() }))
      for (const later of [says, 'missing', 'unavailable', 'refused', 'paid'] as const)
        await settleRefund(world.app, found, words[later])
      const { state, status } = await one(world.app.db.query(findRefund, refund))
      assert.deepEqual([state, status], ['accepted', 'processing'], says)
      const path = `/v1/operator/accounts/${account.id}/refunds/${body.refund_id}/complete`
      assert.equal((await world.operator.post(path)).body.status, 'completed')
    }
    assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
  } finally {
    await world.stop()
  }
})

async function follow(world: World, model: Model, steps: readonly Step[], balance: number): Promise<void> {
  const account = await world.account({ currency: 'UGX', balance })
  const payment = await completedPayment(world, account)
  for (const one of steps) {
    if ('refund' in one) await ask(account, payment, model, one.refund, one.reference)
    else if ('says' in one) await say(world, account, model, one.of, one.says)
    else await complete(world, account, model, one.completes)
    await compare(account, payment, model)
  }
}

interface Known {
  id: string
  amount: number
  reference: string | null
  status: 'open' | 'completed' | 'failed'
  /** What it has of the fee. */
  fee: number
  /** Whether the provider says that it happened, though it has failed here. */
  isDoubtful: boolean
  /** Whether the provider told of other money: it cannot say any more that nothing went back. */
  isOther: boolean
  /** Whether it was completed after it had failed: that is possible once. */
  wasLate: boolean
}

class Model {
  readonly refunds: Known[] = []
  readonly #opening: number
  readonly #returnsFees: boolean

  constructor(opening: number, returnsFees: boolean) {
    this.#opening = opening
    this.#returnsFees = returnsFees
  }

  sum(...statuses: readonly Known['status'][]): number {
    const counted = this.refunds.filter(({ status }) => statuses.includes(status))
    return counted.reduce((sum, { amount }) => sum + amount, 0)
  }

  get balance(): number {
    return this.#opening - this.sum('completed') + this.#fees
  }

  get #fees(): number {
    return this.refunds.reduce((sum, one) => sum + one.fee, 0)
  }

  /** What of the fee comes back with an amount, beside refunds of so much that did not fail. */
  feeOf(amount: number, before: number): number {
    const [whole, rest] = [Math.floor((fee * (before + amount)) / paidAmount), (fee * (before + amount)) % paidAmount]
    const part = rest * 2 > paidAmount || (rest * 2 === paidAmount && whole % 2 === 1) ? whole + 1 : whole
    return this.#returnsFees ? Math.max(0, Math.min(amount, part - this.#fees)) : 0
  }

  /** What is said to a refund that is asked for now. */
  verdict(amount: number, reference: string | null): string {
    if (reference !== null && this.refunds.some((one) => one.reference === reference)) return 'DUPLICATE_REFERENCE'
    if (this.sum('open', 'completed') + amount > paidAmount) return 'REFUND_EXCEEDS_PAYMENT'
    return this.isCovered(amount) ? 'accepted' : 'INSUFFICIENT_WALLET_BALANCE'
  }

  isCovered(amount: number): boolean {
    return this.balance + this.feeOf(amount, this.sum('open', 'completed')) - this.sum('open') >= amount
  }
}

async function ask({ client }: Account, payment: string, model: Model, amount: number, number: number | null) {
  const reference = number === null ? null : `r-${number}`
  const expected = model.verdict(amount, reference)
  const body = { amount, ...(reference === null ? {} : { reference }) }
  const reply = await client.post(`/v1/payments/${payment}/refund?wait=0`, body)
  assert.equal(reply.status === 201 ? 'accepted' : reply.body.error.code, expected, reply.text)
  if (reply.status !== 201) return
  const fee = model.feeOf(amount, model.sum('open', 'completed'))
  model.refunds.push({
    id: reply.body.refund_id,
    amount,
    reference,
    status: 'open',
    fee,
    isDoubtful: false,
    isOther: false,
    wasLate: false,
  })
}

async function say(world: World, account: Account, model: Model, of: number, says: Word): Promise<void> {
  const known = model.refunds[of % Math.max(1, model.refunds.length)]
  if (!known) return
  const id = uuidOf('refund', known.id) ?? ''
  const refund = await one(world.app.db.query(findRefund, { ...tenantOf(account), id }))
  await settleRefund(world.app, refund, words[says])
  if (saidOther.includes(says)) known.isOther = true
  if (known.status === 'failed' && saidDone.includes(says)) known.isDoubtful = true
  // Also of one that had happened: the provider has the money again.
  if (known.status !== 'failed' && says === 'reversed')
    Object.assign(known, { status: 'failed', fee: 0, isOther: false })
  if (known.status !== 'open' || known.isOther) return
  if (says === 'paid') {
    if (known.fee === 0) known.fee = model.feeOf(known.amount, model.sum('open', 'completed') - known.amount)
    known.status = 'completed'
  }
  if (says === 'refused') Object.assign(known, { status: 'failed', fee: 0 })
}

/** An operator finds out that one which has failed here did happen. */
async function complete(world: World, { id: account }: Account, model: Model, of: number): Promise<void> {
  const doubtful = model.refunds.filter(({ isDoubtful }) => isDoubtful)
  const known = doubtful[of % Math.max(1, doubtful.length)]
  if (!known) return
  const { id, amount } = known
  const before = model.sum('open', 'completed')
  const expected = known.wasLate
    ? 'INVALID_STATE'
    : !model.isCovered(amount)
      ? 'INSUFFICIENT_WALLET_BALANCE'
      : before + amount > paidAmount
        ? 'REFUND_EXCEEDS_PAYMENT'
        : 'completed'
  const reply = await world.operator.post(`/v1/operator/accounts/${account}/refunds/${id}/complete`)
  assert.equal(reply.status === 200 ? reply.body.status : reply.body.error.code, expected, reply.text)
  if (reply.status === 200)
    Object.assign(known, {
      status: 'completed',
      fee: model.feeOf(amount, before),
      isDoubtful: false,
      isOther: false,
      wasLate: true,
    })
}

async function compare({ client }: Account, payment: string, model: Model): Promise<void> {
  const { balance, held } = (await client.get('/v1/wallet/balance')).body
  assert.deepEqual([balance, held], [model.balance, model.sum('open')])
  const shown = (await client.get(`/v1/payments/${payment}`)).body
  const refunded = model.sum('open', 'completed')
  assert.ok(refunded <= paidAmount)
  assert.equal(shown.amount_refunded, refunded)
  assert.equal(shown.refund_status, refunded === 0 ? 'none' : refunded < paidAmount ? 'partial' : 'full')
  const statuses = new Map<string, string>(
    shown.refunds.map(({ refund_id, status }: { refund_id: string; status: string }) => [refund_id, status]),
  )
  for (const { id, status } of model.refunds) {
    const is = statuses.get(id) ?? ''
    assert.ok(status === 'open' ? ['pending', 'processing'].includes(is) : is === status, `${is} is not ${status}`)
  }
}

async function completedPayment(world: World, account: Account): Promise<string> {
  const body = { amount: paidAmount, currency: 'UGX', phone: '+256770000001' }
  const { body: payment } = await account.client.post('/v1/payments?wait=0', body)
  const uuid = uuidOf('payment', payment.payment_id) ?? ''
  const tenant = tenantOf(account)
  const attempt = await one(world.app.db.query(attemptOfPayment, { ...tenant, payment: uuid }))
  await settle(world.app, tenant, attempt, { kind: 'paid', receipt: 'R0', micros: null })
  return payment.payment_id
}

function isWord(text: string): text is Word {
  return Object.hasOwn(words, text)
}
