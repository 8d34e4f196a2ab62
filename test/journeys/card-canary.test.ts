// SPDX-License-Identifier: Apache-2.0
// Card numbers that nobody else has are sent to the program in every way there is, rightly and wrongly. Afterwards they are
// looked for in whatever outlives a request: every table, the files and the write-ahead log of the database, the log, the
// books of the simulated acquirer, what receivers were told, and the memory of the process.
import assert from 'node:assert/strict'
import { createHash, randomInt } from 'node:crypto'
import { chmod, mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { areas } from '../../src/areas.ts'
import { passesLuhn } from '../../src/kernel/card.ts'
import type { Route } from '../../src/platform/api/route.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { endAll, newHome, type Serving, serve } from '../program.ts'
import { runs } from '../properties.ts'
import { type Receiver, startReceiver } from '../receiver.ts'

const routes = areas.flatMap((area) => area.routes)
const beginning = '424242'
const control = `control${randomInt(1e9)}control`

let home: { path: string; remove(): Promise<void> }
let folder: string
let serving: Serving
let client: Client
let receiver: Receiver
/** Every number that was sent. */
const sent = new Set<string>()

before(async () => {
  home = await newHome()
  folder = await mkdtemp(join(tmpdir(), 'pamoja-canary-'))
  await chmod(folder, 0o777)
  receiver = await startReceiver()
  serving = await serve(home.path, {
    NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`,
    PAMOJA_LOG_FILE: join(folder, 'log'),
    PAMOJA_LOG_LEVEL: 'debug',
    PAMOJA_RATE_LIMITS: 'off',
    PAMOJA_ADMIN_PORT: '0',
  })
  client = serving.client
})
after(async () => {
  client.close()
  await endAll()
  await receiver.stop()
  await home.remove()
  await rm(folder, { recursive: true, force: true })
})

test('cards are sent rightly: paid, confirmed, set aside, saved, repeated', async () => {
  const hooked = await client.post('/v1/webhooks', { url: receiver.url('/told'), events: ['payment.*'] })
  assert.equal(hooked.status, 201, hooked.text)
  const order = { amount: 100, currency: 'KES', description: control }
  for (let i = 0; i < runs(10); i++) {
    const body = { ...order, card: newCard() }
    const headers = { 'idempotency-key': `key-${i}` }
    assert.equal((await client.post('/v1/payments', body, { headers })).status, 201)
    assert.equal((await client.post('/v1/payments', body, { headers })).headers['idempotent-replayed'], 'true')
    const other = await client.post('/v1/payments', { ...order, card: newCard() }, { headers })
    assert.equal(other.status, 409)
    const callback_url = receiver.url('/called')
    assert.equal((await client.post('/v1/payments/charge', { ...order, card: newCard(), callback_url })).status, 201)
    assert.equal((await client.post('/v1/wallet/topup', { amount: 5, card: newCard() })).status, 201)
    const { body: held } = await client.post('/v1/payments', { ...order, card: newCard(), capture: false })
    assert.equal((await client.post(`/v1/payments/${held.payment_id}/capture`, { amount: 50 })).status, 200)
    const saved = await client.post('/v1/payments', { ...order, card: newCard(), save_card: true })
    assert.match(saved.body.card_token, /^tok_/)
    assert.equal((await client.post('/v1/payments', { ...order, card_token: saved.body.card_token })).status, 201)
    const { body: asked } = await client.post('/v1/payments', { ...order, card: newCard(), require_3ds: true })
    const page = asked.redirect_url.replace(serving.credentials.base_url.replace(/\/api.*$/, ''), '')
    const decided = await client.request('POST', page, { raw: 'decision=approve' })
    assert.ok(decided.status < 400, decided.text)
    const { number, cvv } = newCard()
    const paid = await sendForm(await invoicePage(), { method: 'card', number, expiry: '12/40', cvv })
    assert.equal(paid.status, 303, paid.text)
  }
})

test('cards are sent wrongly: in other fields, to other routes, and in bodies that are none', async () => {
  const order = { amount: 100, currency: 'KES', phone: '+254700000001' }
  for (let i = 0; i < runs(5); i++) {
    const bodies: object[] = [
      { ...order, description: `pay with ${newNumber()}` },
      { ...order, description: spaced(newNumber()) },
      { ...order, metadata: { card: newNumber() } },
      { ...order, metadata: { card: Number(newNumber()) } },
      { ...order, metadata: { [newNumber()]: 'x' } },
      { ...order, customer: { name: newNumber() } },
      { ...order, phone: newNumber() },
      { ...order, phone: `+${newNumber().slice(0, 15)}` },
      { ...order, currency: newNumber() },
      { ...order, amount: newNumber() },
      { ...order, provider: newNumber() },
      { ...order, method: newNumber() },
      { ...order, card_token: newNumber() },
      { ...order, callback_url: `https://${newNumber()}` },
      { ...order, card: newNumber() },
      { ...order, card: [newNumber()] },
      { ...order, card: { ...newCard(), exp_year: 2001 } },
      { ...order, card: { ...newCard(), [newNumber()]: 1 } },
      { ...order, card: { ...newCard(), cvv: newNumber() } },
      { ...order, card: { ...newCard(), name: newNumber(), pin: '1234' } },
      { ...order, card: newCard(), return_url: `ftp://${newNumber()}` },
    ]
    for (const body of bodies) {
      const key = { 'idempotency-key': `wrong-${i}-${bodies.indexOf(body)}` }
      for (const headers of [{}, key, { 'pamoja-strict': 'true' }]) {
        const refused = await client.post('/v1/payments', body, { headers })
        assert.ok(refused.status >= 400 && refused.status < 500, `${JSON.stringify(body)}: ${refused.text}`)
      }
    }
    // A field that nobody knows is ignored, with a warning; its name may be anything.
    await client.post('/v1/payments?wait=0', { ...order, [newNumber()]: newNumber() })
    for (const raw of [`{"card": {"number": "${newNumber()}"`, newNumber(), `"${newNumber()}"`, `card=${newNumber()}`])
      for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded'])
        await client.request('POST', '/v1/payments', { raw, headers: { 'content-type': type } })
    await client.get(`/v1/payments/${newNumber()}?card=${newNumber()}`)
    await client.get(`/v1/${newNumber()}/${newNumber()}`)
    await client.get(`/v1/payments/transactions?reference=${newNumber()}&limit=${newNumber()}`)
    const headers = { authorization: `Bearer ${newNumber()}`, 'x-request-id': newNumber(), cookie: newNumber() }
    await client.get('/v1/payments/methods', { headers })
    await client.request('POST', `/go/${newNumber()}`, { raw: `decision=${newNumber()}` })
    const invoice = await invoicePage()
    const { cvv } = newCard()
    for (const fields of [
      { method: 'card', number: newNumber(), expiry: '12/20', cvv },
      { method: 'card', number: newNumber(), expiry: newNumber(), cvv },
      { method: 'card', number: newNumber(), expiry: '12/40', cvv: newNumber() },
      { method: 'card', number: `${newNumber()} ${newNumber()}`, expiry: '12/40', cvv },
      { method: newNumber(), number: newNumber() },
      { phone: newNumber(), provider: newNumber() },
      { [newNumber()]: newNumber() },
    ]) {
      const refused = await sendForm(invoice, fields)
      assert.ok(refused.status >= 400 && refused.status < 500, refused.text)
    }
    await client.get(`${invoice}/${newNumber()}?payment_id=${newNumber()}`)
    await client.request('POST', `/hooks/p/${newNumber()}`, { raw: `{"card":"${newNumber()}"}` })
  }
  for (const route of routes.filter(({ method, path }) => method !== 'GET' && path !== '/v1/payments')) {
    const answer = await client.request(route.method, route.path.replaceAll(/:\w+/g, newNumber()), {
      body: { ...exampleOf(route), card: newCard() },
      headers: { 'idempotency-key': `route-${route.operation}` },
    })
    // These take a card as a payment does.
    if (['wallet.topup', 'payments.checkRisk'].includes(route.operation)) continue
    assert.ok(answer.status >= 400 && answer.status < 500, `${route.operation}: ${answer.status} ${answer.text}`)
  }
})

test('and are nowhere afterwards', async () => {
  assert.ok(sent.size > 300, `only ${sent.size} numbers were sent`)
  await eventually(async () => receiver.received.length >= 6 * runs(10), 'the webhooks')
  // Whatever keeps the last thing it saw now sees something else.
  for (let i = 0; i < 50; i++) {
    await client.get('/v1/payments/transactions?limit=1')
    await client.get('/pay/none/none?payment_id=none')
    await client.request('POST', '/pay/none/none', { raw: 'a=b' })
    await client.request('POST', '/go/none', { raw: 'decision=none' })
  }
  const places = new Map<string, Buffer>()
  places.set('what receivers were told', Buffer.from(JSON.stringify(receiver.received)))
  const tables = await dump()
  for (const [name, text] of tables) places.set(name, Buffer.from(text))
  const log = await eventually(async () => {
    const text = await readFile(join(folder, 'log'))
    return text.includes('/v1/payments/transactions') && text
  }, 'the log')
  places.set('the log', log)
  serving.program.child.kill('SIGUSR2')
  const snapshot = await eventually(heapSnapshot, 'the memory of the process', 120_000)
  places.set('the memory', snapshot)
  for (const file of await filesBelow(home.path)) places.set(file, await readFile(file).catch(() => Buffer.alloc(0)))

  assert.ok(
    [...tables].some(([name, text]) => name === 'payments.payments' && text.includes(control)),
    'tables are read',
  )
  assert.ok(
    [...places].some(([name, bytes]) => name.includes('pg_wal') && bytes.includes(control)),
    'and so is the WAL',
  )
  assert.ok(snapshot.includes('payments.insert_card'), 'and the memory')
  const books = [...places].find(([name]) => name.endsWith('simulators/acquirer.journal'))?.[1].toString() ?? ''
  assert.match(books, /intents\tpi_.*"status":"succeeded"/, 'and the books of the acquirer')
  const found = [...places].flatMap(([name, bytes]) =>
    numbersIn(bytes).map((digits) => `${digits} in ${name}: ${around(bytes, digits)}`),
  )
  assert.deepEqual(found, [])
  const hashes = new Set([...sent].flatMap(hashesOf))
  for (const [name, text] of [...tables, ['the log', log.toString()] as const, ['the books', books] as const]) {
    assert.doesNotMatch(text, /cv[vc]"?\s*[:=]\s*"?\d{3,4}/i, `a security code in ${name}`)
    for (const [hash] of text.matchAll(/[0-9a-f]{64}|[A-Za-z0-9+/]{43}=/g))
      assert.ok(!hashes.has(hash), `a bare hash in ${name}`)
  }
})

/** The page of an invoice that is to be paid. */
async function invoicePage(): Promise<string> {
  const items = [{ description: control, unit_amount: 100 }]
  const asked = { customer: { name: 'Asha' }, currency: 'KES', items, send: true }
  const { status, body, text } = await client.post('/v1/billing/invoices', asked)
  assert.equal(status, 201, text)
  return new URL(body.hosted_url).pathname
}

function sendForm(path: string, fields: Record<string, string>) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return client.request('POST', path, { raw: new URLSearchParams(fields).toString(), headers })
}

