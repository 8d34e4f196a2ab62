// SPDX-License-Identifier: Apache-2.0
// Events of mail as SendGrid tells them: a list with one object, the customer's own arguments at its top.
import { uuidOf } from '../../kernel/ids.ts'
import type { Dialect, Reply } from '../../platform/api/dialect.ts'

const names: Readonly<Record<string, string>> = {
  'email.sent': 'processed',
  'email.delivered': 'delivered',
  'email.bounced': 'bounce',
  'email.deferred': 'deferred',
  'email.failed': 'dropped',
  'email.suppressed': 'dropped',
  'email.opened': 'open',
  'email.clicked': 'click',
  'email.complained': 'spamreport',
  'email.unsubscribed': 'unsubscribe',
}

export const dialect: Dialect = {
  events: Object.keys(names),
  tell({ name, payload }, { url, nowMs }) {
    const event = names[name]
    if (event === undefined) return null
    const body = JSON.stringify([{ ...argumentsOf(payload), ...eventOf(name, event, payload, nowMs) }])
    return { method: 'POST', url, contentType: 'application/json', body }
  },
}

function argumentsOf(payload: Reply): object {
  return { ...Object(payload.raw('metadata')) }
}

function eventOf(name: string, event: string, payload: Reply, nowMs: number): object {
  const id = hexOf(payload.text('message_id'))
  return {
    email: payload.text('email'),
    timestamp: Math.floor(nowMs / 1000),
    event,
    sg_event_id: payload.maybe('event_id') ?? `${id}.${event}`,
    sg_message_id: `${id}.0`,
    category: payload.raw('tags') ?? [],
    ...(name === 'email.delivered' ? { response: payload.text('smtp_response') } : {}),
    ...(name === 'email.bounced'
      ? {
          ...{ reason: payload.text('reason'), status: payload.maybe('enhanced_code') ?? '' },
          type: payload.text('bounce_type') === 'hard' ? 'bounce' : 'blocked',
        }
      : {}),
    ...(event === 'dropped' || event === 'deferred' ? { reason: payload.text('reason') } : {}),
    ...(name === 'email.clicked' ? { url: payload.text('url') } : {}),
  }
}

/** Id of a message: the 32 digits of its UUID. */
export function hexOf(id: string): string {
  return (uuidOf('email', id) ?? id).replaceAll('-', '')
}
