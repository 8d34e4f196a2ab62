// SPDX-License-Identifier: Apache-2.0
// Backups: everything is restored, or nothing is touched and a sentence says why. Each test has its own databases, made
// by the real migrations and one more with features of later areas.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { after, before, beforeEach, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts'
import { patienceMs } from '../../../test/eventually.ts'
import { migrate } from '../db/migrate.ts'
import { type Migration, schemaFiles } from '../db/schema-files.ts'
import type { Database } from '../db.ts'
import { backup, restore } from './backup.ts'
import { BackupError } from './file.ts'
import { seal, sealBytes } from './seal.ts'

const patient = { timeout: patienceMs(60_000) }

/** Features that today's tables lack: odd names, more types, generated numbers, circular foreign keys, triggers. */
const later: Migration = {
  name: '9999_later',
  checksum: 'of the test',
  text: `
    create schema later;
    create table later."Odd ""Name"" here" (
      id bigint generated always as identity primary key,
      "Select" text,
      doubled text generated always as ("Select" || "Select") stored,
      reals double precision[],
      spans interval,
      moment timestamp,
      day date,
      huge bigint,
      bytes bytea[],
      parent bigint references later."Odd ""Name"" here"
    );
    create table later.hens (id int primary key, egg int not null);
    create table later.eggs (id int primary key, hen int not null references later.hens deferrable initially deferred);
    alter table later.hens add foreign key (egg) references later.eggs deferrable initially deferred;
    create table later.counts (count int not null);
    create table ledger.middle (nothing int);
    create function later.count() returns trigger language plpgsql as $$
      begin update later.counts set count = count + 1; return new; end $$;
    create trigger counted after insert on later.eggs for each row execute function later.count();`,
}

const files = schemaFiles(new URL('../../../../src/migrations/', import.meta.url))
files.migrations.push(later)

interface Installation {
  database: TestDatabase
  db: Database
}

/** Migrated once; the tests' databases are copies. */
let template: TestDatabase
let folder = ''
let file = ''

before(async () => {
  template = await createTestDatabase()
  await migrate(template.connect(), files)
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'pamoja-backup-'))
})

beforeEach(() => {
  file = path.join(folder, `${randomUUID()}.backup`)
})

after(async () => {
  await fs.rm(folder, { recursive: true, force: true })
  await template.drop()
})

test('a restored database holds every row of every table, whatever is in them', patient, async (t) => {
  const [source, target] = [await install(t), await install(t)]
  await fillWithNastyRows(source)
  const before = await fingerprints(source)
  assert.ok(before.filter(({ rows }) => rows > 0).length >= 13)

  const made = await backup(source.db, file)
  assert.match(made, /^Backed up \d+ tables, [\d,]+ rows to .*\.backup \(\d+\.\d KB\)\. .*secret-key.* is not in it/)
  assert.equal((await fs.stat(file)).mode & 0o777, 0o600)
  await assert.rejects(fs.stat(`${file}.part`), { code: 'ENOENT' })

  const said = await restore(target.db, file)
  assert.match(said, /^Restored \d+ tables, [\d,]+ rows from .*\.backup, made at \d{4}-\d\d-\d\dT[\d:.]+Z\./)
  assert.deepEqual(/(\d+ tables, [\d,]+ rows)/.exec(said)?.[1], /(\d+ tables, [\d,]+ rows)/.exec(made)?.[1])
  assert.deepEqual(await fingerprints(target), before)
})

test(
  'a restored database keeps its foreign keys, triggers and numbers, and can be backed up again',
  patient,
  async (t) => {
    const [source, target, third] = [await install(t), await install(t), await install(t)]
    await fillWithNastyRows(source)
    await backup(source.db, file)
    const keys = `select conrelid::regclass::text as on, conname, pg_get_constraintdef(oid) as definition
                  from pg_constraint where contype = 'f' order by 1, 2`
    const keysBefore = await target.database.sql(keys)
    await restore(target.db, file)

    assert.ok(keysBefore.length >= 5)
    assert.deepEqual(await target.database.sql(keys), keysBefore)
    await assert.rejects(target.database.sql(`update accounts.accounts set plan = 'unheard of'`), /foreign key/)
    const [{ count }] = await target.database.sql<{ count: number }>('select count from later.counts').then(only)
    await target.database.sql('insert into later.eggs select 99, id from later.hens limit 1')
    assert.deepEqual(await target.database.sql('select count from later.counts'), [{ count: count + 1 }])
    const numbered = `insert into later."Odd ""Name"" here" ("Select") values ('next') returning id::int`
    assert.deepEqual(await target.database.sql(numbered), await source.database.sql(numbered))

    const second = `${file}.second`
    await backup(target.db, second)
    await restore(third.db, second)
    assert.deepEqual(await fingerprints(third), await fingerprints(target))
  },
)

