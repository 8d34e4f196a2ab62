// SPDX-License-Identifier: Apache-2.0
// Long messages over message centres that join parts in different ways: they arrive whole in both directions, end once, and
// cost what their segments cost, in however many parts the centre got them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeMessage, joinings } from '../../src/protocols/smpp/charset.ts'
import { addressTypes, newShortMessage } from '../../src/protocols/smpp/pdu.ts'
import { type HandsetMessage, SmscSimulator } from '../../src/simulators/smsc.ts'
import { ended, inForce, send, toldOf } from '../texting.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

const inbox: HandsetMessage[] = []
let world: World
let smsc: SmscSimulator

before(async () => {
  world = await startWorld()
  smsc = await SmscSimulator.start({
    accounts: Object.fromEntries(joinings.map((name) => [name, 'secret'])),
    delayMs: 20,
    onMessage: (message) => inbox.push(message),
  })
  for (const concatenation of joinings) {
    const bind = {
      name: concatenation,
      host: '127.0.0.1',
      port: smsc.port,
      system_id: concatenation,
      password: 'secret',
    }
    const patience = { response_timeout_seconds: 60 }
    const made = await world.operator.post('/v1/operator/sms/binds', { ...bind, ...patience, concatenation })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.equal(made.body.concatenation, concatenation)
  }
})
after(async () => {
  await smsc.stop()
  await world.stop()
})

/** 306 septets: two segments, and three parts where the header leaves room for 152. */
const long = 'Tafadhali lipa bili yako leo. '.repeat(11).slice(0, 306)
const emoji = '😀'.repeat(67)

for (const concatenation of joinings) {
  test(`long messages arrive whole and end once over ${concatenation}`, async () => {
    const ada = await customerOver(concatenation)
    for (const [text, segments] of [
      [long, 2],
      [emoji, 3],
    ] as const) {
      const id = await send(ada, '+254722600001', text)
      const record = await ended(ada, id)
      assert.deepEqual([record.status, record.parts], ['delivered', segments])
      assert.deepEqual(await toldOf(ada, id), ['sent', 'delivered'])
      assert.equal(inbox.filter((got) => got.systemId === concatenation && got.text === text).length, 1)
    }
    const failed = await ended(ada, await send(ada, '+254711000002', long))
    assert.deepEqual([failed.status, failed.error_code], ['failed', 'UNDELIVERABLE'])
    const early = await send(ada, '+254711000009', long)
    assert.equal((await ended(ada, early)).status, 'delivered')
    assert.deepEqual(await toldOf(ada, early), ['sent', 'delivered'])
    assert.equal((await ada.client.get('/v1/sms/balance')).body.balance, 100 - 9 * 0.8)
  })

  test(`what a handset writes in parts told by ${concatenation} reaches the customer whole`, async () => {
    const ada = await customerOver(concatenation)
    const handset = `+25472270000${joinings.indexOf(concatenation)}`
    await ended(ada, await send(ada, handset, 'Andika', 'CLINIC'))
    assert.equal(await smsc.inbound(handset, 'CLINIC', long, concatenation, concatenation), 0)
    const { body } = await ada.client.get('/v1/sms?direction=inbound')
    assert.deepEqual(
      body.data.map((got: { message: string; from: string }) => [got.from, got.message]),
      [[handset, long]],
    )
  })
}

test('what a handset writes arrives without the zeros that its centre put into it', async () => {
  const ada = await customerOver('udh')
  const handset = '+254722700010'
  await ended(ada, await send(ada, handset, 'Andika', 'SOKO'))
  const session = [...smsc.sessions].find(({ systemId }) => systemId === 'udh')
  assert.ok(session)
  const addresses = {
    source: { ...addressTypes.international, address: handset.slice(1) },
    destination: { ...addressTypes.alphanumeric, address: 'SOKO' },
  }
  const rows: [dataCoding: number, octets: Buffer][] = [
    [8, Buffer.from('004a006f0000', 'hex')],
    [1, Buffer.from('J\0o')],
    [3, Buffer.from('\0Jo')],
    [4, Buffer.from('Jo\0\0')],
  ]
  for (const [dataCoding, shortMessage] of rows)
    assert.equal(await session.deliver(newShortMessage({ ...addresses, dataCoding, shortMessage })), 0)
  const { body } = await ada.client.get('/v1/sms?direction=inbound')
  assert.deepEqual(
    body.data.map(({ message }: { message: string }) => message),
    rows.map(() => 'Jo'),
  )
  const fate = Buffer.from('id:nobody-knows-it stat:UNDELIV err:027\0')
  const receipt = newShortMessage({ ...addresses, esmClass: 4, dataCoding: 3, shortMessage: fate })
  assert.equal(await session.deliver(receipt), 0, 'a receipt that ends in one is understood')
})

test('a long message that lacks a part is told of after a minute, as far as it came', async () => {
  const ada = await customerOver('udh')
  const handset = '+254722700009'
  await ended(ada, await send(ada, handset, 'Andika', 'SHULE'))
  const [first] = encodeMessage(long, { reference: 77 })
  const session = [...smsc.sessions].find(({ systemId }) => systemId === 'udh')
  assert.ok(first && session)
  const addresses = {
    source: { ...addressTypes.international, address: handset.slice(1) },
    destination: { ...addressTypes.alphanumeric, address: 'SHULE' },
  }
  for (const _ of ['once', 'twice'])
    assert.equal(await session.deliver(newShortMessage({ ...addresses, ...first })), 0, 'a part may be repeated')
  const inbound = async () => (await ada.client.get('/v1/sms?direction=inbound')).body.data
  assert.deepEqual(await inbound(), [])
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 60 })
  const [record] = await eventually(async () => {
    const found = await inbound()
    return found.length > 0 && found
  }, 'the part that came')
  assert.deepEqual([record.message, record.parts], [long.slice(0, 153), 2])
  const { body } = await ada.client.get('/v1/events?event=sms.received')
  const [{ payload }] = body.data
  assert.deepEqual([payload.message_id, payload.parts, payload.partial], [record.message_id, 2, true])
})

test('a way of joining that nobody knows is refused', async () => {
  const { status, body } = await world.operator.patch('/v1/operator/sms/binds/udh', { concatenation: 'glue' })
  assert.equal(status, 422)
  assert.match(body.error.details, /concatenation must be one of udh, udh16, sar, payload/)
})

/** A customer whose messages go over one bind. */
async function customerOver(bind: string): Promise<Account> {
  const account = await world.account({ balance: 100 })
  const route = { environment: 'test', account_id: account.id, tiers: [[{ bind }]] }
  const { body: made } = await world.operator.post('/v1/operator/sms/routes', route)
  await inForce(world, made.id)
  await eventually(async () => {
    const { body } = await world.operator.get('/v1/operator/sms/binds')
    return body.data.find((one: { name: string }) => one.name === bind).bound === 1
  }, 'the bind to be up')
  return account
}
