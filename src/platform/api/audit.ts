// SPDX-License-Identifier: Apache-2.0
// Audit log: who changed what, when, from where. Written in the transaction of the change; never updated.
import { withoutApiKeys } from '../../kernel/api-keys.ts'
import { newUuid } from '../../kernel/ids.ts'
import type { Caller } from '../auth.ts'
import { encodeItems, type RowIn, rowType } from '../commit/row-encoding.ts'
import { type Queryable, statement } from '../db.ts'
import type { Window } from '../schema/lists.ts'
import { mine, type Tenant } from '../tenant.ts'

/** Audit row for platform.record; `audit: auditRow` is its column in a group commit. */
export const auditRow = rowType('platform.audit_item', {
  bucket: 'smallint',
  account_id: 'uuid',
  environment: 'text',
  id: 'uuid',
  actor: 'text',
  action: 'text',
  target: 'text',
  before: 'jsonb',
  after: 'jsonb',
  ip: 'text',
  request_id: 'text',
})

/** Inserts any number of entries, of any accounts. */
const insert = statement.tenant<{ buckets: readonly number[]; items: Buffer }, object>(
  'platform.record',
  'select platform.record($items::platform.audit_item[])',
)

export interface AuditAs {
  tenant: Tenant
  id: string
  actor: string
  ip: string
  requestId: string
}

/** Records a caller's change. `before` and `after` hold the changed fields, without secrets. */
export async function record(
  tx: Queryable,
  caller: Caller,
  action: string,
  target: string,
  change: { before?: object; after?: object } = {},
): Promise<void> {
  await recordAs(tx, { ...caller, id: newUuid(caller.receivedMs) }, action, target, change)
}

/** Records a change not made by a request of the account. */
export async function recordAs(
  tx: Queryable,
  by: AuditAs,
  action: string,
  target: string,
  change: { before?: object; after?: object } = {},
): Promise<void> {
  await recordAll(tx, [{ by, action, target, ...change }])
}

/** Records several changes at once. */
export async function recordAll(tx: Queryable, changes: readonly Change[]): Promise<void> {
  for (const part of tx.apart(changes, ({ by }) => by.tenant.bucket)) {
    const buckets = part.map(({ by }) => by.tenant.bucket)
    await tx.query(insert, { buckets, items: encodeItems(auditRow.columns, part.map(audited)) })
  }
}

export interface Change {
  by: AuditAs
  action: string
  target: string
  before?: object
  after?: object
}

/** Audit cell for a group commit. */
export function audited({ by, action, target, before, after }: Change): RowIn<typeof auditRow> {
  const { bucket, account, environment } = by.tenant
  const { id, actor, ip, requestId } = by
  return {
    bucket,
    account_id: account,
    environment,
    id,
    actor,
    action,
    target,
    before: before === undefined ? null : withoutApiKeys(JSON.stringify(before)),
    after: after === undefined ? null : withoutApiKeys(JSON.stringify(after)),
    ip,
    request_id: requestId,
  }
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