test('jobs that were running are due at once, and those that wait keep waiting', patient, async (t) => {
  const [source, target] = [await install(t), await install(t)]
  await source.database.sql(`
    insert into work.jobs (bucket, id, lane, run_at, attempt, owner, payload) values
      (1, gen_random_uuid(), 'leased', now() + interval '1 hour', 1, gen_random_uuid(), '{}'),
      (1, gen_random_uuid(), 'overdue', '2020-01-01Z', 1, gen_random_uuid(), '{}'),
      (1, gen_random_uuid(), 'tomorrow', '2999-01-01Z', 0, null, '{}'),
      (1, gen_random_uuid(), 'used up', 'infinity', 5, null, '{}')`)
  await backup(source.db, file)
  await restore(target.db, file)
  const jobs = await target.database.sql(`
    select lane, owner is null as free, attempt, run_at <= now() as due,
           case when lane <> 'leased' then run_at::text end as run_at from work.jobs order by lane`)
  assert.deepEqual(jobs, [
    { lane: 'leased', free: true, attempt: 1, due: true, run_at: null },
    { lane: 'overdue', free: true, attempt: 1, due: true, run_at: '2020-01-01 00:00:00+00' },
    { lane: 'tomorrow', free: true, attempt: 0, due: false, run_at: '2999-01-01 00:00:00+00' },
    { lane: 'used up', free: true, attempt: 5, due: false, run_at: 'infinity' },
  ])
})

test('nodes, their leases and their rate slots are not taken over', patient, async (t) => {
  const [source, target] = [await install(t), await install(t)]
  await source.database.sql(`
    insert into platform.nodes (id, host, version, roles) values (gen_random_uuid(), 'old', '1', '{}');
    insert into platform.leases values ('maintenance', gen_random_uuid(), 7, now() + interval '1 day');
    insert into platform.rate_slots values ('key', '{}', now() + interval '1 day')`)
  await target.database.sql(`insert into platform.leases values ('mine', gen_random_uuid(), 1, now())`)
  await backup(source.db, file)
  await restore(target.db, file)
  assert.deepEqual(await target.database.sql('select name from platform.leases'), [{ name: 'mine' }])
  assert.deepEqual(await target.database.sql('select from platform.nodes'), [])
  assert.deepEqual(await target.database.sql('select from platform.rate_slots'), [])
  assert.doesNotMatch(gunzipSync(await fs.readFile(file)).toString('latin1'), /platform\.(nodes|leases|rate_slots)/)
})

test('a backup is of one moment, although everybody goes on writing', patient, async (t) => {
  const [source, target] = [await install(t), await install(t)]
  await source.database.sql(`insert into ledger.wallets (bucket, account_id, environment, currency, balance)
                             values (1, '${account}', 'live', 'KES', 1000000)`)
  const held = `select (select held from ledger.wallets) as wallet, (select sum(amount)::bigint from ledger.holds) as holds`
  let written = 0
  let stopped = false
  const writer = (async () => {
    while (!stopped) {
      await source.database.sql(
        `select ledger.hold(1::smallint, '${account}', 'live', gen_random_uuid(), 'send', 'KES', 1)`,
      )
      written++
    }
  })()
  // Holds are copied before this table and wallets after it, so the backup pauses between the two while money moves.
  const gate = await source.db.connect()
  try {
    await until(() => written >= 3)
    await gate.query('begin; lock table ledger.middle in access exclusive mode')
    const made = backup(source.db, file)
    await until(async () => (await source.database.sql(`select ${waiting}`)).length > 0)
    const meanwhile = written + 20
    await until(() => written >= meanwhile)
    await gate.query('commit')
    await made
  } finally {
    stopped = true
    await writer
    await gate.end()
  }
  await restore(target.db, file)
  const [then] = await target.database.sql<{ wallet: string; holds: string }>(held).then(only)
  assert.equal(then.wallet, then.holds)
  assert.ok(Number(then.holds) >= 3 && Number(then.holds) <= written - 20, `${then.holds} of ${written} writes`)
})

