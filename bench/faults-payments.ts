// SPDX-License-Identifier: Apache-2.0
// A provider that behaves badly: one call in ten is cut after it was accepted, and of three in ten payments nobody is ever
// told. What counts is that in the end every payment and payout is what the provider's own books say, and nobody was paid
// twice.
import { performance } from 'node:perf_hooks'
import { verifyLedger } from '../src/ledger/verify.ts'
import { eventually } from '../test/eventually.ts'
import { startMomoMerchant, taken } from './momo-merchant.ts'
import type { Figure } from './report.ts'

const timeScale = 0.1
/** Requests under way at once. */
const atOnce = 32
const amount = 1_000
/** Endings by the last digits of the number: cut after acceptance, paid and never told (three), refused, paid. */
const endings = ['0011', '0010', '0010', '0010', '0004', '0001', '0001', '0001', '0001', '0001']

export async function faultsPayments({ short }: { short: boolean }): Promise<Figure[]> {
  const each = short ? 40 : 2_000
  const { installation, provider, account, stop } = await startMomoMerchant(timeScale, 1_000_000_000)
  try {
    const client = installation.client(0, account.key)
    const startedAt = performance.now()
    let next = 0
    const ask = async (): Promise<void> => {
      for (let n = next++; n < 2 * each; n = next++) {
        const path = n % 2 === 0 ? '/v1/payments?wait=0' : '/v1/payouts?wait=0'
        const phone = `+25677000${endings[Math.floor(n / 2) % endings.length]}`
        const payment = { amount, currency: 'UGX', phone, reference: `faults-${n}` }
        await taken(() => client.post(path, payment, { headers: { 'idempotency-key': payment.reference } }))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, ask))
    const unfinished = `select (select count(*) from payments.payments where status in ('pending', 'processing'))
      + (select count(*) from payments.payouts where status in ('pending', 'processing')) as left`
    await eventually(
      async () => Number((await installation.sql<{ left: string }>(unfinished))[0]?.left) === 0,
      'everything to be over',
      1_800_000,
    )
    const seconds = (performance.now() - startedAt) / 1_000
    const completed = async (table: string): Promise<Set<string>> => {
      const rows = await installation.sql<{ id: string }>(`select id from ${table}`)
      return new Set(rows.map(({ id }) => id))
    }
    const collected = await completed(
      `(select a.id from payments.attempts a join payments.payments p on p.id = a.payment_id where p.status = 'completed') t`,
    )
    const paidOut = await completed(`payments.payouts where status = 'completed'`)
    const { paid } = provider.transfers
    const wrong = differing(collected, provider.paid) + differing(paidOut, paid)
    const expected = Array.from({ length: each }, (_, i) => endings[i % endings.length]).filter((one) => one !== '0004')
    const { problems } = await verifyLedger(installation.db)
    return [
      { name: 'payments and payouts', value: 2 * each, unit: `over after ${Math.round(seconds)} s` },
      { name: 'ended otherwise than the provider says', value: wrong, unit: '' },
      { name: 'payouts that the provider paid', value: paid.size, unit: `of ${expected.length} that it should` },
      { name: 'problems of the ledger', value: problems.length, unit: '' },
    ]
  } finally {
    await stop()
  }
}

/** Number of ids that only one of two sets has. */
function differing(ours: ReadonlySet<string>, theirs: ReadonlyMap<string, string>): number {
  return [...ours].filter((id) => !theirs.has(id)).length + [...theirs.keys()].filter((id) => !ours.has(id)).length
}
