// SPDX-License-Identifier: Apache-2.0
// When the program cannot start it says why in one sentence, ends with a code that is not 0, and leaves nothing behind.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, afterEach, before, type TestContext, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { endAll, newHome, Program, type ProgramOptions, processesIn, run, somebodyElse } from './program.ts'

let home: Awaited<ReturnType<typeof newHome>>
let database: TestDatabase
const secretKey = randomBytes(32).toString('base64')

before(async () => {
  home = await newHome()
  database = await createTestDatabase()
  const { code, stderr } = await run(['migrate'], onServer())
  assert.equal(code, 0, stderr)
})

afterEach(endAll)

after(async () => {
  await database.drop()
  await home.remove()
})

test('a port that is taken', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  try {
    const address = taken.address()
    const port = String(typeof address === 'object' && address ? address.port : 0)
    const place = join(home.path, 'unused')
    await isRefused(
      { PAMOJA_HOME: place, PAMOJA_PORT: port },
      `Port ${port} is in use by another program: stop that, or .*`,
    )
    await assert.rejects(readFile(place), /ENOENT/, 'it was found out before anything was made')
    const own = join(home.path, 'own')
    await mkdir(join(own, 'postgres/18/data'), { recursive: true })
    await writeFile(join(own, 'postgres/18/data/postmaster.pid'), '1\n')
    await writeFile(join(own, 'credentials.json'), JSON.stringify({ base_url: `https://localhost:${port}` }))
    await isRefused(
      { PAMOJA_HOME: own, PAMOJA_PORT: port },
      `Pamoja runs in this directory already, at https://localhost:${port}: use that, or .*`,
    )
    const elsewhere = join(home.path, 'elsewhere')
    await mkdir(elsewhere)
    await writeFile(join(elsewhere, 'credentials.json'), JSON.stringify({ base_url: `https://localhost:${port}` }))
    await isRefused(
      { ...onServer(), PAMOJA_HOME: elsewhere, PAMOJA_PORT: port },
      `Port ${port} is in use, most likely by the Pamoja that was started here before, at https://localhost:${port}: .*`,
    )
  } finally {
    taken.close()
  }
})

test('a port that only root may take', async (t) => {
  const first = Number(await readFile('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8').catch(() => 1024))
  if (first <= 1) return t.skip('this system lets every user take every port')
  const user = await ordinaryUser(t)
  if (user)
    await isRefused({ PAMOJA_PORT: '1' }, 'This user may not listen on port 1: choose a port above 1023 .*', user)
})

test('an address that this machine does not have', async () => {
  await isRefused({ PAMOJA_HOST: '192.0.2.1' }, 'This machine has no address 192.0.2.1 to listen on .*')
  for (const host of ['192.0.2.1', 'no-such-host.invalid'])
    await isRefused(
      { ...onServer(), PAMOJA_ADMIN_HOST: host },
      `This machine has no address ${host} to open the admin listener at \\(E\\w+\\): correct PAMOJA_ADMIN_HOST`,
    )
})

test('a home that is a file, or lies below one', async () => {
  const file = join(home.path, 'a-file')
  await writeFile(file, '')
  await isRefused({ PAMOJA_HOME: file }, '.*a-file is a file: choose a directory with PAMOJA_HOME')
  await isRefused({ PAMOJA_HOME: join(file, 'below') }, '.*below lies below something that is a file: .*')
})

test('a home that cannot be a directory', async () => {
  const place = (name: string): string => join(home.path, name)
  await symlink(place('nowhere'), place('astray'))
  await symlink(place('round'), place('round'))
  await isRefused({ PAMOJA_HOME: place('astray') }, '.*astray is a link that leads nowhere: choose another .*')
  await isRefused({ PAMOJA_HOME: place('round') }, '.*round is a link that leads to itself: choose another .*')
  await isRefused({ PAMOJA_HOME: place('x'.repeat(300)) }, 'The name .* is too long for a directory: choose another .*')
})

test('a home on a file system that takes no directories', async (t) => {
  if (process.platform !== 'linux') return t.skip('there is no /proc here')
  const sentence = '/proc/pamoja cannot be made, because that file system takes no directories: choose another .*'
  await isRefused({ PAMOJA_HOME: '/proc/pamoja/home' }, sentence)
})

