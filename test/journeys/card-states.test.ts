// SPDX-License-Identifier: Apache-2.0
// What becomes of a card payment when something dies on the way, nobody decides, or the acquirer says things twice, late
// and in any order: the card is charged at most once, and the money comes at most once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { accept } from '../../src/areas/payments/collect/create.ts'
import { settle } from '../../src/areas/payments/collect/settle.ts'
import { gatewayOf } from '../../src/areas/payments/gateway/gateway.ts'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { card } from '../../src/areas/payments/methods/card.ts'
import type { Verdict } from '../../src/areas/payments/providers/provider.ts'
import { collection } from '../../src/areas/payments/records/purpose.ts'
import { attemptOfPayment, findAttempt, findPayment } from '../../src/areas/payments/records/store.ts'
import { idOf, uuidOf } from '../../src/kernel/ids.ts'
import { one } from '../../src/platform/db.ts'
import { busyAtCapture, intentOf } from '../acquirer.ts'
import { lookInto } from '../looking.ts'
import { startMarket } from '../market.ts'
import { settled } from '../paying.ts'
import { runs } from '../properties.ts'
import { eventually, startWorld, tenantOf, type World } from '../world.ts'

const { world, sql } = await startMarket(0.1)

const visa = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvv: '123' }
const order = { amount: 1_000, currency: 'KES' }

test('a card whose request dies before it is sent is charged by nobody', async () => {
  const { client, attempt, payment } = await orphan(world)
  await waited(world, attempt, 'planned')
  const over = await settled(client, payment)
  assert.deepEqual([over.status, over.failure_reason], ['failed', 'PROVIDER_UNAVAILABLE'])
  assert.equal(await intentOf(world, payment), undefined)
})

test('a card whose request dies after it is sent is asked about, and not sent again', async () => {
  const { client, attempt, payment } = await orphan(world)
  await waited(world, attempt, 'sending')
  const { base_url, secret_key } = simulatedAccounts(world.app).acquirer ?? {}
  const card = { number: visa.number, exp_month: 12, exp_year: 2040, cvc: '123' }
  const headers = { authorization: `Bearer ${secret_key}`, 'idempotency-key': attempt }
  const body = { amount: 100_000, currency: 'kes', metadata: { reference: attempt }, payment_method_data: { card } }
  await fetch(`${base_url}/v1/payment_intents`, { method: 'POST', headers, body: JSON.stringify(body) })
  const paid = await settled(client, payment)
  assert.deepEqual([paid.status, paid.late, (await toldAndGot(world, payment)).got], ['completed', false, 971])
})

test('a payer who never decides is given up, and then nobody can be charged any more', async () => {
  const quick = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 0.002 })
  try {
    const lost = await orphan(quick)
    await waited(quick, lost.attempt, 'sending')
    const never = await settled(lost.client, lost.payment)
    assert.deepEqual([never.status, never.failure_reason], ['expired', 'TRANSACTION_TIMEOUT'], 'it never arrived')
    const { client } = await quick.account()
    const asked = await client.post('/v1/payments', { ...order, card: { ...visa, number: '4000000000003220' } })
    assert.equal(asked.body.status, 'requires_action', asked.text)
    const over = await settled(client, asked.body.payment_id)
    assert.deepEqual([over.status, over.failure_reason], ['expired', 'TRANSACTION_TIMEOUT'])
    await eventually(async () => {
      return (await intentOf(quick, asked.body.payment_id))?.status === 'canceled'
    }, 'the acquirer to be told')
  } finally {
    await quick.stop()
  }
})

