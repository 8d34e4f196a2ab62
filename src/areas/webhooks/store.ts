// SPDX-License-Identifier: Apache-2.0
// The SQL of endpoints: who wants to hear of what, and how they have been doing.
import { stored } from '../../platform/db/stored.ts'
import { statement } from '../../platform/db.ts'
import { mine, type One, type Tenant } from '../../platform/tenant.ts'

export type FilterValue = string | number | boolean

export interface EndpointRow {
  id: string
  version: number
  url: string
  events: string[]
  description: string | null
  enabled: boolean
  disabled_reason: string | null
  headers: Buffer | null
  ordered: boolean
  rate_limit: number | null
  filters: Record<string, FilterValue>
  secret: Buffer
  next_secret: Buffer | null
  activates_at: Date | null
  created_at: Date
  updated_at: Date
}

const settings = stored(
  'url, events::text[], description, enabled, disabled_reason, headers, ordered, rate_limit, filters::jsonb',
)

/** Fields that a customer may change, as they are stored. */
type Settings = Pick<
  EndpointRow,
  'url' | 'events' | 'description' | 'enabled' | 'disabled_reason' | 'headers' | 'ordered' | 'rate_limit'
> & { filters: string }

const columns = `id, version, url, events, description, enabled, disabled_reason, headers, ordered, rate_limit, filters,
  secret, next_secret, activates_at, created_at, updated_at`

/** Lock of an environment's registrations, so that two at once cannot both take the last place. */
export const lockRegistrations = statement.tenant<Tenant, object>(
  'webhooks.lock_registrations',
  `select pg_advisory_xact_lock(hashtextextended('webhooks.endpoints ' || $account::text || $environment::text, 0))`,
)

export const countEndpoints = statement.tenant<Tenant, { count: number }>(
  'webhooks.count_endpoints',
  `select count(*)::int as count from webhooks.endpoints where ${mine} and system is null`,
)

export const insertEndpoint = statement.tenant<
  Tenant & Settings & { id: string; secret: Buffer; system: string | null; at: Date },
  EndpointRow
>(
  'webhooks.insert_endpoint',
  `insert into webhooks.endpoints (bucket, account_id, environment, id, ${settings.names}, secret, system, created_at, updated_at)
   values ($bucket, $account, $environment, $id, ${settings.values}, $secret, $system, $at::timestamptz, $at)
   returning ${columns}`,
)

export const findEndpoint = statement.tenant<One, EndpointRow>(
  'webhooks.find_endpoint',
  `select ${columns} from webhooks.endpoints where ${mine} and id = $id`,
)

export const lockEndpoint = statement.tenant<One, EndpointRow>(
  'webhooks.lock_endpoint',
  `select ${columns} from webhooks.endpoints where ${mine} and id = $id for update`,
)

/**
 * Lists endpoints. `words`: any of these in the subscription; null for all. Endpoints that an area owns are left out
 * unless asked for.
 */
export const listEndpoints = statement.tenant<
  Tenant & {
    enabled: boolean | null
    words: readonly string[] | null
    withSystem: boolean
    after: string | null
    descending: boolean
    limit: number
  },
  EndpointRow
>(
  'webhooks.list_endpoints',
  `select ${columns} from webhooks.endpoints
    where ${mine} and ($enabled::boolean is null or enabled = $enabled) and ($words::text[] is null or events && $words)
      and (system is null or $withSystem::boolean)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** Endpoints with a URL, ignoring its query. */
export const secretsOfUrl = statement.tenant<
  Tenant & { url: string },
  Pick<EndpointRow, 'id' | 'secret' | 'next_secret' | 'activates_at'>
>(
  'webhooks.secrets_of_url',
  `select id, secret, next_secret, activates_at from webhooks.endpoints
    where ${mine} and (url = $url::text or starts_with(url, $url || '?'))`,
)

export const updateEndpoint = statement.tenant<Tenant & Settings & { id: string; at: Date }, EndpointRow>(
  'webhooks.update_endpoint',
  `update webhooks.endpoints set version = version + 1, ${settings.set}, updated_at = $at
    where ${mine} and id = $id
   returning ${columns}`,
)

export const updateSecrets = statement.tenant<
  One & { secret: Buffer; next: Buffer | null; activatesAt: Date | null; at: Date },
  EndpointRow
>(
  'webhooks.update_secrets',
  `update webhooks.endpoints
      set version = version + 1, secret = $secret, next_secret = $next, activates_at = $activatesAt, updated_at = $at
    where ${mine} and id = $id
   returning ${columns}`,
)

export const deleteEndpoint = statement.tenant<One, { id: string }>(
  'webhooks.delete_endpoint',
  `with gone as (
     delete from webhooks.endpoints where ${mine} and id = $id returning bucket, account_id, environment, id
   ), health as (
     delete from webhooks.health h using gone g
      where h.bucket = g.bucket and h.account_id = g.account_id and h.environment = g.environment and h.endpoint_id = g.id
   ), hours as (
     delete from webhooks.hours h using gone g
      where h.bucket = g.bucket and h.account_id = g.account_id and h.environment = g.environment and h.endpoint_id = g.id
   )
   select id from gone`,
)

/** The deliveries whose jobs were withdrawn. `from` and `to` spare the partitions that have none of them. */
export const cancelDeliveries = statement.tenant<
  Tenant & { ids: readonly string[]; from: string; to: string },
  { id: string }
>(
  'webhooks.cancel_deliveries',
  `update webhooks.deliveries set status = 'cancelled', next_attempt_at = null
    where ${mine} and id = any($ids::uuid[]) and id between $from and $to and status in ('pending', 'delivering')
   returning id`,
)

/** Retries waiting deliveries now. Those whose outcome is being stored at this moment are not touched. */
export const resumeDeliveries = statement.tenant<Tenant & { endpoint: string; since: string; at: Date }, object>(
  'webhooks.resume_deliveries',
  `update webhooks.deliveries set next_attempt_at = $at
    where ${mine} and id >= $since and id in (
      select id from webhooks.deliveries
       where ${mine} and endpoint_id = $endpoint and id >= $since and status = 'pending' and next_attempt_at > $at::timestamptz
         for update skip locked)`,
)

export interface CallbackSecretRow {
  version: number
  secret: Buffer
  next_secret: Buffer | null
  activates_at: Date | null
}

const callbackColumns = 'version, secret, next_secret, activates_at'

export const findCallbackSecret = statement.tenant<Tenant, CallbackSecretRow>(
  'webhooks.find_callback_secret',
  `select ${callbackColumns} from webhooks.callback_secrets where ${mine}`,
)

export const lockCallbackSecret = statement.tenant<Tenant, CallbackSecretRow>(
  'webhooks.lock_callback_secret',
  `select ${callbackColumns} from webhooks.callback_secrets where ${mine} for update`,
)

/** Inserts the first callback secret; when two do so at once, one of them stays. */
export const insertCallbackSecret = statement.tenant<Tenant & { secret: Buffer }, object>(
  'webhooks.insert_callback_secret',
  `insert into webhooks.callback_secrets (bucket, account_id, environment, secret)
   values ($bucket, $account, $environment, $secret)
   on conflict (bucket, account_id, environment) do nothing`,
)

export const updateCallbackSecret = statement.tenant<
  Tenant & { secret: Buffer; next: Buffer | null; activatesAt: Date | null },
  CallbackSecretRow
>(
  'webhooks.update_callback_secret',
  `update webhooks.callback_secrets
      set version = version + 1, secret = $secret, next_secret = $next, activates_at = $activatesAt
    where ${mine}
   returning ${callbackColumns}`,
)