test('a log that cannot be written', async () => {
  const file = join(home.path, 'no-directory')
  await writeFile(file, '')
  await isRefused({ PAMOJA_LOG_FILE: home.path }, 'PAMOJA_LOG_FILE names .*, which cannot be written \\(EISDIR\\): .*')
  await isRefused(
    { PAMOJA_LOG_FILE: join(file, 'log') },
    '.*no-directory is a file: choose a directory with .*LOG_FILE',
  )
})

test('a home that may not be written', async (t) => {
  const user = await ordinaryUser(t)
  if (!user) return
  const closed = join(home.path, 'closed')
  await mkdir(closed)
  await chmod(closed, 0o555)
  await isRefused(
    { PAMOJA_HOME: join(closed, 'home') },
    'This user may not write .*home: change its owner, or .*',
    user,
  )
  await isRefused({ PAMOJA_HOME: closed }, 'PostgreSQL may not use .*: give its user access to it', user)
})

test('a database that cannot be reached, or does not let us in', async () => {
  const { url } = database
  // Nobody listens on the lowest port; a free one may be given to another test before the program asks for it.
  const port = 1
  await isRefused({ DATABASE_URL: `postgres://me:secret@127.0.0.1:${port}/db` }, [
    `The database at 127.0.0.1:${port}/db \\(DATABASE_URL\\) cannot be reached \\((connect ECONNREFUSED .*|timeout expired)\\): check .*`,
  ])
  await isRefused({ DATABASE_URL: `postgres://me:secret@localhost:${port}/db` }, [
    `The database at localhost:${port}/db \\(DATABASE_URL\\) cannot be reached \\((.*ECONNREFUSED.*|timeout expired)\\): check .*`,
  ])
  await isRefused({ DATABASE_URL: url.replace(/\/pamoja_test_\w+/, '/pamoja_missing') }, [
    'The database at .*/pamoja_missing \\(DATABASE_URL\\) does not exist: create it first',
  ])
  await isRefused({ DATABASE_URL: url.replace(/\/\/[^@/]*@/, '//stranger:secret@') }, [
    'The database at .* \\(DATABASE_URL\\) refused the user or the password: correct them',
  ])
})

test('a database that may only be read', async () => {
  const url = `${database.url}${database.url.includes('?') ? '&' : '?'}options=-c%20default_transaction_read_only%3Don`
  const sentence = 'The database at .* \\(DATABASE_URL\\) is read-only: name the one that is written, or .*'
  await isRefused({ ...onServer(), DATABASE_URL: url }, sentence)
})

test('a database of another version', async () => {
  const changed = await withMigration(
    `update public.pamoja_migrations set checksum = 'x' where name = '2026-11-16_04_ledger'`,
  )
  assert.match(changed, /^The migration 2026-11-16_04_ledger was changed after it was applied: .*\.$/)
  const newer = await withMigration(`insert into public.pamoja_migrations values ('9999_later', 'x')`)
  assert.match(newer, /^The database was made by a newer version of this program \(it has 9999_later\): .*\.$/)
  const older = await withMigration(`delete from public.pamoja_migrations where name = '2026-11-16_04_ledger'`, {
    PAMOJA_MIGRATE: 'false',
  })
  assert.match(older, /^The database lacks the migrations 2026-11-16_04_ledger: run `npm start -- migrate` first\.$/)
})

test('a key that did not seal what is in the database', async () => {
  const first = new Program({ environment: { ...onServer(), PAMOJA_HOME: home.path, PAMOJA_PORT: '0' } })
  await first.prints('is running')
  assert.equal((await first.stop()).code, 0)
  const other = { ...onServer(), PAMOJA_SECRET_KEY: randomBytes(32).toString('hex') }
  await isRefused(
    other,
    'The secrets in this database are sealed under another key .* PAMOJA_SECRET_KEY: give that one too',
  )
})

test('a certificate that is not there', async () => {
  const files = { PAMOJA_TLS_CERT: join(home.path, 'no.pem'), PAMOJA_TLS_KEY: join(home.path, 'no.key') }
  await isRefused({ ...files, ...onServer() }, 'PAMOJA_TLS_CERT names .*no.pem, which does not exist')
})

test('authorities of customers that are not there, or no certificates', async () => {
  const name = 'PAMOJA_WEBHOOKS_CA_FILE'
  await isRefused({ ...onServer(), [name]: join(home.path, 'ca') }, `${name} names .*ca, which does not exist`)
  await writeFile(join(home.path, 'ca'), 'certificates')
  await isRefused(
    { ...onServer(), [name]: join(home.path, 'ca') },
    `${name} names .*ca, which holds no certificate \\(PEM\\)`,
  )
})

