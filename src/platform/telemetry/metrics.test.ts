// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { after, before, test } from 'node:test'
import { lookInto } from '../../../test/looking.ts'
import { startReceiver } from '../../../test/receiver.ts'
import { eventually, startWorld, type World } from '../../../test/world.ts'
import { queues } from '../work/queues.ts'
import { atMostEvery, Metrics } from './metrics.ts'

let world: World
before(async () => {
  world = await startWorld({ PAMOJA_RATE_LIMITS: 'on' })
})
after(() => world.stop())

test('Prometheus finds every family the operator was promised, and can read every line', async () => {
  await world.demo.get('/v1/auth/whoami')
  const text = await eventually(async () => {
    const found = await scrape(world.node.adminUrl)
    return found.includes('pamoja_ledger_imbalance 0') && found
  }, 'the first verification of the ledger')
  for (const family of [
    'pamoja_http_duration_seconds',
    'pamoja_limits_refusals_total',
    'pamoja_work_queue_jobs',
    'pamoja_work_queue_oldest_seconds',
    'pamoja_work_running',
    'pamoja_db_pool_connections',
    'pamoja_db_pool_waiting',
    'pamoja_commit_items_total',
    'pamoja_ledger_imbalance',
    'pamoja_events_age_seconds',
    'pamoja_webhooks_attempts_total',
    'nodejs_eventloop_lag_seconds',
    'nodejs_eventloop_lag_p99_seconds',
  ])
    assert.match(text, new RegExp(`^# TYPE ${family} (gauge|counter|histogram)$`, 'm'), family)
  assert.match(text, /^pamoja_build_info\{version="\d+\.\d+\.\d+"\} 1$/m)
  const readable =
    /^(#.*|[a-zA-Z_:][\w:]*(\{[a-zA-Z_]\w*="[^"\\\n]*"(,[a-zA-Z_]\w*="[^"\\\n]*")*\})? (-?[\d.]+(e[+-]?\d+)?|Nan|\+Inf))?$/
  assert.deepEqual(
    text.split('\n').filter((line) => !readable.test(line)),
    [],
  )
})

test('requests are counted by operation and class, and their buckets add up', async () => {
  const { client } = await world.account({ balance: 100 })
  const count = async (operation: string, status: string): Promise<number> =>
    figure(
      await scrape(world.node.adminUrl),
      `pamoja_http_duration_seconds_count{operation="${operation}",status="${status}"}`,
    )
  const before = { fine: await count('notes.create', '2xx'), refused: await count('notes.create', '4xx') }
  for (let i = 0; i < 3; i++) assert.equal((await client.post('/v1/notes', { text: 'Habari' })).status, 200)
  for (let i = 0; i < 2; i++) assert.equal((await client.post('/v1/notes', {})).status, 422)
  // A request is counted after its last byte was sent, perhaps after it was read.
  await eventually(async () => (await count('notes.create', '4xx')) - before.refused === 2, 'both refusals')
  assert.equal((await count('notes.create', '2xx')) - before.fine, 3)
  const text = await scrape(world.node.adminUrl)
  const labels = 'operation="notes.create",status="4xx"'
  const buckets = [...text.matchAll(new RegExp(`_bucket\\{${labels},le="[^"]+"\\} (\\d+)`, 'g'))].map(([, n]) =>
    Number(n),
  )
  assert.equal(buckets.length, 14)
  assert.deepEqual(
    buckets,
    [...buckets].sort((a, b) => a - b),
    'a bucket holds what the smaller ones hold',
  )
  assert.equal(buckets.at(-1), figure(text, `pamoja_http_duration_seconds_count{${labels}}`))
  assert.ok(figure(text, `pamoja_http_duration_seconds_sum{${labels}}`) > 0)
})

test('what becomes of a text shows by its status, with how long it took', async () => {
  const { client } = await world.account({ balance: 100 })
  await client.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari' })
  const text = await eventually(async () => {
    const found = await scrape(world.node.adminUrl)
    return found.includes('event="sms.delivered"') && found
  }, 'the delivery to show')
  for (const [event, status] of [
    ['sms.status', 'sent'],
    ['sms.status', 'delivered'],
    ['sms.delivered', 'delivered'],
  ]) {
    const labels = `\\{environment="test",event="${event}",status="${status}"`
    assert.match(text, new RegExp(`^pamoja_events_age_seconds_count${labels}\\} 1$`, 'm'))
    assert.match(text, new RegExp(`^pamoja_events_age_seconds_bucket${labels},le="300"\\} 1$`, 'm'))
    assert.match(text, new RegExp(`^pamoja_events_age_seconds_sum${labels}\\} (0\\.|[1-9])`, 'm'))
  }
})

test('paths that nobody declared make no series of their own', async () => {
  const { client } = await world.account()
  const series = async (): Promise<string[]> =>
    [...(await scrape(world.node.adminUrl)).matchAll(/^pamoja_http_duration_seconds_count\{(.*)\}/gm)].map(
      ([, labels = '']) => labels,
    )
  await client.get('/v1/nothing')
  await client.request('DELETE', '/v1/limits')
  const before = await eventually(async () => {
    const found = await series()
    return found.includes('operation="none",status="4xx"') && found
  }, 'the first of them to be counted')
  for (let i = 0; i < 20; i++) await client.get(`/v1/nothing/${i}`)
  for (let i = 0; i < 20; i++) await client.get(`/v1/notes/made-up-${i}`)
  const added = await eventually(async () => {
    const found = (await series()).filter((labels) => !before.includes(labels))
    return found.length > 0 && found
  }, 'the requests to be counted')
  assert.deepEqual(added, ['operation="notes.get",status="4xx"'])
})

test('a refused request shows under the policy that refused it', async () => {
  const account = await world.account()
  const { body: own } = await account.client.get('/v1/auth/whoami')
  await world.operator.patch(`/v1/operator/api-keys/${own.key_id}`, { rate_limit_per_second: 1 })
  const refusals = async (): Promise<number> =>
    figure(await scrape(world.node.adminUrl), 'pamoja_limits_refusals_total{policy="key"}')
  const before = await refusals()
  await eventually(async () => (await account.client.get('/v1/auth/whoami')).status === 429, 'a refusal')
  await eventually(async () => (await refusals()) - before === 1, 'the refusal to be counted')
})

test('jobs show by lane and by what they wait for, with the age of the oldest', async () => {
  await withSql(async (sql) => {
    for (const job of [
      `(1, gen_random_uuid(), 'nobody.here', 'infinity', 3, '{}')`,
      `(2, gen_random_uuid(), 'nobody.here', now() + interval '1 hour', 0, '{}')`,
      `(3, gen_random_uuid(), 'nobody.here', now() - interval '90 seconds', 0, '{}')`,
    ])
      await sql(`insert into work.jobs (bucket, id, lane, run_at, attempt, payload) values ${job}`)
  })
  const counted = (await queues(world.app.db)).find(({ lane }) => lane === 'nobody.here')
  assert.deepEqual(
    { ...counted, oldest_seconds: 0 },
    { lane: 'nobody.here', due: 1, running: 0, scheduled: 1, failed: 1, oldest_seconds: 0 },
  )
  // The table is queried every few seconds at most, so values may lag.
  const text = await eventually(async () => {
    const found = await scrape(world.node.adminUrl)
    return found.includes('lane="nobody.here"') && found
  }, 'the queue to show')
  assert.equal(figure(text, 'pamoja_work_queue_jobs{lane="nobody.here",state="due"}'), 1)
  assert.equal(figure(text, 'pamoja_work_queue_jobs{lane="nobody.here",state="scheduled"}'), 1)
  assert.equal(figure(text, 'pamoja_work_queue_jobs{lane="nobody.here",state="failed"}'), 1)
  assert.ok(figure(text, 'pamoja_work_queue_oldest_seconds{lane="nobody.here"}') >= 90)
})

test('the public port knows nothing of metrics', async () => {
  for (const path of ['/metrics', '/v1/metrics', '/api/v1/metrics']) {
    const { status, text } = await world.demo.get(path)
    assert.equal(status, 404, path)
    assert.doesNotMatch(text, /pamoja_http/)
  }
  assert.equal((await world.stranger.get('/v1/metrics')).status, 401)
})

test('a ledger that does not add up shows, and the operator is told of it', async (t) => {
  const { client } = await world.account({ balance: 5 })
  assert.equal((await client.post('/v1/notes', { text: 'Habari' })).status, 200)
  await withSql((sql) =>
    sql(`update ledger.wallets set balance = balance + 1 where (bucket, account_id) in
    (select bucket, account_id from ledger.wallets where balance > 0 limit 1)`),
  )
  const receiver = await startReceiver()
  t.after(() => receiver.stop())
  // A starting node verifies the ledger; a running one would do so within the hour.
  const second = await world.another({
    PAMOJA_NOTICE_WEBHOOK: receiver.url('/notices'),
    PAMOJA_NOTICE_EMAILS: ['night@operator.example'],
  })
  try {
    await eventually(
      async () => /^pamoja_ledger_imbalance [1-9]/m.test(await scrape(second.adminUrl)),
      'the imbalance to show',
    )
    const told = JSON.parse((await receiver.next('/notices')).body)
    assert.deepEqual([told.type, told.name, told.until], ['trouble.began', 'ledger', null])
    assert.match(told.text, /trouble with ledger on .*\nThe ledger does not add up/)
    await eventually(async () => {
      const { body } = await world.demo.get('/v1/email?recipient=night%40operator.example')
      return body.data?.some(({ subject }: { subject: string }) => /trouble with ledger/.test(subject))
    }, 'the mail to the operator')
  } finally {
    await second.stop()
  }
})

test('a figure that cannot be had is left out, and the others are shown', async () => {
  const metrics = new Metrics('1.2.3')
  metrics.gauges('pamoja_test_broken', 'Broken.', ['lane'], async () => {
    throw new Error('the database is unreachable')
  })
  metrics.gauge('pamoja_test_unknown', 'Not known yet.', () => null)
  metrics.gauge('pamoja_test_fine', 'Fine.', () => 7)
  const text = await metrics.text()
  assert.match(text, /^pamoja_test_fine 7$/m)
  assert.doesNotMatch(text, /^pamoja_test_(broken|unknown)/m)
})

test('a count kept elsewhere is shown as it is, however often it is read', async () => {
  const metrics = new Metrics('1.2.3')
  metrics.total('pamoja_test_total', 'A count.', () => 41)
  await metrics.text()
  assert.match(await metrics.text(), /^pamoja_test_total 41$/m)
})

test('what is expensive to know is asked at most once a period', async () => {
  let asked = 0
  const ask = async (): Promise<number> => ++asked
  const rarely = atMostEvery(3_600_000, ask)
  assert.deepEqual(await Promise.all([rarely(), rarely(), rarely()]), [1, 1, 1])
  const always = atMostEvery(0, ask)
  assert.deepEqual([await always(), await always()], [2, 3])
})

function scrape(adminUrl: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(`${adminUrl}/metrics`, (response) => {
      assert.equal(response.statusCode, 200)
      assert.match(response.headers['content-type'] ?? '', /^text\/plain/)
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    }).on('error', reject)
  })
}

/** Value of a series; 0 when absent. */
function figure(text: string, series: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `))
  return line === undefined ? 0 : Number(line.slice(series.length + 1))
}

async function withSql(work: (sql: (text: string) => Promise<unknown>) => Promise<unknown>): Promise<void> {
  const client = lookInto(world)
  await client.connect()
  try {
    await work((text) => client.query(text))
  } finally {
    await client.end()
  }
}
