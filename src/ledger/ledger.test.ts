// SPDX-License-Identifier: Apache-2.0
// The ledger on a real PostgreSQL: random histories against a model of a page, and random interleavings against what must
// hold under any of them. fast-check prints the seed and path of a failure; give them to fc.assert to see the same
// history again.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { balanceOfContra } from '../../test/contra.ts'
import { createTestDatabase } from '../../test/database.ts'
import { patienceMs } from '../../test/eventually.ts'
import {
  anyOperation,
  anyTransaction,
  bigintText,
  currencies,
  judge,
  keyOf,
  type Model,
  netOf,
  newModel,
  type Operation,
  sourceCount,
} from '../../test/ledger-model.ts'
import { runs } from '../../test/properties.ts'
import { AppError } from '../kernel/errors.ts'
import { bucketOf, firstUuidAt, newUuid } from '../kernel/ids.ts'
import type { Currency } from '../kernel/money.ts'
import { dayOf, hourMs, minuteMs } from '../kernel/time.ts'
import { type Database, one, sqlState, statement, type Tx } from '../platform/db.ts'
import type { Environment, Tenant } from '../platform/tenant.ts'
import { rollUp, spentByDay } from './rollups.ts'
import { verifyLedger } from './verify.ts'
import { capture, hold, type Leg, post, release, reverse, setOverdraft, walletsOf } from './wallets.ts'

const database = await createTestDatabase(['platform', 'ledger'])
const db = database.connect()
after(() => database.drop())

const atMs = Date.parse('2026-03-01T12:00:00Z')
/** Ends the search for the smallest failing history. No history within it is a failure too, so a slow machine has long. */
const bounded = { interruptAfterTimeLimit: patienceMs(180_000) }

interface Item {
  tenant: Tenant
  sourceId: string
  step: string
  currency: Currency
  micros: bigint
  id?: string
}

const chargeItems = statement.tenant<
  {
    buckets: number[]
    accounts: string[]
    environments: string[]
    currencies: string[]
    amounts: string[]
    sources: string[]
    steps: string[]
    ids: string[]
  },
  { verdicts: string[] }
>(
  'test.charge',
  `select ledger.charge(array(
     select row(i.bucket, i.account, i.environment, i.currency, i.amount, i.source, i.step, i.id, 'revenue:sms')::ledger.charge_item
       from unnest($buckets::smallint[], $accounts::uuid[], $environments::text[], $currencies::text[], $amounts::bigint[],
                   $sources::uuid[], $steps::text[], $ids::uuid[])
            with ordinality as i(bucket, account, environment, currency, amount, source, step, id, ord)
      order by i.ord)) as verdicts`,
)

const rollUpBucket = statement.tenant<{ bucket: number; upto: string }, object>(
  'test.roll_up',
  'select ledger.roll_up($bucket::smallint, $upto::uuid)',
)

test('any history of charges, postings, reversals, holds and overdrafts ends as the model says, verdict by verdict', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyOperation(fc.constantFrom(...currencies)), { minLength: 10, maxLength: 45 }),
      async (operations) => {
        const world = newWorld()
        const model = newModel()
        for (const operation of operations) {
          const expected = judge(model, operation)
          const found = await db.acrossTx((tx) => perform(tx, world, operation)).catch(refusal)
          assert.deepEqual(found, expected, JSON.stringify(operation, bigintText))
        }
        assert.deepEqual(await storedWallets(world), model.wallets)
        assert.deepEqual(await storedHolds(world), model.holds)
        await assertVerified(db)
      },
    ),
    { numRuns: runs(40), ...bounded },
  )
})

test('whatever happens at the same moment, every step counts once, nothing acknowledged is lost and nothing deadlocks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyTransaction(), { maxLength: 8 }), { minLength: 4, maxLength: 6 }),
      async (workers) => {
        const world = newWorld()
        const acknowledged: Acknowledged[] = []
        for (const tenant of world.tenants.keys())
          for (const currency of currencies)
            await db
              .acrossTx((tx) => perform(tx, world, topUp(tenant, currency, 60n)))
              .then(() => acknowledged.push({ operation: topUp(tenant, currency, 60n), verdicts: ['posted'] }))
        await Promise.all(
          workers.map(async (transactions) => {
            for (const operations of transactions) acknowledged.push(...(await inOneTransaction(world, operations)))
          }),
        )
        await assertAcknowledgedIsStored(world, acknowledged)
        await assertVerified(db)
      },
    ),
    { numRuns: runs(25), ...bounded },
  )
})

