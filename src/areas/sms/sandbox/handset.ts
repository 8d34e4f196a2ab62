// SPDX-License-Identifier: Apache-2.0
// A handset of the sandbox as its owner would see it: what arrived there, and what was written on it. What is still on its way,
// waits for coverage or failed is not on it.

import { Type } from 'typebox'
import { numberInQuery } from '../../../kernel/phone.ts'
import { list, type Route } from '../../../platform/api/route.ts'
import { At, listQuery, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { idBounds, pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { publicId } from '../record.ts'
import { listMessages, type MessageFilter, type MessageRow } from '../store.ts'

const HandsetText = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `sms_…`' }),
    direction: OneOf(['received', 'written'], { description: '`written`: from the handset to you' }),
    from: Type.String({ description: 'Sender, or the number of the handset' }),
    to: Type.String({ description: 'Recipient’s number' }),
    message: Nullable(Type.String(), { description: 'Text of the message; null when it has been erased' }),
    at: At({ description: 'Time it arrived, or was written' }),
  },
  { title: 'HandsetText' },
)

const HandsetQuery = Type.Object({
  ...listQuery,
  phone: Type.String({
    pattern: '^[ +][1-9]\\d{6,14}$',
    rule: 'must be an E.164 number such as +254711000001',
    description: 'Number of the handset',
  }),
})

const texts = list({
  path: '/v1/sandbox/sms/handset',
  operation: 'sandbox.handset',
  summary: 'List the texts on a simulated handset',
  description: 'Texts received and sent by a simulated handset, newest first.',
  scope: 'sandbox:read',
  query: HandsetQuery,
  row: HandsetText,
  examples: [{ name: 'Messages on Ada’s phone', query: { phone: '+254711000001' } }],
  async handle({ db }, { query }, { tenant, nowMs }) {
    const window = windowOf(query)
    const phone = numberInQuery(query.phone)
    const any = { ...everything, ...idBounds({}), now: new Date(nowMs) }
    const [received, written] = await Promise.all([
      listMessages(db, tenant, window, { ...any, recipient: phone, direction: 'outbound', status: 'delivered' }),
      listMessages(db, tenant, window, { ...any, sender: phone, direction: 'inbound' }),
    ])
    const rows = [...received, ...written].sort((a, b) => (a.id < b.id === window.descending ? 1 : -1))
    return pageOf(window, rows.slice(0, window.limit + 1), shown)
  },
})

const everything: Omit<MessageFilter, 'from' | 'to' | 'now'> = {
  ...{ since: null, until: null, status: null, recipient: null, sender: null, direction: null, batch: null },
  ...{ scheduled: null, errorCode: null, reference: null, country: null, text: null, metadata: null },
}

function shown(row: MessageRow) {
  const isReceived = row.direction === 'outbound'
  return {
    message_id: publicId(row),
    direction: isReceived ? ('received' as const) : ('written' as const),
    from: row.sender,
    to: row.recipient,
    message: row.body,
    at: (isReceived ? row.delivered_at : null) ?? row.created_at,
  }
}

export const handsetRoutes: readonly Route[] = [texts]