function newNumber(): string {
  const start = `${beginning}${String(randomInt(1e9)).padStart(9, '0')}`
  const digits = `${start}${[...'0123456789'].find((digit) => passesLuhn(`${start}${digit}`))}`
  sent.add(digits)
  return digits
}

function newCard() {
  const code = String(randomInt(1_000)).padStart(3, '0')
  return { number: newNumber(), exp_month: 12, exp_year: 2040, cvv: code }
}

function spaced(digits: string): string {
  return digits.replace(/(\d{4})(?=\d)/g, '$1 ')
}

function exampleOf({ examples }: Route): object {
  return Object(examples?.[0]?.body ?? {})
}

/** Those of the numbers that stand in some bytes: as they are, in groups, in hexadecimal or in base64 at any offset. */
function numbersIn(bytes: Buffer): string[] {
  const found = new Set<string>()
  const look = (needle: string, length: number, read: (text: string) => string): void => {
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) {
      const digits = read(bytes.subarray(at, at + length).toString('latin1'))
      if (sent.has(digits)) found.add(digits)
    }
  }
  look(beginning, 16, (text) => text)
  look(spaced(beginning), 19, (text) => text.replaceAll(' ', ''))
  look(Buffer.from(beginning).toString('hex'), 32, (text) => Buffer.from(text, 'hex').toString())
  look(Buffer.from(beginning).toString('base64'), 22, (text) => Buffer.from(text, 'base64').toString())
  const ends = new Map([...sent].map((digits) => [digits.slice(1), digits]))
  const secondEnds = new Map([...sent].map((digits) => [digits.slice(2), digits]))
  for (const known of [ends, secondEnds]) {
    const [sample = ''] = known.keys()
    look(Buffer.from(sample.slice(0, 3)).toString('base64'), 20, (text) => {
      const decoded = Buffer.from(text, 'base64').toString()
      return known.get(decoded.slice(0, sample.length)) ?? ''
    })
  }
  return [...found]
}

