// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { patienceMs } from '../../test/eventually.ts'
import { decodeMessage, encodeMessage } from '../protocols/smpp/charset.ts'
import { SessionError } from '../protocols/smpp/link.ts'
import { addressTypes, type DeliverSm, newShortMessage } from '../protocols/smpp/pdu.ts'
import { isReceipt, parseReceipt } from '../protocols/smpp/receipts.ts'
import { type BindMode, Esme, type SubmitAnswer } from '../protocols/smpp/session.ts'
import { commandStatus, statusName } from '../protocols/smpp/status.ts'
import { type HandsetMessage, SmscSimulator, type SmscSimulatorOptions } from './smsc.ts'

const waitMs = patienceMs()

test('a message to any number is taken and delivered', async (t) => {
  const messages: HandsetMessage[] = []
  const { ada } = await world(t, { onMessage: (message) => messages.push(message), now: () => Date.UTC(2026, 0, 5, 9) })
  const [answer] = await ada.send('254712345678', 'Habari')
  assert.equal(answer?.status, 0)
  const receipt = await ada.receipt()
  assert.deepEqual(receipt, {
    id: answer?.messageId,
    state: 'DELIVRD',
    error: null,
    submitDate: '2601050900',
    doneDate: '2601050900',
  })
  assert.deepEqual(messages, [{ systemId: 'sandbox-1', from: 'PAMOJA', to: '254712345678', text: 'Habari' }])
})

test('the numbers of the sandbox have the outcomes that are promised for them', async (t) => {
  const { ada } = await world(t)
  for (const [number, state, error] of [
    ['254700000001', 'DELIVRD', null],
    ['254700000002', 'UNDELIV', null],
    ['27000000004', 'UNDELIV', '001'],
    ['233000000006', 'EXPIRED', null],
    ['254700000007', 'DELIVRD', null],
  ] as const) {
    const [answer] = await ada.send(number, 'Habari')
    const receipt = await ada.receipt()
    assert.deepEqual([receipt.id, receipt.state, receipt.error], [answer?.messageId, state, error], number)
  }
  const [rejected] = await ada.send('254700000003', 'Habari')
  assert.equal(statusName(rejected?.status ?? 0), 'ESME_RSUBMITFAIL')
})

test('05 never gets a receipt', async (t) => {
  const { ada } = await world(t)
  const [none] = await ada.send('254700000005', 'Habari')
  assert.equal(none?.status, 0)
  const [other] = await ada.send('254700000001', 'Habari')
  assert.equal((await ada.receipt()).id, other?.messageId, 'the next receipt is about another message')
})

test('08 is throttled three times, each part of a long message too', async (t) => {
  const { ada } = await world(t)
  for (let round = 0; round < 2; round++)
    for (const expected of ['ESME_RTHROTTLED', 'ESME_RTHROTTLED', 'ESME_RTHROTTLED', 'ESME_ROK']) {
      const answers = await ada.send('254700000008', 'Habari '.repeat(40))
      assert.deepEqual(
        answers.map(({ status }) => statusName(status)),
        [expected, expected],
      )
    }
})

test('09 gets its receipt twice, before the answer to the submit', async (t) => {
  const { ada } = await world(t)
  const [answer] = await ada.send('254700000009', 'Habari')
  assert.deepEqual(
    ada.deliveries.map((delivery) => parseReceipt(delivery)?.id),
    [answer?.messageId, answer?.messageId],
  )
})

test('12 is refused by the primary route and delivered by the second', async (t) => {
  const { ada, simulator } = await world(t)
  const second = await bind(t, simulator, 'sandbox-2')
  const [refused] = await ada.send('254700000012', 'Habari')
  assert.equal(statusName(refused?.status ?? 0), 'ESME_RSYSERR')
  const [taken] = await second.send('254700000012', 'Habari')
  assert.equal((await second.receipt()).id, taken?.messageId)
  assert.equal(ada.deliveries.length, 0)
})

