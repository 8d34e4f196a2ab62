// SPDX-License-Identifier: Apache-2.0
// Stored sender ids, as customers and operators see them.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { isCountry } from './countries.ts'
import type { SenderRecord, senderStatuses } from './schema.ts'

export interface SenderRow {
  bucket: number
  account_id: string
  environment: 'test' | 'live'
  id: string
  sender: string
  countries: string[]
  purpose: string
  sample: string
  status: (typeof senderStatuses)[number]
  reason: string | null
  created_at: Date
  decided_at: Date | null
}

export const senderColumns = `bucket, account_id, environment, id, sender, countries, purpose, sample, status, reason,
  created_at, decided_at`

/** New sender; no row when the account has it already, or has too many. */
export const insertSender = statement.tenant<
  Tenant & {
    id: string
    sender: string
    countries: readonly string[]
    purpose: string
    sample: string
    status: string
    at: Date
    decidedAt: Date | null
    most: number
  },
  SenderRow
>(
  'sms.insert_sender',
  `insert into sms.sender_ids (bucket, account_id, environment, id, sender, countries, purpose, sample, status, created_at, decided_at)
   select $bucket::smallint, $account::uuid, $environment::text, $id::uuid, $sender::text, $countries::text[], $purpose::text,
          $sample::text, $status::text, $at::timestamptz, $decidedAt::timestamptz
    where (select count(*) from sms.sender_ids
            where ${mine}) < $most::int
   on conflict do nothing
   returning ${senderColumns}`,
)

export const selectSenders = statement.tenant<
  Tenant & { status: string | null; after: string | null; descending: boolean; limit: number },
  SenderRow
>(
  'sms.list_senders',
  `select ${senderColumns} from sms.sender_ids
    where ${mine} and ($status::text is null or status = $status)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const findSender = statement.tenant<Tenant & { id: string }, SenderRow>(
  'sms.find_sender',
  `select ${senderColumns} from sms.sender_ids
    where ${mine} and id = $id`,
)

export const deleteSender = statement.tenant<Tenant & { id: string }, SenderRow>(
  'sms.delete_sender',
  `delete from sms.sender_ids
    where ${mine} and id = $id
   returning ${senderColumns}`,
)

/** Country codes, sorted and checked. */
export function checkedCountries(countries: readonly string[]): string[] {
  for (const country of countries)
    if (!isCountry(country)) throw new AppError('VALIDATION_ERROR', `countries: ${country} is not a country`)
  return [...new Set(countries)].sort()
}

export function senderRecord(row: SenderRow): Static<typeof SenderRecord> {
  const { id, countries, bucket: _, account_id: __, ...rest } = row
  return { ...rest, id: idOf('smsSender', id), countries: countries.length === 0 ? null : countries }
}

export function senderUuid(id: string): string {
  const uuid = uuidOf('smsSender', id)
  if (uuid === null) throw noSuchSender()
  return uuid
}

export function noSuchSender(): AppError {
  return new AppError('NOT_FOUND', 'there is no such sender id; they begin with snd_')
}
