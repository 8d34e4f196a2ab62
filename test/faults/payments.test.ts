// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that collects payments, while payers are being asked. The provider lives on, keeps books of its own,
// cuts connections after it accepted and does not always call back; in the end both must have the same money.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { MomoSimulator } from '../../src/simulators/momo.ts'
import { eventually } from '../world.ts'
import { type Account, chooseSeed, type Installation, randomFrom, startInstallation } from './harness.ts'

const rounds = 3
const paymentsPerRound = 20
const timeScale = 0.05
/** Long beyond what a killed node's work needs to be taken up again, so that no payment is over before it is sent. */
const expiresIn = 7_200
/** Paid, refused, paid without a callback, cut after acceptance, cut before it, told three times. */
const endings = ['0001', '0002', '0010', '0011', '0016', '0009']
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
  })
  assert.equal(entered.status, 201, entered.text)
  account = await installation.account({ credit: 1 })
})
after(async () => {
  await installation.stop()
  await provider.stop()
})

test('whenever the node is killed, every payment ends as the provider says, is paid into the wallet once and told of once', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const asked: Promise<void>[] = []
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < paymentsPerRound; i++) asked.push(ask(round * paymentsPerRound + i))
    await pause(50 + random() * 500)
    await installation.killNode(0)
    await installation.startNode(0)
  }
  await Promise.all(asked)
  await eventually(
    async () => (await count(`status in ('pending', 'processing')`)) === 0,
    'every payment to be over',
    240_000,
  )
  const all = rounds * paymentsPerRound
  assert.equal(await count('true'), all, 'one payment for each key')
  const refused = Array.from({ length: all }, (_, i) => endingOf(i)).filter((ending) => ending === '0002').length
  const completed = await eventually(async () => {
    const found = await count(`status = 'completed'`)
    return found === provider.paid.size && found
  }, 'every payment that was paid to be known of')
  const failed = await count(`status = 'failed' and failure_reason = 'INSUFFICIENT_FUNDS'`)
  assert.equal(failed, refused)
  assert.equal(completed, all - refused)
  const [sums] = await installation.sql<{ collected: string; wallet: string; floated: string }>(
    `select (select sum(amount) from payments.payments where status = 'completed')::text as collected,
            (select sum(balance) from ledger.wallets where currency = 'UGX')::text as wallet,
            (select sum(amount) from ledger.transfers where debit = 'float:mtn_momo')::text as floated`,
  )
  const paidMicros = [...provider.paid.values()].reduce((sum, amount) => sum + BigInt(amount) * 1_000_000n, 0n)
  assert.equal(sums?.collected, paidMicros.toString(), 'the provider’s books are ours')
  assert.equal(sums?.floated, paidMicros.toString())
  const [fees] = await installation.sql<{ fees: string }>(
    `select sum(fee)::text as fees from payments.payments where status = 'completed'`,
  )
  assert.equal(BigInt(sums?.wallet ?? 0), paidMicros - BigInt(fees?.fees ?? 0))
  const told = await installation.sql<{ type: string; told: number }>(
    'select type, count(*)::int as told from events.events group by type order by type',
  )
  assert.deepEqual(told, [
    { type: 'payment.completed', told: completed },
    { type: 'payment.created', told: all },
    { type: 'payment.failed', told: failed },
  ])
  assert.deepEqual((await verifyLedger(installation.db)).problems, [])
})

/** Asks for a payment until it is answered; a request that died with its node is repeated under its key. */
async function ask(n: number): Promise<void> {
  const body = { amount: 1_000 + n, currency: 'UGX', phone: `+25677000${endingOf(n)}`, expires_in: expiresIn }
  await eventually(
    async () => {
      const reply = await installation
        .client(0, account.key)
        .post('/v1/payments', body, { headers: { 'Idempotency-Key': `payment-${n}` } })
        .catch(() => null)
      if (reply?.status === 201) return true
      await pause(200)
      return false
    },
    `payment ${n} to be accepted`,
    120_000,
  )
}

function endingOf(n: number): string {
  return endings[n % endings.length] ?? '0001'
}

async function count(condition: string): Promise<number> {
  const [row] = await installation.sql<{ found: number }>(
    `select count(*)::int as found from payments.payments where ${condition}`,
  )
  return row?.found ?? 0
}
