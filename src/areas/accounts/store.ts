// SPDX-License-Identifier: Apache-2.0
// All SQL of the accounts area. Accounts, plans and keys are small tables that every node reads and a cluster
// replicates, so they carry no bucket of their own.
import { type Id, idOf } from '../../kernel/ids.ts'
import { commonScopes } from '../../platform/auth/scopes.ts'
import type { Allowances, CallbackEvents, Envelope, KeyFacts } from '../../platform/auth.ts'
import { statement } from '../../platform/db.ts'
import type { Environment } from '../../platform/tenant.ts'
import { settingNames } from './account-settings.ts'
import { type ApiKey, rotationDueAt, statusOf } from './key.ts'
import { masksPeople, type Role, scopesOf } from './roles.ts'

export interface KeyRow {
  id: string
  account_id: string
  environment: Environment
  name: string
  prefix: string
  last4: string
  scopes: string[]
  created_at: Date
  created_by: string
  last_used_at: Date | null
  last_used_ip: string | null
  expires_at: Date | null
  revoked_at: Date | null
  rotated_from: string | null
  allowed_ips: string[]
  rate_limit_per_second: number | null
  exposed_at: Date | null
  strict: boolean
  envelope: Envelope
  callback_events: CallbackEvents | null
  /** Member who made it, or whose key did. */
  member_id: string | null
  /** Door that it was made for. */
  door: string | null
}

const keyColumns = `id, account_id, environment, name, prefix, last4, scopes, created_at, created_by, last_used_at,
  last_used_ip, expires_at, revoked_at, rotated_from, allowed_ips, rate_limit_per_second, exposed_at, strict, envelope,
  callback_events, member_id, door`

export const countKeys = statement.home<{ account: string; at: Date }, { count: number }>(
  'accounts.count_keys',
  `select count(*)::int as count from accounts.api_keys
    where account_id = $account and revoked_at is null and (expires_at is null or expires_at > $at)`,
)

export const insertKey = statement.home<
  {
    hash: Buffer
    id: string
    account: string
    environment: string
    name: string
    prefix: string
    last4: string
    scopes: string[]
    createdBy: string
    expiresAt: Date | null
    rotatedFrom: string | null
    allowedIps: string[]
    rateLimit: number | null
    strict: boolean
    envelope: Envelope
    callbackEvents: CallbackEvents | null
    member: string | null
    door: string | null
    sealedKey: Buffer | null
  },
  KeyRow
>(
  'accounts.insert_key',
  `insert into accounts.api_keys (hash, id, account_id, environment, name, prefix, last4, scopes, created_by, expires_at,
                                  rotated_from, allowed_ips, rate_limit_per_second, strict, envelope, callback_events,
                                  member_id, door, sealed_key)
   values ($hash, $id, $account, $environment, $name, $prefix, $last4, $scopes, $createdBy, $expiresAt, $rotatedFrom,
           $allowedIps, $rateLimit, $strict, $envelope, $callbackEvents, $member,
           $door, $sealedKey)
   returning ${keyColumns}`,
)

/** Newest key of an account for a door that still works. Index: api_keys_of_door. */
export const findDoorKey = statement.home<
  { account: string; environment: string; door: string; at: Date },
  { id: string; sealed_key: Buffer }
>(
  'accounts.find_door_key',
  `select id, sealed_key from accounts.api_keys
    where account_id = $account and environment = $environment and door = $door and revoked_at is null
      and (expires_at is null or expires_at > $at)
    order by id desc limit 1`,
)

export const findKey = statement.home<{ id: string; account: string }, KeyRow>(
  'accounts.find_key',
  `select ${keyColumns} from accounts.api_keys where id = $id and account_id = $account`,
)

export const lockKey = statement.home<{ id: string; account: string }, KeyRow>(
  'accounts.lock_key',
  `select ${keyColumns} from accounts.api_keys where id = $id and account_id = $account for update`,
)

/** Keys of an account, newest first or oldest first, after a cursor. Index: api_keys_of_account. */
export const listKeys = statement.home<
  { account: string; environment: string | null; after: string | null; descending: boolean; limit: number },
  KeyRow
