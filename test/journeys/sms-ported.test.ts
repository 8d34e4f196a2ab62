// SPDX-License-Identifier: Apache-2.0
// Numbers that moved: an operator takes in the registry's list, and lookups, prices and routes go by it at
// once, on nodes that were running all the while.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { importPortedNumbers } from '../../src/areas/sms/ported/import.ts'
import { type HandsetMessage, SmscSimulator } from '../../src/simulators/smsc.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let folder: string

before(async () => {
  world = await startWorld()
  folder = await mkdtemp(join(tmpdir(), 'pamoja-ported-'))
})
after(async () => {
  await world.stop()
  await rm(folder, { recursive: true, force: true })
})

test('without a list, a number is where its range is, and nobody claims to know more', async () => {
  const { network, original_network, ported, source } = await lookup('+254722800001')
  assert.deepEqual([network, original_network, ported, source], ['Safaricom', 'Safaricom', null, 'prefix'])
})

test('a list changes lookups, prices and routes', async () => {
  const inbox: HandsetMessage[] = []
  const smsc = await SmscSimulator.start({
    accounts: { airtel: 'secret' },
    delayMs: 20,
    onMessage: (message) => inbox.push(message),
  })
  const bind = { name: 'airtel', host: '127.0.0.1', port: smsc.port, system_id: 'airtel', password: 'secret' }
  assert.equal((await world.operator.post('/v1/operator/sms/binds', bind)).status, 201)
  const route = { environment: 'test', country: 'KE', network: 'Airtel', tiers: [[{ bind: 'airtel' }]] }
  assert.equal((await world.operator.post('/v1/operator/sms/routes', route)).status, 201)
  const price = { area: 'sms', unit: 'segment', country: 'KE', network: 'Airtel', amount: 0.5, currency: 'KES' }
  assert.equal((await world.operator.post('/v1/operator/prices', price)).status, 201)
  await eventually(async () => {
    const { body: routes } = await world.operator.get('/v1/operator/sms/routes')
    const { body: binds } = await world.operator.get('/v1/operator/sms/binds')
    return routes.data[0].in_force && binds.data[0].bound === 1
  }, 'the route to be in force')
  const ada = await world.account({ balance: 100 })
  const [moved, stayed] = ['+254722800001', '+254722800002']
  const before = await send(ada, { to: moved, message: 'before' })
  assert.deepEqual([before.network, before.cost], ['Safaricom', 0.8])

  const list = 'number,network\n254722800001,63903\n+254722800003;telkom\n'
  assert.match(
    await importFile('list.csv', list),
    /^Numbers read: 2. New or moved: 2. Back with the network of their range: 0/,
  )
  const found = await eventually(async () => {
    const answer = await lookup(moved)
    return answer.ported && answer
  }, 'the node to hear of it')
  assert.deepEqual(
    [found.network, found.mcc_mnc, found.original_network, found.source],
    ['Airtel', '63903', 'Safaricom', 'mnp'],
  )
  assert.deepEqual((({ network, mcc_mnc }) => [network, mcc_mnc])(await lookup('+254722800003')), ['Telkom', '63907'])
  const home = await lookup(stayed)
  assert.deepEqual([home.network, home.ported, home.source], ['Safaricom', false, 'mnp'])
  assert.deepEqual((await lookup('+256772800001')).ported, null, 'nothing is known of another country')

  const sent = await send(ada, { to: moved, message: 'to where it moved' })
  assert.deepEqual([sent.network, sent.cost], ['Airtel', 0.5])
  await eventually(async () => inbox.some(({ text }) => text === 'to where it moved'), 'the message to go over Airtel')
  const many = await send(ada, { to: [moved, stayed, 'nobody'], message: 'to both' })
  assert.deepEqual(
    many.messages.map(({ cost }: { cost: number }) => cost),
    [0.5, 0.8, 0],
  )
  const { body: bulk } = await ada.client.post('/v1/sms/bulk', {
    from: 'PAMOJA',
    messages: [moved, stayed].map((to) => ({ to, message: 'in bulk' })),
  })
  assert.equal(bulk.cost, 1.3)
  const estimate = { to: [moved, stayed], from: 'PAMOJA', message: 'how much?' }
  assert.equal((await ada.client.post('/v1/sms/estimate', estimate)).body.cost, 1.3)
  await smsc.stop()
})

