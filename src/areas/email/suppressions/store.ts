// SPDX-License-Identifier: Apache-2.0
// Suppression list: addresses that get no mail, or no bulk mail, of an account.
import type { App } from '../../../platform/app.ts'
import { one, type Queryable, statement } from '../../../platform/db.ts'
import type { Window } from '../../../platform/schema/lists.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'

export interface SuppressionRow {
  id: string
  email: string
  reason: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
  applies_to: 'all' | 'bulk'
  message_id: string | null
  detail: string | null
  created_at: Date
  expires_at: Date | null
}

const columns = 'id, email, reason, applies_to, message_id, detail, created_at, expires_at'

const among = statement.tenant<
  Tenant & { emails: readonly string[]; isBulk: boolean; at: Date },
  { email: string; reason: string }
>(
  'email.suppressed_among',
  `select email, reason from email.suppressions
    where ${mine} and email = any($emails::text[]) and (applies_to = 'all' or $isBulk::boolean)
      and (expires_at is null or expires_at > $at::timestamptz)`,
)

/** Suppressed addresses among these, with the reason. Addresses are in lower case. */
export async function suppressedAmong(
  queryable: Queryable,
  tenant: Tenant,
  emails: readonly string[],
  isBulk: boolean,
  at: Date,
): Promise<Map<string, string>> {
  const rows = await queryable.query(among, { ...tenant, emails, isBulk, at })
  return new Map(rows.map(({ email, reason }) => [email, reason]))
}

const ofEmails = statement.tenant<Tenant & { emails: readonly string[]; at: Date }, SuppressionRow>(
  'email.suppressions_of_emails',
  `select ${columns} from email.suppressions
    where ${mine} and email = any($emails::text[]) and (expires_at is null or expires_at > $at::timestamptz)`,
)

/** Suppressions of addresses, which are in lower case. */
export async function suppressionsOf(
  queryable: Queryable,
  tenant: Tenant,
  emails: readonly string[],
  at: Date,
): Promise<SuppressionRow[]> {
  return emails.length === 0 ? [] : queryable.query(ofEmails, { ...tenant, emails, at })
}

const soft = statement.tenant<Tenant & { email: string; since: Date }, { count: number }>(
  'email.count_soft_bounces',
  `select count(*)::int as count from email.recipients where ${mine} and email = $email and bounce_type = 'soft' and bounced_at > $since::timestamptz`,
)

export async function countSoftBounces(app: App, tenant: Tenant, email: string, since: Date): Promise<number> {
  return (await one(app.db.query(soft, { ...tenant, email, since }))).count
}

export const findSuppression = statement.tenant<Tenant & { email: string }, SuppressionRow>(
  'email.find_suppression',
  `select ${columns} from email.suppressions where ${mine} and email = $email`,
)

export const deleteSuppression = statement.tenant<Tenant & { email: string }, SuppressionRow>(
  'email.delete_suppression',
  `delete from email.suppressions where ${mine} and email = $email returning ${columns}`,
)

export const insertSuppressions = statement.tenant<
  Tenant & {
    ids: readonly string[]
    emails: readonly string[]
    reason: string
    appliesTo: string
    detail: string | null
    at: Date
    expiresAt: Date | null
  },
  { email: string }
>(
  'email.insert_suppressions',
  `insert into email.suppressions (bucket, account_id, environment, email, id, reason, applies_to, detail, created_at, expires_at)
   select $bucket::smallint, $account::uuid, $environment::text, e.email, e.id, $reason::text, $appliesTo::text, $detail::text,
          $at::timestamptz, $expiresAt::timestamptz
     from unnest($ids::uuid[], $emails::text[]) as e(id, email)
   on conflict do nothing returning email`,
)

export const listSuppressions = statement.tenant<
  Tenant & Window & { reason: string | null; email: string | null; from: Date | null; to: Date | null },
  SuppressionRow
>(
  'email.list_suppressions',
  `select ${columns} from email.suppressions
    where ${mine} and ($reason::text is null or reason = $reason) and ($email::text is null or email = $email)
      and ($from::timestamptz is null or created_at >= $from) and ($to::timestamptz is null or created_at < $to)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)
