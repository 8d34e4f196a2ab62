// SPDX-License-Identifier: Apache-2.0
// Damage of every kind, done to a small ledger behind the program's back, and what the operator is then told.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestDatabase } from '../../test/database.ts'
import { bucketOf, buckets, firstUuidAt, idOf, newUuid } from '../kernel/ids.ts'
import { dayMs, hourMs, minuteMs } from '../kernel/time.ts'
import { statements } from '../platform/db.ts'
import type { Tenant } from '../platform/tenant.ts'
import { lastCheck, proveLedger } from './proof.ts'
import { rollUp } from './rollups.ts'
import { firstId, verifyLedger } from './verify.ts'

const database = await createTestDatabase(['platform', 'ledger'])
const db = database.connect()
after(() => database.drop())
// Part of the damage below is such that PostgreSQL itself would refuse it.
await database.sql(`alter table ledger.wallets drop constraint wallet_covered;
                    alter table ledger.holds drop constraint hold_closed`)

const atMs = Date.parse('2026-03-01T12:00:00Z')

const dayStart = firstUuidAt(Date.parse('2026-03-01T00:00:00Z'))

interface Damage {
  name: string
  /** $payment, $hold and $message are the things of the small ledger. */
  sql: string
  problems: string[]
}

const damages: readonly Damage[] = [
  { name: 'no damage', sql: 'select 1', problems: [] },
  {
    name: 'a balance that was changed by hand',
    sql: `update ledger.wallets set balance = balance + 7000000 where currency = 'KES'`,
    problems: ['the balance of the KES wallet must be KES 85 by its transfers, but is KES 92.'],
  },
  {
    name: 'a transfer that was deleted',
    sql: `delete from ledger.transfers where source_id = $message and step = 'send'`,
    problems: [
      'the balance of the KES wallet must be KES 90 by its transfers, but is KES 85.',
      'the step send:reversal of $message reverses send, which does not exist.',
      'the roll-up of 2026-03-01 from wallet to revenue:sms must be KES 0 in 0 transfers, but is KES 5 in 1.',
    ],
  },
  {
    name: 'a leg that was deleted',
    sql: `delete from ledger.transfers where source_id = $payment and leg = 1`,
    problems: [
      'the step settle of $payment must have at least 3 legs, but has 2.',
      'the roll-up of 2026-03-01 from float:mpesa to revenue:fees must be KES 0 in 0 transfers, but is KES 3 in 1.',
    ],
  },
  {
    name: 'nothing wrong with a fee that was all that was paid',
    sql: `insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
          select bucket, account_id, environment, gen_random_uuid(), 'payment:settle', 1, '${firstUuidAt(atMs + hourMs)}', debit, 'revenue:payment_fees', amount, currency
            from ledger.transfers where source_id = $payment and leg = 1`,
    problems: [],
  },
  {
    name: 'another leg that stands alone',
    sql: `insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
          select bucket, account_id, environment, '${firstUuidAt(atMs)}', 'payment:settle', 1, '${firstUuidAt(atMs + hourMs)}', debit, credit, amount, currency
            from ledger.transfers where source_id = $payment and leg = 1`,
    problems: [`the step payment:settle of ${firstUuidAt(atMs)} must have at least 2 legs, but has 1.`],
  },
  {
    name: 'a transfer that was moved to a wallet that does not exist',
    sql: `update ledger.transfers set currency = 'UGX' where source_id = $hold`,
    problems: [
      'the balance of the KES wallet must be KES 95 by its transfers, but is KES 85.',
      'there is no UGX wallet, but transfers put UGX -10 into it and open holds set aside UGX 0.',
      'the hold payout of $hold must have KES 0 captured by its transfers, but has KES 10.',
      'the hold payout of $hold does not exist in UGX, but UGX 10 was captured from it.',
    ],
  },
  {
    name: 'money held back for nothing',
    sql: `update ledger.wallets set held = held + 1 where currency = 'KES'`,
    problems: ['the KES wallet must hold back KES 20 for its open holds, but holds back KES 20.000001.'],
  },
  {
    name: 'a hold that was captured without a transfer',
    sql: `update ledger.holds set captured = captured + 2000000`,
    problems: [
      'the KES wallet must hold back KES 18 for its open holds, but holds back KES 20.',
      'the hold payout of $hold must have KES 10 captured by its transfers, but has KES 12.',
    ],
  },
  {
    name: 'a hold that was deleted',
    sql: `delete from ledger.holds`,
    problems: [
      'the KES wallet must hold back KES 0 for its open holds, but holds back KES 20.',
      'the hold payout of $hold does not exist in KES, but KES 10 was captured from it.',
    ],
  },
  {
    name: 'a hold that was closed with money left in it',
    sql: `update ledger.holds set open = false; update ledger.wallets set held = 0`,
    problems: ['the hold payout of $hold over KES 30 is closed, but has KES 10 captured and KES 0 released.'],
  },
  {
    name: 'a wallet below its overdraft',
    sql: `update ledger.wallets set overdraft = 1000000, balance = -4000000 where currency = 'KES';
          update ledger.transfers set amount = amount - 89000000 where source_id = $payment and leg = 0`,
    problems: [
      'the KES wallet may go down to KES -1, but is at KES -24.',
      'the roll-up of 2026-03-01 from float:mpesa to wallet must be KES 8 in 1 transfers, but is KES 97 in 1.',
    ],
  },
  {
    name: 'a reversal over another amount',
    sql: `update ledger.transfers set amount = amount - 1000000 where step = 'send:reversal';
          update ledger.wallets set balance = balance - 1000000 where currency = 'KES'`,
    problems: ['the step send:reversal of $message must mirror the 1 legs of send, but of its 1 legs 0 do.'],
  },
  {
    name: 'a step that was reversed twice',
    sql: `insert into ledger.transfers select bucket, account_id, environment, source_id, 'again', leg, '${firstUuidAt(atMs + hourMs)}', debit, credit, amount, currency, reverses
            from ledger.transfers where step = 'send:reversal';
          update ledger.wallets set balance = balance + 5000000 where currency = 'KES'`,
    problems: [
      'the step again of $message reverses send, which must be reversed once, but is reversed 2 times.',
      'the step send:reversal of $message reverses send, which must be reversed once, but is reversed 2 times.',
    ],
  },
  {
    name: 'a roll-up that was changed',
    sql: `update ledger.rollups set amount = amount + 500000, entries = entries + 1 where credit = 'revenue:fees'`,
    problems: [
      'the roll-up of 2026-03-01 from float:mpesa to revenue:fees must be KES 3 in 1 transfers, but is KES 3.5 in 2.',
    ],
  },
  {
    name: 'a roll-up that was deleted',
    sql: `delete from ledger.rollups where credit = 'revenue:fees'`,
    problems: [
      'the roll-up of 2026-03-01 from float:mpesa to revenue:fees must be KES 3 in 1 transfers, but is missing.',
    ],
  },
  {
    name: 'a transfer that came in behind the mark',
    sql: `update ledger.transfers set id = '${firstUuidAt(atMs)}' where source_id = $hold`,
    problems: ['the roll-up of 2026-03-01 from wallet to float:mpesa must be KES 10 in 1 transfers, but is missing.'],
  },
]

