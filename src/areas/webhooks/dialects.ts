// SPDX-License-Identifier: Apache-2.0
// Requests in the dialect of another provider: the words are its door's, the key that signs them is the account's.
import { idOf } from '../../kernel/ids.ts'
import type { DialectRequest, ToldEvent } from '../../platform/api/dialect.ts'
import type { App } from '../../platform/app.ts'
import { ToldCache } from '../../platform/nodes/told-cache.ts'
import { dialectOf } from '../../platform/outbound/dialect-url.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import type { Tenant } from '../../platform/tenant.ts'

const keyForMs = 30_000
const maxKeys = 10_000

/** Keys for doors, cached until a key of the account changes. */
const keys = onePerApp((app) => {
  const known = new ToldCache<{ key: string | null }>(app.signals, { most: maxKeys, goodForMs: keyForMs })
  app.signals.on('accounts', (account) => {
    for (const dialect of app.dialects.keys())
      for (const environment of ['test', 'live']) known.forget(`${dialect} ${environment} ${account}`)
  })
  return known
})

/** Request that tells an event, or asks about a call, at an address of a dialect; null when it has no word for it. */
export async function inDialect(
  app: App,
  tenant: Tenant,
  address: string,
  event: ToldEvent,
  clockOffsetMs: number,
): Promise<DialectRequest | null> {
  const { dialect, options, url } = dialectOf(address)
  const words = dialect === null ? undefined : app.dialects.get(dialect)
  if (dialect === null || !words) throw new Error('the address has no dialect')
  const listener = {
    ...{ url, options },
    accountId: idOf('account', tenant.account),
    nowMs: app.clock.nowMs() + clockOffsetMs,
    doorKey: words.signsWithKey ? await keyOf(app, tenant, dialect) : null,
  }
  return words.tell(event, listener)
}

async function keyOf(app: App, tenant: Tenant, dialect: string): Promise<string | null> {
  const name = `${dialect} ${tenant.environment} ${tenant.account}`
  const { key } = await keys(app).of(name, async () => ({ key: await app.authenticator.doorKey(tenant, dialect) }))
  return key
}
