// SPDX-License-Identifier: Apache-2.0
// Permissions of an account to send under a sender id to a country. Every message needs them, so they are cached in memory; the
// cache is dropped on every node when they change, and not used while the connection for these signals is down.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import { ToldCache } from '../../../platform/nodes/told-cache.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type SenderRegistration, usualRegistration } from './countries.ts'

const goodForMs = 60_000
const maxRemembered = 50_000

interface Facts {
  rules: Record<string, { enabled: boolean | null; registration: SenderRegistration | null }>
  countries: string[] | null
  senders: { sender: string; countries: string[] }[]
  numbers: string[]
  weight: number
  suspended: boolean
}

const load = statement.tenant<Tenant, Facts>(
  'sms.load_permission',
  `select (select coalesce(jsonb_object_agg(r.country, jsonb_build_object('enabled', r.enabled,
                                                                          'registration', r.sender_registration)), '{}')
             from sms.country_rules r) as rules,
          (select c.countries from sms.account_countries c where c.bucket = $bucket and c.account_id = $account) as countries,
          (select coalesce(jsonb_agg(jsonb_build_object('sender', s.sender, 'countries', s.countries)), '[]')
             from sms.sender_ids s
            where s.bucket = $bucket and s.account_id = $account and s.environment = $environment
              and s.status = 'approved') as senders,
          numbers.of_account($account, $environment, 'sms') as numbers,
          coalesce((accounts.allowances_of($account) ->> 'sms_weight')::int, 1) as weight,
          accounts.is_suspended($account) as suspended`,
  { joinsHome: true },
)

/** Permissions of an account. */
export interface Permission {
  /** Why it may not send under this name to this country; null when it may. */
  problem(sender: string, country: string | null): AppError | null
  /** Texts per turn, when accounts take turns. */
  readonly weight: number
  /** Whether its texts wait because it is suspended. */
  readonly isSuspended: boolean
}

/** Permissions of an account in one of its environments, cached. */
export function permissionOf(app: App, tenant: Tenant): Promise<Permission> {
  return permissions(app).of(tenant)
}

/** Tells every node that an account may do something else now; without an account, that all of them may. */
export async function announcePermission(app: App, tx: Tx, account = ''): Promise<void> {
  tx.afterCommit(() => permissions(app).forget(account))
  await app.signals.send(tx, 'sms-permissions', account)
}

const permissions = onePerApp((app) => new Permissions(app))

class Permissions {
  readonly #app: App
  readonly #known: ToldCache<Permission>

  constructor(app: App) {
    this.#app = app
    this.#known = new ToldCache(app.signals, { most: maxRemembered, goodForMs })
    app.signals.on('sms-permissions', (account) => this.forget(account))
    app.signals.on('accounts', (account) => this.forget(account))
  }

  of(tenant: Tenant): Promise<Permission> {
    return this.#known.of(keyOf(tenant.account, tenant.environment), async () =>
      permissionFrom(await one(this.#app.db.query(load, { ...tenant })), tenant),
    )
  }

  forget(account: string): void {
    if (account === '') this.#known.forgetAll()
    for (const environment of ['test', 'live'] as const) this.#known.forget(keyOf(account, environment))
  }
}

function keyOf(account: string, environment: Tenant['environment']): string {
  return `${environment} ${account}`
}

function permissionFrom(facts: Facts, { environment }: Tenant): Permission {
  const { rules, countries, senders, numbers, weight, suspended: isSuspended } = facts
  const allowed = countries && new Set(countries)
  const approved = new Map<string, Set<string>[]>()
  for (const { sender, countries: places } of senders)
    approved.set(sender, [...(approved.get(sender) ?? []), new Set(places)])
  const own = new Set(numbers.map((number) => number.replace('+', '')))

  /** Defaults of real networks do not apply to tests; the operator's settings apply to both. */
  const demandsRegistration = (country: string): boolean =>
    (rules[country]?.registration ?? (environment === 'live' ? usualRegistration(country) : 'open')) === 'required'
  const isRegistered = (sender: string, country: string): boolean =>
    own.has(sender.replace('+', '')) ||
    (approved.get(sender) ?? []).some((places) => places.size === 0 || places.has(country))

  return {
    weight,
    isSuspended,
    problem(sender, country) {
      const isEnabled =
        country === null ? allowed === null : rules[country]?.enabled !== false && (allowed?.has(country) ?? true)
      if (!isEnabled)
        return new AppError('COUNTRY_NOT_ENABLED', `messages to ${country ?? 'an unknown country'} are not enabled`)
      if (sender.startsWith('+') && environment === 'live' && !own.has(sender.slice(1)))
        return new AppError('SENDER_NOT_ALLOWED', `${sender} is not a number of this account`)
      if (country !== null && demandsRegistration(country) && !isRegistered(sender, country))
        return new AppError('SENDER_NOT_ALLOWED', `${sender} is not an approved sender for ${country}`)
      return null
    },
  }
}