>(
  'accounts.list_keys',
  `select ${keyColumns} from accounts.api_keys
    where account_id = $account and ($environment::text is null or environment = $environment)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const updateKey = statement.home<
  {
    id: string
    account: string
    name: string
    scopes: string[]
    expiresAt: Date | null
    allowedIps: string[]
    rateLimit: number | null
    strict: boolean
    envelope: Envelope
    callbackEvents: CallbackEvents | null
  },
  KeyRow
>(
  'accounts.update_key',
  `update accounts.api_keys set name = $name, scopes = $scopes, expires_at = $expiresAt, allowed_ips = $allowedIps,
          rate_limit_per_second = $rateLimit, strict = $strict, envelope = $envelope,
          callback_events = $callbackEvents
    where id = $id and account_id = $account
   returning ${keyColumns}`,
)

export const revokeKey = statement.home<{ id: string; account: string; at: Date }, KeyRow>(
  'accounts.revoke_key',
  `update accounts.api_keys set revoked_at = $at where id = $id and account_id = $account and revoked_at is null
   returning ${keyColumns}`,
)

export const roleOfMember = statement.home<{ account: string; id: string }, { role: Role }>(
  'accounts.role_of_member',
  'select role from accounts.members where account_id = $account and id = $id',
)

/** Revokes the keys that a member made, or whose keys did. Index: api_keys_of_member. */
export const revokeKeysOf = statement.home<{ account: string; member: string; at: Date }, KeyRow>(
  'accounts.revoke_keys_of',
  `update accounts.api_keys set revoked_at = $at
    where account_id = $account and member_id = $member and revoked_at is null
   returning ${keyColumns}`,
)

/** Marks a key as exposed, and revoke it if asked. `revoked`: by this call. No row when nothing changed. */
export const exposeKey = statement.home<
  { id: string; revoke: boolean; at: Date },
  { name: string; prefix: string; last4: string; revoked: boolean }
>(
  'accounts.expose_key',
  `update accounts.api_keys k set exposed_at = coalesce(k.exposed_at, $at),
          revoked_at = case when $revoke::boolean and k.environment = 'live' then coalesce(k.revoked_at, $at) else k.revoked_at end
     from (select o.id, o.revoked_at from accounts.api_keys o
            where o.id = $id
              and (o.exposed_at is null or ($revoke::boolean and o.environment = 'live' and o.revoked_at is null))
              for update) before
    where k.id = before.id
   returning k.name, k.prefix, k.last4, before.revoked_at is null and k.revoked_at is not null as revoked`,
)

/** Last use of keys, stored at most once a minute per key: a busy key is not a busy row. */
export const touchKeys = statement.home<{ ids: string[]; ips: string[] }, object>(
  'accounts.touch_keys',
  `update accounts.api_keys k set last_used_at = now(), last_used_ip = u.ip
     from unnest($ids::uuid[], $ips::text[]) as u(id, ip)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < now() - interval '1 minute')`,
)

/**
 * Marks and returns working keys made before a moment that have no successor and were not reported: the marking call
 * reports them. Index: api_keys_untold.
 */
export const takeDueForRotation = statement.home<
  { at: Date; before: Date; limit: number },
  {
    id: string
    bucket: number
    account_id: string
    environment: Environment
    name: string
    prefix: string
    last4: string
    created_at: Date
  }
>(
  'accounts.take_due_for_rotation',
  `update accounts.api_keys k set rotation_told_at = $at
     from accounts.accounts a
    where a.id = k.account_id and k.rotation_told_at is null and k.id in (
      select d.id from accounts.api_keys d
       where d.rotation_told_at is null and d.revoked_at is null and d.created_at <= $before
         and (d.expires_at is null or d.expires_at > $at)
         and not exists (select from accounts.api_keys s where s.account_id = d.account_id and s.rotated_from = d.id)
       order by d.created_at limit $limit::int for update skip locked)
   returning k.id, a.bucket, k.account_id, k.environment, k.name, k.prefix, k.last4, k.created_at`,
)

export interface AccountFactsRow {
  account_id: string
  bucket: number
  plan: string
  plan_limits: Partial<Record<string, number | null>>
  own_limits: Partial<Record<string, number | null>>
  allowances: Allowances
  currency: string
  country: string
  operator: boolean
  account_status: string
  account_callback_events: CallbackEvents | null
  clock_offset_ms: bigint
}

interface FactsRow extends KeyRow, AccountFactsRow {
  member_role: Role | null
  member_status: string | null
  member_operates: boolean | null
}

/** An account and its plan as the facts of a key have them. */
export const factsByAccount = statement.home<{ account: string; environment: Environment }, AccountFactsRow>(
  'accounts.facts_by_account',
  `select a.id as account_id, a.bucket, a.plan, p.limits as plan_limits, a.limits as own_limits, a.allowances, a.currency,
          a.country, a.operator, a.status as account_status, a.settings ->> 'callback_events' as account_callback_events,
          case when $environment = 'test' then coalesce(c.offset_ms, 0) else 0 end as clock_offset_ms
     from accounts.accounts a
     join accounts.plans p on p.name = a.plan
     left join accounts.sandbox_clocks c on c.account_id = a.id
    where a.id = $account`,
)

/** Every account there is, for searches that ask each of them. */
export const everyAccount = statement.home<Record<never, never>, { id: string; bucket: number; name: string }>(
  'accounts.every_account',
  'select id, bucket, name from accounts.accounts',
)

const facts = `select k.id, k.account_id, k.environment, k.name, k.prefix, k.last4, k.scopes, k.created_at, k.created_by,
    k.last_used_at, k.last_used_ip, k.expires_at, k.revoked_at, k.rotated_from, k.allowed_ips, k.rate_limit_per_second,
    k.exposed_at, k.strict, k.envelope, k.callback_events, a.settings ->> 'callback_events' as account_callback_events,
    k.member_id, m.role as member_role, m.status as member_status,
    m.operator as member_operates, a.bucket, a.plan, p.limits as plan_limits, a.limits as own_limits, a.allowances, a.currency, a.country,
    a.operator, a.status as account_status, case when k.environment = 'test' then coalesce(c.offset_ms, 0) else 0 end as clock_offset_ms
  from accounts.api_keys k
  join accounts.accounts a on a.id = k.account_id
  join accounts.plans p on p.name = a.plan
  left join accounts.members m on m.id = k.member_id
  left join accounts.sandbox_clocks c on c.account_id = a.id`

export const factsByHash = statement.home<{ hash: Buffer }, FactsRow>(
  'accounts.facts_by_hash',
  `${facts} where k.hash = $hash`,
)
export const factsById = statement.home<{ id: string }, FactsRow>('accounts.facts_by_id', `${facts} where k.id = $id`)

export interface AccountRow {
  id: string
  bucket: number
  name: string
  country: string
  currency: string
  timezone: string
  plan: string
  limits: Partial<Record<string, number | null>>
  allowances: Allowances
  status: 'active' | 'suspended'
  operator: boolean
  settings: Record<string, unknown>
  created_at: Date
}

const accountColumns =
  'id, bucket, name, country, currency, timezone, plan, limits, allowances, status, operator, settings, created_at'

export const insertAccount = statement.home<
  Pick<AccountRow, 'id' | 'bucket' | 'name' | 'country' | 'currency' | 'timezone' | 'plan' | 'operator'>,
  AccountRow
>(
  'accounts.insert_account',
  `insert into accounts.accounts (id, bucket, name, country, currency, timezone, plan, operator)
   values ($id, $bucket, $name, $country, $currency, $timezone, $plan, $operator)
   returning ${accountColumns}`,
)

export const findAccount = statement.home<{ id: string }, AccountRow>(
  'accounts.find_account',
  `select ${accountColumns} from accounts.accounts where id = $id`,
)

export const lockAccount = statement.home<{ id: string }, AccountRow>(
  'accounts.lock_account',
  `select ${accountColumns} from accounts.accounts where id = $id for update`,
)

export const firstOperator = statement.home<Record<never, never>, AccountRow>(
  'accounts.first_operator',
  `select ${accountColumns} from accounts.accounts where operator order by id limit 1`,
)

/** Lock for the first start: one at a time, and no other writer of accounts meanwhile. */
export const lockAccounts = statement.home<Record<never, never>, object>(
  'accounts.lock_accounts',
  'lock table accounts.accounts in share row exclusive mode',
)

export const listAccounts = statement.home<
  { status: string | null; plan: string | null; after: string | null; descending: boolean; limit: number },
  AccountRow
>(
  'accounts.list_accounts',
  `select ${accountColumns} from accounts.accounts
    where ($status::text is null or status = $status) and ($plan::text is null or plan = $plan)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const updateAccount = statement.home<
  {
    id: string
    name: string
    timezone: string
    settings: string
    plan: string
    limits: string
    allowances: string
    status: string
  },
  AccountRow
