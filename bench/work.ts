// SPDX-License-Identifier: Apache-2.0
// Jobs: adding, claiming and settling them in batches, against one at a time.
import { newUuid } from '../src/kernel/ids.ts'
import { systemClock } from '../src/platform/clock.ts'
import { statement } from '../src/platform/db.ts'
import { settle } from '../src/platform/work.ts'
import { cpuMeter, perEach } from './cpu.ts'
import { type Engine, newTenant, rate, withEngine } from './engine.ts'
import type { Figure } from './report.ts'

const addMany = statement.everywhere<{ buckets: number[]; ids: string[]; account: string }, object>(
  'bench.add_jobs',
  `select work.add(array(select row(j.bucket, j.id, 'bench', $account::uuid, 'test', null, null, 0, '{"note":"x"}')::work.job_item
                           from unnest($buckets::smallint[], $ids::uuid[]) as j(bucket, id)))`,
)

const claimMany = statement.everywhere<
  { node: string; buckets: number[]; most: number },
  { bucket: number; id: string; attempt: number }
>(
  'bench.claim_jobs',
  `select bucket, id, attempt from work.claim($node::uuid, $buckets::smallint[], array['bench'], array[$most::int], array[30])`,
)

const everyBucket = Array.from({ length: 256 }, (_, i) => i)

export function work({ short }: { short: boolean }): Promise<Figure[]> {
  return withEngine(16, async (engine) => {
    const durationMs = short ? 500 : 5_000
    await rate(8, durationMs / 4, () => add(engine, 1))
    const single = await rate(16, durationMs, () => add(engine, 1))
    const hundreds = await rate(4, durationMs, () => add(engine, 100))
    const [alone, batched] = [single.perSecond, hundreds.perSecond * 100]
    let settled = 0
    const meter = cpuMeter()
    const { perSecond } = await rate(2, durationMs, async () => {
      const rows = await engine.db.query(claimMany, { node: engine.nodeId, buckets: everyBucket, most: 200 })
      await Promise.all(
        rows.map(({ bucket, id, attempt }) =>
          engine.committer.commit(settle, { bucket, id, attempt, delay_ms: null, error: null }),
        ),
      )
      settled += rows.length
      if (rows.length === 0) await add(engine, 1_000)
    })
    const cpu = meter.per(settled)
    return [
      { name: 'add, one by one, 16 callers', value: alone, unit: 'jobs/s', cpu: single.cpu },
      { name: 'add, 100 at once, 4 callers', value: batched, unit: 'jobs/s', cpu: perEach(hundreds.cpu, 100) },
      { name: 'ratio, add', value: batched / alone, unit: '' },
      { name: 'claim and settle, 200 at once, 2 loops', value: settled / (durationMs / 1000), unit: 'jobs/s', cpu },
      { name: 'ratio to adding one by one', value: settled / (durationMs / 1000) / alone, unit: '' },
      { name: 'claims', value: perSecond, unit: 'a second' },
    ]
  })
}

async function add({ db }: Engine, count: number): Promise<void> {
  const { bucket, account } = newTenant()
  const nowMs = systemClock.nowMs()
  const ids = Array.from({ length: count }, () => newUuid(nowMs))
  await db.query(addMany, { buckets: ids.map(() => bucket), ids, account })
}
