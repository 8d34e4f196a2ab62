// SPDX-License-Identifier: Apache-2.0
// The commands of the program, as an operator types them, beside and between the nodes they look after.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { settings } from '../src/config.ts'
import { root } from '../src/platform/program/root.ts'
import { Client } from './client.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { type Ended, endAll, freePort, newHome, node, Program, run, type Serving, serve, serveNode } from './program.ts'

type Home = Awaited<ReturnType<typeof newHome>>

let home: Home
let secondHome: Home
let database: TestDatabase
let secondDatabase: TestDatabase
const oldKey = randomBytes(32).toString('base64')
const newKey = randomBytes(32).toString('hex')

before(async () => {
  home = await newHome()
  secondHome = await newHome()
  database = await createTestDatabase()
  secondDatabase = await createTestDatabase()
})

afterEach(endAll)

after(async () => {
  await database.drop()
  await secondDatabase.drop()
  await home.remove()
  await secondHome.remove()
})

test('--help lists every command and every setting, and --version is a version', async () => {
  const { code, stdout } = await run(['--help'])
  assert.equal(code, 0)
  for (const name of Object.keys(settings)) assert.match(stdout, new RegExp(`^  ${name}\n      \\S.*\\.$`, 'm'))
  const commands = [
    'serve',
    'migrate',
    'backup <file>',
    'restore <file>',
    'reset',
    'ledger verify',
    'cells list',
    'cells add <name>',
    'cells move <bucket> <cell>',
    'cells drain <name>',
    'identity verify-audit',
    'identity calibrate <file>',
    'keys rotate',
    'operator key',
    'mnp import <file>',
    'listen',
  ]
  for (const usage of [...commands, 'config', 'openapi'])
    assert.match(stdout, new RegExp(`^  ${usage} +[A-Z].*\\.?$`, 'm'))
  assert.equal((await run(['help'])).stdout, stdout)
  assert.match((await run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
})

test('config shows where every value comes from, and no secret', async () => {
  const file = join(home.path, 'secret')
  await writeFile(file, `${oldKey}\n`)
  const environment = { PAMOJA_SECRET_KEY_FILE: file, PORT: '4000', DATABASE_URL: 'postgres://me:hidden@db/x' }
  const { stdout } = await run(['config', '--roles', 'timers,api'], environment)
  const lines = stdout.split('\n')
  assert.ok(lines.includes(`PAMOJA_SECRET_KEY=********  # ${file}`), stdout)
  assert.ok(lines.includes('PAMOJA_PORT=4000  # PORT'))
  assert.ok(lines.includes('DATABASE_URL=********  # DATABASE_URL'))
  assert.ok(lines.includes('PAMOJA_ROLES=api,timers  # command line'))
  assert.ok(lines.includes('PAMOJA_LOG_LEVEL=info  # default'))
  assert.ok(lines.includes('PAMOJA_CELLS=  # default'))
  assert.doesNotMatch(stdout, /hidden/)
  assert.ok(!stdout.includes(oldKey))
})

test('migrate brings an empty database to this version, once', async () => {
  const first = await command(['migrate'], oldKey)
  assert.equal(first.stdout, 'The database is up to date.\n')
  const applied = await database.sql('select name, applied_at from public.pamoja_migrations order by name')
  assert.notEqual(applied.length, 0)
  await command(['migrate'], oldKey)
  assert.deepEqual(await database.sql('select name, applied_at from public.pamoja_migrations order by name'), applied)
})

test('after keys rotate the old key is not needed: tokens and remembered replies still work', async () => {
  const before = await serveWith(oldKey)
  const { body: token } = await before.client.post('/v1/auth/token', {})
  const once = { headers: { 'idempotency-key': 'rotation-1' } }
  const { body: made, status } = await before.client.post('/v1/api-keys', { name: 'Sealed' }, once)
  assert.equal(status, 201)
  await end(before)

  assert.match(
    (await command(['keys', 'rotate'], `${newKey},${oldKey}`)).stdout,
    /^Re-wrapped [1-9]\d* data keys and 1 /,
  )
  assert.match((await command(['keys', 'rotate'], `${newKey},${oldKey}`)).stdout, /^Re-wrapped 0 data keys and 0 /)

  const after = await serveWith(newKey)
  assert.equal((await after.client.as(token.access_token).get('/v1/auth/whoami')).status, 200)
  const { body: replayed } = await after.client.post('/v1/api-keys', { name: 'Sealed' }, once)
  assert.equal(replayed.key, made.key)
  await end(after)
})

test('openapi prints what a node serves, and operator key makes a key that works at once', async () => {
  const running = await serveWith(newKey)
  const printed = JSON.parse((await run(['openapi'])).stdout)
  const { body: served } = await running.client.get('/openapi.json')
  assert.deepEqual(Object.keys(printed.paths), Object.keys(served.paths))
  assert.notEqual(Object.keys(printed.paths).length, 0)

  const { stdout, stderr } = await command(['operator', 'key'], newKey)
  const operator = running.client.as(stdout.trim())
  assert.equal((await operator.get('/v1/operator/system')).status, 200)
  assert.match(stderr, new RegExp(`the account ${running.credentials.account_id},`))
  await end(running)
})

test('identity verify-audit holds beside a running node, and finds what somebody changed or took away', async () => {
  const running = await serveWith(newKey)
  const scored = await running.client.post('/v1/identity/risk-score', { email: 'ada@mailinator.com' })
  assert.equal(scored.status, 200, scored.text)
  assert.equal((await command(['identity', 'verify-audit'], newKey)).stdout, '1 chains, 1 entries: every one holds.\n')
  // Each of these is undone again by what follows it.
  const id = scored.body.risk_id
  const tampered: [string, string, RegExp][] = [
    [
      `update identity.audit set details = details || '{"by": "x"}'`,
      `update identity.audit set details = details - 'by'`,
      new RegExp(`^${id}: entry 1 was changed\\n1 chains, 1 entries: NOT every one holds.\\n$`),
    ],
    [
      'create table kept as select * from identity.audit; delete from identity.audit',
      'insert into identity.audit select * from kept; drop table kept',
      new RegExp(`^${id}: every entry is missing\\n0 chains, 0 entries: NOT`),
    ],
    [
      'update identity.audit_heads set entries = 2',
      'update identity.audit_heads set entries = 1',
      new RegExp(`^${id}: the record of how many entries it has was changed\\n`),
    ],
    [
      `create table heads as select * from identity.audit_heads; update identity.audit_heads set seal = ''`,
      `update identity.audit_heads set seal = heads.seal from heads; drop table heads`,
      new RegExp(`^${id}: the record of how many entries it has was changed\\n`),
    ],
    [
      `create table heads as select * from identity.audit_heads;
       update identity.audit_heads set seal = '', number = 0, opened = ''`,
      `update identity.audit_heads set (seal, number, opened) = (heads.seal, heads.number, heads.opened) from heads;
       drop table heads`,
      new RegExp(`^${id}: the record of how many entries it has was changed\\n`),
    ],
    [
      `create table kept as select * from identity.audit; create table heads as select * from identity.audit_heads;
       delete from identity.audit; delete from identity.audit_heads`,
      `insert into identity.audit select * from kept; insert into identity.audit_heads select * from heads;
       drop table kept, heads`,
      /^acc_\w+, test, book \d+: the chains after 0 are missing\n0 chains, 0 entries: NOT/,
    ],
    [
      'update identity.audit_books set chains = 0',
      'update identity.audit_books set chains = 1',
      /^acc_\w+, test, book \d+: the record of how many chains it has was changed\n/,
    ],
  ]
  for (const [how, back, told] of tampered) {
    await database.sql(how)
    const { code, stdout } = await run(['identity', 'verify-audit'], on(newKey))
    assert.equal(code, 1, how)
    assert.match(stdout, told)
    await database.sql(back)
  }
  assert.equal((await command(['identity', 'verify-audit'], newKey)).stdout, '1 chains, 1 entries: every one holds.\n')
  await end(running)
})

test('identity calibrate measures pairs of an operator’s own, group by group', async () => {
  const file = join(home.path, 'pairs.csv')
  const face = (name: string) => fileURLToPath(new URL(`src/areas/identity/specimens/${name}.jpg`, root))
  const lines = [
    `${face('face_a')},${face('face_a2')},same,one`,
    `${face('face_a')},${face('face_b')},different,one`,
    `${face('no_face')},${face('face_b')},different,two`,
    `${file},${face('face_b')},different,two`,
  ]
  await writeFile(file, lines.join('\n'))
  const { stdout } = await command(['identity', 'calibrate', file], newKey)
  assert.match(stdout, /^group +same +different +FMR +FNMR +threshold/)
  assert.match(stdout, /^one +1 +1 +0\.0000 +0\.0000 +0\.\d{3}/m)
  assert.match(stdout, /Unusable pairs: 2\.\n$/)
})

test('a backup of a running installation becomes another one, with the same keys and money', async () => {
  const running = await serveWith(newKey)
  const { balance } = (await running.client.get('/v1/wallet/balance')).body
  assert.ok(balance > 99_000, `${balance}`)
  const file = join(home.path, 'everything.gz')
  assert.match((await command(['backup', file], newKey)).stdout, /^Backed up \d+ tables, /)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await end(running)

  const elsewhere = { DATABASE_URL: secondDatabase.url, PAMOJA_HOME: secondHome.path, PAMOJA_SECRET_KEY: newKey }
  assert.match((await run(['restore', file], elsewhere)).stdout, /^Restored \d+ tables, /)
  const again = await run(['restore', file], elsewhere)
  assert.equal(again.code, 1)
  assert.doesNotMatch(again.stderr, /\n {4}at /)

  const restored = await serve(secondHome.path, elsewhere)
  const { body: who } = await restored.client.as(running.credentials.api_key).get('/v1/auth/whoami')
  assert.equal(who.account_id, running.credentials.account_id)
  const operator = restored.client.as(running.credentials.operator_key)
  const { body: account } = await operator.get(`/v1/operator/accounts/${who.account_id}`)
  assert.deepEqual(
    account.wallets.find(({ environment }: { environment: string }) => environment === 'test').balance,
    balance,
  )
  await end(restored)
})

test('ledger verify says whether everything adds up, also to scripts', async () => {
  const good = await command(['ledger', 'verify'], newKey)
  assert.match(good.stdout, /^\d+ wallets, \d+ transfers: everything adds up\.\n$/)
  await database.sql(`update ledger.wallets set balance = balance + 1 where balance > 0`)
  const bad = await run(['ledger', 'verify'], on(newKey))
  assert.equal(bad.code, 1)
  assert.match(bad.stdout, /acc_[0-9a-z]{26}/)
  assert.match(bad.stdout, /: NOT everything adds up\.\n$/)
})

test('mnp import takes in a list of ported numbers, and names the line with a mistake', async () => {
  const file = join(home.path, 'ported.csv')
  await writeFile(file, 'number,network\n254722000001,63903\n')
  const taken = await command(['mnp', 'import', file, '--country', 'KE'], newKey)
  assert.equal(taken.stdout, 'Numbers read: 1. New or moved: 1. Back with the network of their range: 0.\n')
  await writeFile(file, '254722000001,63907\n0722,63907\n')
  const bad = await run(['mnp', 'import', file], on(newKey))
  assert.equal(bad.code, 1)
  assert.match(bad.sentence, /^Line 2 does not begin with a number in international form; nothing was changed\.$/m)
  assert.deepEqual(await database.sql('select network from sms.ported_numbers'), [{ network: 'Airtel' }])
})

test('mnp import of a country that is none is a mistake in the command', async () => {
  const { code, sentence } = await run(['mnp', 'import', join(home.path, 'ported.csv'), '--country', 'ke'], on(newKey))
  assert.deepEqual([code, sentence], [2, '--country must be an ISO 3166 code such as KE, not ke.'])
})

test('a node that only answers requests leaves jobs to the node whose role they are', async () => {
  const shared = {
    DATABASE_URL: secondDatabase.url,
    PAMOJA_PORT: '0',
    PAMOJA_LOG_LEVEL: 'silent',
    PAMOJA_SECRET_KEY: newKey,
  }
  const api = await serveNode({ ...shared, PAMOJA_HOME: home.path, PAMOJA_ROLES: 'api' })
  const operator = api.client.as(api.credentials.operator_key)
  const { body: note, status } = await api.client.post('/v1/notes', { text: 'Habari' })
  assert.equal(status, 200)
  const { body: alone } = await operator.get('/v1/operator/system')
  assert.deepEqual(
    alone.queues.map(({ lane, due }: { lane: string; due: number }) => [lane, due]),
    [['notes.publish', 1]],
  )
  assert.equal((await api.client.get(`/v1/notes/${note.note_id}`)).body.status, 'queued')

  const environment = {
    ...shared,
    PAMOJA_HOME: secondHome.path,
    PAMOJA_ROLES: 'dispatch,timers',
    PAMOJA_TEST_WITHOUT_ACCOUNT: '1',
  }
  const worker = new Program({ file: node, environment })
  await eventually(
    async () => (await api.client.get(`/v1/notes/${note.note_id}`)).body.status === 'published',
    'the note',
  )
  const { body: together } = await operator.get('/v1/operator/system')
  assert.deepEqual(together.nodes.map(({ roles }: { roles: string[] }) => roles).sort(), [
    ['api'],
    ['dispatch', 'timers'],
  ])
  assert.equal((await worker.stop()).code, 0)
  await end(api)
})

test('in production nothing is made up: the operator asks for the first key', async () => {
  const port = String(await freePort())
  const production = { NODE_ENV: 'production', PAMOJA_PUBLIC_URL: 'https://api.example.com/', PAMOJA_PORT: port }
  const place = await newHome()
  try {
    const environment = { ...on(newKey), ...production, PAMOJA_HOME: place.path }
    const program = new Program({ environment })
    await program.prints('is running')
    assert.match(program.stdout, /^Pamoja \S+ is running: https:\/\/api\.example\.com\/api\/v1, metrics at http:\S+\n/)
    assert.deepEqual((await readdir(place.path)).sort(), ['simulators', 'tls'])
    const { stdout } = await run(['operator', 'key'], environment)
    const ca = await readFile(join(place.path, 'tls/ca.pem'), 'utf8')
    const operator = new Client(`https://localhost:${port}`, ca, stdout.trim())
    assert.equal((await operator.get('/v1/operator/accounts')).status, 200)
    await liveKeysComeFromTheOperator(operator)
    const exposed = (await run(['operator', 'key'], environment)).stdout.trim()
    assert.match(exposed, /^pmj_operator_/)
    const plain = await fetch(`http://localhost:${port}/v1/operator/accounts`, {
      headers: { authorization: `Bearer ${exposed}` },
    })
    assert.equal(plain.status, 403, await plain.text())
    await eventually(
      async () => (await operator.as(exposed).get('/v1/operator/accounts')).status === 401,
      'an operator’s key that came in the clear to be revoked',
    )
    operator.close()
    assert.equal((await program.stop()).code, 0)
  } finally {
    await place.remove()
  }
})

function on(key: string): Record<string, string> {
  return { DATABASE_URL: database.url, PAMOJA_HOME: home.path, PAMOJA_SECRET_KEY: key }
}

async function command(args: readonly string[], key: string): Promise<Ended> {
  const ended = await run(args, on(key))
  assert.equal(ended.code, 0, ended.stderr)
  return ended
}

function serveWith(key: string): Promise<Serving> {
  return serve(home.path, on(key))
}

async function end({ program, client }: Serving): Promise<void> {
  client.close()
  assert.equal((await program.stop()).code, 0)
}

/** Live keys in production, where a test key makes none. */
async function liveKeysComeFromTheOperator(operator: Client): Promise<void> {
  const shop = { name: 'Duka', country: 'KE', currency: 'KES' }
  const { body: account } = await operator.post('/v1/operator/accounts', shop)
  const customer = operator.as(account.test_api_key)
  const live = { name: 'Live', environment: 'live' }
  const refused = await customer.post('/v1/api-keys', live)
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'FORBIDDEN'])
  assert.equal((await customer.post('/v1/api-keys', { name: 'Another' })).status, 201)
  assert.equal((await customer.post(`/v1/operator/accounts/${account.id}/api-keys`, live)).status, 403)

  const given = await operator.post(`/v1/operator/accounts/${account.id}/api-keys`, { ...live, scopes: ['keys:write'] })
  assert.deepEqual([given.status, given.body.scopes], [201, ['keys:write']])
  const first = customer.as(given.body.key)
  assert.equal((await first.get('/v1/auth/whoami')).body.account_id, account.id)
  assert.equal((await first.post('/v1/api-keys', live)).status, 201, 'a live key makes the next')
  const everything = await operator.post(`/v1/operator/accounts/${account.id}/api-keys`, live)
  assert.deepEqual(everything.body.scopes, ['*'])
  const member = { email: 'owner@duka.example', role: 'owner' }
  assert.equal((await customer.post('/v1/team/members', member)).status, 403, 'nor does a test key make a member')
  assert.equal((await customer.as(everything.body.key).post('/v1/team/members', member)).status, 201)
  const careful = { ...live, strict: true, envelope: 'flat' }
  const { body: made } = await operator.post(`/v1/operator/accounts/${account.id}/api-keys`, careful)
  const { strict, envelope } = (await operator.get(`/v1/operator/api-keys/${made.id}`)).body
  assert.deepEqual([strict, envelope], [true, 'flat'])
  assert.equal((await operator.get('/v1/operator/api-keys/key_nobody')).status, 404)
  const tooMuch = await operator.post(`/v1/operator/accounts/${account.id}/api-keys`, { ...live, scopes: ['operator'] })
  assert.equal(tooMuch.status, 403)
  const past = { ...live, expires_at: '2020-01-01T00:00:00Z' }
  assert.equal((await operator.post(`/v1/operator/accounts/${account.id}/api-keys`, past)).status, 422)
  assert.equal((await operator.post('/v1/operator/accounts/acc_nobody/api-keys', live)).status, 404)
}
