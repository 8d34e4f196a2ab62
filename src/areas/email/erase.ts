// SPDX-License-Identifier: Apache-2.0
// Erasure of mail to one person. The content goes with it, unless it is that of a bulk, which others got too.
import { idOf } from '../../kernel/ids.ts'
import { one, statement } from '../../platform/db.ts'
import type { Erasable } from '../../platform/operator/erasing.ts'
import type { Tenant } from '../../platform/tenant.ts'

const isOver = `t.status not in ('scheduled', 'queued')`

const mine = `t.bucket = $bucket and t.account_id = $account and t.environment = $environment and t.email = any($emails::text[])`

type Known = Tenant & { emails: readonly string[] }

const eraseRecipients = statement.tenant<Known, { message_id: string }>(
  'email.erase_recipients',
  `update email.recipients t set email = 'erased', name = null, smtp_response = null, reason = null
    where ${mine} and ${isOver} returning message_id`,
)

const eraseMessages = statement.tenant<Tenant & { ids: readonly string[] }, object>(
  'email.erase_messages',
  `with gone as (
     update email.messages m set subject = 'erased', variables = null, metadata = '{}'
      where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.id = any($ids::uuid[])
     returning case when m.bulk_id is null then m.content_id end as content_id)
   delete from email.contents c using gone
    where c.bucket = $bucket and c.account_id = $account and c.environment = $environment and c.id = gone.content_id`,
)

const countLeft = statement.tenant<Known, { count: number }>(
  'email.count_left',
  `select count(*)::int as count from email.recipients t where ${mine}`,
)

export const eraseMail: Erasable<unknown> = {
  kind: 'mail',
  async erase(_app, tx, { tenant: { bucket, account, environment } }, { emails }) {
    const known = { bucket, account, environment, emails }
    const ids = [...new Set((await tx.query(eraseRecipients, known)).map(({ message_id }) => message_id))]
    await tx.query(eraseMessages, { bucket, account, environment, ids })
    return {
      ...{ kind: 'mail', erased: ids.length, kept: (await one(tx.query(countLeft, known))).count },
      reason: 'figures and prices stay; mail that is on its way is kept until it has arrived',
      resources: ids.map((id) => idOf('email', id)),
    }
  },
}