test('an item that is too dear is refused without taking a cheap later one with it', async () => {
  const tenant = await tenantWith(100n)
  const verdicts = await charge(
    [70n, 50n, 20n, 0n, 11n, 10n].map((micros) => ({
      tenant,
      sourceId: randomUUID(),
      step: 'send',
      currency: 'KES',
      micros,
    })),
  )
  assert.deepEqual(verdicts, ['charged', 'insufficient', 'charged', 'charged', 'insufficient', 'charged'])
  assert.equal((await walletsOf(db, tenant))[0]?.balanceMicros, 0n)
})

test('a message that stands twice in a batch, or comes again later, is charged once', async () => {
  const tenant = await tenantWith(100n)
  const message: Item = { tenant, sourceId: randomUUID(), step: 'send', currency: 'KES', micros: 30n }
  assert.deepEqual(await charge([message, { ...message, step: 'resend' }, message]), ['charged', 'charged', 'replayed'])
  assert.deepEqual(await charge([message, { ...message, micros: 999n }]), ['replayed', 'replayed'])
  assert.equal((await walletsOf(db, tenant))[0]?.balanceMicros, 40n)
})

test('holds of many are decided in their order, and captured together they move what each alone would', async () => {
  const [rich, poor] = [await tenantWith(1_000n), await tenantWith(100n)]
  const items = (
    [
      [rich, 60],
      [poor, 70],
      [rich, 40],
      [poor, 50],
      [poor, 20],
    ] as const
  ).map(([tenant, micros]) => ({
    tenant,
    micros,
    source: newUuid(atMs),
  }))
  const rows = (step: string, some: typeof items): string =>
    some
      .map(
        ({ tenant: { bucket, account }, micros, source }) =>
          `row(${bucket}, '${account}', 'live', 'KES', ${micros}, '${source}', '${step}', '${newUuid(atMs)}', 'revenue:ussd')::ledger.charge_item`,
      )
      .join()
  const [held] = await database.sql<{ verdicts: string[] }>(
    `select ledger.hold_many(array[${rows('session', items)}]) as verdicts`,
  )
  assert.deepEqual(held?.verdicts, ['held', 'held', 'held', 'insufficient', 'held'])
  const kept = items.filter((_, i) => held.verdicts[i] === 'held')
  const together = (some: typeof items): Promise<object[]> =>
    database.sql(`select ledger.capture_holds(array[${rows('charge', some)}], 'session')`)
  await together(kept)
  const walletOf = async (tenant: Tenant) => (await walletsOf(db, tenant))[0]
  assert.deepEqual(
    [(await walletOf(rich))?.balanceMicros, (await walletOf(rich))?.heldMicros, (await walletOf(poor))?.balanceMicros],
    [900n, 0n, 10n],
  )
  await assert.rejects(together(kept), (error) => sqlState(error) !== '')
  await assertVerified(db)
})

test('an amount below zero, or none at all, is never taken for a charge', async () => {
  const tenant = await tenantWith(100n)
  const item = (amount: string): string =>
    `row(${tenant.bucket}, '${tenant.account}', 'live', 'KES', ${amount}, gen_random_uuid(), 'send', gen_random_uuid(), 'revenue:sms')::ledger.charge_item`
  for (const amount of ['-5', 'null'])
    await assert.rejects(
      database.sql(`select ledger.charge(array[${item('10')}, ${item(amount)}])`),
      /above_zero|transfers/,
    )
  assert.equal((await walletsOf(db, tenant))[0]?.balanceMicros, 100n)
})

test('of many who want the last money at the same moment, one gets it and the others are told that it is gone', async () => {
  for (let round = 0; round < 8; round++) {
    const tenant = await tenantWith(100n)
    const about = (): { sourceId: string; step: string } => ({ sourceId: newUuid(atMs), step: 'last' })
    const legs: Leg[] = [{ debit: 'wallet', credit: 'float', micros: 60n, currency: 'KES' }]
    const verdicts = await Promise.all([
      ...[1, 2, 3].map(() => db.acrossTx((tx) => post(tx, tenant, about(), legs, atMs))),
      ...[1, 2, 3].map(() => db.acrossTx((tx) => hold(tx, tenant, about(), 60n, 'KES'))),
      ...[1, 2, 3].map(async () => (await charge([{ tenant, ...about(), currency: 'KES', micros: 60n }]))[0]),
    ])
    assert.equal(verdicts.filter((verdict) => verdict === 'insufficient').length, 8, verdicts.join())
  }
})