for (const { name, sql, problems } of damages)
  test(`the verification finds ${name}`, async () => {
    const { tenant, ids } = await smallLedger()
    const fill = (text: string): string =>
      text.replace(/\$(payment|hold|message)/g, (_, word: keyof typeof ids) => ids[word])
    const quoted = sql.replace(/\$(payment|hold|message)/g, (_, word: keyof typeof ids) => `'${ids[word]}'`)
    await database.sql(quoted)
    const { ok, wallets, transfers, problems: found } = await verifyLedger(db)
    const place = `${idOf('account', tenant.account)} live`
    assert.deepEqual(
      found,
      problems.map((problem) => `${place}: ${fill(problem)}`),
    )
    assert.equal(ok, problems.length === 0)
    assert.equal(wallets, 2)
    assert.ok(transfers >= 4)
    const recent = await verifyLedger(db, dayStart)
    assert.equal(recent.ok, ok, `from the day on: ${recent.problems}`)
  })

test('what is older than the last proved day is proved once a week, and what is newer at every proof', async () => {
  await smallLedger()
  const day = (days: number) => ({ nowMs: () => atMs + days * dayMs })
  await database.sql(`update ledger.proof set since = '${firstId}', whole_at = null`)
  assert.deepEqual((await proveLedger(db, day(0))).problems, [])
  await rollUp(db, day(1))
  assert.equal((await proveLedger(db, day(1))).transfers, 7, 'the day is not over before it is rolled up')
  assert.deepEqual(await proveLedger(db, day(1)), { ok: true, wallets: 2, transfers: 0, problems: [] })
  await database.sql('update ledger.wallets set balance = balance + 1 where currency = $1', ['KES'])
  assert.equal((await proveLedger(db, day(1))).ok, false, 'a balance')
  await database.sql('update ledger.wallets set balance = balance - 1 where currency = $1', ['KES'])
  // A transfer and its roll-up, both of them changed.
  await database.sql(`update ledger.transfers set amount = amount + 1 where debit = 'revenue:sms';
                      update ledger.rollups set amount = amount + 1 where debit = 'revenue:sms';
                      update ledger.wallets set balance = balance + 1 where currency = 'KES'`)
  assert.equal((await proveLedger(db, day(2))).ok, true)
  assert.equal((await proveLedger(db, day(7))).ok, false, 'the reversal is of another amount')
  assert.equal((await proveLedger(db, day(7))).ok, false, 'and stays so until it is mended')
  const { checked_at, problems } = await lastCheck(db)
  assert.ok(checked_at?.getTime() === day(7).nowMs() && problems > 0, 'which operators are told')
})

