// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that collects payments, while payers are being asked. The provider lives on, keeps books of its own,
// cuts connections after it accepted and does not always call back; in the end both must have the same money.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { eventually } from '../eventually.ts'
import { chooseSeed, randomFrom } from './harness.ts'
import { patienceMs, startTrade } from './provider.ts'

const rounds = 3
const paymentsPerRound = 20
/** Long beyond what a killed node's work needs to be taken up again, so that no payment is over before it is sent. */
const expiresIn = 7_200
/** Paid, refused, paid without a callback, cut after acceptance, cut before it, told three times. */
const endings = ['0001', '0002', '0010', '0011', '0016', '0009']
const seed = chooseSeed()
const random = randomFrom(seed)
const { installation, provider, ask, restart, count, told } = await startTrade()

test('whenever the node is killed, every payment ends as the provider says, is paid into the wallet once and told of once', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const asked: Promise<unknown>[] = []
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < paymentsPerRound; i++) asked.push(askFor(round * paymentsPerRound + i))
    await pause(50 + random() * 500)
    await restart(round === rounds - 1 ? 'at once' : 'a minute later')
  }
  await Promise.all(asked)
  await eventually(
    async () => (await count(`payments where status in ('pending', 'processing')`)) === 0,
    'every payment to be over',
    patienceMs,
  )
  const all = rounds * paymentsPerRound
  // Where too many calls were cut at once the provider is passed over for a while: those payments end unasked, and who sends
  // the same key again makes another one.
  const unasked = await count(`payments where failure_reason = 'PROVIDER_UNAVAILABLE'`)
  t.diagnostic(`${unasked} payments were refused because the provider was passed over`)
  assert.equal((await count('payments')) - unasked, all, 'one payment for each key')
  const refused = Array.from({ length: all }, (_, i) => endingOf(i)).filter((ending) => ending === '0002').length
  const completed = await eventually(async () => {
    const found = await count(`payments where status = 'completed'`)
    return found === provider.paid.size && found
  }, 'every payment that was paid to be known of')
  const failed = await count(`payments where status = 'failed' and failure_reason = 'INSUFFICIENT_FUNDS'`)
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
  assert.deepEqual(await told('.'), [
    { type: 'payment.completed', told: completed },
    { type: 'payment.created', told: all + unasked },
    { type: 'payment.failed', told: failed + unasked },
  ])
  assert.deepEqual((await verifyLedger(installation.db)).problems, [])
})

function askFor(n: number): Promise<unknown> {
  const body = { amount: 1_000 + n, currency: 'UGX', phone: `+25677000${endingOf(n)}`, expires_in: expiresIn }
  return ask('/v1/payments', body, `payment-${n}`)
}

function endingOf(n: number): string {
  return endings[n % endings.length] ?? '0001'
}
