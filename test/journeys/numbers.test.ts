// SPDX-License-Identifier: Apache-2.0
// Numbers that an account owns, whatever they are capable of: in one list, one owner each, and taken over from the tables
// in which texts, calls, USSD and messengers once kept them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { migrationsFolder } from '../../src/node/database.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { schemaFiles } from '../../src/platform/db/schema-files.ts'
import type { Client } from '../client.ts'
import { createTestDatabase } from '../database.ts'
import { type Account, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld()
})
after(() => world.stop())

interface Listed {
  number: string
  capabilities: string[]
  shared: boolean
  country: string | null
}

async function numbersOf(client: Client, query = ''): Promise<[string, string][]> {
  const { status, body, text } = await client.get(`/v1/numbers${query}`)
  assert.equal(status, 200, text)
  return body.data.map(({ number, capabilities }: Listed) => [number, capabilities.join()])
}

test('what a test key took for texts, calls and USSD is in one list, until it is given up', async () => {
  const { client } = await world.account()
  assert.deepEqual(await numbersOf(client), [])
  assert.equal((await client.post('/v1/sms/numbers', { number: '22171' })).status, 201)
  assert.equal((await client.post('/v1/sms/numbers', { number: '+254711000171' })).status, 201)
  const assign = await client.post('/v1/voice/numbers/%2B254711000172/assign', { routing: true })
  assert.equal(assign.status, 200, assign.text)
  assert.equal((await client.post('/v1/ussd/shortcodes', { shortcode: '*384*171#' })).status, 201)
  assert.deepEqual(await numbersOf(client), [
    ['*384*171#', 'ussd'],
    ['+254711000171', 'voice,sms'],
    ['+254711000172', 'voice,sms'],
    ['22171', 'sms'],
  ])
  const { body } = await client.get('/v1/numbers?capability=voice')
  assert.deepEqual(
    body.data.map(({ number, country, shared }: Listed) => [number, country, shared]),
    [['+254711000172', 'KE', false]],
  )
  assert.equal((await client.get('/v1/numbers?capability=fax')).status, 400)
  await client.delete('/v1/sms/numbers/22171')
  await client.delete('/v1/ussd/shortcodes/*384*171%23')
  assert.deepEqual(await numbersOf(client, '?limit=1'), [['+254711000171', 'voice,sms']])
})

async function liveOf({ client }: Account): Promise<Client> {
  const { body } = await client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  return world.stranger.as(body.key)
}

test('a live number is capable of what an operator gave it for, and its calls may be another account’s', async () => {
  const [ada, eve] = [await world.account(), await world.account()]
  const [adaLive, eveLive] = [await liveOf(ada), await liveOf(eve)]
  const number = '+254711000181'
  const give = (area: string, account_id: string) =>
    world.operator.post(`/v1/operator/${area}/numbers`, { number, account_id })
  assert.equal((await give('voice', ada.id)).status, 201)
  assert.deepEqual(await numbersOf(adaLive), [[number, 'voice']])
  const { body: own } = await adaLive.get('/v1/voice/numbers')
  assert.deepEqual(own.data[0].capabilities, ['voice'])
  assert.equal((await give('voice', eve.id)).status, 409, 'calls have one owner')
  assert.equal((await give('sms', eve.id)).status, 201)
  assert.deepEqual(await numbersOf(eveLive), [[number, 'sms']])
  const path = `/v1/operator/voice/numbers/${encodeURIComponent(number)}`
  assert.equal((await world.operator.delete(path)).status, 200)
  assert.equal((await world.operator.delete(path)).status, 404)
  assert.deepEqual(await numbersOf(adaLive), [])
  assert.equal((await give('voice', eve.id)).status, 201)
  assert.deepEqual(await numbersOf(eveLive), [[number, 'voice,sms']])
})

test('one of many who take a code at the same time has it', async () => {
  const accounts = await Promise.all(Array.from({ length: 8 }, () => world.account()))
  const answers = await Promise.all(
    accounts.map(({ client }) => client.post('/v1/ussd/shortcodes', { shortcode: '*384*191#' })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 409)])
})

test('an installation from before keeps its numbers and what they do', async () => {
  const database = await createTestDatabase()
  const files = schemaFiles(migrationsFolder)
  const at = files.migrations.findIndex(({ name }) => name.endsWith('_numbers'))
  assert.ok(at > 0)
  await migrate(database.connect(), { ...files, migrations: files.migrations.slice(0, at) })
  const account = '01890000-0000-7000-8000-000000000001'
  const other = '01890000-0000-7000-8000-000000000002'
  await database.sql(
    `insert into sms.numbers values
       ('live', '40100', $1, 1, gen_random_uuid(), true, '[{"keyword": "JOIN", "webhook_url": null, "auto_reply": "Hi"}]', null, now(), now()),
       ('live', '40100', $2, 2, gen_random_uuid(), true, '[]', 'https://example.com/', now(), now()),
       ('test', '22141', $1, 1, gen_random_uuid(), false, '[]', null, now(), now()),
       ('test', '22141', $2, 2, gen_random_uuid(), false, '[]', null, now(), now())`,
    [account, other],
  )
  await database.sql(
    `insert into voice.numbers (environment, number, bucket, account_id, answer_url, target, assigned_at)
     values ('live', '+254711000001', 1, $1, 'https://example.com/answer', null, now()),
            ('test', '+254711000001', 2, $2, null, '{"type": "routing"}', now())`,
    [account, other],
  )
  await migrate(database.connect(), files)
  const rows = await database.sql<{ row: string }>(
    `select concat_ws(' ', environment, number, capability, right(account_id::text, 1), settings ->> 'answer_url',
                      settings -> 'target' ->> 'type', settings -> 'keywords' -> 0 ->> 'auto_reply',
                      settings ->> 'default_webhook_url') as row
       from numbers.owned order by 1`,
  )
  assert.deepEqual(
    rows.map(({ row }) => row),
    [
      'live +254711000001 voice 1 https://example.com/answer',
      'live 40100 sms 1 Hi',
      'live 40100 sms 2 https://example.com/',
      'test +254711000001 voice 2 routing',
      'test 22141 sms 1',
      'test 22141 sms 2',
    ],
  )
  await database.drop()
})