test('a proof of what is new reads a small part of a ledger that is old', async (t) => {
  const [server] = await database.sql<{ server_version_num: string }>('show server_version_num')
  if (Number(server?.server_version_num) < 170_000)
    return t.skip('before PostgreSQL 17 each bucket is a search of its own, which outweighs a ledger of this size')
  const { tenant } = await smallLedger()
  await database.sql(
    `insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
     select $1::int, $2, 'live', platform.uuid_at(at), 'send', 0, platform.uuid_at(at), 'float:mpesa', 'revenue:sms', 1, 'KES'
       from (select $3::timestamptz - n * interval '1 second' as at from generate_series(100000, 130000) n) x`,
    [tenant.bucket, tenant.account, new Date(atMs)],
  )
  await database.sql('truncate ledger.rollups, ledger.rollup_marks')
  await rollUp(db, { nowMs: () => atMs + 2 * hourMs })
  await database.sql('analyze ledger.transfers')
  const [recent, whole] = [await blocksOf('new', dayStart), await blocksOf('all', firstId)]
  assert.deepEqual((await verifyLedger(db, dayStart)).problems, [])
  assert.ok(recent < whole / 10, `${recent} blocks of what is new, ${whole} of everything`)
})

/** Blocks that the statements of a proof read. */
async function blocksOf(extent: 'all' | 'new', since: string): Promise<number> {
  let blocks = 0
  await database.sql(`do $$ begin
    execute format('alter database %I set enable_seqscan = ${extent === 'new' ? 'off' : 'on'}', current_database());
  end $$`)
  for (const { name, text, parameters } of statements.values()) {
    if (!name.startsWith('ledger.verify_') || !name.endsWith(`_of_${extent}`)) continue
    const scope: Record<string, unknown> = { buckets, since }
    const [row] = await database.sql<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      parameters.map((parameter) => scope[parameter]),
    )
    const plan = row?.['QUERY PLAN'][0].Plan
    blocks += (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)
  }
  return blocks
}

test('the verification lists the first hundred problems of very many', async () => {
  await smallLedger()
  await database.sql(`insert into ledger.wallets (bucket, account_id, environment, currency, balance)
                     select n % 256, gen_random_uuid(), 'test', 'KES', 1 from generate_series(1, 150) n`)
  const { ok, wallets, problems } = await verifyLedger(db)
  assert.deepEqual([ok, wallets, problems.length], [false, 152, 100])
  assert.match(
    problems[0] ?? '',
    /^acc_\w{26} test: the balance of the KES wallet must be KES 0 by its transfers, but is KES 0.000001\.$/,
  )
})

/** A payment of three legs, a hold, two messages, all rolled up; then a capture of the hold and the reversal of a message. */
async function smallLedger(): Promise<{ tenant: Tenant; ids: { payment: string; hold: string; message: string } }> {
  await database.sql('truncate ledger.wallets, ledger.transfers, ledger.holds, ledger.rollups, ledger.rollup_marks')
  const account = newUuid(atMs)
  const tenant: Tenant = { bucket: bucketOf(account), account, environment: 'live' }
  const ids = { payment: newUuid(atMs), hold: newUuid(atMs), message: newUuid(atMs) }
  const place = `${tenant.bucket}::smallint, '${tenant.account}', 'live'`
  const id = (afterMs: number): string => `'${firstUuidAt(atMs + afterMs)}'`
  await database.sql(`
    select ledger.post(${place}, '${ids.payment}', 'settle', array[
      row(${id(0)}, 'float:mpesa', 'wallet', 97000000, 'KES'), row(${id(1)}, 'float:mpesa', 'revenue:fees', 3000000, 'KES'),
      row(${id(2)}, 'float:mpesa', 'wallet', 1, 'USD')]::ledger.leg[], null, null)`)
  await database.sql(`select ledger.hold(${place}, '${ids.hold}', 'payout', 'KES', 30000000)`)
  await database.sql(
    `select ledger.charge(array[row(${place}, 'KES', 5000000, '${ids.message}', 'send', ${id(3)}, 'revenue:sms')::ledger.charge_item])`,
  )
  await database.sql(
    `select ledger.charge(array[row(${place}, 'KES', 2000000, gen_random_uuid(), 'send', ${id(4)}, 'revenue:email')::ledger.charge_item])`,
  )
  await rollUp(db, { nowMs: () => atMs + 30 * minuteMs })
  await database.sql(
    `select ledger.capture(${place}, '${ids.hold}', 'payout', 'part', 10000000, 'float:mpesa', ${id(hourMs)})`,
  )
  await database.sql(`
    select ledger.post(${place}, '${ids.message}', 'send:reversal', array[row(${id(hourMs)}, 'revenue:sms', 'wallet', 5000000, 'KES')]::ledger.leg[], 'send', null)`)
  return { tenant, ids }
}