test('the same step posted by two nodes at once moves money once, also between accounts that are no wallet', async () => {
  const tenant = newTenant()
  const step = { sourceId: newUuid(atMs), step: 'unmatched' }
  const legs: Leg[] = [{ debit: 'float:mpesa', credit: 'suspense:mpesa', micros: 5n, currency: 'KES' }]
  const verdicts = await Promise.all(
    Array.from({ length: 6 }, () => db.acrossTx((tx) => post(tx, tenant, step, legs, atMs))),
  )
  assert.deepEqual(verdicts.sort(), ['posted', ...Array(5).fill('replayed')])
  assert.equal(await balanceOfContra(db, tenant, 'suspense:mpesa', 'KES'), 5n)
  await assert.rejects(
    db.acrossTx((tx) => post(tx, tenant, step, [...legs, ...legs], atMs)),
    (error) => sqlState(error) === 'LB001',
  )
})

test('a node that posts and then captures waits for one that captures, and neither is thrown out', async () => {
  const tenant = await tenantWith(100n)
  const held = { sourceId: newUuid(atMs), step: 'hold' }
  await db.acrossTx((tx) => hold(tx, tenant, held, 50n, 'KES'))
  const fee: Leg[] = [{ debit: 'wallet', credit: 'revenue:fees', micros: 1n, currency: 'KES' }]
  let other: Promise<string> | undefined
  const first = await db.acrossTx(async (tx) => {
    await post(tx, tenant, { sourceId: held.sourceId, step: 'fee' }, fee, atMs)
    other = db.acrossTx((theirs) => capture(theirs, tenant, held, 'second', 20n, 'float:mpesa', atMs))
    await somebodyWaits()
    return capture(tx, tenant, held, 'first', 20n, 'float:mpesa', atMs)
  })
  assert.deepEqual([first, await other], ['captured', 'captured'])
  await assertVerified(db)
})

test('sums of a day are exact at any moment, however transfers and roll-ups alternate', async () => {
  const anyEvent = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('charge'),
        micros: fc.bigInt({ min: 1n, max: 50n }),
        lateMs: fc.integer({ min: 0, max: 9 * minuteMs }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('reversal'), lateMs: fc.integer({ min: 0, max: 9 * minuteMs }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('roll-up') }) },
  )
  const history = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 * hourMs }), anyEvent), { minLength: 5, maxLength: 15 })
  await fc.assert(
    fc.asyncProperty(history, async (events) => {
      const tenant = newTenant()
      await db.acrossTx((tx) => setOverdraft(tx, tenant, 'KES', 1_000_000n))
      const spent = new Map<string, bigint>()
      const reversible: { sourceId: string; micros: bigint }[] = []
      let revenue = 0n
      let nowMs = atMs
      for (const [afterMs, event] of events) {
        nowMs += afterMs
        if (event.kind === 'roll-up')
          await Promise.all([rollUp(db, { nowMs: () => nowMs }), rollUp(db, { nowMs: () => nowMs })])
        else if ('micros' in event) {
          const item: Item = {
            tenant,
            sourceId: newUuid(atMs),
            step: 'send',
            currency: 'KES',
            micros: event.micros,
            id: uuidAt(nowMs - event.lateMs),
          }
          assert.deepEqual(await charge([item]), ['charged'])
          const day = dayOf(new Date(nowMs - event.lateMs))
          spent.set(day, (spent.get(day) ?? 0n) + event.micros)
          reversible.push(item)
          revenue += event.micros
        } else {
          const original = reversible.shift()
          if (!original || !('lateMs' in event)) continue
          await postReversal(tenant, original, uuidAt(nowMs - event.lateMs))
          const day = dayOf(new Date(nowMs - event.lateMs))
          spent.set(day, (spent.get(day) ?? 0n) - original.micros)
          revenue -= original.micros
        }
        const days = await spentByDay(db, tenant, { from: '2026-03-01', to: '2026-03-31' })
        assert.deepEqual(new Map(days.map(({ day, micros }) => [day, micros])), spent)
        assert.equal(await balanceOfContra(db, tenant, 'revenue:sms', 'KES'), revenue)
        assert.equal(await balanceOfContra(db, tenant, 'wallet', 'KES'), -revenue)
      }
      await assertVerified(db)
    }),
    { numRuns: runs(6), ...bounded },
  )
})

