// SPDX-License-Identifier: Apache-2.0
// Events of mail as Resend tells them. Its signature is the standard one, under the names of Svix.
import { uuidOf } from '../../kernel/ids.ts'
import type { Dialect, Reply } from '../../platform/api/dialect.ts'

const types: Readonly<Record<string, string>> = {
  'email.sent': 'email.sent',
  'email.delivered': 'email.delivered',
  'email.deferred': 'email.delivery_delayed',
  'email.bounced': 'email.bounced',
  'email.complained': 'email.complained',
  'email.opened': 'email.opened',
  'email.clicked': 'email.clicked',
  'email.failed': 'email.failed',
  'email.suppressed': 'email.suppressed',
}

export const dialect: Dialect = {
  events: Object.keys(types),
  signsLike: 'svix',
  tell({ name, payload }, { url, nowMs }) {
    const type = types[name]
    if (type === undefined) return null
    const at = new Date(nowMs).toISOString()
    const body = JSON.stringify({ type, created_at: at, data: dataOf(name, payload, at) })
    return { method: 'POST', url, contentType: 'application/json', body }
  },
}

function dataOf(name: string, payload: Reply, at: string): object {
  const id = payload.text('message_id')
  return {
    email_id: uuidOf('email', id) ?? id,
    to: [payload.text('email')],
    created_at: at,
    tags: payload.raw('metadata'),
    ...(name === 'email.bounced'
      ? { bounce: { type: payload.text('bounce_type'), message: payload.text('reason') } }
      : {}),
    ...(name === 'email.clicked' ? { click: { link: payload.text('url'), timestamp: at } } : {}),
  }
}