/** What stands beside a number, to see how it came there. */
function around(bytes: Buffer, digits: string): string {
  const at = bytes.indexOf(digits)
  return at < 0
    ? 'written otherwise'
    : JSON.stringify(bytes.subarray(Math.max(0, at - 200), at + 120).toString('latin1'))
}

function hashesOf(digits: string): string[] {
  const hash = createHash('sha256').update(digits).digest()
  return [hash.toString('hex'), hash.toString('base64')]
}

/** Every row of every table, as text. */
async function dump(): Promise<Map<string, string>> {
  const sql = new pg.Client({ connectionString: await databaseUrl() })
  await sql.connect()
  const { rows: tables } = await sql.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema')`,
  )
  const found = new Map<string, string>()
  for (const { name } of tables) {
    const { rows } = await sql.query<{ row: string }>(`select t::text as row from ${name} t`)
    found.set(name, rows.map(({ row }) => row).join('\n'))
  }
  await sql.query('checkpoint')
  await sql.end()
  return found
}

async function heapSnapshot(): Promise<Buffer | null> {
  assert.equal(serving.program.child.signalCode, null, 'the program is there')
  const name = (await readdir(folder)).find((file) => file.endsWith('.heapsnapshot'))
  if (!name) return null
  const file = await open(join(folder, name))
  try {
    // It is whole when its last list is.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(10), 0, 10, Math.max(0, (await file.stat()).size - 10))
    return buffer.toString('latin1', 0, bytesRead).trimEnd().endsWith('}') ? await file.readFile() : null
  } finally {
    await file.close()
  }
}

async function filesBelow(path: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true })
  const found: string[] = []
  for (const name of names) {
    const file = join(path, name)
    if (
      await stat(file).then(
        (one) => one.isFile(),
        () => false,
      )
    )
      found.push(file)
  }
  return found
}

/** The program's own database, which listens on a socket of its own. */
async function databaseUrl(): Promise<string> {
  const lines = (await readFile(join(home.path, 'postgres/18/data/postmaster.pid'), 'utf8')).split('\n')
  return `postgres://pamoja@/pamoja?host=${encodeURIComponent(lines[4] ?? '')}&port=${lines[3]}&sslmode=disable`
}
