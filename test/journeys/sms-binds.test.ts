// SPDX-License-Identifier: Apache-2.0
// Message centres as operators meet them, and what their binds say of them: several binds of one centre, centres that allow no transceiver, and centres that speak TLS.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { after, before, type TestContext, test } from 'node:test'
import { createServer, type TlsOptions } from 'node:tls'
import { serverIdentity } from '../../src/platform/http/certificates.ts'
import { newShortMessage, type SubmitSm } from '../../src/protocols/smpp/pdu.ts'
import { encodeReceipt, type ReceiptState } from '../../src/protocols/smpp/receipts.ts'
import { type BindMode, Smsc, type SmscSession } from '../../src/protocols/smpp/session.ts'
import { commandStatus } from '../../src/protocols/smpp/status.ts'
import { portOf } from '../outside.ts'
import { ended, inForce, send, statusOf, toldOf } from '../texting.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

const long = 'Tafadhali lipa bili yako leo. '.repeat(11).slice(0, 306)

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('a receipt finds its message over whichever bind of its centre it comes, and whenever', async (t) => {
  const centre = await startCentre(t)
  const spare = await startCentre(t)
  for (const name of ['left', 'right']) await makeBind(name, centre)
  await makeBind('spare', spare)
  const ada = await customerOver(['left', 'spare'])

  const whole = await send(ada, '+254722700001', long)
  for (const part of await centre.taken(2)) await centre.tell(part, 'DELIVRD')
  assert.equal(await statusOf(ada, whole), 'delivered')

  centre.tellsFirst = true
  const early = await ended(ada, await send(ada, '+254722700001'))
  assert.equal(early.status, 'delivered', 'it was told over the other bind before it was answered')
  centre.tellsFirst = false
  await centre.taken(1)

  const lost = await send(ada, '+254722700001')
  for (const text of await centre.taken(1)) await centre.tell(text, 'UNDELIV')
  for (const text of await spare.taken(1)) await spare.tell(text, 'DELIVRD')
  assert.equal((await ended(ada, lost)).status, 'delivered')
  assert.deepEqual(await toldOf(ada, lost), ['sent', 'delivered'])

  const waiting = await send(ada, '+254722700001')
  const [text] = await centre.taken(1)
  assert.ok(text)
  await world.operator.patch('/v1/operator/sms/binds/left', { enabled: false })
  await eventually(async () => centre.sessions.size === 1, 'one of the binds to be gone')
  await centre.tell(text, 'DELIVRD')
  assert.equal(await statusOf(ada, waiting), 'delivered')
})

test('binds to several hosts of one centre name it', async (t) => {
  const [one, other] = [await startCentre(t), await startCentre(t)]
  await makeBind('one', one, { centre: 'safari' })
  await makeBind('other', other)
  const ada = await customerOver(['one'])
  const id = await send(ada, '+254722700001')
  const [text] = await one.taken(1)
  assert.ok(text)
  await other.tell(text, 'UNDELIV')
  assert.equal(await statusOf(ada, id), 'sent', 'another centre says nothing of it')

  const refused = await world.operator.patch('/v1/operator/sms/binds/other', { centre: 'Safari 2' })
  assert.equal(refused.status, 422)
  assert.match(refused.body.error.details, /centre must be null, or have 1 to 40 small letters, digits or -/)
  const named = await world.operator.patch('/v1/operator/sms/binds/other', { centre: 'safari' })
  assert.deepEqual([named.status, named.body.centre], [200, 'safari'])
  await isUp('other')
  await other.tell(text, 'DELIVRD')
  assert.equal(await statusOf(ada, id), 'delivered')
})

