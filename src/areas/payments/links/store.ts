// SPDX-License-Identifier: Apache-2.0
// All SQL of payment links.
import { statement } from '../../../platform/db.ts'
import { type Environment, mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { PayableRow } from '../checkout/hosted.ts'

export interface LinkRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  token: Buffer
  amount: bigint
  currency: string
  description: string
  /** Methods of payment; null for all that are offered. */
  payment_methods: string[] | null
  redirect_url: string | null
  max_uses: number | null
  uses: number
  collected: bigint
  metadata: Record<string, string | number | boolean>
  expires_at: Date | null
  deactivated_at: Date | null
  created_at: Date
}

const columns = `bucket, account_id, environment, id, token, amount, currency, description, payment_methods, redirect_url, max_uses,
  uses, collected, metadata, expires_at, deactivated_at, created_at`

export const insertLink = statement.tenant<
  One & {
    token: Buffer
    amount: bigint
    currency: string
    description: string
    methods: readonly string[] | null
    redirectUrl: string | null
    maxUses: number | null
    metadata: string
    expiresAt: Date | null
    at: Date
  },
  LinkRow
>(
  'payments.insert_link',
  `insert into payments.links (bucket, account_id, environment, id, token, amount, currency, description, payment_methods,
     redirect_url, max_uses, metadata, expires_at, created_at)
   values ($bucket, $account, $environment, $id, $token, $amount, $currency, $description, $methods::text[], $redirectUrl,
     $maxUses, $metadata::jsonb, $expiresAt, $at)
   returning ${columns}`,
)

export const findLink = statement.tenant<One, LinkRow>(
  'payments.find_link',
  `select ${columns} from payments.links where ${mine} and id = $id`,
)

/** Link, locked until the transaction ends. */
export const lockLink = statement.tenant<One, LinkRow>(
  'payments.lock_link',
  `select ${columns} from payments.links where ${mine} and id = $id for update`,
)

export const findLinkByToken = statement.tenant<{ bucket: number; token: Buffer }, LinkRow & PayableRow>(
  'payments.find_link_by_token',
  `select ${columns}, accounts.clock_offset_ms(account_id, environment) as clock_offset_ms,
          accounts.name_of(account_id) as account_name, accounts.brand_of(account_id) as brand,
          accounts.timezone_of(account_id) as time_zone, accounts.is_suspended(account_id) as is_suspended
     from payments.links where bucket = $bucket and token = $token`,
)

/** Closes a link; one that is closed stays as it is. */
export const closeLink = statement.tenant<One & { at: Date }, LinkRow>(
  'payments.close_link',
  `update payments.links set deactivated_at = coalesce(deactivated_at, $at) where ${mine} and id = $id
   returning ${columns}`,
)

/** Counts a payment that was completed. */
export const countUse = statement.tenant<One & { amount: bigint }, LinkRow>(
  'payments.count_link_use',
  `update payments.links set uses = uses + 1, collected = collected + $amount::bigint where ${mine} and id = $id
   returning ${columns}`,
)

export const listLinks = statement.tenant<
  Tenant & { status: string | null; now: Date; after: string | null; descending: boolean; limit: number },
  LinkRow
>(
  'payments.list_links',
  `select ${columns} from payments.links
    where ${mine}
      and ($status::text is null or $status = case when deactivated_at is not null then 'inactive'
                                                   when uses >= max_uses then 'completed'
                                                   when expires_at <= $now::timestamptz then 'expired'
                                                   else 'active' end)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const insertLinkPayment = statement.tenant<Tenant & { link: string; payment: string; once: Buffer }, object>(
  'payments.insert_link_payment',
  `insert into payments.link_payments (bucket, account_id, environment, link_id, payment_id, once)
   values ($bucket, $account, $environment, $link, $payment, $once)`,
)

/** The payment that the same form began. */
export const findLinkPaymentOnce = statement.tenant<Tenant & { link: string; once: Buffer }, { id: string }>(
  'payments.find_link_payment_once',
  `select payment_id as id from payments.link_payments where ${mine} and link_id = $link and once = $once`,
)

const ofLink = `from payments.link_payments l
    cross join lateral (
      select status, method, phone from payments.payments
       where bucket = l.bucket and account_id = l.account_id and environment = l.environment and id = l.payment_id limit 1) p
   where l.bucket = $bucket and l.account_id = $account and l.environment = $environment and l.link_id = $link
     and l.payment_id >= $since::uuid`

/** The payment over a link that asks the same phone and can still go either way. */
export const findLinkUnderWay = statement.tenant<
  Tenant & { link: string; phone: string; since: string },
  { id: string }
>(
  'payments.find_link_under_way',
  `select l.payment_id as id ${ofLink} and p.phone = $phone and p.status in ('pending', 'processing', 'requires_action')
    order by l.payment_id desc limit 1`,
)

/**
 * Payments over a link since a moment; `under_way` counts those that use up a place. Bank transfers do not, since their
 * account may stay empty.
 */
export const countOfLink = statement.tenant<
  Tenant & { link: string; since: string },
  { recent: number; under_way: number }
>(
  'payments.count_of_link',
  `select count(*)::int as recent,
          (count(*) filter (where p.status in ('pending', 'processing', 'requires_action') and p.method <> 'bank_transfer'))::int
            as under_way ${ofLink}`,
)