test('13 replies STOP, and 14 says the text again, however long', async (t) => {
  const { ada } = await world(t)
  await ada.send('254700000013', 'Habari')
  assert.equal((await ada.receipt()).state, 'DELIVRD')
  const stop = await ada.next()
  assert.deepEqual([stop.source.address, stop.destination.address], ['254700000013', 'PAMOJA'])
  assert.equal(decodeMessage(stop).text, 'STOP')

  const text = 'Habari €{} '.repeat(30)
  const parts = await ada.send('254700000014', text)
  assert.equal(parts.length, 3)
  const receipts = [await ada.receipt(), await ada.receipt(), await ada.receipt()]
  assert.deepEqual(receipts.map(({ id }) => id).sort(), parts.map(({ messageId }) => messageId).sort())
  const echo = [await ada.next(), await ada.next(), await ada.next()].map((pdu) => decodeMessage(pdu))
  assert.equal(echo.map((part) => part.text).join(''), text)
  assert.deepEqual(
    echo.map((part) => part.concatenation?.number),
    [1, 2, 3],
  )
})

test('a handset out of coverage gets its messages when it is back', async (t) => {
  const { ada, simulator } = await world(t)
  simulator.coverage('+254712345678', false)
  const [waiting] = await ada.send('254712345678', 'Habari')
  const [other] = await ada.send('254712345679', 'Habari')
  assert.equal((await ada.receipt()).id, other?.messageId)
  assert.equal(await ada.state(waiting?.messageId ?? ''), 1)
  simulator.coverage('+254712345678', true)
  assert.equal((await ada.receipt()).id, waiting?.messageId)
  assert.equal(await ada.state(waiting?.messageId ?? ''), 2)
})

test('receipts go to a receiver of the same customer, and wait for one that is away', async (t) => {
  const { simulator, ada } = await world(t)
  const transmitter = await bind(t, simulator, 'sandbox-2', 'transmitter')
  const [answer] = await transmitter.send('254700000001', 'Habari')
  const [own] = await ada.send('254700000001', 'Habari')
  assert.equal((await ada.receipt()).id, own?.messageId)
  const receiver = await bind(t, simulator, 'sandbox-2', 'receiver')
  assert.equal((await receiver.receipt()).id, answer?.messageId)
  assert.equal(ada.deliveries.length, 1)
})

test('a receipt that could not be stored comes again', async (t) => {
  const { ada } = await world(t)
  ada.answers.push(commandStatus.ESME_RX_T_APPN)
  await ada.send('254700000001', 'Habari')
  assert.equal((await ada.receipt()).id, (await ada.receipt()).id)
})

test('no receipt comes that was not asked for', async (t) => {
  const { ada } = await world(t)
  await ada.esme.submit(newShortMessage({ destination: { ton: 1, npi: 1, address: '254712345678' } }))
  const [answer] = await ada.send('254712345678', 'Habari')
  assert.equal((await ada.receipt()).id, answer?.messageId)
})

test('a handset sends a text of any length', async (t) => {
  const { ada, simulator } = await world(t)
  assert.equal(await simulator.inbound('+254712345678', '22141', 'JOIN'), 0)
  const short = await ada.next()
  assert.deepEqual(short.source, { ...addressTypes.international, address: '254712345678' })
  assert.deepEqual(short.destination, { ...addressTypes.network, address: '22141' })
  const text = 'እንደምን አለህ '.repeat(15)
  assert.equal(await simulator.inbound('+254712345678', '22141', text), 0)
  const parts = [await ada.next(), await ada.next(), await ada.next()].map((pdu) => decodeMessage(pdu))
  assert.equal(parts.map((part) => part.text).join(''), text)
  await ada.esme.close()
  await until(() => simulator.sessions.size === 0)
  await assert.rejects(simulator.inbound('+254712345678', '22141', 'JOIN'), /no session/)
})

