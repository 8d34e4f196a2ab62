// SPDX-License-Identifier: Apache-2.0
// Switchboard: a lock per account around everything that assigns calls to agents, so that nodes never assign one agent
// two calls or skip a caller.
import type { App } from '../../platform/app.ts'
import { one, statement, type Tx } from '../../platform/db.ts'
import type { Occasion } from '../../platform/events.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'

const make = statement.tenant<Tenant, object>(
  'callcenter.make_switchboard',
  `insert into callcenter.switchboards (bucket, account_id, environment) values ($bucket, $account, $environment)
   on conflict do nothing`,
)

const lock = statement.tenant<Tenant, object>(
  'callcenter.hold_switchboard',
  `select from callcenter.switchboards where ${mine} for update`,
)

const clockOffset = statement.home<{ account: string; environment: string }, { ms: bigint }>(
  'callcenter.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as ms',
)

/** Takes the switchboard lock until the transaction ends. */
export async function holdSwitchboard(tx: Tx, tenant: Tenant): Promise<void> {
  await tx.query(make, tenant)
  await tx.query(lock, tenant)
}

/** Account time, for work without a request. */
export async function occasionOf(app: App, tenant: Tenant): Promise<Occasion> {
  const { ms } = await one(app.db.query(clockOffset, tenant))
  const receivedMs = app.clock.nowMs()
  return { tenant, receivedMs, nowMs: receivedMs + Number(ms), requestId: null }
}

/** Runs one transaction under the switchboard lock. */
export async function atSwitchboard<T>(
  app: App,
  tenant: Tenant,
  work: (tx: Tx, occasion: Occasion) => Promise<T>,
): Promise<T> {
  const occasion = await occasionOf(app, tenant)
  return app.db.tx(tenant, async (tx) => {
    await holdSwitchboard(tx, tenant)
    return work(tx, occasion)
  })
}