>(
  'accounts.update_account',
  `update accounts.accounts set name = $name, timezone = $timezone, settings = $settings::jsonb, plan = $plan,
          limits = $limits::jsonb, allowances = $allowances::jsonb, status = $status
    where id = $id
   returning ${accountColumns}`,
)

export interface PlanRow {
  name: string
  limits: Partial<Record<string, number | null>>
  updated_at: Date
}

export const listPlans = statement.home<Record<never, never>, PlanRow>(
  'accounts.list_plans',
  'select name, limits, updated_at from accounts.plans order by name',
)

export const findPlan = statement.home<{ name: string }, PlanRow>(
  'accounts.find_plan',
  'select name, limits, updated_at from accounts.plans where name = $name',
)

/** Plan, locked; accounts that are opened on it meanwhile do not wait. */
export const lockPlan = statement.home<{ name: string }, PlanRow>(
  'accounts.lock_plan',
  'select name, limits, updated_at from accounts.plans where name = $name for no key update',
)

export const insertPlan = statement.home<{ name: string; limits: string }, PlanRow>(
  'accounts.insert_plan',
  `insert into accounts.plans (name, limits) values ($name, $limits::jsonb)
   on conflict do nothing
   returning name, limits, updated_at`,
)

export const updatePlanLimits = statement.home<{ name: string; limits: string }, PlanRow>(
  'accounts.update_plan_limits',
  `update accounts.plans set limits = $limits::jsonb, updated_at = now() where name = $name
   returning name, limits, updated_at`,
)

