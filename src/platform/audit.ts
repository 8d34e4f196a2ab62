// SPDX-License-Identifier: Apache-2.0
// Who changed what, when, from where. Written in the transaction of the change; never updated.
import { newUuid } from '../kernel/ids.ts'
import type { Caller } from './auth.ts'
import { type Queryable, statement } from './db.ts'
import type { Window } from './page.ts'
import { mine, type Tenant } from './tenant.ts'

/** Any number of entries, of any accounts. */
const insert = statement.tenant<{ buckets: readonly number[]; items: string }, object>(
  'platform.record',
  `select platform.record(array(select i from jsonb_populate_recordset(null::platform.audit_item, $items::jsonb) i))`,
)

export interface AuditAs {
  tenant: Tenant
  id: string
  actor: string
  ip: string
  requestId: string
}

/** Notes a change a caller makes. `before` and `after` hold what changed and nothing secret. */
export async function record(
  tx: Queryable,
  caller: Caller,
  action: string,
  target: string,
  change: { before?: object; after?: object } = {},
): Promise<void> {
  await recordAs(tx, { ...caller, id: newUuid(caller.receivedMs) }, action, target, change)
}

/** Notes a change that was not made by a request of the account itself. */
export async function recordAs(
  tx: Queryable,
  by: AuditAs,
  action: string,
  target: string,
  change: { before?: object; after?: object } = {},
): Promise<void> {
  await recordAll(tx, [{ by, action, target, ...change }])
}

/** Notes several changes at once, whoever made them. */
export async function recordAll(tx: Queryable, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  const buckets = changes.map(({ by }) => by.tenant.bucket)
  await tx.query(insert, { buckets, items: JSON.stringify(changes.map(itemOf)) })
}

export interface Change {
  by: AuditAs
  action: string
  target: string
  before?: object
  after?: object
}

function itemOf({ by, action, target, before, after }: Change): object {
  const { bucket, account, environment } = by.tenant
  const { id, actor, ip, requestId: request_id } = by
  return { bucket, account_id: account, environment, id, actor, action, target, before, after, ip, request_id }
}

export interface AuditEntry {
  id: string
  actor: string
  action: string
  target: string
  before: unknown
  after: unknown
  ip: string
  request_id: string
}

const listEntries = statement.tenant<
  Tenant &
    Bounds & { action: string | null; target: string | null; after: string | null; descending: boolean; limit: number },
  AuditEntry
>(
  'platform.list_audit',
  `select id, actor, action, target, before, after, ip, request_id from platform.audit
    where ${mine} and id >= $from and id < $to
      and ($action::text is null or action = $action) and ($target::text is null or target = $target)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

type Bounds = { from: string; to: string }

export async function auditEntries(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  filter: Bounds & { action: string | null; target: string | null },
): Promise<AuditEntry[]> {
  return queryable.query(listEntries, { ...tenant, ...window, ...filter })
}
