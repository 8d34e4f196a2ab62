// SPDX-License-Identifier: Apache-2.0
// Secrets stay where they belong, and nothing that is thrown at a route makes it fail. Every route is called with junk, with
// made-up credentials and in the ways that could spill a secret, in one walk; then the log and every table are searched. Keys
// and tokens must be nowhere, the text of a note or a message only in its own table.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { areas } from '../../src/areas.ts'
import type { Route } from '../../src/platform/api/route.ts'
import { newKey } from '../../src/platform/auth.ts'
import { forEachOf } from '../at-once.ts'
import type { Client, Reply, RequestOptions } from '../client.ts'
import { lookInto } from '../looking.ts'
import { notes } from '../notes/area.ts'
import { share } from '../properties.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

const routes = [...areas, notes].flatMap((area) => area.routes)
/** Stands for whatever must not be seen: nothing else in this run contains it. */
const mark = `mark${randomBytes(12).toString('hex')}`
const noteText = `note${randomBytes(12).toString('hex')}`
const unknownKey = newKey('live', randomBytes)

/** Credentials that are none. */
const madeUp = [
  `Bearer ${mark}`,
  `Bearer pmj_test_${mark}`,
  `Bearer ${unknownKey}`,
  `Bearer ${encoded(`{"alg":"EdDSA","kid":"${mark}"}`)}.${encoded(mark)}.${mark}`,
  `Basic ${mark}`,
  mark,
]

// biome-ignore format: a table reads better dense
const junk = [undefined, null, 0, -1, 1e308, '', 'x', '\u202e', '😀', 'x'.repeat(5000), true, [], [[]], {}, { a: { b: { c: 1 } } }]

/** Fields that many routes take. */
const fields =
  'name text amount currency environment plan limits status scopes expires_at allowed_ips settings advance_seconds scope expires_in prices reference grace_period rate_limit_per_second country timezone area unit'.split(
    ' ',
  )

let folder: string
let world: World
let account: Account
let sql: pg.Client
/** Keys and tokens that replies have shown. */
const shown = new Set<string>()
let lastRequest = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pamoja-redaction-'))
  world = await startWorld({
    PAMOJA_LOG_FILE: join(folder, 'log'),
    PAMOJA_LOG_LEVEL: 'debug',
  })
  account = await world.account({ balance: 1000 })
  for (const key of [account.key, world.credentials.api_key, world.credentials.operator_key]) shown.add(key)
  sql = lookInto(world)
  await sql.connect()
})
after(async () => {
  await sql.end()
  await world.stop()
  await rm(folder, { recursive: true, force: true })
})

test('every route bears secrets in all the wrong places, junk, and credentials that are none', async () => {
  await forEachOf(routes, async (route, r) => {
    const client = route.scope === 'operator' ? world.operator : account.client
    for (const options of share(waysToSpill(route), r)) {
      const { status, body, headers } = await fire(client, route, options)
      // Engines that have too much to do say so, and when to come again.
      const isBusy = body?.error?.code === 'PROVIDER_UNAVAILABLE' && headers['retry-after'] !== undefined
      assert.ok(
        status < 500 || isBusy,
        `${route.operation} ${JSON.stringify(options)}: ${status} ${JSON.stringify(body)}`,
      )
    }
    for (const i of share([...junk.keys()], r))
      for (const [path, options] of waysToThrow(route, i)) {
        const reply = await client.request(route.method, path, options)
        assert.ok(reply.status < 500, `${route.method} ${path}: ${reply.text}`)
      }
    for (const authorization of share(madeUp, r)) {
      const { status } = await fire(world.stranger, route, { headers: { authorization } })
      assert.equal(status, 401, `${route.operation} ${authorization}`)
    }
  })
})

test('a key in the place of a name is neither in the request log nor in the audit log', async () => {
  const { client, key } = await world.account()
  const made = await client.post('/v1/api-keys', { name: `Backup of ${key}`, scopes: ['sms:read'] })
  assert.equal(made.status, 201, made.text)
  await world.app.requestLog.flush()
  for (const path of ['/v1/logs?limit=20', '/v1/audit-log?limit=20']) {
    const { status, text } = await client.get(path)
    assert.equal(status, 200, text)
    assert.ok(text.includes('Backup of pmj_') && !text.includes(key), path)
  }
})

