// SPDX-License-Identifier: Apache-2.0
// All SQL of blacklists.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { BlacklistType } from './blacklist.ts'
import type { Direction } from './fields.ts'
import { entryAt } from './store.ts'

export interface EntryRow {
  id: string
  type: BlacklistType
  shown: string
  reason: string | null
  applies_to: Direction[]
  expires_at: Date | null
  created_at: Date
}

const entryColumns = 'id, type, shown, reason, applies_to, expires_at, created_at'

type EntryArrays = {
  ids: readonly string[]
  types: readonly string[]
  values: readonly string[]
  shown: readonly string[]
  reasons: readonly string[]
  appliesTo: readonly string[]
  expiresAt: readonly string[]
  at: Date
}

/** Adds entries; those that are there already stay as they are, unless their time is over. Empty texts stand for nothing. */
export const insertEntries = statement.tenant<Tenant & EntryArrays, { id: string }>(
  'payments.insert_blacklist',
  `insert into payments.blacklist as b (bucket, account_id, environment, ${entryColumns}, value)
   select $bucket, $account, $environment, e.id, e.type, e.shown, nullif(e.reason, ''), string_to_array(e.applies_to, ','),
          nullif(e.expires_at, '')::timestamptz, $at, e.value
     from unnest($ids::uuid[], $types::text[], $values::text[], $shown::text[], $reasons::text[], $appliesTo::text[],
            $expiresAt::text[]) as e(id, type, value, shown, reason, applies_to, expires_at)
   on conflict (bucket, account_id, environment, type, value)
     do update set reason = excluded.reason, applies_to = excluded.applies_to, expires_at = excluded.expires_at
     where b.expires_at <= $at
   returning id`,
)

/** Entries by type and value, in the order in which they are asked for. */
export const findEntries = statement.tenant<Tenant & { types: readonly string[]; values: readonly string[] }, EntryRow>(
  'payments.find_blacklist',
  `select ${entryColumns.replace(/(^|, )/g, '$1b.')}
     from unnest($types::text[], $values::text[]) with ordinality as c(type, value, n)
    cross join lateral (${entryAt}) b
    order by c.n`,
)

export const findEntry = statement.tenant<One, EntryRow>(
  'payments.find_blacklist_entry',
  `select ${entryColumns} from payments.blacklist where ${mine} and id = $id`,
)

export const deleteEntry = statement.tenant<One, { id: string; type: string }>(
  'payments.delete_blacklist_entry',
  `delete from payments.blacklist where ${mine} and id = $id returning id, type`,
)

export const listEntries = statement.tenant<
  Tenant & { type: string | null; after: string | null; descending: boolean; limit: number },
  EntryRow
>(
  'payments.list_blacklist',
  `select ${entryColumns} from payments.blacklist
    where ${mine} and ($type::text is null or type = $type)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)
