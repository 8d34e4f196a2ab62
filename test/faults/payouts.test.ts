// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that pays out, while it does. The provider lives on, keeps books of its own, cuts connections after it
// accepted and before, and calls nobody; in the end both must have the same money, and nobody was paid twice.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { MomoSimulator } from '../../src/simulators/momo.ts'
import { eventually } from '../world.ts'
import { type Account, chooseSeed, type Installation, randomFrom, startInstallation } from './harness.ts'

const rounds = 3
const payoutsPerRound = 12
const payoutsPerBatch = 20
const timeScale = 0.05
const credit = 1_000_000
/** Paid, refused, paid without a call, cut after acceptance, cut before it, told three times. */
const endings = ['0001', '0004', '0010', '0011', '0016', '0009']
const seed = chooseSeed()
const random = randomFrom(seed)
const merchant = {
  subscriptionKey: 'subscription',
  targetEnvironment: 'simulator',
  apiUser: randomUUID(),
  apiKey: 'key',
}

let installation: Installation
let provider: MomoSimulator
let account: Account

before(async () => {
  provider = await MomoSimulator.start({
    ...merchant,
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
    target_environment: merchant.targetEnvironment,
    subscription_key: merchant.subscriptionKey,
    api_user: merchant.apiUser,
    api_key: merchant.apiKey,
    payout_subscription_key: merchant.subscriptionKey,
    payout_api_user: merchant.apiUser,
    payout_api_key: merchant.apiKey,
  })
  assert.equal(entered.status, 201, entered.text)
  account = await installation.account({ credit: 1 })
  const credited = await installation.operator().post(`/v1/operator/accounts/${account.id}/credit`, {
    amount: credit,
    currency: 'UGX',
    environment: 'test',
    reference: 'payouts',
  })
  assert.equal(credited.status, 200, credited.text)
})
after(async () => {
  await installation.stop()
  await provider.stop()
})

test('whenever the node is killed, every payout ends as the provider says, is paid once and told of once', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const asked: Promise<void>[] = []
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < payoutsPerRound; i++) asked.push(ask(round * payoutsPerRound + i))
    asked.push(askMany(round))
    await pause(50 + random() * 500)
    await installation.killNode(0)
    await installation.startNode(0)
  }
  await Promise.all(asked)
  await eventually(async () => (await count(`status = 'processing'`)) === 0, 'every payout to be over', 300_000)
  const numbers = [
    ...Array.from({ length: rounds * payoutsPerRound }, (_, i) => i),
    ...Array.from({ length: rounds * payoutsPerBatch }, (_, i) => i % payoutsPerBatch),
  ]
  const refused = numbers.filter((n) => endingOf(n) === '0004').length
  assert.equal(await count('true'), numbers.length, 'one payout for each that was asked for')
  const { paid } = provider.transfers
  assert.equal(await count(`status = 'completed'`), paid.size, 'what the provider paid is completed')
  assert.equal(await count(`status = 'failed' and failure_reason = 'RECIPIENT_NOT_FOUND'`), refused)
  assert.equal(paid.size, numbers.length - refused)
  const completed = await installation.sql<{ id: string; amount: string }>(
    `select id, (amount / 1000000)::text as amount from payments.payouts where status = 'completed'`,
  )
  for (const { id, amount } of completed) assert.equal(paid.get(id), amount, 'under its own id')
  const [sums] = await installation.sql<{ left: string; held: string; out: string; fees: string }>(
    `select (select balance from ledger.wallets where currency = 'UGX')::text as left,
            (select held from ledger.wallets where currency = 'UGX')::text as held,
            (select sum(amount) from ledger.transfers where credit = 'float_out:mtn_momo')::text as out,
            (select sum(fee) from payments.payouts where status = 'completed')::text as fees`,
  )
  const paidMicros = [...paid.values()].reduce((sum, amount) => sum + BigInt(amount) * 1_000_000n, 0n)
  assert.equal(sums?.out, paidMicros.toString(), 'the provider’s books are ours')
  assert.equal(BigInt(sums?.left ?? 0), BigInt(credit) * 1_000_000n - paidMicros - BigInt(sums?.fees ?? 0))
  assert.equal(sums?.held, '0')
  const told = await installation.sql<{ type: string; told: number }>(
    `select type, count(*)::int as told from events.events where type like 'payout.%' group by type order by type`,
  )
  assert.deepEqual(told, [
    { type: 'payout.batch_completed', told: rounds },
    { type: 'payout.completed', told: paid.size },
    { type: 'payout.failed', told: refused },
  ])
  assert.deepEqual((await verifyLedger(installation.db)).problems, [])
})

/** Asks until it is answered; a request that died with its node is repeated under its key. */
async function ask(n: number): Promise<void> {
  const body = { amount: 1_000 + n, currency: 'UGX', phone: `+25677000${endingOf(n)}` }
  await until('/v1/payouts', body, `payout-${n}`)
}

async function askMany(round: number): Promise<void> {
  const items = Array.from({ length: payoutsPerBatch }, (_, i) => ({
    amount: 500 + i,
    phone: `+25677000${endingOf(i)}`,
  }))
  await until('/v1/payments/payout/bulk', { currency: 'UGX', items }, `batch-${round}`)
}

async function until(path: string, body: object, key: string): Promise<void> {
  await eventually(
    async () => {
      const reply = await installation
        .client(0, account.key)
        .post(path, body, { headers: { 'Idempotency-Key': key } })
        .catch(() => null)
      if (reply?.status === 201) return true
      await pause(200)
      return false
    },
    `${key} to be accepted`,
    120_000,
  )
}

function endingOf(n: number): string {
  return endings[n % endings.length] ?? '0001'
}

async function count(condition: string): Promise<number> {
  const [row] = await installation.sql<{ found: number }>(
    `select count(*)::int as found from payments.payouts where ${condition}`,
  )
  return row?.found ?? 0
}