test('it refuses strangers, bad numbers, and whatever it is told to', async (t) => {
  const { simulator, ada } = await world(t)
  await assert.rejects(bind(t, simulator, 'nobody'), { kind: 'bind_refused', status: commandStatus.ESME_RINVSYSID })
  const status = async (number: string): Promise<string> => statusName((await ada.send(number, 'x'))[0]?.status ?? -1)
  assert.equal(await status('25471234567A'), 'ESME_RINVDSTADR')
  simulator.refuseWith = commandStatus.ESME_RMSGQFUL
  assert.equal(await status('254712345678'), 'ESME_RMSGQFUL')
  simulator.refuseWith = null
  assert.equal(await status('254712345678'), 'ESME_ROK')
})

test('a centre that says nothing more, and then is gone, leaves messages of unknown fate', async (t) => {
  const { simulator, ada } = await world(t)
  simulator.silent = true
  const outcome = ada.send('254712345678', 'Habari').catch((error: unknown) => error)
  await until(() => simulator.unanswered === 1)
  simulator.dropSessions()
  const error = await outcome
  assert.ok(error instanceof SessionError && error.sent)
})

async function world(
  t: TestContext,
  some: Partial<SmscSimulatorOptions> = {},
): Promise<{ simulator: SmscSimulator; ada: Customer }> {
  const accounts = { 'sandbox-1': 'secret', 'sandbox-2': 'secret' }
  const simulator = await SmscSimulator.start({ accounts, delayMs: 0, ...some })
  t.after(() => {
    simulator.dropSessions()
    return simulator.stop()
  })
  return { simulator, ada: await bind(t, simulator, 'sandbox-1') }
}

interface Customer {
  esme: Esme
  deliveries: DeliverSm[]
  /** What the next deliveries are answered with; 0 when there is nothing. */
  answers: number[]
  send(to: string, text: string): Promise<SubmitAnswer[]>
  next(): Promise<DeliverSm>
  receipt(): Promise<NonNullable<ReturnType<typeof parseReceipt>>>
  state(messageId: string): Promise<number | undefined>
}

async function bind(
  t: TestContext,
  simulator: SmscSimulator,
  systemId: string,
  bindMode: BindMode = 'transceiver',
): Promise<Customer> {
  const deliveries: DeliverSm[] = []
  const answers: number[] = []
  let given = 0
  const esme = await Esme.connect({
    host: '127.0.0.1',
    port: simulator.port,
    systemId,
    password: 'secret',
    bindMode,
    window: 10,
    responseTimeoutMs: waitMs,
    enquireLinkMs: waitMs,
    onDeliver: async (message) => {
      deliveries.push(message)
      return answers.shift() ?? 0
    },
    onClosed: () => undefined,
  })
  t.after(() => esme.close())
  const next = async (): Promise<DeliverSm> => {
    await until(() => deliveries.length > given)
    const delivery = deliveries[given]
    assert.ok(delivery)
    given += 1
    return delivery
  }
  return {
    esme,
    deliveries,
    answers,
    next,
    send: (to, text) => {
      const addresses = {
        source: { ...addressTypes.alphanumeric, address: 'PAMOJA' },
        destination: { ...addressTypes.international, address: to },
      }
      const parts = encodeMessage(text, { reference: 1 })
      return Promise.all(
        parts.map((part) => esme.submit(newShortMessage({ ...addresses, ...part, registeredDelivery: 1 }))),
      )
    },
    receipt: async () => {
      const delivery = await next()
      const receipt = parseReceipt(delivery)
      assert.ok(isReceipt(delivery) && receipt)
      return receipt
    },
    state: async (messageId) =>
      (await esme.query({ messageId, source: { ton: 0, npi: 0, address: '' } }))?.messageState,
  }
}

/** Looks again after each turn of the event loop. */
async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + waitMs
  while (!condition()) {
    assert.ok(performance.now() < endMs, 'waited in vain')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
