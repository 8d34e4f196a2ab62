// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts'
import { eventually } from '../../../test/eventually.ts'
import { createLog, holdTerminal, type Logger, messageOf, readable } from './log.ts'

let folder: string
let file: string
let log: Logger
let database: TestDatabase
let lines = 0

before(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'pamoja-log-'))
  file = join(folder, 'deep', 'log')
  log = createLog({ level: 'debug', pretty: null, file })
})
after(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

test('a line is one JSON object with its level, its time and its words', async () => {
  const line = await written(() => log.info({ request: 'req_1', status: 200 }, 'request'))
  assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual({ ...line, time: '' }, { level: 'info', time: '', request: 'req_1', status: 200, msg: 'request' })
})

test('fields that are secret by their name are masked, at the top and one level down', async () => {
  const names = [
    'authorization',
    'password',
    'secret',
    'key',
    'token',
    'cvv',
    'pan',
    'otp',
    'pin',
    'card',
    'api_key',
    'text',
    'message',
  ]
  const fields = Object.fromEntries(names.map((name) => [name, 'x-secret']))
  const line = await written(() =>
    log.warn({ ...fields, headers: { ...fields, accept: '*/*' }, card: { number: 'x-secret' } }, 'leaky'),
  )
  assert.doesNotMatch(JSON.stringify(line), /x-secret/)
  for (const name of names) assert.equal(line[name], '[redacted]')
  assert.deepEqual(line.headers, { ...Object.fromEntries(names.map((name) => [name, '[redacted]'])), accept: '*/*' })
})

test('the number of a card is masked wherever it stands', async () => {
  const digits = '4242424242424242'
  const line = await written(() =>
    log.error({ note: `of ${digits}`, deep: { list: [{ digits }, Number(digits)] }, error: new Error(digits) }, digits),
  )
  assert.doesNotMatch(JSON.stringify(line), /4242424242424242/)
  assert.deepEqual(
    [line.note, line.deep, line.msg],
    ['of [redacted]', { list: [{ digits: '[redacted]' }, 0] }, '[redacted]'],
  )
})

test('what is not secret, or not there, stays as it is', async () => {
  const fields = { key_id: 'key_1', status: 0, token: null, nested: { a: [1], otp: undefined }, at: ['x'] }
  const line = await written(() => log.info(fields, 'plain'))
  assert.deepEqual(
    { ...line, time: '' },
    { level: 'info', time: '', key_id: 'key_1', status: 0, token: null, nested: { a: [1] }, at: ['x'], msg: 'plain' },
  )
  assert.deepEqual(fields.nested, { a: [1], otp: undefined }, 'the caller’s own object is not touched')
})

test('an error is kept with its stack and causes, and without what PostgreSQL tells of the row', async () => {
  await database.sql('create table people (name text not null, age int check (age > 0), unique (name))')
  const refused = await failureOf(database.sql(`insert into people values ('x-secret', -1)`))
  assert.match(String(Reflect.get(refused, 'detail')), /x-secret/, 'the error itself quotes the row')
  const line = await written(() =>
    log.error(
      { error: new Error('the write failed', { cause: refused }) },
      'request failed inside this program with 500: report the error',
    ),
  )
  assert.doesNotMatch(JSON.stringify(line), /x-secret/)
  assert.equal(line.error.message, 'the write failed')
  assert.match(line.error.stack, /log\.test/)
  assert.equal(line.error.cause.code, '23514')
  assert.match(line.error.cause.message, /violates check constraint/)
})

test('a value that PostgreSQL could not read is not repeated', async () => {
  for (const text of [
    `select 'x-secret "quoted"'::int`,
    `select 'x-secret'::uuid`,
    `select '{"a": x-secret}'::jsonb`,
    `select '{x-secret'::text[]`,
  ]) {
    const refused = await failureOf(database.sql(text))
    assert.ok(refused instanceof pg.DatabaseError)
    assert.doesNotMatch(messageOf(refused), /x-secret/)
    const line = await written(() => log.error({ error: refused }, 'failed'))
    assert.doesNotMatch(JSON.stringify(line), /x-secret/)
  }
  const missing = await failureOf(database.sql('select * from nowhere'))
  assert.equal(messageOf(missing), 'relation "nowhere" does not exist', 'names of our own are kept')
})

test('whatever is thrown can be logged', async () => {
  const round: Error & { self?: unknown } = new Error('round')
  round.self = round
  round.cause = round
  for (const error of ['a text', 5, null, { a: 1 }, round, new AggregateError([new Error('x')], 'many')]) {
    const line = await written(() => log.error({ error }, 'thrown'))
    assert.equal(line.msg, 'thrown')
  }
})

test('a person at a terminal sees a request as what was asked and how it went', () => {
  const fields = { level: 'info', time: '2026-03-01T09:15:30.123Z', msg: 'request', request: 'req_1', ms: 3.1 }
  const asked = { ...fields, method: 'GET', path: '/v1/account', account: 'acc_1', key_id: 'key_1' }
  assert.equal(plain({ ...asked, status: 200 }), '09:15:30 GET /v1/account 200 3.1 ms req_1\n')
  assert.equal(
    plain({ ...asked, status: 404, error_code: 'NOT_FOUND' }),
    '09:15:30 GET /v1/account 404 NOT_FOUND 3.1 ms req_1\n',
  )
})

test('a person at a terminal reads one line, and an error below it', () => {
  assert.equal(
    plain({
      level: 'info',
      time: '2026-03-01T09:15:30.123Z',
      request: 'req_1',
      status: 200,
      list: [1],
      msg: 'request',
    }),
    '09:15:30 info request request=req_1 status=200 list=[1]\n',
  )
  assert.equal(
    plain({
      level: 'error',
      time: '2026-03-01T09:15:30.123Z',
      msg: 'failed',
      error: { type: 'Error', message: 'a', stack: 'Error: a\n    at b', cause: { type: 'Error', message: 'c' } },
    }),
    '09:15:30 error failed\n  Error: a\n      at b\n  caused by:\n  Error: c\n',
  )
  assert.equal(
    plain({
      level: 'info',
      time: '2026-03-01T09:15:30.123Z',
      request: 'req_1',
      method: 'GET',
      path: '/v1/x',
      status: 404,
      ms: 1.5,
      error_code: 'NOT_FOUND',
      msg: 'request',
    }),
    '09:15:30 GET /v1/x 404 NOT_FOUND 1.5 ms req_1\n',
  )
  assert.equal(plain({ level: 'warn', time: '2026-03-01T09:15:30.123Z' }), '09:15:30 warn \n')
  assert.equal(
    plain({
      level: 'warn',
      time: '2026-03-01T09:15:30.123Z',
      msg: 'out of reach',
      error: { type: 'Error', message: 'a', stack: 'Error: a\n    at b', cause: { type: 'Error', message: 'c' } },
    }),
    '09:15:30 warn out of reach\n  a\n  c\n',
    'of what goes wrong outside, the reason is shown',
  )
})

test('lines for a terminal wait while a start shows its progress, and come afterwards in their order', (t) => {
  const shown: string[] = []
  t.mock.method(process.stdout, 'write', (text: string) => {
    shown.push(text)
    return true
  })
  const readableLog = createLog({ level: 'info', pretty: true, file: null })
  const release = holdTerminal()
  readableLog.warn('one')
  readableLog.warn('two')
  assert.deepEqual(shown, [])
  release()
  readableLog.warn('three')
  t.mock.restoreAll()
  assert.deepEqual(
    shown.map((line) => /one|two|three/.exec(line)?.[0]),
    ['one', 'two', 'three'],
  )
})

function plain(line: object): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not the matter here
  return readable(JSON.stringify(line)).replaceAll(/\u001b\[\d+m/g, '')
}

/** Logs something and gives the line that it made. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads lines whose shape it asserts
async function written(write: () => void): Promise<any> {
  write()
  log.flush()
  const all = await eventually(async () => {
    const text = await readFile(file, 'utf8').catch(() => '')
    const found = text.split('\n').slice(0, -1)
    return found.length > lines && found
  }, 'the line')
  lines = all.length
  return JSON.parse(all.at(-1) ?? '')
}

async function failureOf(query: Promise<unknown>): Promise<Error> {
  const failed = await query.then(
    () => null,
    (error: unknown) => error,
  )
  assert.ok(failed instanceof Error)
  return failed
}
