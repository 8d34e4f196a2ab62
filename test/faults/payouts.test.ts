// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that pays out, while it does. The provider lives on, keeps books of its own, cuts connections after it
// accepted and before, and calls nobody; in the end both must have the same money, and nobody was paid twice.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { eventually } from '../eventually.ts'
import { chooseSeed, randomFrom } from './harness.ts'
import { patienceMs, startTrade } from './provider.ts'

const rounds = 3
const payoutsPerRound = 12
const payoutsPerBatch = 20
const credit = 1_000_000
/** Paid, refused, paid without a call, cut after acceptance, cut before it, told three times. */
const endings = ['0001', '0004', '0010', '0011', '0016', '0009']
const seed = chooseSeed()
const random = randomFrom(seed)
const { installation, provider, account, ask, restart, count, told } = await startTrade()

before(async () => {
  const credited = await installation.operator().post(`/v1/operator/accounts/${account.id}/credit`, {
    amount: credit,
    currency: 'UGX',
    environment: 'test',
    reference: 'payouts',
  })
  assert.equal(credited.status, 200, credited.text)
})

test('whenever the node is killed, every payout ends as the provider says, is paid once and told of once', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const asked: Promise<unknown>[] = []
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < payoutsPerRound; i++) asked.push(askFor(round * payoutsPerRound + i))
    asked.push(askForMany(round))
    await pause(50 + random() * 500)
    await restart('a minute later')
  }
  await Promise.all(asked)
  await eventually(
    async () => (await count(`payouts where status not in ('completed', 'failed')`)) === 0,
    'every payout to be over',
    patienceMs,
  )
  const numbers = [
    ...Array.from({ length: rounds * payoutsPerRound }, (_, i) => i),
    ...Array.from({ length: rounds * payoutsPerBatch }, (_, i) => i % payoutsPerBatch),
  ]
  const refused = numbers.filter((n) => endingOf(n) === '0004').length
  assert.equal(await count('payouts'), numbers.length, 'one payout for each that was asked for')
  const { paid } = provider.transfers
  assert.equal(await count(`payouts where status = 'completed'`), paid.size, 'what the provider paid is completed')
  assert.equal(await count(`payouts where status = 'failed' and failure_reason = 'RECIPIENT_NOT_FOUND'`), refused)
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
  assert.deepEqual(await told('^payout[.]'), [
    { type: 'payout.batch_completed', told: rounds },
    { type: 'payout.completed', told: paid.size },
    { type: 'payout.failed', told: refused },
  ])
  assert.deepEqual((await verifyLedger(installation.db)).problems, [])
})

function askFor(n: number): Promise<unknown> {
  const body = { amount: 1_000 + n, currency: 'UGX', phone: phoneOf(100 + n, n) }
  return ask('/v1/payouts', body, `payout-${n}`)
}

function askForMany(round: number): Promise<unknown> {
  const items = Array.from({ length: payoutsPerBatch }, (_, i) => ({
    amount: 500 + i,
    phone: phoneOf(500 + round * payoutsPerBatch + i, i),
  }))
  return ask('/v1/payments/payout/bulk', { currency: 'UGX', items }, `batch-${round}`)
}

/** Phone of a payout of its own: the same one again and again would be reviewed as a risk. */
function phoneOf(person: number, n: number): string {
  return `+25677${person}${endingOf(n)}`
}

function endingOf(n: number): string {
  return endings[n % endings.length] ?? '0001'
}
