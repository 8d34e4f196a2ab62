// SPDX-License-Identifier: Apache-2.0
// An account moves to another database and back while two nodes take its texts, send them and get their receipts: each text that
// was acknowledged is there once, arrives once and is paid once.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { bucketOf, uuidOf } from '../../src/kernel/ids.ts'
import { prepareSchema } from '../../src/node/database.ts'
import { Database } from '../../src/platform/db.ts'
import { Cells } from '../../src/platform/moves/cells.ts'
import { addCell } from '../../src/platform/moves/members.ts'
import { moveBucket } from '../../src/platform/moves/move.ts'
import { SmscSimulator } from '../../src/simulators/smsc.ts'
import { replicating } from '../cells.ts'
import { eventually } from '../eventually.ts'
import { notesMigrations } from '../notes/area.ts'
import { type Account, type Installation, startInstallation } from './harness.ts'

const price = 0.8
const customers = 4
const retryMs = 50

let smsc: SmscSimulator
let installation: Installation
let cells: Cells
let eastUrl: string
/** Text -> how often the handset got it. */
const arrivals = new Map<string, number>()

before(async () => {
  smsc = await SmscSimulator.start({
    accounts: { pamoja: 'secret' },
    onMessage: ({ text }) => arrivals.set(text, (arrivals.get(text) ?? 0) + 1),
  })
  // The address of the cell is known when the server runs, and the nodes are started after that.
  const environment: Record<string, string> = { PAMOJA_RATE_LIMITS: 'off' }
  installation = await startInstallation({ nodes: 0, database: 'own', postgresSettings: replicating, environment })
  const homeUrl = installation.databaseUrl
  const home = new Database(
    { url: homeUrl, poolSize: 1, statementTimeoutMs: 0, applicationName: 'test' },
    () => undefined,
  )
  await prepareSchema(home, 'migrate', notesMigrations)
  await home.close()
  eastUrl = homeUrl.replace('/pamoja?', '/east?')
  const server = new pg.Client({ connectionString: homeUrl.replace('/pamoja?', '/postgres?') })
  await server.connect()
  await server.query('create database east template pamoja')
  await server.end()
  environment.PAMOJA_CELLS = `east=${eastUrl}`
  await installation.startNode(0)
  await installation.startNode(1)
  cells = new Cells(
    new Map([
      ['home', homeUrl],
      ['east', eastUrl],
    ]),
  )
  const operator = installation.operator()
  const bind = {
    name: 'centre',
    host: '127.0.0.1',
    port: smsc.port,
    system_id: 'pamoja',
    password: 'secret',
    window: 10,
  }
  assert.equal((await operator.post('/v1/operator/sms/binds', bind)).status, 201)
  await operator.post('/v1/operator/sms/routes', { environment: 'test', tiers: [[{ bind: 'centre' }]] })
  await eventually(
    async () => (await operator.get('/v1/operator/sms/routes')).body.data[0]?.in_force,
    'the route to be in force',
  )
})

after(async () => {
  await cells.close()
  await installation.stop()
  await smsc.stop()
})

test('an account moves under load to a cell that is added while nodes run, and back', async (t) => {
  const ada = await installation.account()
  const ben = await installation.account()
  const bucket = bucketOf(uuidOf('account', ada.id) ?? '')
  const loads = [new Texts(ada, 'ada'), new Texts(ben, 'ben')]
  await addCell(cells, 'east', () => undefined)
  for (const to of ['east', 'home', 'east']) {
    await eventually(async () => loads.every(({ fresh }) => fresh > 20), 'texts before the move')
    t.diagnostic(await moveBucket(cells, bucket, to, () => undefined))
    for (const load of loads) load.fresh = 0
  }
  await eventually(async () => loads.every(({ fresh }) => fresh > 20), 'texts after the last move')
  for (const load of loads) await load.finish()
  for (const { account, accepted, answers, longestGapMs, name } of loads) {
    t.diagnostic(
      `${name}: ${accepted.length} texts accepted, longest pause ${Math.round(longestGapMs)} ms, answers ${JSON.stringify([...answers])}`,
    )
    await eventually(async () => (await delivered(account)).length === accepted.length, `texts of ${name}`, 90_000)
    assert.deepEqual((await delivered(account)).sort(), [...accepted].sort())
    const again = accepted.filter((text) => arrivals.get(text) !== 1).map((text) => `${text}: ${arrivals.get(text)}`)
    assert.deepEqual(again, [], 'each arrives once')
    assert.equal(
      await installation.balance(account),
      Math.round((account.credited - accepted.length * price) * 100) / 100,
    )
    assert.deepEqual(
      [...answers.keys()].filter(
        (answer) => !['200', '503 SERVICE_UNAVAILABLE', '409 REQUEST_IN_PROGRESS'].includes(answer),
      ),
      [],
    )
  }
  assert.deepEqual(installation.crashes, [])
})