test('what was spent is told by day, account and currency, for the days that were asked for', async () => {
  const tenant = newTenant()
  for (const currency of currencies) await db.acrossTx((tx) => setOverdraft(tx, tenant, currency, 1_000n))
  const at = (time: string, micros: bigint, currency: Currency): Item => ({
    tenant,
    sourceId: newUuid(atMs),
    step: 'send',
    currency,
    micros,
    id: firstUuidAt(Date.parse(time)),
  })
  await charge([
    at('2026-02-28T23:59:59.999Z', 1n, 'KES'),
    at('2026-03-01T00:00:00.000Z', 2n, 'KES'),
    at('2026-03-01T23:59:59.999Z', 3n, 'KES'),
    at('2026-03-01T08:00:00.000Z', 4n, 'USD'),
    at('2026-03-02T00:00:00.000Z', 5n, 'KES'),
    at('2026-03-03T00:00:00.000Z', 6n, 'KES'),
  ])
  const expected = [
    { day: '2026-03-01', name: 'revenue:sms', currency: 'KES', micros: 5n, entries: 2 },
    { day: '2026-03-01', name: 'revenue:sms', currency: 'USD', micros: 4n, entries: 1 },
    { day: '2026-03-02', name: 'revenue:sms', currency: 'KES', micros: 5n, entries: 1 },
  ]
  assert.deepEqual(await spentByDay(db, tenant, { from: '2026-03-01', to: '2026-03-02' }), expected)
  // The mark falls exactly on the first transfer of the second day.
  await rollUp(db, { nowMs: () => Date.parse('2026-03-02T00:10:00Z') })
  assert.deepEqual(await spentByDay(db, tenant, { from: '2026-03-01', to: '2026-03-02' }), expected)
  await rollUp(db, { nowMs: () => Date.parse('2026-03-04T00:00:00Z') })
  assert.deepEqual(await spentByDay(db, tenant, { from: '2026-03-01', to: '2026-03-02' }), expected)
  assert.deepEqual(
    await spentByDay(db, { ...tenant, environment: 'test' }, { from: '2026-03-01', to: '2026-03-02' }),
    [],
  )
})

test('two nodes that roll up at the same moment count every transfer once', async () => {
  const tenant = newTenant()
  await db.acrossTx((tx) => setOverdraft(tx, tenant, 'KES', 1_000n))
  for (const hours of [1, 2]) {
    const id = uuidAt(atMs + hours * hourMs)
    await charge([{ tenant, sourceId: newUuid(atMs), step: 'send', currency: 'KES', micros: 5n, id }])
    const parameters = { bucket: tenant.bucket, upto: firstUuidAt(atMs + (hours + 1) * hourMs) }
    let other: Promise<object[]> | undefined
    await db.acrossTx(async (tx) => {
      await tx.query(rollUpBucket, parameters)
      other = db.query(rollUpBucket, parameters)
      await somebodyWaits()
    })
    await other
    const [spent] = await spentByDay(db, tenant, { from: '2026-03-01', to: '2026-03-01' })
    assert.deepEqual([spent?.micros, spent?.entries], [BigInt(5 * hours), hours])
  }
  await assertVerified(db)
})

// Doing -------------------------------------------------------------------------------------------------------------

interface World {
  tenants: Tenant[]
  sources: string[]
}

function newWorld(): World {
  const first = newTenant()
  const tenants = [first, { ...first, environment: 'test' as const }, newTenant()]
  return { tenants, sources: Array.from({ length: sourceCount }, () => newUuid(atMs)) }
}

function newTenant(environment: Environment = 'live'): Tenant {
  const account = newUuid(atMs)
  return { bucket: bucketOf(account), account, environment }
}

async function tenantWith(micros: bigint): Promise<Tenant> {
  const tenant = newTenant()
  const legs: Leg[] = [{ debit: 'float', credit: 'wallet', micros, currency: 'KES' }]
  await db.acrossTx((tx) => post(tx, tenant, { sourceId: newUuid(atMs), step: 'topup' }, legs, atMs))
  return tenant
}

