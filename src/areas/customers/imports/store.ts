// SPDX-License-Identifier: Apache-2.0
// SQL of imports.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { formats, importStates } from './schema.ts'

export interface ImportRow {
  id: string
  state: (typeof importStates)[number]
  reason: string | null
  format: (typeof formats)[number]
  file_id: string
  file_name: string | null
  file_bytes: bigint
  bytes_read: bigint
  rows_read: number
  created: number
  updated: number
  unchanged: number
  failed: number
  withdrawn: number
  job: string
  started_by: string | null
  created_at: Date
  finished_at: Date | null
}

const columns = `id, state, reason, format, file_id, file_name, file_bytes, bytes_read, rows_read, created, updated, unchanged, failed,
  withdrawn, job, started_by, created_at, finished_at`

export const insertImport = statement.tenant<
  One & {
    format: string
    file: string
    name: string | null
    bytes: bigint
    job: string
    startedBy: string
    at: Date
  },
  ImportRow
>(
  'customers.insert_import',
  `insert into customers.imports (bucket, account_id, environment, id, state, format, file_id, file_name, file_bytes, job, started_by,
     created_at)
   values ($bucket, $account, $environment, $id, 'running', $format, $file, $name, $bytes, $job, $startedBy, $at)
   returning ${columns}`,
)

export const findImport = statement.tenant<One, ImportRow>(
  'customers.find_import',
  `select ${columns} from customers.imports where ${mine} and id = $id`,
)

export const lockImport = statement.tenant<One, ImportRow>(
  'customers.lock_import',
  `select ${columns} from customers.imports where ${mine} and id = $id for update`,
)

export const listImports = statement.tenant<
  Tenant & { after: string | null; descending: boolean; limit: number },
  ImportRow
>(
  'customers.list_imports',
  `select ${columns} from customers.imports
    where ${mine} and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const countRunning = statement.tenant<Tenant, { count: number }>(
  'customers.count_running_imports',
  `select count(*)::int as count from customers.imports where ${mine} and state = 'running'`,
)

export const noteProgress = statement.tenant<
  One & {
    bytes: bigint
    rows: number
    created: number
    updated: number
    unchanged: number
    failed: number
    withdrawn: number
  },
  object
>(
  'customers.note_import',
  `update customers.imports
      set bytes_read = greatest(bytes_read, $bytes::bigint), rows_read = rows_read + $rows::int, created = created + $created::int,
          updated = updated + $updated::int, unchanged = unchanged + $unchanged::int, failed = failed + $failed::int,
          withdrawn = withdrawn + $withdrawn::int
    where ${mine} and id = $id`,
)

export const finishImport = statement.tenant<One & { state: string; reason: string | null; at: Date }, ImportRow>(
  'customers.finish_import',
  `update customers.imports set state = $state, reason = $reason, finished_at = $at,
          bytes_read = case when $state = 'completed' then file_bytes else bytes_read end
    where ${mine} and id = $id returning ${columns}`,
)

export const insertErrors = statement.tenant<
  One & {
    lines: readonly number[]
    codes: readonly string[]
    fields: readonly string[]
    messages: readonly string[]
    customers: readonly string[]
  },
  object
>(
  'customers.insert_import_errors',
  `insert into customers.import_errors (bucket, account_id, environment, import_id, line, code, field, message, customer_id)
   select $bucket::smallint, $account::uuid, $environment::text, $id::uuid, e.line, e.code, nullif(e.field, ''), e.message,
          nullif(e.customer, '')::uuid
     from unnest($lines::int[], $codes::text[], $fields::text[], $messages::text[], $customers::text[])
          e(line, code, field, message, customer)`,
)

export interface ErrorRow {
  line: number
  code: string
  field: string | null
  message: string
  customer_id: string | null
}

export const listErrors = statement.tenant<One & { after: number; limit: number }, ErrorRow>(
  'customers.list_import_errors',
  `select line, code, field, message, customer_id from customers.import_errors
    where ${mine} and import_id = $id and line > $after order by line limit $limit`,
)

/** Imports of long ago, which are forgotten with their errors; some at a time. */
export const forgetErrors = statement.tenant<Tenant & { before: string }, object>(
  'customers.forget_import_errors',
  `delete from customers.import_errors where ${mine} and import_id < $before::uuid`,
)

export const forgetImports = statement.tenant<Tenant & { before: string }, object>(
  'customers.forget_imports',
  `delete from customers.imports where ${mine} and id < $before::uuid and state <> 'running'`,
)

type Written = Tenant & {
  ids: readonly string[]
  externals: readonly string[]
  names: readonly string[]
  languages: readonly string[]
  countries: readonly string[]
  timezones: readonly string[]
  phones: readonly string[]
  emails: readonly string[]
  attributes: readonly string[]
  tags: readonly string[]
  at: Date
}

/** Columns of customers that are created together, with COPY. */
export const createdColumns = [
  ...['bucket', 'account_id', 'environment', 'id', 'external_id', 'name', 'language', 'country', 'timezone', 'phones'],
  ...['emails', 'phone', 'email', 'attributes', 'tags', 'created_at', 'updated_at'],
]

/**
 * Columns of addresses that are given together, with COPY. It fails with a unique violation when somebody else took one meanwhile,
 * which is rare: to look for that row by row (`on conflict`) costs as much again as the rows.
 */
export const claimedColumns = ['bucket', 'account_id', 'environment', 'kind', 'address', 'customer_id']

/** Customers as lists of one length, empty for what is not known. */
const written = `(
  select $bucket::smallint as bucket, $account::uuid as account_id, $environment::text as environment, w.id,
         nullif(w.external, '') as external_id, nullif(w.name, '') as name, nullif(w.language, '') as language,
         nullif(w.country, '') as country, nullif(w.timezone, '') as timezone, w.phones::text[] as phones, w.emails::text[] as emails,
         w.attributes::jsonb as attributes, w.tags::text[] as tags, $at::timestamptz as at
    from unnest($ids::uuid[], $externals::text[], $names::text[], $languages::text[], $countries::text[], $timezones::text[],
                $phones::text[], $emails::text[], $attributes::text[], $tags::text[])
         w(id, external, name, language, country, timezone, phones, emails, attributes, tags)) w`

/** Changes customers; found by their key, whatever was known of the table when it was planned. */
export const changeMany = statement.tenant<Written, object>(
  'customers.change_many',
  `insert into customers.customers as c (bucket, account_id, environment, id, external_id, name, language, country, timezone, phones,
     emails, phone, email, attributes, tags, created_at, updated_at)
   select w.bucket, w.account_id, w.environment, w.id, w.external_id, w.name, w.language, w.country, w.timezone, w.phones,
          w.emails, w.phones[1], w.emails[1], w.attributes, w.tags, w.at, w.at
     from ${written}
   on conflict (bucket, account_id, environment, id) do update
     set external_id = excluded.external_id, name = excluded.name, language = excluded.language, country = excluded.country,
         timezone = excluded.timezone, phones = excluded.phones, emails = excluded.emails,
         phone = coalesce(c.phone, excluded.phone), email = coalesce(c.email, excluded.email),
         attributes = excluded.attributes, tags = excluded.tags, updated_at = excluded.updated_at`,
)
