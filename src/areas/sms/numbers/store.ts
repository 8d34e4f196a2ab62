// SPDX-License-Identifier: Apache-2.0
// The short codes and long numbers that handsets write to. A test number is whatever the customer takes; a live one is
// assigned by an operator, to one account or to several that share it.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { record } from '../../../platform/audit.ts'
import type { Caller } from '../../../platform/auth.ts'
import { statement, type Tx } from '../../../platform/db.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { announcePermission } from '../senders/permissions.ts'
import type { Keyword } from './keywords.ts'
import type { NumberDeleted, NumberRecord } from './schema.ts'

/** Of one account in one environment. */
export const maxNumbers = 100

export interface NumberRow {
  environment: Environment
  number: string
  account_id: string
  id: string
  shared: boolean
  keywords: Keyword[]
  default_webhook_url: string | null
  created_at: Date
  updated_at: Date
}

export const numberColumns =
  'environment, number, account_id, id, shared, keywords, default_webhook_url, created_at, updated_at'

/** Lock of giving out numbers and keywords: two at once would not see each other. */
export const lockNumbers = statement.home<Record<never, never>, object>(
  'sms.lock_numbers',
  'lock table sms.numbers in share row exclusive mode',
)

export const selectNumbers = statement.home<
  { environment: Environment; account: string | null; after: string | null; descending: boolean; limit: number },
  NumberRow
>(
  'sms.list_numbers',
  `select ${numberColumns} from sms.numbers
    where environment = $environment and ($account::uuid is null or account_id = $account)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const ownersOf = statement.home<{ environment: Environment; number: string }, NumberRow>(
  'sms.owners_of_number',
  `select ${numberColumns} from sms.numbers where environment = $environment and number = $number order by account_id`,
)

/** Gives nothing when the account has the number already, or has too many. */
export const insertNumber = statement.home<
  {
    environment: Environment
    number: string
    account: string
    bucket: number
    id: string
    shared: boolean
    keywords: string
    url: string | null
    at: Date
    most: number
  },
  NumberRow
>(
  'sms.insert_number',
  `insert into sms.numbers (environment, number, account_id, bucket, id, shared, keywords, default_webhook_url, created_at, updated_at)
   select $environment::text, $number::text, $account::uuid, $bucket::smallint, $id::uuid, $shared::boolean,
          $keywords::jsonb, $url::text, $at::timestamptz, $at::timestamptz
    where (select count(*) from sms.numbers where account_id = $account and environment = $environment) < $most::int
   on conflict do nothing
   returning ${numberColumns}`,
)

const deleteNumber = statement.home<{ environment: Environment; number: string; account: string | null }, NumberRow>(
  'sms.delete_number',
  `delete from sms.numbers
    where environment = $environment and number = $number and ($account::uuid is null or account_id = $account)
   returning ${numberColumns}`,
)

/** Takes a number from an account, or from all that have it. */
export async function removeNumber(
  app: App,
  tx: Tx,
  caller: Caller,
  { environment, number, account }: { environment: Environment; number: string; account: string | null },
): Promise<Static<typeof NumberDeleted>> {
  const rows = isStorable(number) ? await tx.query(deleteNumber, { environment, number, account }) : []
  if (rows.length === 0) throw noSuchNumber()
  for (const row of rows) {
    await record(tx, caller, 'sms.remove_number', number, { before: { account_id: idOf('account', row.account_id) } })
    await announcePermission(app, tx, row.account_id)
  }
  return { id: number, number, deleted: true }
}

export function numberRecord(row: NumberRow): Static<typeof NumberRecord> {
  const { number, shared, keywords, default_webhook_url, created_at, updated_at } = row
  return { number, shared, keywords, default_webhook_url, created_at, updated_at }
}

/** Anything may stand in a path, and a zero byte would be refused by the database. */
export function isStorable(number: string): boolean {
  return /^\+?\d+$/.test(number)
}

export function noSuchNumber(): AppError {
  return new AppError('NOT_FOUND', 'there is no such number')
}