test('a field that was meant otherwise is in the log, and a text that was sent as one is not', async () => {
  const { client } = await world.account()
  const text = { to: '+254711000001', from: 'PAMOJA', message: 'x', callbackUrl: 'https://localhost:4000/' }
  const { headers } = await client.post('/v1/sms/send', { ...text, 'Your code is 123456': '' })
  lastRequest = headers['x-request-id'] ?? ''
  const lines = (await log()).split('\n').filter((one) => one.includes(lastRequest))
  const warnings = lines.flatMap((one) => JSON.parse(one).warning ?? [])
  assert.deepEqual(warnings, ['unknown field "callbackUrl" (did you mean "callback_url"?)'])
  assert.doesNotMatch(lines.join('\n'), /Your code/)
})

test('what a route answers once is answered again under its key, and still not to be found', async () => {
  for (const [path, client] of [
    ['/v1/api-keys', account.client],
    ['/v1/operator/accounts', world.operator],
    ['/v1/auth/token', account.client],
  ] as const) {
    const route = routes.find((candidate) => candidate.path === path && candidate.method === 'POST')
    assert.ok(route)
    const options = { body: route.examples?.[0]?.body ?? {}, headers: { 'idempotency-key': `twice-${path}` } }
    const first = await fire(client, route, options)
    const second = await fire(client, route, options)
    assert.ok(first.status < 300, JSON.stringify(first.body))
    assert.equal(second.headers['idempotent-replayed'], 'true')
    assert.equal(second.text, first.text)
  }
  assert.ok(shown.size >= 6, 'the replies showed secrets')
})

test('a failure inside the database does not carry what was being written into the log', async () => {
  await sql.query(`alter table notes.notes add constraint no_marks check (text not like '%refuse%')`)
  const refused = await fire(account.client, noteRoute(), { body: { text: `${noteText} refuse` } })
  assert.equal(refused.status, 500)
  assert.doesNotMatch(refused.text, /constraint|notes\.|note[0-9a-f]{24}/)
  // PostgreSQL quotes what it cannot read: invalid input syntax for type integer: "...".
  await sql.query(
    `create function notes.explode() returns trigger language plpgsql as 'begin perform new.text::int; return new; end'`,
  )
  await sql.query(
    'create trigger explode before insert or update on notes.notes for each row execute function notes.explode()',
  )
  const unreadable = await fire(account.client, noteRoute(), { body: { text: `${noteText} explode` } })
  assert.equal(unreadable.status, 500)
  await sql.query('drop trigger explode on notes.notes')
  const text = await log()
  assert.match(text, /violates check constraint/, 'the log says what failed')
  assert.match(text, /invalid input syntax for type integer/)
})

test('a job that fails says so without quoting what it was about', async () => {
  await sql.query('create trigger explode before update on notes.notes for each row execute function notes.explode()')
  const { status } = await fire(account.client, noteRoute(), { body: { text: noteText } })
  assert.equal(status, 200)
  await eventually(
    async () => (await sql.query('select 1 from work.jobs where last_error is not null')).rowCount,
    'the job to fail',
  )
  await sql.query('drop trigger explode on notes.notes')
})

test('keys, tokens and texts are nowhere they do not belong', async () => {
  const text = await log()
  await world.app.requestLog.flush()
  const tables = await dump()
  assert.ok(text.split('\n').length > routes.length * 4, 'the log was written')
  assert.ok((tables.get('platform.requests') ?? '').length > 10_000, 'the request log was written')
  assert.ok(tables.get('notes.notes')?.includes(noteText), 'the search finds what is there')
  assert.ok(holds(tables.get('platform.idempotency') ?? '', 'success'), 'answers were stored')

  const everywhere = new Map([...tables, ['the log', text]])
  for (const secret of [mark, unknownKey, ...shown])
    assert.deepEqual(
      placesOf(secret, everywhere),
      [],
      `${secret === mark ? 'what was marked' : secret.slice(0, 9)} was found`,
    )
  // The event of a note tells its text, and the job that publishes it carries it there; messages, mails and what
  // somebody typed in a USSD session or set as the screen of a code are kept as they are, and so are the frames in which a
  // text went out, as long as it.
  // Which of them were written depends on which requests had their turn.
  const allowed = [
    'email.contents',
    'events.events',
    'notes.notes',
    'platform.frames',
    'sms.messages',
    'ussd.sessions',
    'ussd.shortcodes',
  ]
  const strange = placesOf(noteText, everywhere).filter((name) => ![...allowed, 'work.jobs'].includes(name))
  assert.deepEqual(strange, [])
})

