// SPDX-License-Identifier: Apache-2.0
// Targets of deliveries, ready for use: URL, decrypted secrets, headers and the plan's limits. Every node caches them;
// a change raises the endpoint's version, which deliveries carry, and is signalled to all nodes.
import type { App } from '../../../platform/app.ts'
import type { Allowances } from '../../../platform/auth.ts'
import { statement } from '../../../platform/db.ts'
import type { Policy } from '../../../platform/limits/share.ts'
import type { UrlUse } from '../../../platform/outbound/customer-urls.ts'
import { type Environment, type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { callbackSecret, type OpenSecrets, openHeaders, openSecrets, type StoredSecrets } from '../endpoints/secrets.ts'
import { webhookPlan } from '../plan.ts'
import { type SigningKeys, signingKeys } from './signature.ts'

/** An address with everything that a request to it needs. */
export interface Target {
  readonly use: UrlUse
  readonly version: number
  /** URL of the endpoint; null for callbacks, where each delivery brings its own. */
  readonly url: string | null
  readonly enabled: boolean
  /** Pairs in a flat list. */
  readonly headers: readonly string[]
  readonly secret: SigningKeys
  readonly next: SigningKeys | null
  readonly activatesAt: Date | null
  /** Requests at once. */
  readonly limit: number
  readonly rate: readonly [Policy] | null
  readonly ordered: boolean
  readonly isFailing: boolean
}

export interface Wanted {
  readonly tenant: Tenant
  readonly endpoint: string
}

interface Row extends StoredSecrets {
  id: string
  bucket: number
  account_id: string
  environment: Environment
  version: number
  url: string
  enabled: boolean
  headers: Buffer | null
  rate_limit: number | null
  ordered: boolean
  plan: string
  allowances: Allowances
  state: string | null
}

const load = statement.everywhere<
  { buckets: readonly number[]; accounts: readonly string[]; environments: readonly string[]; ids: readonly string[] },
  Row
>(
  'webhooks.load_targets',
  `select e.id, e.bucket, e.account_id, e.environment, e.version, e.url, e.enabled, e.headers, e.rate_limit, e.ordered, e.secret,
          e.next_secret, e.activates_at, accounts.plan_of(e.account_id) as plan,
          accounts.allowances_of(e.account_id) as allowances, h.state
     from unnest($buckets::smallint[], $accounts::uuid[], $environments::text[], $ids::uuid[])
       as w(bucket, account, environment, id)
     join webhooks.endpoints e
       on e.bucket = w.bucket and e.account_id = w.account and e.environment = w.environment and e.id = w.id
     left join webhooks.health h
       on h.bucket = w.bucket and h.account_id = w.account and h.environment = w.environment and h.endpoint_id = w.id`,
)

const planOf = statement.home<{ account: string }, { plan: string; allowances: Allowances }>(
  'webhooks.plan_of',
  'select accounts.plan_of($account::uuid) as plan, accounts.allowances_of($account::uuid) as allowances',
)

/** The targets of endpoints, by endpoint; one that was deleted is missing. */
export async function loadTargets(app: App, wanted: readonly Wanted[]): Promise<ReadonlyMap<string, Target>> {
  const rows = await app.db.query(load, {
    buckets: wanted.map(({ tenant }) => tenant.bucket),
    accounts: wanted.map(({ tenant }) => tenant.account),
    environments: wanted.map(({ tenant }) => tenant.environment),
    ids: wanted.map(({ endpoint }) => endpoint),
  })
  const targets = await Promise.all(rows.map(async (row) => [row.id, await targetOf(app, row)] as const))
  return new Map(targets)
}

/** Target of requests to callback URLs of an account. */
export async function loadCallbackTarget(app: App, tenant: Tenant): Promise<Target> {
  const [secrets, [row]] = await Promise.all([
    callbackSecret(app, tenant),
    app.db.query(planOf, { account: tenant.account }),
  ])
  return {
    use: 'callback',
    version: 0,
    url: null,
    enabled: true,
    headers: [],
    ...keysOf(secrets),
    limit: webhookPlan(row ?? { plan: '', allowances: {} }).concurrency,
    rate: null,
    ordered: false,
    isFailing: false,
  }
}

async function targetOf(app: App, row: Row): Promise<Target> {
  const tenant = tenantOf(row)
  const headers = await openHeaders(app, tenant, row.id, row.headers)
  return {
    use: 'webhook',
    version: row.version,
    url: row.url,
    enabled: row.enabled,
    headers: Object.entries(headers).flat(),
    ...keysOf(await openSecrets(app, tenant, row.id, row)),
    limit: webhookPlan(row).concurrency,
    rate:
      row.rate_limit === null
        ? null
        : [
            {
              name: 'webhook',
              key: `webhook:${row.id}`,
              limit: row.rate_limit,
              windowMs: 1_000,
              shared: true,
            },
          ],
    ordered: row.ordered,
    // One that is being tried has yet to work.
    isFailing: row.state === 'failing' || row.state === 'degraded',
  }
}

function keysOf({ secret, next, activatesAt }: OpenSecrets): Pick<Target, 'secret' | 'next' | 'activatesAt'> {
  return { secret: signingKeys(secret), next: next === null ? null : signingKeys(next), activatesAt }
}