test('a bucket that is held when the command of its move is killed is admitted again by a node', async () => {
  const home = new pg.Client({ connectionString: installation.databaseUrl })
  await home.connect()
  try {
    const { rows: places } = await home.query<{ bucket: number }>(
      `select bucket from platform.buckets where cell = 'east'`,
    )
    const [account, bucket] = await accountBeside(places.map((place) => place.bucket))
    // As the command leaves it behind: its session, which has the lock of the bucket, is over.
    await home.query(
      `insert into platform.bucket_moves (bucket, from_cell, to_cell, step) values ($1, 'home', 'east', 'hold')`,
      [bucket],
    )
    await home.query('select platform.admit_buckets(array_remove(buckets, $1::smallint)) from platform.this_cell', [
      bucket,
    ])
    const text = { to: '+254722301000', from: 'PAMOJA', message: 'Habari' }
    const send = () => installation.client(0, account.key).post('/v1/sms/send', text)
    await eventually(async () => (await send()).status === 200, 'its texts to be accepted')
    const { rows } = await home.query<{ step: string }>('select step from platform.bucket_moves where bucket = $1', [
      bucket,
    ])
    assert.deepEqual(rows, [{ step: 'follow' }], 'the command goes on with the move when it is run again')
  } finally {
    await home.end()
  }
})

/** An account in none of these buckets, and its own. */
async function accountBeside(buckets: readonly number[]): Promise<[Account, number]> {
  for (;;) {
    const account = await installation.account()
    const bucket = bucketOf(uuidOf('account', account.id) ?? '')
    if (!buckets.includes(bucket)) return [account, bucket]
  }
}

/** All texts of an account that the API calls delivered. */
async function delivered(account: Account): Promise<string[]> {
  const found: string[] = []
  for (let cursor = ''; ; ) {
    const { status, body, text } = await installation
      .client(0, account.key)
      .get(`/v1/sms?status=delivered&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`)
    assert.equal(status, 200, text)
    found.push(...body.data.map(({ message }: { message: string }) => message))
    cursor = body.next_cursor ?? ''
    if (cursor === '') return found
  }
}

/** Customers of an account who send texts, each under a key with which they repeat it until it is accepted. */
class Texts {
  readonly account: Account
  readonly name: string
  readonly accepted: string[] = []
  readonly answers = new Map<string, number>()
  longestGapMs = 0
  /** Texts accepted since somebody set it to 0. */
  fresh = 0
  #sent = 0
  #lastMs = performance.now()
  #isEnding = false
  readonly #customers: Promise<void>[]

  constructor(account: Account, name: string) {
    this.account = account
    this.name = name
    this.#customers = Array.from({ length: customers }, (_, node) => this.#send(node % 2))
  }

  async finish(): Promise<void> {
    this.#isEnding = true
    await Promise.all(this.#customers)
  }

  async #send(node: number): Promise<void> {
    while (!this.#isEnding) {
      const message = `${this.name} ${this.#sent++}`
      const headers = { 'idempotency-key': randomUUID() }
      for (let status = 0; status !== 200; ) {
        const reply = await installation
          .client(node, this.account.key)
          .post('/v1/sms/send', { to: '+254722301000', from: 'PAMOJA', message }, { headers })
        status = reply.status
        const answer = status === 200 ? '200' : `${status} ${reply.body?.error?.code}`
        this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1)
        if (status !== 200) await pause(retryMs)
      }
      const nowMs = performance.now()
      this.longestGapMs = Math.max(this.longestGapMs, nowMs - this.#lastMs)
      this.#lastMs = nowMs
      this.accepted.push(message)
      this.fresh++
      await pause(20)
    }
  }
}
