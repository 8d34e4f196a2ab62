// SPDX-License-Identifier: Apache-2.0
// Replies to a campaign: texts that answer one of its messages, and who wrote them.
import type { Static } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { statement } from '../../../platform/db.ts'
import { type Page, pageOf, type Window } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { repliesToBatches } from '../../sms/area.ts'
import { variantNames } from './recipients.ts'
import type { CampaignReply } from './schema.ts'
import { type CampaignRow, listBatches } from './store.ts'

const writersOf = statement.tenant<
  Tenant & { phones: readonly string[] },
  { phone: string; customer_id: string; name: string | null; conversation_id: string | null }
>(
  'customers.writers_of_replies',
  `select w.phone, c.id as customer_id, c.name, t.id as conversation_id
     from unnest($phones::text[]) w(phone)
    cross join lateral (
      select o.customer_id from customers.addresses o
       where o.bucket = $bucket and o.account_id = $account and o.environment = $environment
         and o.address = w.phone and o.kind = 'phone' limit 1) a
     join customers.customers c on c.bucket = $bucket and c.account_id = $account and c.environment = $environment and c.id = a.customer_id
     left join customers.conversations t on t.bucket = c.bucket and t.account_id = c.account_id and t.environment = c.environment
      and t.customer_id = c.id`,
)

/** A page of what was answered, newest first. */
export async function repliesTo(
  app: App,
  { tenant }: Caller,
  row: CampaignRow,
  window: Window,
): Promise<Page<Static<typeof CampaignReply>>> {
  const batches = await app.db.query(listBatches, { ...tenant, id: row.id })
  const variants = new Map(batches.map(({ batch_id, variant }) => [batch_id, variantNames(row)[variant] ?? null]))
  const named = batches.filter(({ channel }) => channel === 'sms').map(({ batch_id }) => batch_id)
  const found = await repliesToBatches(app.db, tenant, { batches: named, after: window.after, limit: window.limit })
  const phones = [...new Set(found.map(({ sender }) => sender))]
  const known = phones.length === 0 ? [] : await app.db.query(writersOf, { ...tenant, phones })
  const writers = new Map(known.map((one) => [one.phone, one]))
  return pageOf(window, found, ({ id, batch, sender, text, created_at }) => {
    const writer = writers.get(sender)
    return {
      ...{ message_id: idOf('sms', id), from: sender, text, at: created_at, name: writer?.name ?? null },
      variant: variants.get(batch) ?? null,
      customer_id: writer ? idOf('customer', writer.customer_id) : null,
      conversation_id: writer?.conversation_id ? idOf('conversation', writer.conversation_id) : null,
    }
  })
}
