// SPDX-License-Identifier: Apache-2.0
// Long messages over message centres that join parts in different ways: they arrive whole in both directions, end once, and
// cost what their segments cost, in however many parts the centre got them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeMessage, joinings } from '../../src/protocols/smpp/charset.ts'
import { addressTypes, newShortMessage } from '../../src/protocols/smpp/pdu.ts'
import { encodeReceipt, type ReceiptState } from '../../src/protocols/smpp/receipts.ts'
import { Smsc } from '../../src/protocols/smpp/session.ts'
import { type HandsetMessage, SmscSimulator } from '../../src/simulators/smsc.ts'
import { ended, inForce, send, statusOf, toldOf } from '../texting.ts'
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

test('parts that two operators delivered do not make a whole message, in time or late', async (t) => {
  const centre = await startPatientCentre()
  t.after(() => centre.stop())
  for (const name of ['north', 'south']) {
    const bind = { name, host: '127.0.0.1', port: centre.port, system_id: name, password: 'secret' }
    const made = await world.operator.post('/v1/operator/sms/binds', { ...bind, response_timeout_seconds: 60 })
    assert.equal(made.status, 201, made.text)
  }
  const ada = await customerOver('north', 'south')
  const taken = (systemId: string) =>
    eventually(async () => {
      const ids = centre.taken(systemId)
      return ids.length === 2 && ids
    }, `both parts to go over ${systemId}`)
  const goesAnotherWay = async () => {
    centre.forget()
    const id = await send(ada, '+254722600002', long)
    const [lost = '', lonely = ''] = await taken('north')
    await centre.tell('north', lost, 'UNDELIV')
    const [first = '', second = ''] = await taken('south')
    return { id, lonely, first, second }
  }

  const { id, lonely, first, second } = await goesAnotherWay()
  await centre.tell('south', first, 'DELIVRD')
  await centre.tell('north', lonely, 'DELIVRD')
  assert.equal(await statusOf(ada, id), 'sent', 'the second part of the second copy is not there')
  await centre.tell('south', second, 'DELIVRD')
  assert.equal(await statusOf(ada, id), 'delivered')
  assert.deepEqual(await toldOf(ada, id), ['sent', 'delivered'])

  const late = await goesAnotherWay()
  await centre.tell('south', late.first, 'EXPIRED')
  await centre.tell('south', late.first, 'DELIVRD')
  await centre.tell('north', late.lonely, 'DELIVRD')
  const timeline = async () =>
    (await ada.client.get(`/v1/sms/${late.id}`)).body.timeline.map(({ status }: { status: string }) => status)
  assert.deepEqual(await timeline(), ['queued', 'sent', 'failed'])
  await centre.tell('south', late.second, 'DELIVRD')
  assert.deepEqual(await timeline(), ['queued', 'sent', 'failed', 'delivered'])
})

test('a way of joining that nobody knows is refused', async () => {
  const { status, body } = await world.operator.patch('/v1/operator/sms/binds/udh', { concatenation: 'glue' })
  assert.equal(status, 422)
  assert.match(body.error.details, /concatenation must be one of udh, udh16, sar, payload/)
})

/** A customer whose messages go over one bind, and over the next what that could not deliver. */
async function customerOver(...binds: string[]): Promise<Account> {
  const account = await world.account({ balance: 100 })
  const tiers = binds.map((bind) => [{ bind }])
  const route = { environment: 'test', account_id: account.id, tiers, reroute_on_undelivered: binds.length > 1 }
  const { body: made } = await world.operator.post('/v1/operator/sms/routes', route)
  await inForce(world, made.id)
  await eventually(async () => {
    const { body } = await world.operator.get('/v1/operator/sms/binds')
    return body.data.every(({ name, bound }: { name: string; bound: number }) => !binds.includes(name) || bound === 1)
  }, 'the binds to be up')
  return account
}

/** A centre that takes every message and says what became of it when it is told to. */
async function startPatientCentre() {
  let messages = 0
  const taken: { systemId: string; messageId: string }[] = []
  const centre = await Smsc.listen({
    host: '127.0.0.1',
    port: 0,
    responseTimeoutMs: 60_000,
    authenticate: () => 0,
    onSubmit: async ({ systemId }) => {
      const messageId = `${systemId}-${messages++}`
      taken.push({ systemId, messageId })
      return { status: 0, messageId }
    },
  })
  return {
    port: centre.port,
    /** What it calls the parts that came over a bind, in the order in which they came. */
    taken: (bind: string) => taken.filter(({ systemId }) => systemId === bind).map(({ messageId }) => messageId),
    forget: () => taken.splice(0),
    /** Fulfilled when it is stored. */
    async tell(bind: string, id: string, state: ReceiptState): Promise<void> {
      const session = [...centre.sessions].find(({ systemId }) => systemId === bind)
      assert.ok(session)
      const receipt = encodeReceipt({ id, state, error: null, submitDate: null, doneDate: null })
      const addresses = {
        source: { ...addressTypes.international, address: '254722600002' },
        destination: { ...addressTypes.alphanumeric, address: 'PAMOJA' },
      }
      assert.equal(await session.deliver(newShortMessage({ ...addresses, ...receipt })), 0)
    },
    stop: () => centre.close(),
  }
}
