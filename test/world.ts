// SPDX-License-Identifier: Apache-2.0
// A whole installation for a test file: its own database, one node in this process, the operator, and accounts on demand.
// Tests are customers; they reach in only to wait for something or to provoke a fault.
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { areas } from '../src/areas.ts'
import { type Credentials, credentials } from '../src/commands/welcome.ts'
import { type Config, loadConfig } from '../src/config.ts'
import { bucketOf, uuidOf } from '../src/kernel/ids.ts'
import { type RunningNode, startNode } from '../src/node/server.ts'
import type { App } from '../src/platform/app.ts'
import type { Area } from '../src/platform/area.ts'
import type { Chore } from '../src/platform/nodes/maintenance.ts'
import type { Tenant } from '../src/platform/tenant.ts'
import { Client } from './client.ts'
import { createInstallation, type TestDatabase } from './database.ts'
import { notes, notesMigrations } from './notes/area.ts'

export { eventually } from './eventually.ts'

export interface Account {
  id: string
  key: string
  client: Client
}

/** Tenant of an account's test environment. */
export function tenantOf({ id }: Pick<Account, 'id'>): Tenant {
  const account = uuidOf('account', id)
  if (account === null) throw new Error(`${id} is not the id of an account`)
  return { bucket: bucketOf(account), account, environment: 'test' }
}

export interface World {
  node: RunningNode
  app: App
  home: string
  databaseUrl: string
  credentials: Credentials
  /** Client without a key. */
  stranger: Client
  /** The first account's test key, with every scope. */
  demo: Client
  operator: Client
  /** Opens an account with money in its test wallet (major units of its currency). */
  account(options?: { balance?: number; plan?: string; currency?: string }): Promise<Account>
  /** Starts another node of the installation, which the test stops. */
  another(settings?: Partial<Config>): Promise<RunningNode>
  stop(): Promise<void>
}

/** Settings by which a node reaches a test's database: the address itself, or a pooler with the address behind it. */
export type Reached = (databaseUrl: string) => Promise<Partial<Config>>

/** `more` are areas of the test's own. Rate limits are off unless a test is about them: a fast machine meets them sooner. */
export async function startWorld(
  overrides: Partial<Config> | Reached = {},
  more: readonly Area[] = [],
  created: Promise<TestDatabase> = createInstallation(),
): Promise<World> {
  const database = await created
  const home = await mkdtemp(join(tmpdir(), 'pamoja-home-'))
  const own = { PAMOJA_HOME: home, DATABASE_URL: database.url, PAMOJA_CELLS: database.cells }
  const another = (settings: Partial<Config> = {}): Promise<RunningNode> => {
    const { config } = loadConfig({}, { ...quiet, PAMOJA_RATE_LIMITS: 'off', ...own, ...settings })
    return startNode({ config, areas: [...areas, notes, ...more], extraMigrations: notesMigrations })
  }
  const settings = typeof overrides === 'function' ? await overrides(database.url) : overrides
  const node = await another(settings)
  const given = await credentials(node)
  const caFile = node.caFile ?? settings.PAMOJA_TLS_CERT
  const ca = caFile ? readFileSync(caFile, 'utf8') : null
  const stranger = new Client(node.url, ca, null)
  const operator = stranger.as(given.operator_key)
  const { body: who } = await operator.get('/v1/auth/whoami')
  await operator.patch(`/v1/operator/api-keys/${who.key_id}`, { rate_limit_per_second: 1_000_000 })
  return {
    node,
    app: node.app,
    home,
    databaseUrl: database.url,
    credentials: given,
    stranger,
    demo: stranger.as(given.api_key),
    operator,
    account: (options) => openAccount(operator, stranger, options),
    another,
    async stop() {
      stranger.close()
      await node.stop()
      await database.drop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** Does what an area wants done regularly, as the node does that holds the lease. */
export async function doChores(app: App, chores: readonly Chore[] = []): Promise<void> {
  const lease = await app.leases.tryAcquire(`chores ${randomUUID()}`, 60)
  if (!lease) throw new Error('nobody else can have this lease')
  for (const chore of chores) await chore.run(app, lease)
  await lease.release()
}

/** A test node keeps to itself: free ports, no log. It is patient: on a crowded machine a request may wait long for its turn. */
export const quiet = {
  PAMOJA_PORT: 0,
  PAMOJA_ADMIN_PORT: 0,
  PAMOJA_LOG_LEVEL: 'silent',
  PAMOJA_DATABASE_WAIT_SECONDS: 300,
  PAMOJA_VOICE_LATENESS_MS: 60_000,
  PAMOJA_VOICE_DRAIN_SECONDS: 0,
} as const

async function openAccount(
  operator: Client,
  stranger: Client,
  { balance = 0, plan = 'enterprise', currency = 'KES' }: { balance?: number; plan?: string; currency?: string } = {},
): Promise<Account> {
  const wanted = { name: 'Ada', country: 'KE', currency, timezone: 'UTC', plan, play_money: 0 }
  const { status, body } = await operator.post('/v1/operator/accounts', wanted)
  if (status !== 201) throw new Error(`the account was not opened: ${JSON.stringify(body)}`)
  if (balance > 0)
    await operator.post(`/v1/operator/accounts/${body.id}/credit`, {
      amount: balance,
      currency,
      environment: 'test',
      reference: randomBytes(8).toString('hex'),
    })
  return { id: body.id, key: body.test_api_key, client: stranger.as(body.test_api_key) }
}
