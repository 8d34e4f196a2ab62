// SPDX-License-Identifier: Apache-2.0
// The SQL of hooks and what they caught.
import { statement } from '../../platform/db.ts'
import { type Environment, mine, type One, type Tenant } from '../../platform/tenant.ts'

export interface HookRow {
  id: string
  token: string
  caught: number
}

export interface CaughtRow {
  id: string
  method: string
  query: string
  headers: Record<string, string>
  body: string
  truncated: boolean
  signature_valid: boolean | null
  response_status: number | null
}

export const countHooks = statement.tenant<Tenant, { count: number }>(
  'sandbox.count_hooks',
  `select count(*)::int as count from sandbox.hooks where ${mine}`,
)

export const insertHook = statement.tenant<One & { token: string; secret: Buffer | null }, object>(
  'sandbox.insert_hook',
  `with made as (
     insert into sandbox.hooks (bucket, account_id, environment, id, token, secret)
     values ($bucket, $account, $environment, $id, $token, $secret)
   )
   insert into sandbox.hook_tokens (token, bucket, account_id, environment, hook_id)
   values ($token, $bucket, $account, $environment, $id)`,
  { joinsHome: true },
)

export const findHook = statement.tenant<One, HookRow>(
  'sandbox.find_hook',
  `select id, token, caught from sandbox.hooks where ${mine} and id = $id`,
)

export const listHooks = statement.tenant<
  Tenant & { after: string | null; descending: boolean; limit: number },
  HookRow
>(
  'sandbox.list_hooks',
  `select id, token, caught from sandbox.hooks
    where ${mine} and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const deleteHook = statement.tenant<One, { id: string }>(
  'sandbox.delete_hook',
  `with requests as (
     delete from sandbox.hook_requests where ${mine} and hook_id = $id
   ), gone as (
     delete from sandbox.hooks where ${mine} and id = $id returning id, token
   ), tokens as (
     delete from sandbox.hook_tokens t using gone where t.token = gone.token
   )
   select id from gone`,
  { joinsHome: true },
)

export const hookOfToken = statement.everywhere<
  { token: string },
  { bucket: number; account: string; environment: Environment; id: string; secret: Buffer | null }
>(
  'sandbox.hook_of_token',
  `select h.bucket, h.account_id as account, h.environment, h.id, h.secret
     from sandbox.hook_tokens t
     join sandbox.hooks h on h.bucket = t.bucket and h.account_id = t.account_id and h.environment = t.environment
                         and h.id = t.hook_id
    where t.token = $token`,
  { joinsHome: true },
)

/** Counts a request. The next one waits until this one is stored, so that each has its own number. */
export const countCaught = statement.tenant<One, { caught: number }>(
  'sandbox.count_caught',
  `update sandbox.hooks set caught = caught + 1 where ${mine} and id = $id returning caught`,
)

/**
 * Bytes kept by all hooks of an account. Read after `countCaught`, whose snapshot is older than its wait for the lock.
 */
export const bytesKept = statement.tenant<Tenant, { bytes: number }>(
  'sandbox.bytes_kept',
  `select sum(kept_bytes)::float8 as bytes from sandbox.hooks where ${mine}`,
)

/** Number of earlier requests with the same script. */
export const countAlike = statement.tenant<Tenant & { hook: string; query: string }, { count: number }>(
  'sandbox.count_alike',
  `select count(*)::int as count from sandbox.hook_requests where ${mine} and hook_id = $hook and query = $query`,
)

export const insertCaught = statement.tenant<
  Tenant & {
    hook: string
    id: string
    method: string
    query: string
    headers: string
    body: string
    truncated: boolean
    bytes: number
    signatureValid: boolean | null
    status: number | null
  },
  object
>(
  'sandbox.insert_caught',
  `with counted as (
     update sandbox.hooks set kept_bytes = kept_bytes + $bytes::int where ${mine} and id = $hook
   )
   insert into sandbox.hook_requests (bucket, account_id, environment, hook_id, id, method, query, headers, body,
     truncated, bytes, signature_valid, response_status)
   values ($bucket, $account, $environment, $hook, $id, $method, $query, $headers::jsonb, $body, $truncated, $bytes,
     $signatureValid, $status)`,
)

/** Forgets the oldest of a hook: all but the newest `keep`, and as many as hold `free` bytes. Gives what was freed. */
export const forgetOldest = statement.tenant<
  Tenant & { hook: string; keep: number; free: number },
  { freed_bytes: number }
>(
  'sandbox.forget_oldest',
  `with gone as (
     delete from sandbox.hook_requests
      where ${mine} and hook_id = $hook and id <= (
        select o.id
          from (select id, row_number() over (order by id desc) as place, sum(bytes) over (order by id) - bytes as older_bytes
                  from sandbox.hook_requests where ${mine} and hook_id = $hook) o
         where o.place > $keep::int or o.older_bytes < $free::int
         order by o.id desc limit 1)
     returning bytes
   ), freed as (
     select coalesce(sum(bytes), 0) as bytes from gone
   )
   update sandbox.hooks set kept_bytes = kept_bytes - freed.bytes from freed where ${mine} and id = $hook
   returning freed.bytes::float8 as freed_bytes`,
)

export const listCaught = statement.tenant<
  Tenant & { hook: string; after: string | null; descending: boolean; limit: number },
  CaughtRow
>(
  'sandbox.list_caught',
  `select id, method, query, headers, body, truncated, signature_valid, response_status from sandbox.hook_requests
    where ${mine} and hook_id = $hook
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const purgeCaught = statement.everywhere<{ buckets: readonly number[]; before: string }, object>(
  'sandbox.purge_caught',
  `with gone as (
     delete from sandbox.hook_requests where bucket = any($buckets::smallint[]) and id < $before::uuid
     returning bucket, account_id, environment, hook_id, bytes
   ), freed as (
     select bucket, account_id, environment, hook_id, sum(bytes) as bytes from gone group by 1, 2, 3, 4
   )
   update sandbox.hooks h set kept_bytes = h.kept_bytes - f.bytes from freed f
    where h.bucket = f.bucket and h.account_id = f.account_id and h.environment = f.environment and h.id = f.hook_id`,
)