/** Does an operation and gives its verdicts: one, or one per item of a batch. */
async function perform(tx: Tx, world: World, operation: Operation): Promise<string[]> {
  const tenantOf = (index: number): Tenant => world.tenants[index] ?? newTenant()
  const sourceOf = (index: number): string => world.sources[index] ?? ''
  if (operation.kind === 'charge')
    return chargeIn(
      tx,
      operation.items.map(({ tenant, source, ...item }) => ({
        ...item,
        tenant: tenantOf(tenant),
        sourceId: sourceOf(source),
      })),
    )
  const tenant = tenantOf(operation.tenant)
  if (operation.kind === 'overdraft') {
    await setOverdraft(tx, tenant, operation.currency, operation.micros)
    return ['set']
  }
  const step = { sourceId: sourceOf(operation.source), step: operation.step }
  if (operation.kind === 'post') return [await post(tx, tenant, step, operation.legs, atMs)]
  if (operation.kind === 'reverse') return [await reverse(tx, tenant, step, atMs)]
  if (operation.kind === 'hold') return [await hold(tx, tenant, step, operation.micros, operation.currency)]
  if (operation.kind === 'release') return [await release(tx, tenant, step)]
  return [await capture(tx, tenant, step, operation.capture, operation.micros, 'float', atMs)]
}

async function charge(items: readonly Item[]): Promise<string[]> {
  return db.acrossTx((tx) => chargeIn(tx, items))
}

async function chargeIn(tx: Tx, items: readonly Item[]): Promise<string[]> {
  const { verdicts } = await one(
    tx.query(chargeItems, {
      buckets: items.map(({ tenant }) => tenant.bucket),
      accounts: items.map(({ tenant }) => tenant.account),
      environments: items.map(({ tenant }) => tenant.environment),
      currencies: items.map(({ currency }) => currency),
      amounts: items.map(({ micros }) => micros.toString()),
      sources: items.map(({ sourceId }) => sourceId),
      steps: items.map(({ step }) => step),
      ids: items.map(({ id }) => id ?? newUuid(atMs)),
    }),
  )
  return verdicts
}

/** What a transaction was refused with; anything unforeseen, such as a deadlock, stays an error. */
function refusal(error: unknown): string[] {
  if (sqlState(error) === 'LB001') return ['other legs']
  if (error instanceof AppError) return [error.code]
  if (error instanceof Error && error.message.startsWith('there is no step')) return ['nothing to reverse']
  throw error
}

// What is stored ----------------------------------------------------------------------------------------------------

async function storedWallets(world: World): Promise<Model['wallets']> {
  const found: Model['wallets'] = new Map()
  for (const [index, tenant] of world.tenants.entries())
    for (const { currency, balanceMicros, heldMicros, overdraftMicros } of await walletsOf(db, tenant))
      found.set(`${index} ${currency}`, { balance: balanceMicros, held: heldMicros, overdraft: overdraftMicros })
  return found
}

async function storedHolds(world: World): Promise<Model['holds']> {
  const found: Model['holds'] = new Map()
  const rows = await database.sql<{
    account_id: string
    environment: string
    source_id: string
    step: string
    currency: Currency
    amount: string
    captured: string
    released: string
  }>('select * from ledger.holds where account_id = any($1)', [world.tenants.map(({ account }) => account)])
  for (const row of rows) {
    const tenant = world.tenants.findIndex(
      ({ account, environment }) => account === row.account_id && environment === row.environment,
    )
    found.set(keyOf(tenant, world.sources.indexOf(row.source_id), row.step), {
      currency: row.currency,
      amount: BigInt(row.amount),
      captured: BigInt(row.captured),
      released: BigInt(row.released),
    })
  }
  return found
}

async function assertVerified(ledger: Database): Promise<void> {
  const { ok, problems } = await verifyLedger(ledger)
  assert.deepEqual({ ok, problems }, { ok: true, problems: [] })
}

// What was acknowledged ---------------------------------------------------------------------------------------------

interface Acknowledged {
  operation: Operation
  verdicts: string[]
}

function topUp(tenant: number, currency: Currency, micros: bigint): Operation {
  return {
    kind: 'post',
    tenant,
    source: currencies.indexOf(currency === 'KES' ? 'KES' : 'USD'),
    step: 'topup',
    legs: [{ debit: 'float', credit: 'wallet', micros, currency }],
  }
}

