// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that gives money back, while it is being given back. The provider lives on, keeps books of its own and
// cuts connections before and after it accepted; in the end both must have the same money, and nobody got it twice.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { MomoSimulator } from '../../src/simulators/momo.ts'
import { eventually } from '../world.ts'
import { type Account, chooseSeed, type Installation, randomFrom, startInstallation } from './harness.ts'

const rounds = 3
const refundsPerRound = 12
const parts = 2
const timeScale = 0.05
const patienceMs = 240_000
/** Given back, refused, slow, cut after acceptance, cut before it, out of reach twice. */
const endings = ['0001', '0022', '0023', '0024', '0025', '0026']
const seed = chooseSeed()
const random = randomFrom(seed)
const product = () => ({
  subscriptionKey: randomUUID(),
  targetEnvironment: 'simulator',
  apiUser: randomUUID(),
  apiKey: randomUUID(),
})
const [collections, disbursement] = [product(), product()]

let installation: Installation
let provider: MomoSimulator
let account: Account

before(async () => {
  provider = await MomoSimulator.start({
    ...collections,
    disbursement,
    host: '127.0.0.1',
    timeScale,
    now: () => Date.now(),
    // Nobody can be called back: what is not asked for is not known.
    ca: () => undefined,
  })
  installation = await startInstallation({
    nodes: 1,
    environment: { PAMOJA_RATE_LIMITS: 'off', PAMOJA_SANDBOX_TIME_SCALE: String(timeScale) },
  })
  const entered = await installation.operator().post('/v1/operator/payments/providers', {
    provider: 'mtn_momo',
    country: 'UG',
    environment: 'test',
    base_url: `http://127.0.0.1:${provider.port}`,
    target_environment: collections.targetEnvironment,
    subscription_key: collections.subscriptionKey,
    api_user: collections.apiUser,
    api_key: collections.apiKey,
    payout_subscription_key: disbursement.subscriptionKey,
    payout_api_user: disbursement.apiUser,
    payout_api_key: disbursement.apiKey,
  })
  assert.equal(entered.status, 201, entered.text)
  account = await installation.account({ credit: 1 })
})
after(async () => {
  await installation.stop()
  await provider.stop()
})

test('whenever the node is killed, every refund ends as the provider says, and nobody is given money twice', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const payments = await Promise.all(Array.from({ length: rounds * refundsPerRound }, (_, i) => paid(i)))
  // What fees took of the payments is not there to be given back.
  const fees = rounds * refundsPerRound * 20
  await post('/v1/wallet/topup', { amount: fees, currency: 'UGX', phone: '+256770000001' }, 'fill')
  await eventually(
    async () => (await count(`payments where purpose = 'topup' and status = 'completed'`)) === 1,
    'money',
  )
  const asked: Promise<string>[] = []
  for (let round = 0; round < rounds; round++) {
    for (const payment of payments.slice(round * refundsPerRound, (round + 1) * refundsPerRound))
      for (let part = 0; part < parts; part++)
        asked.push(post(`/v1/payments/${payment}/refund`, { amount: 400 }, `refund-${payment}-${part}`))
    await pause(50 + random() * 500)
    await installation.killNode(0)
    await installation.startNode(0)
  }
  const ids = await Promise.all(asked)
  const all = rounds * refundsPerRound * parts
  assert.equal(new Set(ids).size, all, 'one refund for each key')
  await eventually(
    async () => (await count(`refunds where status in ('pending', 'processing')`)) === 0,
    'every refund to be over',
    patienceMs,
  )
  const completed = await installation.sql<{ id: string; amount: string }>(
    `select id, amount from payments.refunds where status = 'completed'`,
  )
  const theirs = [...provider.refunded].map(([id, { amount }]) => [id, `${amount}000000`])
  assert.deepEqual(new Map(completed.map(({ id, amount }) => [id, amount])), new Map(theirs.map(([id, a]) => [id, a])))
  const refused = all / endings.length
  assert.equal(completed.length, all - refused)
  assert.equal(await count(`refunds where status = 'failed' and failure_reason = 'PROVIDER_FLOAT_LOW'`), refused)
  const [sums] = await installation.sql<{ floated: string; refunded: string; held: string }>(
    `select (select sum(amount) from ledger.transfers where credit = 'float:mtn_momo')::text as floated,
            (select sum(refunded) from payments.payments)::text as refunded,
            (select sum(held) from ledger.wallets)::text as held`,
  )
  const given = (BigInt(completed.length) * 400_000_000n).toString()
  assert.deepEqual([sums?.floated, sums?.refunded, sums?.held], [given, given, '0'])
  const told = await installation.sql<{ type: string; told: number }>(
    `select type, count(*)::int as told from events.events where type in ('payment.refunded', 'refund.failed')
      group by type order by type`,
  )
  assert.deepEqual(told, [
    { type: 'payment.refunded', told: completed.length },
    { type: 'refund.failed', told: refused },
  ])
  for (const id of ids) assert.ok(uuidOf('refund', id))
  assert.deepEqual((await verifyLedger(installation.db)).problems, [])
})

async function paid(n: number): Promise<string> {
  const phone = `+25677000${endings[n % endings.length]}`
  const id = await post('/v1/payments', { amount: 1_000, currency: 'UGX', phone }, `payment-${n}`)
  await eventually(
    async () => {
      const { body } = await installation.client(0, account.key).get(`/v1/payments/${id}?wait=30`)
      return body.status === 'completed'
    },
    `payment ${n} to be completed`,
    patienceMs,
  )
  return id
}

/** Asks until it is answered; a request that died with its node is repeated under its key. */
function post(path: string, body: object, key: string): Promise<string> {
  return eventually(
    async () => {
      const reply = await installation
        .client(0, account.key)
        .post(path, body, { headers: { 'Idempotency-Key': key } })
        .catch(() => null)
      if (reply?.status === 201) return String(reply.body.refund_id ?? reply.body.payment_id)
      await pause(200)
      return null
    },
    `${path} to be accepted`,
    patienceMs,
  )
}

async function count(what: string): Promise<number> {
  const [row] = await installation.sql<{ found: number }>(`select count(*)::int as found from payments.${what}`)
  return row?.found ?? 0
}
