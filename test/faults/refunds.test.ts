// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that gives money back, while it is being given back. The provider lives on, keeps books of its own and
// cuts connections before and after it accepted; in the end both must have the same money, and nobody got it twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { eventually } from '../eventually.ts'
import { chooseSeed, randomFrom } from './harness.ts'
import { patienceMs, startTrade } from './provider.ts'

const rounds = 3
const refundsPerRound = 12
const parts = 2
/** Given back, refused, slow, cut after acceptance, cut before it, out of reach twice. */
const endings = ['0001', '0022', '0023', '0024', '0025', '0026']
const seed = chooseSeed()
const random = randomFrom(seed)
const { installation, provider, account, ask, restart, count, told } = await startTrade()

test('whenever the node is killed, every refund ends as the provider says, and nobody is given money twice', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const payments = await Promise.all(Array.from({ length: rounds * refundsPerRound }, (_, i) => paid(i)))
  // What fees took of the payments is not there to be given back.
  const fees = rounds * refundsPerRound * 20
  await ask('/v1/wallet/topup', { amount: fees, currency: 'UGX', phone: '+256770000001' }, 'fill')
  await eventually(
    async () => (await count(`payments where purpose = 'topup' and status = 'completed'`)) === 1,
    'money',
  )
  const asked: Promise<Record<string, unknown>>[] = []
  for (let round = 0; round < rounds; round++) {
    for (const payment of payments.slice(round * refundsPerRound, (round + 1) * refundsPerRound))
      for (let part = 0; part < parts; part++)
        asked.push(ask(`/v1/payments/${payment}/refund`, { amount: 400 }, `refund-${payment}-${part}`))
    await pause(50 + random() * 500)
    await restart('a minute later')
  }
  const ids = (await Promise.all(asked)).map(({ refund_id }) => String(refund_id))
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
  assert.deepEqual(await told('^(payment[.]refunded|refund[.]failed)$'), [
    { type: 'payment.refunded', told: completed.length },
    { type: 'refund.failed', told: refused },
  ])
  for (const id of ids) assert.ok(uuidOf('refund', id))
  assert.deepEqual((await verifyLedger(installation.db)).problems, [])
})

async function paid(n: number): Promise<string> {
  const phone = `+25677000${endings[n % endings.length]}`
  const { payment_id } = await ask('/v1/payments', { amount: 1_000, currency: 'UGX', phone }, `payment-${n}`)
  await eventually(
    async () => {
      const { body } = await installation.client(0, account.key).get(`/v1/payments/${payment_id}?wait=30`)
      return body.status === 'completed'
    },
    `payment ${n} to be completed`,
    patienceMs,
  )
  return String(payment_id)
}