export const accountsOnPlan = statement.home<{ plan: string }, { id: string }>(
  'accounts.accounts_on_plan',
  'select id from accounts.accounts where plan = $plan',
)

/** Key of any account. */
export const findAnyKey = statement.home<{ id: string }, KeyRow>(
  'accounts.find_any_key',
  `select ${keyColumns} from accounts.api_keys where id = $id`,
)

export const lockAnyKey = statement.home<{ id: string }, KeyRow>(
  'accounts.lock_any_key',
  `select ${keyColumns} from accounts.api_keys where id = $id for update`,
)

/** Takes a reference for a credit, once; nothing comes back when it was used before. */
export const creditReference = statement.home<
  { account: string; environment: string; reference: string; source: string },
  { source_id: string }
>(
  'accounts.credit_reference',
  `insert into accounts.credits (account_id, environment, reference, source_id) values ($account, $environment, $reference, $source)
   on conflict do nothing returning source_id`,
)

export const findCredit = statement.home<
  { account: string; environment: string; reference: string },
  { source_id: string }
>(
  'accounts.find_credit',
  `select source_id from accounts.credits where account_id = $account and environment = $environment and reference = $reference`,
)

/** Moves a test account's clock forward and gives its whole distance. */
export const advanceClock = statement.home<{ account: string; ms: number }, { offset_ms: bigint }>(
  'accounts.advance_clock',
  `insert into accounts.sandbox_clocks as c (account_id, offset_ms) values ($account, $ms::bigint)
   on conflict (account_id) do update set offset_ms = c.offset_ms + excluded.offset_ms
   returning offset_ms`,
)

/** Sets a test account's clock back to the real time and gives how far it was ahead. */
export const resetClock = statement.home<{ account: string }, { offset_ms: bigint }>(
  'accounts.reset_clock',
  `with before as (select account_id, offset_ms from accounts.sandbox_clocks where account_id = $account for update)
   update accounts.sandbox_clocks c set offset_ms = 0 from before b where c.account_id = b.account_id
   returning b.offset_ms`,
)

