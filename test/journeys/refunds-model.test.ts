// SPDX-License-Identifier: Apache-2.0
// Whatever is asked and whatever providers say, in any order and as often as they like: no more is refunded than was paid,
// the wallet and what it holds back are what a few lines of arithmetic say, and the ledger proves itself.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { settleRefund } from '../../src/areas/payments/refunds/settle.ts'
import { findRefund } from '../../src/areas/payments/refunds/store.ts'
import { settle } from '../../src/areas/payments/settle.ts'
import { attemptOfPayment } from '../../src/areas/payments/store.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { one } from '../../src/platform/db.ts'
import { type Account, startWorld, tenantOf, type World } from '../world.ts'

const runs = 25
const paidAmount = 1_000
const fee = 15

let world: World

before(async () => {
  // Nobody carries anything: what providers say is said here.
  world = await startWorld({ PAMOJA_ROLES: ['api', 'sandbox'] })
})
after(() => world.stop())

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
  refused: { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND', code: '1' },
} as const

type Word = keyof typeof words
type Step = { refund: number; reference: number | null } | { of: number; says: Word }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    refund: fc.integer({ min: 1, max: 700 }),
    reference: fc.option(fc.integer({ min: 0, max: 2 }), { freq: 3 }),
  }),
  fc.record({ of: fc.nat(20), says: fc.constantFrom(...Object.keys(words).filter(isWord)) }),
)

test('any sequence of refunds and verdicts keeps the money right', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 16 }), fc.integer({ min: 0, max: 600 }), async (steps, balance) => {
      const account = await world.account({ currency: 'UGX', balance })
      const payment = await completedPayment(account)
      const model = new Model(balance + paidAmount - fee)
      for (const one of steps) {
        if ('refund' in one) await ask(account, payment, model, one.refund, one.reference)
        else await say(account, model, one.of, one.says)
        await compare(account, payment, model)
      }
    }),
    { numRuns: runs },
  )
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

interface Known {
  id: string
  amount: number
  reference: string | null
  status: 'open' | 'completed' | 'failed'
}

class Model {
  readonly refunds: Known[] = []
  readonly #opening: number

  constructor(opening: number) {
    this.#opening = opening
  }

  sum(...statuses: readonly Known['status'][]): number {
    const counted = this.refunds.filter(({ status }) => statuses.includes(status))
    return counted.reduce((sum, { amount }) => sum + amount, 0)
  }

  get balance(): number {
    return this.#opening - this.sum('completed')
  }

  /** What is said to a refund that is asked for now. */
  verdict(amount: number, reference: string | null): string {
    if (reference !== null && this.refunds.some((one) => one.reference === reference)) return 'DUPLICATE_REFERENCE'
    if (this.sum('open', 'completed') + amount > paidAmount) return 'REFUND_EXCEEDS_PAYMENT'
    return this.balance - this.sum('open') < amount ? 'INSUFFICIENT_WALLET_BALANCE' : 'accepted'
  }
}

async function ask({ client }: Account, payment: string, model: Model, amount: number, number: number | null) {
  const reference = number === null ? null : `r-${number}`
  const expected = model.verdict(amount, reference)
  const body = { amount, ...(reference === null ? {} : { reference }) }
  const reply = await client.post(`/v1/payments/${payment}/refund?wait=0`, body)
  assert.equal(reply.status === 201 ? 'accepted' : reply.body.error.code, expected, reply.text)
  if (reply.status === 201) model.refunds.push({ id: reply.body.refund_id, amount, reference, status: 'open' })
}

async function say(account: Account, model: Model, of: number, says: Word): Promise<void> {
  const known = model.refunds[of % Math.max(1, model.refunds.length)]
  if (!known) return
  const id = uuidOf('refund', known.id) ?? ''
  const refund = await one(world.app.db.query(findRefund, { ...tenantOf(account), id }))
  await settleRefund(world.app, refund, words[says])
  if (known.status !== 'open') return
  if (says === 'paid') known.status = 'completed'
  if (says === 'refused') known.status = 'failed'
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

async function completedPayment(account: Account): Promise<string> {
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