test('a fixed key of the wrong form, or with a wrong checksum', async () => {
  await isRefused(
    { PAMOJA_TEST_API_KEY: 'secret' },
    'PAMOJA_TEST_API_KEY must be pmj_test_ and 38 letters and digits',
    {},
    2,
  )
  const mistyped = `pmj_test_${'a'.repeat(38)}`
  const checksum = 'PAMOJA_TEST_API_KEY has a wrong checksum: take .*'
  await isRefused({ ...onServer(), PAMOJA_TEST_API_KEY: mistyped }, checksum, {}, 2)
})

test('settings that make no sense, all of them at once', async () => {
  await isRefused({ PAMOJA_PORT: 'web' }, 'PAMOJA_PORT must be a whole number from 0 to 65535, not "web"', {}, 2)
  await isRefused({ PAMOJA_PROT: '1' }, 'PAMOJA_PROT is not a setting; `npm start -- --help` lists them', {}, 2)
  await isRefused({ PAMOJA_PORT: 'web', PAMOJA_MIGRATE: 'maybe', PAMOJA_LOG_LEVEL: 'loud' }, severalProblems, {}, 2)
})

const severalProblems = [
  'The configuration is not usable:',
  '  PAMOJA_PORT must be a whole number from 0 to 65535, not "web"',
  '  PAMOJA_MIGRATE must be true or false, not "maybe"',
  '  PAMOJA_LOG_LEVEL must be one of info, debug, warn, error, silent, not "loud"',
]

test('production without its secrets', async () => {
  const missing = [
    'The configuration is not usable:',
    '  PAMOJA_SECRET_KEY must be given in production; `openssl rand -base64 32` makes one',
    '  PAMOJA_TLS_CERT and PAMOJA_TLS_KEY, or PAMOJA_PUBLIC_URL of a proxy in front, must be given in production',
  ]
  await isRefused({ NODE_ENV: 'production' }, missing, {}, 2)
})

test('roles, options and commands that do not exist', async () => {
  const cases: [args: string[], expected: string][] = [
    [['--roles', 'api,dancing'], '--roles must list any of api, dispatch, .*, not "dancing"'],
    [['--faster'], "Unknown option '--faster': `npm start -- --help` lists what there is"],
    [['dance'], 'There is no command dance: `npm start -- --help` lists what there is'],
    [['ledger'], 'Usage: npm start -- ledger verify'],
    [['serve', 'now'], 'Usage: npm start -- serve'],
    [['backup'], 'Usage: npm start -- backup <file>'],
  ]
  for (const [args, expected] of cases) await isRefused({}, expected, { args }, 2)
})

function onServer(): Record<string, string> {
  return { DATABASE_URL: database.url, PAMOJA_SECRET_KEY: secretKey }
}

/** Starts the program where it cannot start, and looks at what it says and leaves. */
async function isRefused(
  environment: Readonly<Record<string, string>>,
  expected: string | readonly string[],
  options: Pick<ProgramOptions, 'args' | 'user'> = {},
  expectedCode = 1,
): Promise<void> {
  const own = { PAMOJA_HOME: home.path, PAMOJA_PORT: '0', ...environment }
  const { code, stdout, sentence } = await new Program({ ...options, environment: own }).ended
  const lines = typeof expected === 'string' ? [expected] : expected
  assert.match(sentence, new RegExp(`^${lines.join('\n')}\\.?$`))
  assert.deepEqual([code, stdout], [expectedCode, ''])
  assert.deepEqual((await processesIn(home.path)) ?? [], [])
}

/** Output of the program after a change to the table of migrations, which is undone. */
async function withMigration(change: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  await database.sql('create table kept as select * from public.pamoja_migrations')
  await database.sql(change)
  const own = { ...onServer(), PAMOJA_HOME: home.path, PAMOJA_PORT: '0', ...environment }
  const { code, sentence } = await new Program({ environment: own }).ended
  await database.sql(
    'truncate public.pamoja_migrations; insert into public.pamoja_migrations select * from kept; drop table kept',
  )
  assert.equal(code, 1, sentence)
  return sentence
}

/** Options to run the program as somebody who is not root; null, with the reason told, when nobody else could. */
async function ordinaryUser(t: TestContext): Promise<Pick<ProgramOptions, 'user'> | null> {
  const user = somebodyElse()
  if (!user) return {}
  const { code } = await new Program({ args: ['--version'], user }).ended
  if (code === 0) return { user }
  t.skip('another user than root cannot read this checkout')
  return null
}