test('a capture that the acquirer takes nothing of is asked for again, however long the money was set aside', async () => {
  const busy = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 0.1 })
  const door = await busyAtCapture(busy, 2)
  try {
    const { client } = await busy.account()
    const set = await eventually(async () => {
      const { body } = await client.post('/v1/payments', { ...order, card: visa, capture: false })
      return gatewayOf(busy.app).isEntered('acquirer', 'test') && body
    }, 'the door to be used')
    await age(busy, set.payment_id)
    const asked = await client.post(`/v1/payments/${set.payment_id}/capture`, { amount: 400 })
    assert.deepEqual([asked.status, asked.body.status], [200, 'processing'], asked.text)
    const paid = await settled(client, set.payment_id)
    assert.deepEqual([paid.status, paid.amount, door.refused], ['completed', 400, 2])
    assert.equal((await intentOf(busy, set.payment_id))?.amount_received, 40_000)
    const tookMs = Date.parse(paid.completed_at) - Date.parse(asked.body.updated_at)
    assert.ok(
      tookMs > 1_400,
      `the second look comes fifteen seconds after the capture, a tenth of that here: ${tookMs}`,
    )
  } finally {
    await busy.stop()
    door.close()
  }
})

test('a look that began before a part was captured takes that part, and nothing is amiss', async () => {
  const { client, tenant, attempt, payment } = await setAside()
  await partAsked(payment.id)
  const verdict = await card.query(world.app, tenant, attempt, payment)
  assert.deepEqual([verdict?.kind, verdict?.kind === 'paid' && verdict.micros], ['paid', 400_000_000n])
  assert.ok(verdict)
  await settle(world.app, tenant, attempt, verdict, payment)
  const { body } = await client.get(`/v1/payments/${idOf('payment', payment.id)}`)
  assert.deepEqual([body.status, body.amount], ['completed', 400])
  assert.equal((await intentOf(world, body.payment_id))?.amount_received, 40_000)
  assert.equal(await isListed(body.payment_id), false)
})

test('more than the part that was captured is on the operator’s list, also for who has not heard of the part', async () => {
  const { tenant, attempt, payment } = await setAside()
  await partAsked(payment.id)
  const whole: Verdict = { kind: 'paid', receipt: 'x', micros: 1_000_000_000n }
  const { status, failure_reason } = await settle(world.app, tenant, attempt, whole, payment)
  assert.deepEqual([status, failure_reason], ['failed', 'AMOUNT_MISMATCH'])
  assert.equal(await isListed(idOf('payment', payment.id)), true)
})

const until = new Date('2040-01-01')
const verdicts: Readonly<Record<string, Verdict>> = {
  accepted: { kind: 'accepted', providerId: 'x' },
  pending: { kind: 'pending' },
  action: { kind: 'action', providerId: 'x', details: { redirect_url: 'https://bank.example/' } },
  authorised: { kind: 'authorised', until, details: { authorised_until: until.toISOString() } },
  unknown: { kind: 'unknown', reason: 'x' },
  missing: { kind: 'missing' },
  refused: { kind: 'refused', reason: 'CARD_DECLINED', code: 'x' },
  unavailable: { kind: 'unavailable', reason: 'x' },
  paid: { kind: 'paid', receipt: 'x', micros: 1_000_000_000n },
}

/** What a payment is after a verdict. */
function stateAfter(status: string, verdict: string): string {
  if (status === 'completed' || verdict === 'paid') return 'completed'
  if (status === 'failed') return status
  if (verdict === 'refused' || verdict === 'unavailable') return 'failed'
  if (status === 'pending' && verdict === 'action') return 'requires_action'
  if (status === 'pending' && (verdict === 'accepted' || verdict === 'pending')) return 'processing'
  if ((status === 'pending' || status === 'requires_action') && verdict === 'authorised') return 'processing'
  return status
}

test('verdicts in any order, twice and late: money comes at most once, and each change is told once', async () => {
  // Nobody else looks after these payments.
  const alone = await startWorld({ PAMOJA_ROLES: ['api'] })
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...Object.keys(verdicts)), { minLength: 1, maxLength: 8 }),
        async (words) => {
          const { client, attempt, payment, tenant } = await orphan(alone)
          const [row] = await alone.app.db.query(findAttempt, { ...tenant, id: attempt })
          assert.ok(row)
          let status = 'pending'
          let told = 1
          for (const word of words) {
            const next = stateAfter(status, word)
            if (next !== status && next !== 'processing') told++
            const verdict = verdicts[word]
            assert.ok(verdict)
            status = (await settle(alone.app, tenant, row, verdict)).status
            assert.equal(status, next, `${word} of ${words.join()}`)
          }
          const { events, got } = await toldAndGot(alone, payment)
          assert.deepEqual([events, got], [told, status === 'completed' ? 971 : 0], words.join())
          const { body } = await client.get(`/v1/payments/${payment}`)
          assert.equal(body.redirect_url !== undefined, status === 'requires_action')
        },
      ),
      { numRuns: runs(40) },
    )
  } finally {
    await alone.stop()
  }
})

