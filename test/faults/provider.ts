// SPDX-License-Identifier: Apache-2.0
// An installation that can be killed, and beside it a provider of mobile money that lives on and keeps books of its own. It
// can call nobody, so that what is not asked for is not known.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { MomoSimulator } from '../../src/simulators/momo.ts'
import { eventually } from '../eventually.ts'
import { type Account, type Installation, startInstallation } from './harness.ts'

const timeScale = 0.05
/** Patience for the work of a killed node, which is taken up again within a minute, and then done. */
export const patienceMs = 120_000
/** Time between two tries, as the answer to one that is too early says. */
const betweenTriesMs = 1_000

export interface Trade {
  installation: Installation
  provider: MomoSimulator
  account: Account
  /** Asks until it is accepted: a request that died with its node is repeated under its key. Gives the answer. */
  ask(path: string, body: object, key: string): Promise<Record<string, unknown>>
  /** kill -9, and another start at once or a minute later. */
  restart(when: 'at once' | 'a minute later'): Promise<void>
  /** Number of rows in payments' tables: `payouts where status = 'failed'`. */
  count(what: string): Promise<number>
  /** Events that were told, and how often. */
  told(types: string): Promise<{ type: string; told: number }[]>
}

/** Trade: a node, an account, and the provider entered for Uganda. All of it ends after the last test of the file. */
export async function startTrade(): Promise<Trade> {
  const [collections, disbursement] = [product(), product()]
  const provider = await MomoSimulator.start({
    ...collections,
    disbursement,
    host: '127.0.0.1',
    timeScale,
    now: () => Date.now(),
    ca: () => undefined,
  })
  after(() => provider.stop())
  const installation = await startInstallation({
    nodes: 1,
    database: 'shared',
    environment: {
      PAMOJA_RATE_LIMITS: 'off',
      PAMOJA_SANDBOX_TIME_SCALE: String(timeScale),
      PAMOJA_JOB_LEASE_SECONDS: '2',
    },
  })
  after(() => installation.stop())
  const entered = await installation.operator().post('/v1/operator/payments/providers', {
    provider: 'mtn_momo',
    country: 'UG',
    environment: 'test',
    base_url: `http://127.0.0.1:${provider.port}`,
    target_environment: collections.targetEnvironment,
    subscription_key: collections.subscriptionKey,
    api_user: collections.apiUser,
    api_key: collections.apiKey,
    payout_subscription_key: disbursement.subscriptionKey,
    payout_api_user: disbursement.apiUser,
    payout_api_key: disbursement.apiKey,
  })
  assert.equal(entered.status, 201, entered.text)
  const account = await installation.account({ credit: 1 })
  return {
    installation,
    provider,
    account,
    ask: (path, body, key) =>
      eventually(
        async () => {
          const reply = await installation
            .client(0, account.key)
            .post(path, body, { headers: { 'Idempotency-Key': key } })
            .catch(() => null)
          if (reply?.status === 201) return reply.body
          await pause(betweenTriesMs)
          return null
        },
        `${key} to be accepted`,
        patienceMs,
      ),
    async restart(when) {
      await installation.killNode(0)
      if (when === 'a minute later') for (const change of minuteLater) await installation.sql(change)
      await installation.startNode(0)
    },
    async count(what) {
      const [row] = await installation.sql<{ found: number }>(`select count(*)::int as found from payments.${what}`)
      return row?.found ?? 0
    },
    told: (types) =>
      installation.sql(
        'select type, count(*)::int as told from events.events where type ~ $1 group by type order by type',
        [types],
      ),
  }
}

/** A minute in which no node runs: what the dead one had leased or begun is no longer its own. */
const minuteLater = [
  `update platform.idempotency set running_until = running_until - interval '1 minute' where running_until is not null`,
  `update work.jobs set run_at = run_at - interval '1 minute' where owner is not null`,
  `update payments.attempts set updated_at = updated_at - interval '1 minute' where state in ('planned', 'sending')`,
  `update payments.payouts set touched_at = touched_at - interval '1 minute' where state in ('planned', 'sending')`,
  `update payments.refunds set state_at = state_at - interval '1 minute' where state in ('planned', 'sending')`,
]

function product() {
  return {
    subscriptionKey: randomUUID(),
    targetEnvironment: 'simulator',
    apiUser: randomUUID(),
    apiKey: randomUUID(),
  }
}
