// SPDX-License-Identifier: Apache-2.0
// Stored opt-outs: who does not want messages, and from whom; and the words of an account's own that ask for one. Which ways
// of writing a sender mean the same one is for sms.sender_form to say, wherever an opt-out is stored, looked for or taken back.
import type { Static } from 'typebox'
import type { App } from '../../../platform/app.ts'
import { gatheredByCell } from '../../../platform/db/gather-by-cell.ts'
import { maybe, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Window } from '../../../platform/schema/lists.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import type { OwnWords } from './commands.ts'
import type { OptOutRecord } from './schema.ts'

/** Stands for all senders. */
export const everySender = '*'

interface OptOutRow {
  id: string
  phone: string
  sender: string
  reason: string | null
  source: 'keyword' | 'api' | 'import' | 'carrier'
  created_at: Date
}

const optOutColumns = 'id, phone, sender, reason, source, created_at'

/** New opt-out; no row when the number had opted out of the sender before. A number that sends has no plus. */
const addOptOut = statement.tenant<Tenant & Omit<OptOutRow, 'created_at'> & { createdAt: Date }, OptOutRow>(
  'sms.add_opt_out',
  `insert into sms.opt_outs (bucket, account_id, environment, phone, sender, id, reason, source, created_at)
   values ($bucket, $account, $environment, $phone, ltrim($sender, '+'), $id, $reason, $source, $createdAt)
   on conflict (bucket, account_id, environment, phone, sender_form) do nothing
   returning ${optOutColumns}`,
)

const optOutsOfPhones = statement.tenant<Tenant & { phones: readonly string[] }, OptOutRow>(
  'sms.opt_outs_of_phones',
  `select ${optOutColumns} from sms.opt_outs
    where ${mine} and phone = any($phones::text[]) order by phone, sender`,
)

/** Opt-outs that apply to a sender. */
const optOutsOfSender = statement.tenant<Tenant & { phone: string; sender: string }, OptOutRow>(
  'sms.opt_outs_of_sender',
  `select ${optOutColumns} from sms.opt_outs
    where ${mine} and phone = $phone
      and sender_form in ('${everySender}', sms.sender_form($sender))`,
)

/** Positions, from 1, of the given pairs of number and sender that an opt-out blocks. */
const findOptedOut = statement.everywhere<
  {
    buckets: readonly number[]
    accounts: readonly string[]
    environments: readonly string[]
    phones: readonly string[]
    senders: readonly string[]
  },
  { place: number }
>(
  'sms.find_opted_out',
  `select w.place::int as place
     from unnest($buckets::smallint[], $accounts::uuid[], $environments::text[], $phones::text[], $senders::text[])
          with ordinality as w(bucket, account, environment, phone, sender, place)
    where exists (select from sms.opt_outs o
                   where o.bucket = w.bucket and o.account_id = w.account and o.environment = w.environment
                     and o.phone = w.phone and o.sender_form in ('${everySender}', sms.sender_form(w.sender)))`,
)

const selectOptOuts = statement.tenant<
  Tenant & { phone: string | null; after: string | null; descending: boolean; limit: number },
  OptOutRow
>(
  'sms.list_opt_outs',
  `select ${optOutColumns} from sms.opt_outs
    where ${mine}
      and ($phone::text is null or phone = $phone)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

const deleteOptOuts = statement.tenant<Tenant & { phone: string; senders: readonly string[] | null }, OptOutRow>(
  'sms.remove_opt_outs',
  `delete from sms.opt_outs
    where ${mine} and phone = $phone
      and ($senders::text[] is null or sender_form in (select sms.sender_form(s) from unnest($senders::text[]) s))
   returning ${optOutColumns}`,
)

const selectOwnWords = statement.home<{ account: string }, { words: OwnWords }>(
  'sms.own_words',
  `select value as words from accounts.with_setting('sms_words') where account_id = $account::uuid`,
)

/** Notes an opt-out. `isNew` is false when it was known before; then the first one stands. */
export async function insertOptOut(
  tx: Tx,
  tenant: Tenant,
  { created_at, ...optOut }: OptOutRow,
): Promise<{ row: OptOutRow; isNew: boolean }> {
  const made = await maybe(tx.query(addOptOut, { ...tenant, ...optOut, createdAt: created_at }))
  if (made) return { row: made, isNew: true }
  const known = await tx.query(optOutsOfSender, { ...tenant, phone: optOut.phone, sender: optOut.sender })
  const row = known.find(({ sender }) => (sender === everySender) === (optOut.sender === everySender))
  return { row: row ?? { ...optOut, created_at }, isNew: false }
}

export async function optOutsOf(queryable: Queryable, tenant: Tenant, phones: readonly string[]): Promise<OptOutRow[]> {
  return phones.length === 0 ? [] : queryable.query(optOutsOfPhones, { ...tenant, phones })
}

export async function listOptOuts(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  phone: string | null,
): Promise<OptOutRow[]> {
  return queryable.query(selectOptOuts, { ...tenant, ...window, phone })
}

/** Forgets that a number has opted out of these senders, or of any. */
export async function removeOptOuts(
  tx: Tx,
  tenant: Tenant,
  phone: string,
  senders: readonly string[] | null,
): Promise<OptOutRow[]> {
  return tx.query(deleteOptOuts, { ...tenant, phone, senders })
}

const optedOut = onePerApp((app) =>
  gatheredByCell(
    app.db,
    async (asked: readonly { tenant: Tenant; phone: string; sender: string }[]): Promise<boolean[]> => {
      const found = await app.db.query(findOptedOut, {
        buckets: asked.map(({ tenant }) => tenant.bucket),
        accounts: asked.map(({ tenant }) => tenant.account),
        environments: asked.map(({ tenant }) => tenant.environment),
        phones: asked.map(({ phone }) => phone),
        senders: asked.map(({ sender }) => sender),
      })
      const out = new Set(found.map(({ place }) => place))
      return asked.map((_, i) => out.has(i + 1))
    },
  ),
)

/** Whether a number wants nothing from a sender. */
export function hasOptedOut(app: App, tenant: Tenant, phone: string, sender: string): Promise<boolean> {
  return optedOut(app)({ tenant, phone, sender })
}

export async function ownWordsOf(queryable: Queryable, account: string): Promise<OwnWords> {
  return (await maybe(queryable.query(selectOwnWords, { account })))?.words ?? {}
}

export function optOutRecord({ phone, sender, reason, source, created_at }: OptOutRow): Static<typeof OptOutRecord> {
  return { phone, from: sender, reason, source, created_at }
}