async function inOneTransaction(world: World, operations: readonly Operation[]): Promise<Acknowledged[]> {
  const done: Acknowledged[] = []
  const refused = await db
    .acrossTx(async (tx) => {
      for (const operation of operations) done.push({ operation, verdicts: await perform(tx, world, operation) })
    })
    .catch(refusal)
  return refused ? [] : done
}

/** Every step was acknowledged to one caller, and the wallets hold what the acknowledged steps add up to. */
async function assertAcknowledgedIsStored(world: World, acknowledged: readonly Acknowledged[]): Promise<void> {
  const postings = new Map<string, Leg[]>()
  const reversed: string[] = []
  const holds = new Set<string>()
  const add = (key: string, legs: Leg[]): void => {
    assert.equal(postings.has(key), false, `${key} was acknowledged twice`)
    postings.set(key, legs)
  }
  for (const { operation, verdicts } of acknowledged) {
    if (operation.kind === 'charge') {
      for (const [i, { tenant, source, step, currency, micros }] of operation.items.entries())
        if (verdicts[i] === 'charged' && micros > 0n)
          add(keyOf(tenant, source, step), [{ debit: 'wallet', credit: 'revenue:sms', micros, currency }])
    } else if (operation.kind === 'post' && verdicts[0] === 'posted')
      add(keyOf(operation.tenant, operation.source, operation.step), operation.legs)
    else if (operation.kind === 'capture' && verdicts[0] === 'captured')
      add(keyOf(operation.tenant, operation.source, operation.capture), [
        {
          debit: 'wallet',
          credit: 'float',
          micros: operation.micros,
          currency: currencies[operation.source % 2] ?? 'KES',
        },
      ])
    else if (operation.kind === 'reverse' && verdicts[0] === 'posted')
      reversed.push(keyOf(operation.tenant, operation.source, operation.step))
    else if (operation.kind === 'hold' && verdicts[0] === 'held') {
      const key = keyOf(operation.tenant, operation.source, operation.step)
      assert.equal(holds.has(key), false, `${key} was held twice`)
      holds.add(key)
    }
  }
  for (const key of reversed) {
    const legs = postings.get(key) ?? assert.fail(`${key} was reversed but never acknowledged`)
    add(
      `${key}:reversal`,
      legs.map((leg) => ({ ...leg, debit: leg.credit, credit: leg.debit })),
    )
  }
  const balances = new Map<string, bigint>()
  for (const [key, legs] of postings)
    for (const [currency, net] of netOf(legs)) {
      const wallet = `${key.split(' ')[0]} ${currency}`
      balances.set(wallet, (balances.get(wallet) ?? 0n) + net)
    }
  const wallets = await storedWallets(world)
  assert.deepEqual(new Map([...wallets].map(([wallet, { balance }]) => [wallet, balance])), balances)
  for (const { balance, held, overdraft } of wallets.values()) assert.ok(balance - held >= -overdraft)
  const stored = await database.sql<{ steps: number }>(
    'select count(distinct (account_id, environment, source_id, step))::int as steps from ledger.transfers where account_id = any($1)',
    [world.tenants.map(({ account }) => account)],
  )
  assert.deepEqual([stored[0]?.steps, (await storedHolds(world)).size], [postings.size, holds.size])
}

// Small things ------------------------------------------------------------------------------------------------------

async function postReversal(
  tenant: Tenant,
  { sourceId, micros }: { sourceId: string; micros: bigint },
  id: string,
): Promise<void> {
  await database.sql(
    `select ledger.post($1::smallint, $2, $3, $4, 'send:reversal', array[row($5, 'revenue:sms', 'wallet', $6, 'KES')::ledger.leg], 'send', null)`,
    [tenant.bucket, tenant.account, tenant.environment, sourceId, id, micros],
  )
}

/** A UUIDv7 of any moment; newUuid never goes back in time. */
function uuidAt(ms: number): string {
  return firstUuidAt(ms).slice(0, 15) + randomUUID().slice(15)
}

/** Resolves when a transaction of this database waits for the lock of another. */
async function somebodyWaits(): Promise<void> {
  for (;;) {
    const [row] = await database.sql<{ waiting: boolean }>(
      `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as waiting`,
    )
    if (row?.waiting) return
    await turn()
  }
}
