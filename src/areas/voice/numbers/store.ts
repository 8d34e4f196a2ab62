// SPDX-License-Identifier: Apache-2.0
// Numbers that calls come in at: whose each is, and which application answers.
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import { type Environment, type Tenant, tenantOf } from '../../../platform/tenant.ts'
import type { Target } from '../store.ts'

export interface NumberRow {
  environment: Environment
  number: string
  bucket: number
  account_id: string
  answer_url: string | null
  event_url: string | null
  fallback_url: string | null
  answer_method: 'POST' | 'GET'
  /** Something of another area that answers in place of an application. */
  target: Target | null
  assigned_at: Date
}

const columns =
  'environment, number, bucket, account_id, answer_url, event_url, fallback_url, answer_method, target, assigned_at'

const find = statement.home<{ environment: Environment; number: string }, NumberRow>(
  'voice.find_number',
  `select ${columns} from voice.numbers where environment = $environment and number = $number`,
)

/** Gives a number to an account unless another has it. */
export const assignNumber = statement.home<
  Tenant & {
    number: string
    answerUrl: string | null
    eventUrl: string | null
    fallbackUrl: string | null
    answerMethod: string
    target: string | null
    at: Date
  },
  NumberRow
>(
  'voice.assign_number',
  `insert into voice.numbers as n (environment, number, bucket, account_id, answer_url, event_url, fallback_url, answer_method,
                                   target, assigned_at)
   values ($environment, $number, $bucket, $account, $answerUrl, $eventUrl, $fallbackUrl, $answerMethod, $target::jsonb, $at)
   on conflict (environment, number) do update
      set answer_url = excluded.answer_url, event_url = excluded.event_url, fallback_url = excluded.fallback_url,
          answer_method = excluded.answer_method, target = excluded.target, assigned_at = excluded.assigned_at
    where n.account_id = excluded.account_id
   returning ${columns}`,
)

export const listNumbers = statement.home<Tenant & { after: string; limit: number }, NumberRow>(
  'voice.list_numbers',
  `select ${columns} from voice.numbers
    where bucket = $bucket and account_id = $account and environment = $environment and number > $after
    order by number limit $limit`,
)

export function findNumber(queryable: Queryable, environment: Environment, number: string): Promise<NumberRow | null> {
  return maybe(queryable.query(find, { environment, number }))
}

/** What answers calls to a number of an account; null: nothing that it has said. */
export async function numberTarget(app: App, tenant: Tenant, number: string): Promise<Target | null> {
  const row = await findNumber(app.db, tenant.environment, number)
  if (!row || row.account_id !== tenant.account) return null
  return row.target ?? (row.answer_url === null ? null : { type: 'application', answer_url: row.answer_url })
}

/** Number that calls of a test key show where the account has none; it is nobody's. */
const sandboxNumber = '+254709000000'

/** The number that an account calls from where it names none; null for a live account without one. */
export async function firstNumber(app: App, tenant: Tenant): Promise<string | null> {
  const row = await maybe(app.db.query(listNumbers, { ...tenant, after: '', limit: 1 }))
  return row?.number ?? (tenant.environment === 'test' ? sandboxNumber : null)
}

export async function ownerOfNumber(
  queryable: Queryable,
  environment: Environment,
  number: string,
): Promise<Tenant | null> {
  const row = await findNumber(queryable, environment, number)
  return row && tenantOf(row)
}
