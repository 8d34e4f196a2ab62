// SPDX-License-Identifier: Apache-2.0
// Opt-ins and opt-outs of users by request.
import { record } from '../../platform/api/audit.ts'
import type { Caller } from '../../platform/auth.ts'
import { one, type Queryable, statement, type Tx } from '../../platform/db.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { type ContactRow, contactColumns } from './store.ts'

const insertOptIn = statement.tenant<Tenant & { phone: string; source: string | null; at: Date }, ContactRow>(
  'messenger.opt_in',
  `insert into messenger.contacts as c (bucket, account_id, environment, phone, opted_in_at, source, updated_at)
   values ($bucket, $account, $environment, $phone, $at, $source, $at)
   on conflict (bucket, account_id, environment, phone) do update
     set opted_in_at = excluded.opted_in_at, opted_out_at = null, source = excluded.source, updated_at = excluded.updated_at
   returning ${contactColumns}`,
)

const insertOptOut = statement.tenant<Tenant & { phone: string; at: Date }, { phone: string }>(
  'messenger.opt_out',
  `insert into messenger.contacts as c (bucket, account_id, environment, phone, opted_out_at, updated_at)
   values ($bucket, $account, $environment, $phone, $at, $at)
   on conflict (bucket, account_id, environment, phone) do update
     set opted_in_at = null, opted_out_at = excluded.opted_out_at, updated_at = excluded.updated_at
     where c.opted_out_at is null
   returning phone`,
)

const clearOptIn = statement.tenant<Tenant & { phone: string; at: Date }, { phone: string }>(
  'messenger.clear_opt_in',
  `update messenger.contacts set opted_in_at = null, source = null, updated_at = $at
    where ${mine} and phone = $phone and opted_in_at is not null returning phone`,
)

const ofPhones = statement.tenant<Tenant & { phones: readonly string[] }, ContactRow>(
  'messenger.contacts_of_phones',
  `select ${contactColumns} from messenger.contacts where ${mine} and phone = any($phones::text[])`,
)

/** Notes that a user wants messages. */
export async function optIn(tx: Tx, caller: Caller, phone: string, source: string | null): Promise<ContactRow> {
  const row = await one(tx.query(insertOptIn, { ...caller.tenant, phone, source, at: new Date(caller.nowMs) }))
  await record(tx, caller, 'messenger_opt_in.create', phone)
  return row
}

const insertOptIns = statement.tenant<
  Tenant & { phones: readonly string[]; sources: readonly string[]; at: Date },
  object
>(
  'messenger.opt_many_in',
  `insert into messenger.contacts as c (bucket, account_id, environment, phone, opted_in_at, source, updated_at)
   select $bucket::smallint, $account::uuid, $environment::text, w.phone, $at::timestamptz, nullif(w.source, ''), $at
     from unnest($phones::text[], $sources::text[]) w(phone, source) order by w.phone
   on conflict (bucket, account_id, environment, phone) do update
     set opted_in_at = excluded.opted_in_at, source = excluded.source, updated_at = excluded.updated_at
     where c.opted_in_at is null and c.opted_out_at is null`,
)

/** Notes that many users want messages, with the source of each; those who opted out stay so. */
export async function optManyIn(tx: Tx, caller: Caller, phones: ReadonlyMap<string, string | null>): Promise<void> {
  const sources = [...phones.values()].map((source) => source ?? '')
  await tx.query(insertOptIns, { ...caller.tenant, phones: [...phones.keys()], sources, at: new Date(caller.nowMs) })
  await record(tx, caller, 'messenger_opt_in.import', 'messenger_opt_ins', { after: { added: phones.size } })
}

/** Notes that a user wants no messages; false when that was known. */
export async function optOut(tx: Tx, caller: Caller, phone: string): Promise<boolean> {
  const noted = await tx.query(insertOptOut, { ...caller.tenant, phone, at: new Date(caller.nowMs) })
  if (noted.length === 0) return false
  await record(tx, caller, 'messenger_opt_in.delete', phone)
  return true
}

/** Takes back an opt-in that was noted by mistake; an opt-out stays. */
export async function forgetOptIn(tx: Tx, caller: Caller, phone: string): Promise<void> {
  const cleared = await tx.query(clearOptIn, { ...caller.tenant, phone, at: new Date(caller.nowMs) })
  if (cleared.length > 0) await record(tx, caller, 'messenger_opt_in.clear', phone)
}

/** Users with these numbers who wrote, opted in or opted out. */
export async function contactsOf(
  queryable: Queryable,
  tenant: Tenant,
  phones: readonly string[],
): Promise<ContactRow[]> {
  return phones.length === 0 ? [] : queryable.query(ofPhones, { ...tenant, phones })
}