test('a whole list of a country sends back who is not in it, and leaves other countries alone', async () => {
  await port('+256772800009', 'Airtel')
  const zipped = gzipSync('"254722800001","Telkom"\r\n\r\n"254722800004","A network \\ of nobody"\r\n')
  assert.match(
    await importFile('whole.csv.gz', zipped, 'KE'),
    /^Numbers read: 2. New or moved: 2. Back with the network of their range: 1/,
  )
  assert.equal((await ported('+254722800001')).body.network, 'Telkom')
  assert.equal((await ported('+254722800003')).status, 404)
  assert.equal((await ported('+254722800004')).body.network, 'A network \\ of nobody')
  assert.equal((await ported('+256772800009')).body.network, 'Airtel')
  assert.match(
    await importFile('change.csv', '254722800001,\n254722800099,\n'),
    /^Numbers read: 2. New or moved: 0. Back with the network of their range: 1/,
  )
  assert.equal((await ported('+254722800001')).status, 404)
})

test('a list with a mistake changes nothing, and the mistake is named', async () => {
  await port('+254722800005', 'Airtel')
  const table: [string, string | Buffer, string | undefined, RegExp][] = [
    ['letters.csv', '254722800005,Telkom\n25472280x,Telkom\n', undefined, /Line 2 does not begin with a number/],
    ['local.csv', 'number,network\n0722800005,Telkom\n', undefined, /Line 2 does not begin with a number/],
    ['short.csv', '254722800005,Telkom\n+254711,Telkom\n', undefined, /Line 2 has a number with too many or too few/],
    ['long.csv', '25472280000512,Telkom\n', undefined, /Line 1 has a number with too many or too few digits/],
    ['nowhere.csv', '999722800005,Telkom\n', undefined, /Line 1 has a number with too many or too few digits/],
    ['columns.csv', '254722800005,Telkom,2026-01-01\n', undefined, /Line 1 is not `number,network`/],
    ['abroad.csv', '254722800005,Telkom\n256772800001,MTN\n', 'KE', /Line 2 has a number outside \+254/],
    ['country.csv', '254722800005,Telkom\n', 'Kenya', /--country must be an ISO 3166 code/],
    ['broken.csv.gz', Buffer.from('254722800005,Telkom\n'), undefined, /broken.csv.gz cannot be read/],
  ]
  for (const [name, content, country, problem] of table) {
    await assert.rejects(importFile(name, content, country), problem)
    assert.equal((await ported('+254722800005')).body.network, 'Airtel', name)
  }
  await assert.rejects(importPortedNumbers(world.app.db, join(folder, 'missing.csv')), /missing.csv cannot be read/)
})

test('an operator notes one number, reads it and takes it back', async () => {
  const made = await port('+254722800006', 'airtel')
  assert.deepEqual([made.network, made.mcc_mnc, made.original_network], ['Airtel', '63903', 'Safaricom'])
  await eventually(async () => (await lookup('+254722800006')).network === 'Airtel', 'the node to hear of it')
  assert.equal((await world.operator.delete('/v1/operator/sms/ported-numbers/+254722800006')).status, 200)
  await eventually(async () => (await lookup('+254722800006')).network === 'Safaricom', 'the node to hear of it')
  assert.equal((await world.operator.delete('/v1/operator/sms/ported-numbers/+254722800006')).status, 404)
  const bad = await world.operator.post('/v1/operator/sms/ported-numbers', { phone: '0722', network: 'Airtel' })
  assert.deepEqual([bad.status, bad.body.error.code], [422, 'INVALID_PHONE'])
})

test('handsets write at the same moment, however few connections there are to look them up', async () => {
  const small = await startWorld({ PAMOJA_DATABASE_POOL: 2 })
  try {
    const moved = { phone: '+254722800007', network: 'Airtel' }
    assert.equal((await small.operator.post('/v1/operator/sms/ported-numbers', moved)).status, 201)
    const ada = await small.account({ balance: 10 })
    const write = (i: number) =>
      ada.client.post('/v1/sandbox/sms/inbound', { from: `+25472280001${i}`, to: '22141', message: `Habari ${i}` })
    const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => write(i)))
    for (const { status, text } of replies) assert.equal(status, 201, text)
  } finally {
    await small.stop()
  }
})

test('a node that hears of no changes trusts nothing that it remembers', async () => {
  assert.equal((await lookup('+254722800020')).network, 'Safaricom')
  await world.app.signals.stop()
  await port('+254722800020', 'airtel')
  assert.equal((await lookup('+254722800020')).network, 'Airtel')
})

async function importFile(name: string, content: string | Buffer, country?: string): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, content)
  return importPortedNumbers(world.app.db, file, country)
}

async function port(phone: string, network: string) {
  const { status, body } = await world.operator.post('/v1/operator/sms/ported-numbers', { phone, network })
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

function ported(phone: string) {
  return world.operator.get(`/v1/operator/sms/ported-numbers/${phone}`)
}

async function lookup(phone: string) {
  return (await world.demo.get(`/v1/sms/lookup/${phone}`)).body
}

async function send(account: Account, message: { to: string | string[]; message: string }) {
  const { status, body } = await account.client.post('/v1/sms/send', { from: 'PAMOJA', ...message })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
