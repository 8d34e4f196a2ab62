// SPDX-License-Identifier: Apache-2.0
// Operator search for a text by its id, phone number or reference.
import { idOf } from '../../../kernel/ids.ts'
import { elsewhere, finder } from '../../../platform/operator/finding.ts'

const shown = 'm.account_id, m.environment, m.id, m.status::text as status, null::uuid as parent, m.recipient as label'

/** The newest to a number. Index: messages_by_phone, which leads with it. */
const toNumber = elsewhere(
  'sms.messages_found_by_recipient',
  `select ${shown} from sms.messages m
    where m.recipient = $text and m.bucket = any($buckets::smallint[]) and m.account_id = any($accounts::uuid[])
      and m.direction = 'outbound'
    order by m.id desc limit $most::int`,
)

const byReference = elsewhere(
  'sms.messages_found_by_reference',
  `select ${shown}
     from unnest($accounts::uuid[], $buckets::smallint[]) as a(id, bucket)
    cross join unnest(array['test', 'live']) as e(name)
     join sms.references r on r.bucket = a.bucket and r.account_id = a.id and r.environment = e.name and r.reference = $text
     join sms.messages m
       on m.bucket = r.bucket and m.account_id = r.account_id and m.environment = r.environment and m.id = r.message_id
    limit $most::int`,
)

export const messageFinders = [
  finder({
    kind: 'message',
    prefix: 'sms',
    table: 'sms.messages',
    ...{ scope: 'sms:read', label: 't.recipient' },
    only: `t.direction = 'outbound'`,
    status: 't.status',
    others: [toNumber, byReference],
    path: (id) => `/sms/${idOf('sms', id)}`,
  }),
]