test('a backup lets go of each table when it is done with it', patient, async (t) => {
  const source = await install(t)
  const gate = await source.db.connect()
  try {
    await gate.query('begin; lock table work.jobs in access exclusive mode')
    const made = backup(source.db, file)
    await until(async () => (await source.database.sql(`select ${waiting}`)).length > 0)
    await source.database.sql(`set lock_timeout = '5s'; drop table events.events_default`)
    await gate.query('commit')
    await made
  } finally {
    await gate.end()
  }
})

test('a backup during which the database is migrated is given up', patient, async (t) => {
  const source = await install(t)
  const gate = await source.db.connect()
  try {
    await gate.query('begin; lock table work.jobs in access exclusive mode')
    const failing = assert.rejects(backup(source.db, file), sentence(/was migrated while it was backed up/))
    await until(async () => (await source.database.sql(`select ${waiting}`)).length > 0)
    const rewrite = 'alter table work.jobs alter column attempt type bigint'
    await gate.query(`${rewrite}; insert into public.pamoja_migrations values ('99999_next', 'x'); commit`)
    await failing
  } finally {
    await gate.end()
  }
  await assert.rejects(fs.stat(file), { code: 'ENOENT' })
})

test('rows of any age come back to a database that was prepared in another year', patient, async (t) => {
  const [source, target] = [await install(t), await install(t)]
  const moments = ['1971-05-05', '2019-12-31', '2100-02-03']
  for (const moment of [...moments, 'now'])
    await source.database.sql(`insert into events.events
      (bucket, account_id, environment, id, type, resource_id, body)
      values (1, '${account}', 'live', platform.uuid_at('${moment}'), 'sms.status', 'x', '${moment}')`)
  // As if the target had been migrated in 2019 and not touched since.
  const partitions = await children(target, 'events.events')
  for (const { name } of partitions) if (!name.endsWith('_default')) await target.database.sql(`drop table ${name}`)
  await target.database.sql(`create table events.events_20190101 partition of events.events
                             for values from (minvalue) to ('${uuidOf2020}')`)
  await backup(source.db, file)
  await restore(target.db, file)
  assert.deepEqual(await fingerprints(target), await fingerprints(source))
  assert.deepEqual(await children(target, 'events.events'), await children(source, 'events.events'))
  assert.deepEqual(
    await target.database.sql('select body from only events.events_default'),
    [{ body: '2100-02-03' }],
    'what was foreseen by no partition is where it was',
  )
  await target.database.sql(`select platform.ensure_partitions('events.events', 'month', 6)`)
  assert.deepEqual(await shapes(target, 'sms.messages'), await shapes(source, 'sms.messages'))
})

test('a table of another program in the source is left out, and said so', patient, async (t) => {
  const [source, target] = [await install(t), await install(t)]
  await source.database.sql('create schema guest; create table guest.book as select generate_series(1, 1000) as page')
  await backup(source.db, file)
  assert.match(await restore(target.db, file), /Left out, because this version has no use for them: guest\.book\./)
  assert.deepEqual(await fingerprints(target), await fingerprints(source, ['guest.book']))
})

test('a file that is cut short anywhere is refused', patient, async (t) => {
  const [target, bytes] = [await install(t), await goodBackup()]
  const lengths = [0, 1, 5, 20, 500, Math.floor(bytes.length / 2), bytes.length - 9, bytes.length - 4, bytes.length - 1]
  const cut = lengths.map((length) => bytes.subarray(0, length))
  await refused(target, /is damaged or cut short|is not a backup of Pamoja/, ...cut)
})

test('a file with one wrong bit is refused, wherever it is', patient, async (t) => {
  const [target, bytes] = [await install(t), await goodBackup()]
  // Every bit of a small file is tested with the seal alone.
  const spread = Array.from({ length: 12 }, (_, part) => Math.floor((bytes.length * part) / 12))
  const end = Array.from({ length: 4 }, (_, back) => bytes.length - 1 - back * 18)
  await refused(target, /damaged/, ...[...spread, ...end].map((at) => flipped(bytes, at, at % 8)))
})

