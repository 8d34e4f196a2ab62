// SPDX-License-Identifier: Apache-2.0
// Messages of a sandbox handset in both directions, newest first.

import { Type } from 'typebox'
import { numberInQuery } from '../../../kernel/phone.ts'
import { list, type Route } from '../../../platform/api/route.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { idBounds, pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { recordOf } from '../record.ts'
import { MessageRecord } from '../schema.ts'
import { listMessages } from '../store.ts'

const arrived = ['delivered', 'read']

const chat = list({
  path: '/v1/sandbox/messenger/handset',
  operation: 'sandbox.messengerHandset',
  summary: 'List the chat on a simulated handset',
  description: 'Messages received and sent by a simulated handset, newest first.',
  scope: 'sandbox:read',
  query: Type.Object({
    ...listQuery,
    phone: Type.String({
      pattern: '^[ +][1-9]\\d{6,14}$',
      rule: 'must be an E.164 number such as +254711000020',
      description: 'Number of the handset',
    }),
  }),
  row: MessageRecord,
  examples: [{ name: 'Messages on Ada’s phone', query: { phone: '+254711000020' } }],
  async handle({ db }, { query }, { tenant }) {
    const window = windowOf(query)
    const phone = numberInQuery(query.phone)
    const any = { ...tenant, ...window, ...everything, ...idBounds({}) }
    const [received, written] = await Promise.all([
      listMessages(db, { ...any, direction: 'outbound', recipient: phone }),
      listMessages(db, { ...any, direction: 'inbound', sender: phone }),
    ])
    const shown = [...received.filter(({ status }) => arrived.includes(status)), ...written]
    const rows = shown.sort((a, b) => (a.id < b.id === window.descending ? 1 : -1))
    return pageOf(window, rows.slice(0, window.limit + 1), (row) => recordOf(row, null))
  },
})

const everything = {
  ...{ direction: null, status: null, recipient: null, sender: null, type: null, template: null },
  ...{ since: null, until: null },
}

export const handsetRoutes: readonly Route[] = [chat]
