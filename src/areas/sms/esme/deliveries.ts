// SPDX-License-Identifier: Apache-2.0
// Pending deliver_sm of SMPP customers: receipts of texts that they submitted, and texts from handsets. A row is stored until
// its response, for three days at most, and is leased by the node that sends it.
import { buckets } from '../../../kernel/ids.ts'
import { dayMs, hourMs } from '../../../kernel/time.ts'
import { type Queryable, statement, type Tx } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

const keepMs = 3 * dayMs
/** Longer than an answer may take. */
const holdSeconds = 90

export interface NewReceipt {
  readonly id: string
  readonly part: number
  readonly credential: string
  readonly wants: number
  readonly userReference: number | null
  readonly sender: string
  readonly recipient: string
  readonly at: Date
}

/** Delivery with what is known of its message. */
export interface Delivery {
  id: string
  part: number
  credential_id: string | null
  wants: number
  user_reference: number | null
  sender: string
  recipient: string
  outcome: 'EXPIRED' | 'REJECTD' | null
  created_at: Date
  status: string | null
  error_code: string | null
  carrier_code: string | null
  body: string | null
  ended_at: Date | null
}

const insertReceipt = statement.tenant<Tenant & NewReceipt, object>(
  'sms.insert_smpp_receipt',
  `insert into sms.smpp_deliveries (bucket, account_id, environment, message_id, part, credential_id, wants, user_reference, sender,
     recipient, created_at)
   values ($bucket, $account, $environment, $id, $part, $credential, $wants, $userReference, $sender, $recipient, $at)
   on conflict do nothing`,
)

/** Only accounts that have a program for it. */
const insertText = statement.tenant<One & { sender: string; recipient: string; at: Date }, object>(
  'sms.insert_smpp_text',
  `insert into sms.smpp_deliveries (bucket, account_id, environment, message_id, part, sender, recipient, created_at)
   select $bucket, $account, $environment, $id, 0, $sender, $recipient, $at
    where exists (select from sms.smpp_credentials where ${mine})`,
  { joinsHome: true },
)

/** A text that was sent has its outcome from the network. */
const judge = statement.tenant<One & { outcome: string }, object>(
  'sms.judge_smpp_receipts',
  `update sms.smpp_deliveries d set outcome = $outcome
    where ${mine} and message_id = $id
      and not exists (select from sms.messages m where m.bucket = d.bucket and m.account_id = d.account_id
                         and m.environment = d.environment and m.id = d.message_id)`,
)

const claim = statement.tenant<
  Tenant & { credentials: readonly string[]; except: readonly string[]; limit: number; seconds: number },
  Delivery
>(
  'sms.claim_smpp_deliveries',
  `with due as (
     select d.message_id, d.part, m.status, m.error_code, m.carrier_code, m.body, coalesce(m.delivered_at, m.failed_at) as ended_at
       from sms.smpp_deliveries d
       left join sms.messages m on m.bucket = d.bucket and m.account_id = d.account_id and m.environment = d.environment
                               and m.id = d.message_id
      where d.bucket = $bucket and d.account_id = $account and d.environment = $environment
        and (d.held_until is null or d.held_until < now())
        and (d.credential_id is null or d.credential_id = any($credentials::uuid[]))
        and not d.message_id = any($except::uuid[])
        and (d.part = 0 or d.outcome is not null or m.status in ('delivered', 'failed'))
      order by d.message_id, d.part
      limit $limit::int
        for update of d skip locked)
   update sms.smpp_deliveries d set held_until = now() + make_interval(secs => $seconds::int)
     from due
    where d.bucket = $bucket and d.account_id = $account and d.environment = $environment and d.message_id = due.message_id
      and d.part = due.part
   returning d.message_id as id, d.part, d.credential_id, d.wants, d.user_reference, d.sender, d.recipient, d.outcome, d.created_at,
             due.status, due.error_code, due.carrier_code, due.body, due.ended_at`,
)

const finish = statement.tenant<One & { part: number }, object>(
  'sms.finish_smpp_delivery',
  `delete from sms.smpp_deliveries where ${mine} and message_id = $id and part = $part`,
)

const release = statement.tenant<One & { part: number; seconds: number }, object>(
  'sms.release_smpp_delivery',
  `update sms.smpp_deliveries set held_until = now() + make_interval(secs => $seconds::int)
    where ${mine} and message_id = $id and part = $part`,
)

const purge = statement.everywhere<{ buckets: readonly number[]; before: Date }, object>(
  'sms.purge_smpp_deliveries',
  `delete from sms.smpp_deliveries where bucket = any($buckets::smallint[]) and created_at < $before`,
)

export async function expectReceipt(queryable: Queryable, tenant: Tenant, receipt: NewReceipt): Promise<void> {
  await queryable.query(insertReceipt, { ...tenant, ...receipt })
}

/** Stores a text from a handset for the account's programs, if it has any. */
export async function passOn(
  tx: Tx,
  tenant: Tenant,
  text: { id: string; sender: string; recipient: string; at: Date },
): Promise<void> {
  await tx.query(insertText, { ...tenant, ...text })
}

/** Gives the receipts of a text that was never sent their outcome. */
export async function judgeReceipts(
  queryable: Queryable,
  tenant: Tenant,
  id: string,
  outcome: 'EXPIRED' | 'REJECTD',
): Promise<void> {
  await queryable.query(judge, { ...tenant, id, outcome })
}

/** Takes deliveries that are due, oldest first. Nobody else offers them meanwhile. */
export async function claimDeliveries(
  queryable: Queryable,
  tenant: Tenant,
  wanted: { credentials: readonly string[]; except: readonly string[]; limit: number },
): Promise<Delivery[]> {
  const rows = await queryable.query(claim, { ...tenant, ...wanted, seconds: holdSeconds })
  return rows.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : a.part - b.part))
}

export async function finishDelivery(
  queryable: Queryable,
  tenant: Tenant,
  { id, part }: Pick<Delivery, 'id' | 'part'>,
): Promise<void> {
  await queryable.query(finish, { ...tenant, id, part })
}

/** Lets a delivery be offered again, after so many seconds. */
export async function releaseDelivery(
  queryable: Queryable,
  tenant: Tenant,
  { id, part }: Delivery,
  seconds: number,
): Promise<void> {
  await queryable.query(release, { ...tenant, id, part, seconds })
}

export const deliveriesChore: Chore = {
  name: 'smpp deliveries',
  everyMs: hourMs,
  async run(app) {
    await app.db.query(purge, { buckets, before: new Date(app.clock.nowMs() - keepMs) })
  },
}