async function toldAndGot(world: World, payment: string) {
  const client = lookInto(world)
  await client.connect()
  const { rows } = await client.query(
    `select (select sequence from payments.payments where id = $1) as events,
            (select coalesce(sum(amount), 0) / 1000000.0 from ledger.transfers where source_id = $1 and credit = 'wallet') as got`,
    [uuidOf('payment', payment)],
  )
  await client.end()
  return { events: Number(rows[0].events), got: Number(rows[0].got) }
}

/** A card payment whose request goes no further than to store it. */
async function orphan({ app, account }: World) {
  const { client, id } = await account()
  const nowMs = app.clock.nowMs()
  const tenant = tenantOf({ id })
  const occasion = { tenant, receivedMs: nowMs, nowMs, requestId: null }
  const wish = { input: { ...order, card: visa }, occasion, sendsInline: true, purpose: collection }
  const { id: payment } = await app.db.acrossTx((tx) => accept(app, tx, wish))
  const found = await app.db.query(attemptOfPayment, { ...tenant, payment })
  return { client, tenant, attempt: found[0]?.id ?? '', payment: idOf('payment', payment) }
}

/** A payment whose money is set aside, as somebody has read it who is the only one to look after it. */
async function setAside() {
  const { client, id } = await world.account()
  const { body } = await client.post('/v1/payments', { ...order, card: visa, capture: false })
  const tenant = tenantOf({ id })
  const payment = await one(
    world.app.db.query(findPayment, { ...tenant, id: uuidOf('payment', body.payment_id) ?? '' }),
  )
  const attempt = await one(world.app.db.query(attemptOfPayment, { ...tenant, payment: payment.id }))
  await sql.query('delete from work.jobs where id = (select job from payments.attempts where id = $1)', [attempt.id])
  return { client, tenant, attempt, payment }
}

/** As if a part had been asked for, by a node that died then. */
async function partAsked(payment: string): Promise<void> {
  await sql.query('begin')
  await sql.query('update payments.cards set capture_asked_at = now() where payment_id = $1', [payment])
  await sql.query('update payments.payments set amount = 400000000, fee = 11600000 where id = $1', [payment])
  await sql.query('commit')
}

async function isListed(payment: string): Promise<boolean> {
  const { data } = (await world.operator.get('/v1/operator/payments/discrepancies?limit=200')).body
  return data.some(({ payment_id }: { payment_id: string }) => payment_id === payment)
}

/** As if the money had been set aside for days, and the acquirer asked again and again. */
async function age(world: World, payment: string): Promise<void> {
  const client = lookInto(world)
  await client.connect()
  const aged = `update payments.attempts a
    set created_at = a.created_at - interval '8 hours', updated_at = a.updated_at - interval '8 hours'
    from work.jobs j where a.payment_id = $1 and j.id = a.job and j.run_at > now() + interval '1 hour'`
  // Whoever looks for the first time sleeps then.
  await eventually(async () => (await client.query(aged, [uuidOf('payment', payment)])).rowCount === 1, 'a look at it')
  await client.end()
}

/** As if the node had died a minute ago: before it asked the acquirer, or between the request and the answer. */
async function waited(world: World, attempt: string, state: 'planned' | 'sending'): Promise<void> {
  const client = lookInto(world)
  await client.connect()
  await client.query(
    `update payments.attempts set state = $2, provider_id = id::text, updated_at = now() - interval '1 minute'
      where id = $1`,
    [attempt, state],
  )
  await client.end()
}