/** The same request in all the forms that could spill a secret. */
function waysToSpill(route: Route): RequestOptions[] {
  const example = route.examples?.[0]?.body
  const body = typeof example === 'object' && example !== null ? example : {}
  const sensitive = sensitiveFields(route)
  const secret = /^\/v1\/(notes|sms|ussd|email|sandbox\/(sms|ussd))\b/.test(route.path) ? noteText : mark
  const secrets = { password: mark, secret: mark, api_key: mark, token: mark, pin: mark }
  const bodies: unknown[] = [
    { ...body, ...secrets },
    { ...secrets },
    mark,
    [mark],
    [{ ...secrets }],
    ...sensitive.flatMap((name) =>
      [secret, [secret], { value: secret }, `${secret} `.repeat(200)].map((value) => ({ ...body, [name]: value })),
    ),
  ]
  if (route.path === '/v1/notes')
    bodies.push({ text: noteText }, { text: noteText, to: 'nobody' }, { text: [noteText] }, noteText)
  const headers = { 'x-secret': mark, cookie: `session=${mark}` }
  if (route.method === 'GET') return [{ headers }, { headers: { ...headers, accept: 'text/csv' } }]
  return [
    ...bodies.map((value) => ({ body: value, headers })),
    ...bodies
      .slice(0, 3)
      .map((value, i) => ({ body: value, headers: { ...headers, 'idempotency-key': `${route.operation}-${i}` } })),
    { raw: `{"text": "${mark}", "key": ${mark}}` },
    { raw: `{"text": "${mark}`, headers: { 'content-type': 'application/json' } },
    { raw: `client_secret=${mark}&text=${mark}`, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    { raw: mark, headers: { 'content-type': 'text/plain' } },
  ]
}

/** Junk as the body, the query and the ids of a request, and as each of its fields. */
function waysToThrow(route: Route, i: number): [path: string, RequestOptions][] {
  const text = encodeURIComponent(String(junk[i]))
  const path = route.path.replaceAll(/:\w+/g, encodeURIComponent(String(junk[i]).slice(0, 200)) || 'x')
  const query = `?limit=${text}&cursor=${text}&status=${i}&group_by=,&start_date=${text}`
  if (route.method === 'GET')
    return [
      [path + query, {}],
      [path, {}],
    ]
  const body = Object.fromEntries(fields.map((name, n) => [name, junk[(i + n) % junk.length]]))
  return [
    [path, { body }],
    [path, { body: junk[i] }],
  ]
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url')
}

async function fire(client: Client, route: Route, options: RequestOptions): Promise<Reply> {
  // The key stands in the path and in the query, where it does not belong either. An id that customers choose is kept as it
  // was given.
  const path = `${route.path.replace(':external_id', 'shop-7').replaceAll(/:\w+/g, account.key)}?api_key=${account.key}&token=${mark}`
  const reply = await client.request(route.method, path, options)
  for (const name of ['key', 'test_api_key', 'access_token']) {
    const value = reply.body?.[name]
    if (typeof value === 'string') shown.add(value)
  }
  lastRequest = reply.headers['x-request-id'] ?? ''
  return reply
}

function noteRoute(): Route {
  const route = routes.find(({ operation }) => operation === 'notes.create')
  if (!route) throw new Error('there is no way to write a note')
  return route
}

function sensitiveFields({ body }: Route): string[] {
  const properties = Object(body ?? {}).properties ?? {}
  return Object.keys(properties).filter((name) => properties[name].sensitive === true)
}

/** The log up to the last request. */
function log(): Promise<string> {
  return eventually(async () => {
    world.app.log.flush()
    const text = await readFile(join(folder, 'log'), 'utf8')
    return text.includes(lastRequest) && text
  }, 'the log to be written')
}

/** Every row of every table, as text. */
async function dump(): Promise<Map<string, string>> {
  const { rows: tables } = await sql.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema')`,
  )
  const found = new Map<string, string>()
  for (const { name } of tables) {
    const { rows } = await sql.query<{ row: string }>(`select t::text as row from ${name} t`)
    found.set(name, rows.map(({ row }) => row).join('\n'))
  }
  return found
}

function placesOf(secret: string, places: ReadonlyMap<string, string>): string[] {
  return [...places].filter(([, text]) => holds(text, secret)).map(([name]) => name)
}

/** As it is, as PostgreSQL prints bytes, or in base64 at any offset (its middle does not depend on what stands around it). */
function holds(text: string, secret: string): boolean {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map((shift) => bytes.subarray(shift).toString('base64url').slice(0, -3))
  return text.includes(secret) || text.includes(bytes.toString('hex')) || base64.some((form) => text.includes(form))
}
