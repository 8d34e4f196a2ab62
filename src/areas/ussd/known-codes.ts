// SPDX-License-Identifier: Apache-2.0
// Cache of what every dial reads and hardly ever changes: the code, the newest version of its menu, the account's currency and
// suspension. Changes are announced to every node; nothing is cached while the connection for announcements is down.
import type { App } from '../../platform/app.ts'
import { maybe, one, type Queryable, statement, type Tx } from '../../platform/db.ts'
import { ToldCache } from '../../platform/nodes/told-cache.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import { type Environment, mine, type Tenant } from '../../platform/tenant.ts'
import type { Setup } from './session.ts'
import { candidatesOf } from './shortcode.ts'
import { findShortcode, type ShortcodeRow, setupOf } from './shortcode-store.ts'

/** Topic of changes to shortcodes and menus. */
export const codesTopic = 'ussd-codes'

const goodForMs = 60_000
const maxRemembered = 10_000

interface Facts {
  currency: string
  is_suspended: boolean
}

const factsOf = statement.home<{ account: string }, Facts>(
  'ussd.account_facts',
  `select accounts.currency_of($account::uuid) as currency, accounts.is_suspended($account) as is_suspended`,
)

const versionOf = statement.tenant<Tenant & { id: string }, { version: number }>(
  'ussd.version_of_menu',
  `select version from ussd.menus where ${mine} and id = $id`,
)

const known = onePerApp((app) => {
  const bounds = { most: maxRemembered, goodForMs }
  const codes = new ToldCache<ShortcodeRow | null>(app.signals, bounds)
  const versions = new ToldCache<number | null>(app.signals, bounds)
  const facts = new ToldCache<Facts>(app.signals, bounds)
  const forget = (): void => {
    codes.forgetAll()
    versions.forgetAll()
  }
  app.signals.on(codesTopic, forget)
  app.signals.on('accounts', (account) => facts.forget(account))
  return { codes, versions, facts, forget }
})

/** Longest registered code that matches the dialled string. */
export function registered(app: App, environment: Environment, text: string): Promise<ShortcodeRow | null> {
  const codes = candidatesOf(text)
  return known(app).codes.of(`${environment} ${text}`, () => maybe(app.db.query(findShortcode, { environment, codes })))
}

/** Settings a session copies from its shortcode, with the menu's current version. */
export async function setupNow(app: App, tenant: Tenant, row: ShortcodeRow, own: Partial<Setup> = {}): Promise<Setup> {
  return setupOf(row, row.menu_id === null ? null : await newestVersion(app, tenant, row.menu_id), own)
}

/** Newest version of a menu; null when there is no such menu. */
function newestVersion(app: App, tenant: Tenant, id: string): Promise<number | null> {
  const { account, environment } = tenant
  return known(app).versions.of(`${environment} ${account} ${id}`, async () => {
    const row = await maybe(app.db.query(versionOf, { ...tenant, id }))
    return row?.version ?? null
  })
}

export function accountFacts(app: App, account: string): Promise<Facts> {
  return known(app).facts.of(account, () => one(app.db.query(factsOf, { account })))
}

/** Announces a change of shortcodes or menus to every node. */
export async function announceCodes(app: App, tx: Queryable & Pick<Tx, 'afterCommit'>): Promise<void> {
  tx.afterCommit(() => known(app).forget())
  await app.signals.send(tx, codesTopic, 'changed')
}
