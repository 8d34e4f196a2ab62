// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that runs a campaign, again and again while it sends, is paused and resumed. In the end everybody who agreed
// got it once, nobody who said STOP before their turn did, and no budget was exceeded.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { eventually, patienceMs } from '../eventually.ts'
import { chooseSeed, randomFrom, startInstallation } from './harness.ts'

const kills = process.env.PAMOJA_TEST_FULL === 'true' ? 100 : 3
const people = 1_000 + kills * 300
/** Each text costs 0.80: the budget ends before the audience does. */
const affordable = people - 200
const seed = chooseSeed()
const random = randomFrom(seed)
const installation = await startInstallation({
  ...{ nodes: 1, database: 'shared' },
  environment: { PAMOJA_JOB_LEASE_SECONDS: '2', PAMOJA_RATE_LIMITS: 'off' },
})
after(() => installation.stop())

test('whenever the node is killed, a campaign reaches everybody who agreed once, and never exceeds its budget', async (t) => {
  t.diagnostic(`seed ${seed}, ${kills} kills`)
  const account = await installation.account()
  const client = () => installation.client(0, account.key)
  const first = await client().post('/v1/customers', {
    ...{ name: 'First', phones: ['+254711000999'], tags: ['all'] },
    consents: [{ channel: 'sms', purpose: 'marketing', state: 'granted' }],
  })
  assert.equal(first.status, 201, first.text)
  await multiply()
  const filter = { field: 'tags', op: 'eq', value: 'all' }
  const segment = await client().post('/v1/segments', { name: 'All', filter })
  const made = await client().post('/v1/campaigns', {
    ...{ name: 'Killed', segment_id: segment.body.id, channel: ['sms'], quiet_hours: null },
    ...{ budget: affordable * 0.8 + 0.1, content: { sms: { from: 'PAMOJA', text: 'Habari {{name}}' } } },
  })
  assert.equal(made.status, 201, made.text)
  const path = `/v1/campaigns/${made.body.id}`
  const state = async () => (await client().get(path)).body.state
  assert.equal((await client().post(`${path}/start`, {})).status, 200)
  for (let kill = 0; kill < kills; kill++) {
    await pause(random() * 1_200)
    await installation.killNode(0)
    await installation.startNode(0)
    if (random() < 0.5) {
      await client().post(`${path}/pause`, {})
      await stopSome()
      await client().post(`${path}/resume`, {})
    }
  }
  await eventually(
    async () => ['completed', 'stopped_budget'].includes(await state()),
    'the campaign to end',
    patienceMs(120_000),
  )
  const [sums] = await installation.sql<{ texts: number; reached: number; paid: string; spent: string; sent: number }>(
    `select (select count(*)::int from sms.messages where direction = 'outbound' and error_code is null) as texts,
            (select count(distinct recipient)::int from sms.messages where direction = 'outbound' and error_code is null) as reached,
            (select coalesce(sum(amount), 0)::text from ledger.transfers where credit = 'revenue:sms') as paid,
            (select spent::text from customers.campaigns) as spent,
            (select count(*)::int from customers.campaign_recipients where state = 'sent') as sent`,
  )
  assert.ok(sums)
  assert.equal(sums.texts, sums.reached, 'nobody twice')
  assert.equal(sums.sent, sums.texts, 'everybody who counts as reached has a message')
  assert.equal(sums.paid, sums.spent)
  assert.equal(BigInt(sums.spent), BigInt(sums.texts) * 800_000n)
  assert.ok(sums.texts <= affordable, 'never over budget')
  const [late] = await installation.sql<{ texts: number }>(
    `select count(*)::int as texts from sms.messages m join sms.opt_outs o on o.phone = m.recipient
      where m.direction = 'outbound' and m.error_code is null and m.created_at > o.created_at`,
  )
  assert.equal(late?.texts, 0, 'nobody after STOP')
  const expected = (await state()) === 'completed' ? people - (await stopped()) : affordable
  assert.ok(sums.texts >= expected - (await stopped()), `${sums.texts} of ${expected}`)
  assert.deepEqual((await verifyLedger(installation.db)).problems, [])
  assert.deepEqual(installation.crashes, [])
})

/** Further customers like the first, with numbers of their own that the sandbox gives no meaning to. */
async function multiply(): Promise<void> {
  await installation.sql(
    `with made as (
       insert into customers.customers (bucket, account_id, environment, id, name, phone, phones, tags, created_at, updated_at)
       select c.bucket, c.account_id, c.environment, gen_random_uuid(), 'Person ' || n, p.phone, array[p.phone], c.tags, now(), now()
         from customers.customers c cross join generate_series(1, $1::int) n
        cross join lateral (select '+2547' || lpad((11001000 + n)::text, 8, '0') as phone) p
       returning bucket, account_id, environment, id, phone),
     owned as (
       insert into customers.addresses (bucket, account_id, environment, kind, address, customer_id)
       select bucket, account_id, environment, 'phone', phone, id from made)
     insert into customers.grants (bucket, account_id, environment, channel, address, purpose, granted_at)
     select bucket, account_id, environment, 'sms', phone, 'marketing', now() from made`,
    [people - 1],
  )
}

/** Some who wait say STOP, while the campaign is paused. */
async function stopSome(): Promise<void> {
  await installation.sql(
    `insert into sms.opt_outs (bucket, account_id, environment, phone, sender, id, source, created_at)
     select r.bucket, r.account_id, r.environment, c.phone, '*', gen_random_uuid(), 'keyword', clock_timestamp()
       from customers.campaign_recipients r
       join customers.customers c on c.bucket = r.bucket and c.account_id = r.account_id and c.environment = r.environment
        and c.id = r.customer_id
      where r.state = 'waiting' order by c.id limit 5 on conflict do nothing`,
  )
}

async function stopped(): Promise<number> {
  const [row] = await installation.sql<{ count: number }>('select count(*)::int as count from sms.opt_outs')
  return row?.count ?? 0
}
