// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that imports, again and again, while it reads two files of the same people and some of them write. Another node
// goes on where it was. In the end nobody is there twice, nobody is missing, and the reports are as if nothing had happened.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually, patienceMs } from '../eventually.ts'
import { parts } from '../parts.ts'
import { chooseSeed, randomFrom, startInstallation } from './harness.ts'

const kills = process.env.PAMOJA_TEST_FULL === 'true' ? 40 : 4
/** Rows of each file; enough that it is still read when the last node is killed. */
const rowsOfFile = 10_000 + kills * 5_000
/** One row in so many has a mistake. */
const wrongEvery = 500
/** People who said STOP before they were imported. */
const stopped = 20
const seed = chooseSeed()
const random = randomFrom(seed)
const installation = await startInstallation({
  ...{ nodes: 2, database: 'shared' },
  environment: { PAMOJA_JOB_LEASE_SECONDS: '2', PAMOJA_RATE_LIMITS: 'off' },
})
after(() => installation.stop())

const phone = (n: number) => `+2547${13_000_000 + n}`
const isWrong = (n: number) => n % wrongEvery === wrongEvery - 1
const rows = Array.from({ length: rowsOfFile }, (_, n) => n)
const wrong = rows.filter(isWrong).length

const progress = () =>
  installation.sql<{ state: string; rows: number }>(
    'select state, rows_read as rows from customers.imports order by id',
  )
const read = async () => (await progress()).reduce((sum, { rows: done }) => sum + done, 0)
const hasEnded = async () => (await progress()).every(({ state }) => state !== 'running')
const wentOn = async (before: number) => (await read()) > before || (await hasEnded())

/** Node that has an import in hand; null for none at this moment. */
async function importing(): Promise<number | null> {
  const jobs = await installation.sql<{ owner: string }>("select owner from work.jobs where lane = 'customers.import'")
  const found = [0, 1].find((node) => jobs.some(({ owner }) => owner === installation.nodeId(node)))
  return found ?? null
}

test('whenever the node is killed, another goes on with both files: nobody twice, nobody missing, every row told once', async (t) => {
  t.diagnostic(`seed ${seed}, ${kills} kills`)
  const account = await installation.account()
  const client = () => installation.client(installation.runningNodes()[0] ?? 0, account.key)
  for (let n = 0; n < stopped; n++)
    assert.equal((await client().post('/v1/sms/opt-outs', { phone: phone(n) })).status, 201)
  const head = 'external_id,name,phone,email,tags,sms_marketing,consent_source'
  const row = (n: number) =>
    `shop-${n},Person ${n},${isWrong(n) ? '0711' : phone(n)},p${n}@example.com,file,granted,counter`
  const ids: string[] = []
  for (const order of [rows, rows.toReversed()]) {
    const content = [head, ...order.map(row)].join('\n')
    const reply = await client().request('POST', '/v1/customers/import', parts({}, [{ part: 'file', content }]))
    assert.equal(reply.status, 201, reply.text)
    ids.push(reply.body.import_id)
  }
  /** Somebody of the files writes, whom the import may be about to create. */
  const write = async () => {
    const from = phone(Math.floor(random() * rowsOfFile))
    await client()
      .post('/v1/sandbox/sms/inbound', { from, to: '22141', message: 'Habari' })
      .catch(() => null)
  }
  let handedOver = 0
  let starting: Promise<void> = Promise.resolve()
  for (let kill = 0; kill < kills; kill++) {
    const before = await read()
    await Promise.all(Array.from({ length: 10 }, write))
    await eventually(() => wentOn(before), 'an import to go on', patienceMs(60_000))
    // The node that was killed before starts while the other one goes on.
    await starting
    await pause(random() * 100)
    const node = (await importing()) ?? 0
    await installation.killNode(node)
    const left = await read()
    const wasRunning = !(await hasEnded())
    // The other node has to do it: this one is started again afterwards.
    await eventually(() => wentOn(left), 'the other node to go on', patienceMs(60_000))
    if (wasRunning) handedOver++
    starting = installation.startNode(node)
    // Told by whoever waits for it.
    starting.catch(() => undefined)
  }
  await starting
  t.diagnostic(`${handedOver} times the other node went on`)
  assert.ok(handedOver > 0)
  await eventually(hasEnded, 'both imports to end', patienceMs(120_000))
  for (const [i, id] of ids.entries()) {
    const { body } = await client().get(`/v1/customers/imports/${id}`)
    const { state, rows_read, created, updated, unchanged, failed, consents_withdrawn } = body
    assert.deepEqual(
      [state, rows_read, failed, consents_withdrawn],
      ['completed', rowsOfFile, wrong, stopped],
      JSON.stringify(body),
    )
    assert.equal(created + updated + unchanged, rowsOfFile - wrong, 'every row is counted once')
    const { text } = await client().get(`/v1/customers/imports/${id}/errors`)
    const lines = text.trim().split('\r\n').slice(1)
    const told = lines.map((line) => Number(line.split(',')[0]))
    const lineOf = (n: number) => (i === 0 ? n : rowsOfFile - 1 - n) + 2
    assert.deepEqual(
      told,
      rows
        .filter(isWrong)
        .map(lineOf)
        .sort((a, b) => a - b),
    )
  }
  const [found] = await installation.sql<Record<'people' | 'phones' | 'addresses' | 'whole' | 'granted', number>>(
    `select (select count(*)::int from customers.customers c where 'file' = any(c.tags)) as people,
            (select count(distinct p)::int from customers.customers c, unnest(c.phones) p where 'file' = any(c.tags)) as phones,
            (select count(*)::int from customers.addresses a join customers.customers c on c.id = a.customer_id
              where 'file' = any(c.tags)) as addresses,
            (select count(*)::int from customers.customers c
              where 'file' = any(c.tags) and c.emails = array['p' || substr(c.external_id, 6) || '@example.com']
                and c.phones = array['+2547' || (13000000 + substr(c.external_id, 6)::int)]) as whole,
            (select count(*)::int from customers.grants g join customers.customers c on g.address = any(c.phones)
              where 'file' = any(c.tags)) as granted`,
  )
  const each = rowsOfFile - wrong
  assert.deepEqual(found, { people: each, phones: each, addresses: each * 3, whole: each, granted: each - stopped })
  assert.deepEqual(installation.crashes, [])
})