test('a centre that allows no transceiver is bound to by a pair, which is up when both are', async (t) => {
  const centre = await startCentre(t)
  centre.allows = (mode) => mode !== 'transceiver'
  await makeBind('pair', centre, {}, false)
  await eventually(async () => {
    const { is_up, bind_mode, last_error } = await bindCalled('pair')
    const isRefused = /pamoja may not bind as transceiver: ESME_RBINDFAIL/.test(last_error ?? '')
    return isRefused && !is_up && bind_mode === 'transceiver'
  }, 'the refusal of the centre')
  const wrong = await world.operator.patch('/v1/operator/sms/binds/pair', { bind_mode: 'receiver' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.body.error.details, /bind_mode must be one of transceiver, pair/)
  await world.operator.patch('/v1/operator/sms/binds/pair', { bind_mode: 'pair' })
  const { bound, bind_mode } = await isUp('pair')
  assert.deepEqual([bound, bind_mode], [1, 'pair'])
  const ada = await customerOver(['pair'])
  const delivers = async () => {
    const id = await send(ada, '+254722700001')
    const [text] = await centre.taken(1)
    assert.equal(text?.session.bindMode, 'transmitter')
    if (text) await centre.tell(text, 'DELIVRD')
    assert.equal(await statusOf(ada, id), 'delivered')
  }
  await delivers()

  for (const [lost, kept] of [
    ['receiver', 'transmitter'],
    ['transmitter', 'receiver'],
  ] as const) {
    centre.allows = (mode) => mode === kept
    for (const session of centre.sessions) if (session.bindMode === lost) session.drop()
    await eventually(async () => centre.sessions.size === 0, `the ${kept} to end too`)
    const down = await eventually(async () => {
      const seen = await bindCalled('pair')
      return !seen.is_up && seen.last_error?.includes(`may not bind as ${lost}`) && seen
    }, 'the bind to be down')
    assert.equal(down.bound, 0)
    centre.allows = () => true
    await isUp('pair')
    await delivers()
  }
})

test('a centre that speaks TLS is believed who it is by its certificate alone', async (t) => {
  const centre = await startCentre(t)
  const { front, identity, ca } = await startTlsFront(t, centre.port)
  const { operator } = world
  const says = (pattern: RegExp) =>
    eventually(async () => {
      const { is_up, last_error } = await bindCalled('secret')
      return !is_up && pattern.test(last_error ?? '')
    }, String(pattern))
  const change = (settings: object) => operator.patch('/v1/operator/sms/binds/secret', settings)

  await makeBind('secret', front, { host: 'localhost', tls: true }, false)
  await says(/^TLS with localhost:\d+: its certificate is of no authority that is trusted here \(.+\)$/)
  for (const [wrong, sentence] of [
    ['no certificate', /tls_ca must hold certificates in PEM/],
    [`${ca}${ca.replace(/\nMII./, '\n????')}`, /tls_ca has a certificate that cannot be read/],
    [`${ca}${identity.key}`, /tls_ca must hold no private key/],
  ] as const) {
    const refused = await change({ tls_ca: wrong })
    assert.equal(refused.status, 422)
    assert.match(refused.body.error.details, sentence)
  }
  assert.equal((await change({ tls_ca: ca })).status, 200)
  const { tls, tls_ca } = await isUp('secret')
  assert.deepEqual([tls, tls_ca], [true, ca])
  const ada = await customerOver(['secret'])
  const id = await send(ada, '+254722700001')
  for (const text of await centre.taken(1)) await centre.tell(text, 'DELIVRD')
  assert.equal(await statusOf(ada, id), 'delivered')

  // The same machine under a name that the certificate does not have.
  await change({ host: '127.1' })
  await says(/^TLS with 127\.1:\d+: its certificate is for another name/)
  await change({ host: 'localhost', port: centre.port })
  await says(/^TLS with localhost:\d+: the other side does not speak TLS/)
  const { front: strict } = await startTlsFront(t, centre.port, { requestCert: true })
  await change({ port: strict.port })
  await says(/^it wants a certificate of its clients/)
  await change({ port: centre.port, tls: false })
  await isUp('secret')
})

test('a test of a bind says where it stops, and what the centre said', async (t) => {
  const centre = await startCentre(t)
  const { front, ca } = await startTlsFront(t, centre.port)
  await makeBind('tried', front, { host: 'localhost', tls: true, tls_ca: ca, enabled: false }, false)
  const change = (settings: object) => world.operator.patch('/v1/operator/sms/binds/tried', settings)
  const tested = async () => {
    const { status, body } = await world.operator.post('/v1/operator/sms/binds/tried/test')
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const stops = async (at: string, detail: RegExp) => {
    const { is_good, steps } = await tested()
    const failed = steps.find((step: { status: string }) => step.status === 'failed')
    assert.deepEqual([is_good, failed?.name], [false, at], JSON.stringify(steps))
    assert.match(failed.detail, detail)
    assert.ok(failed.remedy && steps.at(-1).status === 'skipped')
  }
  const { is_good, steps } = await tested()
  assert.ok(is_good, JSON.stringify(steps))
  const names = steps.map((step: { name: string; status: string }) => `${step.name} ${step.status}`)
  assert.deepEqual(
    names,
    ['name', 'connection', 'tls', 'sign_in', 'answer'].map((name) => `${name} passed`),
  )
  centre.allows = () => false
  await stops('sign_in', /pamoja may not bind as transceiver: ESME_RBINDFAIL/)
  await change({ tls_ca: null })
  await stops('tls', /certificate/)
  await change({ port: 1 })
  await stops('connection', /ECONNREFUSED/)
  await change({ host: 'no-such-host.invalid' })
  await stops('name', /no-such-host\.invalid has no address/)
  assert.equal((await world.operator.post('/v1/operator/sms/binds/nobody/test')).status, 404)
})

interface Text {
  readonly session: SmscSession
  readonly messageId: string
  readonly pdu: SubmitSm
}

/** A centre that takes every message, and says what became of it over another session than it came by, if it has one. */
async function startCentre(t: TestContext) {
  let messages = 0
  const texts: Text[] = []
  const centre = {
    port: 0,
    sessions: new Set<SmscSession>(),
    /** Whether it says that a message was delivered before it says that it has it. */
    tellsFirst: false,
    allows: (_mode: BindMode): boolean => true,
    /** The next so many that it gets. */
    taken: (many: number) =>
      eventually(async () => texts.length >= many && texts.splice(0, many), `${many} to reach the centre`),
    /** Fulfilled when it is stored. */
    async tell({ session, messageId: id, pdu }: Text, state: ReceiptState): Promise<void> {
      const over = [...centre.sessions].find((one) => one !== session) ?? session
      const receipt = encodeReceipt({ id, state, error: null, submitDate: null, doneDate: null })
      const [source, destination] = [pdu.destination, pdu.source]
      assert.equal(await over.deliver(newShortMessage({ source, destination, ...receipt })), 0)
    },
  }
  const smsc = await Smsc.listen({
    host: '127.0.0.1',
    port: 0,
    bindTimeoutMs: 60_000,
    responseTimeoutMs: 60_000,
    authenticate: (_systemId, _password, mode) => (centre.allows(mode) ? 0 : commandStatus.ESME_RBINDFAIL),
    onSubmit: async (session, pdu) => {
      const text = { session, messageId: `${centre.port}-${messages++}`, pdu }
      texts.push(text)
      if (centre.tellsFirst) await centre.tell(text, 'DELIVRD')
      return { status: 0, messageId: text.messageId }
    },
    onSession: (session) => centre.sessions.add(session),
    onClosed: (session) => centre.sessions.delete(session),
  })
  t.after(() => smsc.close())
  centre.port = smsc.port
  return centre
}

/** TLS before a centre that does not speak it, under a certificate of an authority that nobody knows. */
async function startTlsFront(t: TestContext, behind: number, wishes: TlsOptions = {}) {
  const identity = await serverIdentity({ dir: join(world.home, 'centre'), now: new Date() })
  const server = createServer({ ...identity, ...wishes }, (socket) => {
    const inner = connect({ host: '127.0.0.1', port: behind })
    pipeline(socket, inner, socket, () => undefined)
  })
  server.listen(0)
  await once(server, 'listening')
  t.after(() => server.close())
  return { front: { port: portOf(server) }, identity, ca: await readFile(join(world.home, 'centre', 'ca.pem'), 'utf8') }
}

async function makeBind(name: string, { port }: { port: number }, settings: object = {}, isGood = true): Promise<void> {
  const bind = { name, host: '127.0.0.1', port, system_id: 'pamoja', password: 'secret', response_timeout_seconds: 60 }
  const made = await world.operator.post('/v1/operator/sms/binds', { ...bind, ...settings })
  assert.equal(made.status, 201, made.text)
  if (isGood) await isUp(name)
}

async function bindCalled(name: string) {
  return (await world.operator.get(`/v1/operator/sms/binds/${name}`)).body
}

async function isUp(name: string) {
  return eventually(async () => {
    const seen = await bindCalled(name)
    return seen.in_force && seen.is_up && seen
  }, `${name} to be up`)
}

/** A customer whose messages go over one bind, and over the next what that could not deliver. */
async function customerOver(binds: readonly string[]): Promise<Account> {
  const account = await world.account({ balance: 100 })
  const tiers = binds.map((bind) => [{ bind }])
  const route = { environment: 'test', account_id: account.id, tiers, reroute_on_undelivered: binds.length > 1 }
  const made = await world.operator.post('/v1/operator/sms/routes', route)
  assert.equal(made.status, 201, made.text)
  await inForce(world, made.body.id)
  return account
}