/** Sets the clock that transactions of the account hold where its bucket lives, once none of them holds it. */
export const noteClock = statement.tenant<{ bucket: number; account: string; ms: bigint }, object>(
  'accounts.note_clock',
  `insert into accounts.held_clocks (bucket, account_id, offset_ms) values ($bucket, $account, $ms)
   on conflict (bucket, account_id) do update set offset_ms = excluded.offset_ms`,
)

export function keyOf(row: KeyRow, nowMs: number): ApiKey {
  return {
    id: idOf('apiKey', row.id),
    name: row.name,
    environment: row.environment,
    prefix: row.prefix,
    last4: row.last4,
    scopes: row.scopes,
    status: statusOf(row.expires_at, row.revoked_at, nowMs),
    created_at: row.created_at,
    created_by: row.created_by,
    member_id: row.member_id ? idOf('member', row.member_id) : null,
    last_used_at: row.last_used_at,
    last_used_ip: row.last_used_ip,
    expires_at: row.expires_at,
    rotated_from: row.rotated_from ? idOf('apiKey', row.rotated_from) : null,
    rotation_due_at: rotationDueAt(row.created_at),
    allowed_ips: row.allowed_ips,
    rate_limit_per_second: row.rate_limit_per_second,
    exposed_at: row.exposed_at,
    strict: row.strict,
    envelope: row.envelope,
    callback_events: row.callback_events,
    door: row.door,
  }
}

/** Scopes of a key, held to what the member who made it may do now. */
function scopesOfKey({ scopes, environment, operator, member_role: role, member_operates }: FactsRow): string[] {
  if (role === null) return scopes
  const ofMember = scopesOf(role, environment)
  return commonScopes(scopes, operator && member_operates ? [...ofMember, 'operator'] : ofMember)
}

export function factsOf(row: FactsRow): KeyFacts {
  return {
    keyUuid: row.id,
    account: row.account_id,
    bucket: row.bucket,
    environment: row.environment,
    scopes: scopesOfKey(row),
    member: row.member_id,
    isHeld: row.member_id !== null && row.member_status !== 'active',
    masksPeople: row.member_role !== null && masksPeople(row.member_role),
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    allowedIps: row.allowed_ips,
    rateLimitPerSecond: row.rate_limit_per_second,
    strict: row.strict,
    envelope: row.envelope,
    ...planFacts(row),
    callbackEvents: row.callback_events ?? row.account_callback_events ?? 'all',
  }
}

/** The facts of an account that no key asked for. */
export function accountFacts(row: AccountFactsRow, environment: Environment): KeyFacts {
  return {
    keyUuid: row.account_id,
    account: row.account_id,
    bucket: row.bucket,
    environment,
    scopes: [],
    member: null,
    isHeld: false,
    masksPeople: false,
    expiresAt: null,
    revokedAt: null,
    allowedIps: [],
    rateLimitPerSecond: null,
    strict: false,
    envelope: 'both',
    ...planFacts(row),
  }
}

/** Facts of a credential that come from its account and plan. */
export function planFacts(row: AccountFactsRow) {
  return {
    callbackEvents: row.account_callback_events ?? 'all',
    plan: row.plan,
    planLimits: { ...row.plan_limits, ...row.own_limits },
    allowances: row.allowances,
    currency: row.currency,
    country: row.country,
    operator: row.operator,
    suspended: row.account_status === 'suspended',
    clockOffsetMs: Number(row.clock_offset_ms),
  }
}

export interface Account {
  id: Id<'account'>
  name: string
  country: string
  currency: string
  timezone: string
  plan: string
  status: 'active' | 'suspended'
  settings: Record<string, unknown>
  created_at: Date
}

export function accountOf(row: AccountRow): Account {
  const { name, country, currency, timezone, plan, status, created_at } = row
  // A reader of an account sees every setting that exists.
  const settings = Object.fromEntries(settingNames.map((setting) => [setting, row.settings[setting] ?? null]))
  return { id: idOf('account', row.id), name, country, currency, timezone, plan, status, settings, created_at }
}