test('a wrong bit that changes nothing of what gzip unpacks is found all the same', patient, async (t) => {
  const [target, bytes] = [await install(t), await goodBackup()]
  const content = gunzipSync(bytes)
  // Time and system in the gzip header.
  const wrong = [4, 5, 6, 7, 9].map((at) => flipped(bytes, at, at % 8))
  for (const file of wrong) assert.deepEqual(gunzipSync(file), content)
  await refused(target, /is damaged or cut short \(its checksum does not match\)/, ...wrong)
})

test('a file that was changed behind its compression is refused', patient, async (t) => {
  const [target, bytes] = [await install(t), await goodBackup()]
  const text = gunzipSync(bytes).toString('latin1')
  const values: Change[] = [
    ['a value', (text) => text.replace('nasty', 'tasty')],
    ['a row count', (text) => text.replace('"accounts.accounts":1', '"accounts.accounts":2')],
  ]
  const structure: Change[] = [
    ['no end', (text) => text.replace(/\{"rows".*\n$/, '')],
    ['more after the end', (text) => `${text}{}\n`],
    ['the whole file twice', (text) => text + text],
    ['a block that is longer than the file', (text) => text.replace(/\{"bytes":[1-9]\d*\}/, '{"bytes":999999999999}')],
    ['a negative block', (text) => text.replace(/\{"bytes":[1-9]\d*\}/, '{"bytes":-1}')],
    ['a line without end', (text) => text.replace('{"bytes":0}\n', `{"bytes":0${' '.repeat(5_000_000)}}\n`)],
    [
      'SQL as the bounds of a partition',
      (text) => text.replace('"DEFAULT"', '"DEFAULT; drop schema accounts cascade"'),
    ],
  ]
  const packed = (changes: Change[]) =>
    changes.map(([what, change]) => {
      const changed = change(text)
      assert.notEqual(changed, text, what)
      return gzipSync(Buffer.from(changed, 'latin1'))
    })
  const oldSeal = bytes.subarray(-sealBytes)
  const stale = packed([...values, ...structure]).map((file) => Buffer.concat([file, oldSeal]))
  await refused(target, /damaged/, ...stale)
  // A resealed file is detected by its content.
  for (const file of packed(structure)) await refused(target, /damaged/, await sealed(file))
  const others = [
    Buffer.concat([bytes.subarray(0, -sealBytes), Buffer.from('between'), oldSeal]),
    Buffer.concat([bytes, bytes]),
    Buffer.concat([bytes, Buffer.from('behind')]),
  ]
  await refused(target, /damaged/, ...others)
})

test('a file whose rows break a rule of the database is refused, although nothing is damaged', patient, async (t) => {
  const [target, bytes] = [await install(t), await goodBackup()]
  const text = gunzipSync(bytes).toString('latin1')
  const breaches: [string, string, RegExp][] = [
    ['\tactive\t', '\tasleep\t', /do not fit .*check constraint/],
    ['\tenterprise\t{}\t{}\tactive', '\tenterprize\t{}\t{}\tactive', /do not fit .*foreign key/],
    [account, account.replace(/^./, 'x'), /do not fit .*invalid input syntax for type uuid/],
    ['"accounts.accounts":1', '"accounts.accounts":2', /has 1 rows of accounts\.accounts and should have 2/],
    ['"columns":["name","limits"', '"columns":["name","boundaries"', /accounts\.plans .* has no column boundaries/],
  ]
  for (const [whole, broken, reason] of breaches) {
    assert.ok(text.includes(whole), whole)
    await refused(target, reason, await packedAgain(text.replace(whole, broken)))
  }
  await fs.writeFile(file, await packedAgain(text))
  await restore(target.db, file)
})

test('other files are told apart from backups', patient, async (t) => {
  const target = await install(t)
  const others = [Buffer.from('-- PostgreSQL database dump\n'), gzipSync('hello\n'), gzipSync('{"some":"json"}\n')]
  await refused(target, /is not a backup of Pamoja/, ...others, await sealed(gzipSync('{"some":"json"}\n')))
  // A file of the first format has an inner checksum and no seal.
  const first = gzipSync(Buffer.from(`{"pamoja_backup":1}\n${randomBytes(sealBytes).toString('hex')}\n`))
  await refused(target, /has format 1, and this version of the program reads format 2/, first)
  await assert.rejects(
    restore(target.db, path.join(folder, 'nothing')),
    sentence(/cannot be read: there is no such file/),
  )
  await assert.rejects(restore(target.db, folder), sentence(/cannot be read: it is a directory/))
})

test('a database that is in use is not restored into', patient, async (t) => {
  const [target, bytes] = [await install(t), await goodBackup()]
  const inUse: [string, string][] = [
    ['accounts.accounts', `(id, bucket, name, country, currency, plan) values ('${account}', 1, '', '', '', 'free')`],
    ['ledger.wallets', `(bucket, account_id, environment, currency) values (1, '${account}', 'live', 'KES')`],
    [
      'platform.audit',
      `(bucket, account_id, environment, id, actor, action, target, ip, request_id)
       values (1, '${account}', 'live', gen_random_uuid(), '', '', '', '', '')`,
    ],
  ]
  for (const [table, row] of inUse) {
    await target.database.sql(`insert into ${table} ${row}`)
    await refused(target, /already holds accounts or their data/, bytes)
    await target.database.sql(`delete from ${table}`)
  }
  await fs.writeFile(file, bytes)
  await restore(target.db, file)
})

test('a backup of another version is refused, and the sentence says which version to use', patient, async (t) => {
  const [target, bytes] = [await install(t), await goodBackup()]
  await target.database.sql(`insert into public.pamoja_migrations values ('99999_next', 'x')`)
  await refused(target, /an older version of this program \(it lacks 99999_next\)/, bytes)
  await target.database.sql(`delete from public.pamoja_migrations where name in ('99999_next', '9999_later')`)
  await refused(target, /a newer or another version of this program \(it has 9999_later\)/, bytes)
  await target.database.sql(`insert into public.pamoja_migrations values ('9999_later', 'changed')`)
  await refused(target, /a newer or another version of this program \(it has 9999_later\)/, bytes)
  await target.database.sql(
    `update public.pamoja_migrations set checksum = '${later.checksum}' where name = '9999_later'`,
  )
  await fs.writeFile(file, bytes)
  await restore(target.db, file)
})

test('a backup that cannot be written leaves the previous one as it is', patient, async (t) => {
  const source = await install(t)
  await fs.writeFile(file, 'the previous one')
  await source.database.sql('create schema broken; create table broken.rows (at int)')
  const gate = await source.db.connect()
  try {
    await gate.query('begin; lock table broken.rows in access exclusive mode')
    const failing = assert.rejects(backup(source.db, file), /terminat/)
    await until(async () => (await source.database.sql(`select pg_terminate_backend(pid) ${waiting}`)).length > 0)
    await failing
  } finally {
    await gate.end()
  }
  assert.equal(await fs.readFile(file, 'utf8'), 'the previous one')
  assert.ok(!(await fs.readdir(folder)).some((name) => name.endsWith('.part')))

  await fs.writeFile(`${file}.part`, 'of a backup that was killed', { mode: 0o644 })
  await backup(source.db, file)
  assert.equal((await fs.stat(file)).mode & 0o777, 0o600)

  await assert.rejects(backup(source.db, folder), sentence(/is a directory/))
  await assert.rejects(
    backup(source.db, path.join(folder, 'missing', 'x')),
    sentence(/cannot be written: there is no such/),
  )
  await assert.rejects(
    backup(source.db, path.join(file, 'x')),
    sentence(/cannot be written: a part of its path is not/),
  )
})

const account = '0190a000-0000-7000-8000-000000000001'
/** Sessions that wait for a table lock in this database. */
const waiting = `from pg_locks join pg_database d on d.oid = database where not granted and datname = current_database()`
const uuidOf2020 = '016f5e66-e800-7000-8000-000000000000'

async function install(t: TestContext): Promise<Installation> {
  const database = await template.copy()
  t.after(() => database.drop())
  return { database, db: database.connect() }
}

/** A good backup, made once for the tests that damage it. */
function goodBackup(): Promise<Buffer> {
  good ??= (async () => {
    const database = await template.copy()
    try {
      const source = { database, db: database.connect() }
      await fillWithNastyRows(source)
      await backup(source.db, file)
      return await fs.readFile(file)
    } finally {
      await database.drop()
    }
  })()
  return good
}

let good: Promise<Buffer> | null = null

/** Restoring each of these fails with one sentence, and the database is unchanged. */
async function refused(target: Installation, reason: RegExp, ...files: Buffer[]): Promise<void> {
  const before = await snapshot(target)
  const bad = path.join(folder, randomUUID())
  for (const bytes of files) {
    await fs.writeFile(bad, bytes)
    await assert.rejects(restore(target.db, bad), sentence(reason))
  }
  assert.deepEqual(await snapshot(target), before)
}

function sentence(pattern: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof BackupError, String(error))
    assert.match(error.message, pattern)
    assert.doesNotMatch(error.message, /\n/)
    return true
  }
}

type Change = [what: string, change: (text: string) => string]

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ (1 << bit)
  return copy
}

async function sealed(file: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of seal(Readable.from([file]))) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** File with this content and a valid seal. */
function packedAgain(text: string): Promise<Buffer> {
  const blocks = text.replace(/\{"bytes":(\d+)\}\n/g, '')
  // Put every table into one block with a recomputed length.
  const lines = blocks.split('\n').slice(0, -1)
  const parts: string[] = []
  let rows: string[] | null = null
  for (const line of lines) {
    if (/^\{"(table|rows)":/.test(line)) {
      if (rows) parts.push(...blockOf(rows))
      rows = line.startsWith('{"table"') ? [] : null
      parts.push(`${line}\n`)
    } else if (rows) rows.push(`${line}\n`)
    else parts.push(`${line}\n`)
  }
  return sealed(gzipSync(Buffer.from(parts.join(''), 'latin1')))
}

function blockOf(rows: string[]): string[] {
  const text = rows.join('')
  return text === '' ? ['{"bytes":0}\n'] : [`{"bytes":${text.length}}\n`, text, '{"bytes":0}\n']
}

/** Everything a restore could have changed. */
async function snapshot(installation: Installation): Promise<unknown> {
  return {
    rows: await fingerprints(installation),
    partitions: await children(installation, 'events.events'),
    constraints: await installation.database.sql('select conname from pg_constraint order by oid'),
    triggers: await installation.database.sql('select tgname, tgenabled from pg_trigger order by oid'),
    sequences: await installation.database.sql('select sequencename, last_value from pg_sequences order by 1'),
  }
}

const left = ['platform.nodes', 'platform.leases', 'platform.rate_slots']

/** Row count and hash of each table. */
async function fingerprints(
  { database }: Installation,
  except: string[] = [],
): Promise<{ name: string; rows: number; hash: string }[]> {
  const tables = await database.sql<{ name: string; quoted: string }>(`
    select schemaname || '.' || tablename as name, format('%I.%I', schemaname, tablename) as quoted from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema', 'public')
       and not (select relispartition from pg_class where oid = format('%I.%I', schemaname, tablename)::regclass) order by 1`)
  const prints = tables
    .filter(({ name }) => !left.includes(name) && !except.includes(name))
    .map(
      ({ name, quoted }) => `select '${name}' as name, count(*)::int as rows,
      coalesce(md5(string_agg(t::text, chr(10) order by t::text collate "C")), '') as hash from ${quoted} t`,
    )
  return database.sql(`${prints.join(' union all ')} order by 1`)
}

async function children({ database }: Installation, parent: string): Promise<{ name: string; bounds: string }[]> {
  return database.sql(`select c.oid::regclass::text as name, pg_get_expr(c.relpartbound, c.oid) as bounds
                         from pg_inherits i join pg_class c on c.oid = i.inhrelid
                        where i.inhparent = '${parent}'::regclass order by 1`)
}

/** Storage parameters and order of columns of each partition. */
async function shapes({ database }: Installation, parent: string): Promise<unknown> {
  return database.sql(`select c.oid::regclass::text as name, c.reloptions,
                              array(select a.attname::text from pg_attribute a
                                     where a.attrelid = c.oid and a.attnum > 0 order by a.attnum) as columns
                         from pg_inherits i join pg_class c on c.oid = i.inhrelid
                        where i.inhparent = '${parent}'::regclass order by 1`)
}

function only<R>(rows: R[]): [R] {
  const [first, second] = rows
  assert.ok(first !== undefined && second === undefined)
  return [first]
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await turn()
}

const nastyTexts = [
  'nasty',
  '',
  ' ',
  '\\',
  '\\N',
  '\\.',
  '\\.\n\\.',
  'a\tb\nc\rd\\te\\nf\r\n\b\f\v',
  '\u0001\u007f',
  `'"$$;--/*`,
  'Äpfel 🥭 Привет \u202e\u0301 \ufeff\uffff\u{10ffff}',
  '{"bytes":0}\n{"rows":{}}\n',
  'long '.repeat(60_000),
]

/** Rows in the base tables and in one with all types, with values that break text formats. */
async function fillWithNastyRows({ database }: Installation): Promise<void> {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  const short = nastyTexts.slice(0, -1)
  const json = JSON.stringify({ nasty: short, number: 1e300, minus: -0.1, nothing: null, deep: [[[{}]]] })
  await database.sql(`delete from accounts.plans where name = 'starter'`)
  const inserts: [string, unknown[]][] = [
    [
      `accounts.plans (name, limits, updated_at) select text, $2, '-infinity' from unnest($1::text[]) text`,
      [short, json],
    ],
    [
      `accounts.accounts (id, bucket, name, country, currency, plan, settings, created_at)
       values ($1, -32768, $2, '', 'KES', 'enterprise', $3, 'infinity')`,
      [account, short.join(''), json],
    ],
    [
      `accounts.api_keys (hash, id, account_id, environment, name, prefix, last4, scopes, created_by, expires_at) values
       ($1, gen_random_uuid(), $2, 'live', '', '', '', $3, '', '4713-01-01 BC'),
       ('', gen_random_uuid(), $2, 'test', '', '', '', array[null, 'null', 'NULL', ''], '', '294276-12-31 23:59:59.999999')`,
      [bytes, account, short],
    ],
    [
      `ledger.wallets (bucket, account_id, environment, currency, balance, overdraft) values
       (1, $1, 'live', 'KES', 9223372036854775807, 0), (1, $1, 'live', 'UGX', -9223372036854775807, 9223372036854775807)`,
      [account],
    ],
    [`platform.data_keys (bucket, account_id, id, root_key, wrapped) values (32767, $1, -1, '', $2)`, [account, bytes]],
    [
      `platform.audit (bucket, account_id, environment, id, actor, action, target, before, after, ip, request_id)
       select 1, $1, 'live', gen_random_uuid(), text, '', '', $3, null, '', '' from unnest($2::text[]) text`,
      [account, short, json],
    ],
    [
      `platform.requests (bucket, account_id, environment, id, key_id, method, path, status, duration_us, ip, request_body)
       select 1, $1, 'live', platform.uuid_at(now() + n * interval '1 day'), gen_random_uuid(), '', '', 200, 1, '', text
         from unnest($2::text[]) with ordinality as texts(text, n)`,
      [account, nastyTexts],
    ],
    [
      `events.events (bucket, account_id, environment, id, type, resource_id, body)
       select 1, $1, 'live', platform.uuid_at('2001-01-01'::timestamptz + n * interval '3 years'), '', '', text
         from unnest($2::text[]) with ordinality as texts(text, n)`,
      [account, nastyTexts],
    ],
    [
      `work.jobs (bucket, id, lane, run_at, attempt, payload) values (1, gen_random_uuid(), '', 'infinity', 0, $1)`,
      [json],
    ],
    [
      `later."Odd ""Name"" here" ("Select", reals, spans, moment, day, huge, bytes, parent) values
       ('x', '{NaN,Infinity,-Infinity,0.1,5e-324,1.7976931348623157e308,-0}', '-1 year 2 days -03:04:05.000006',
        'infinity', '-infinity', -9223372036854775808, '{"\\\\x00ff", null}', 2),
       (null, '{{1,2},{3,null}}', null, '0001-01-01 BC', '5874897-12-31', 9223372036854775807, '{}', 1)`,
      [],
    ],
    ['later.counts values (10)', []],
    ['later.eggs values (1, 2), (2, 1)', []],
    ['later.hens values (1, 1), (2, 2)', []],
  ]
  // One transaction, because the foreign keys of the last two are circular.
  const client = await database.connect().connect()
  try {
    await client.query('begin')
    for (const [insert, values] of inserts) await client.query(`insert into ${insert}`, values)
    await client.query('commit')
  } finally {
    await client.end()
  }
}
