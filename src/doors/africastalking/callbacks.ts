// SPDX-License-Identifier: Apache-2.0
// Callbacks of Africa's Talking: form posts without a signature of their own.
import {
  type Dialect,
  type DialectRequest,
  formPost,
  type Listener,
  type Reply,
  type ToldEvent,
} from '../../platform/api/dialect.ts'
import { callForm } from './calls.ts'
import { flowOf } from './flow.ts'
import { messageIdOf, networkCodeOf } from './forms.ts'

const statuses: Readonly<Record<string, string>> = { sent: 'Sent', delivered: 'Success', failed: 'Failed' }

/** Refusals before a network had the text. */
const rejected = new Set([
  'NO_ROUTE',
  'CANCELLED',
  'PROVIDER_UNAVAILABLE',
  'REJECTED',
  'SPAM_REJECTED',
  'INVALID_NUMBER',
])

const reasons: Readonly<Record<string, string>> = {
  UNKNOWN_SUBSCRIBER: 'UserDoesNotExist',
  ABSENT_SUBSCRIBER: 'UserIsInactive',
  OPTED_OUT: 'UserInBlackList',
  BLOCKED: 'UserInBlackList',
}

export const dialect: Dialect = {
  events: ['sms.status', 'sms.sent', 'sms.delivered', 'sms.failed', 'sms.received', 'sms.opted_out'],
  tell: (event, listener) => told(event, listener),
  flow: flowOf,
}

function told({ name, payload }: ToldEvent, { url, nowMs, options }: Listener): DialectRequest | null {
  if (name.startsWith('voice.')) {
    const form = callForm(name, payload, options)
    return form && formPost(url, form)
  }
  if (name === 'sms.received') return formPost(url, received(payload, nowMs))
  if (name === 'sms.opted_out')
    return formPost(url, { phoneNumber: payload.text('phone'), senderId: payload.text('from') })
  return dialect.events.includes(name) ? formPost(url, report(payload)) : null
}

function report(payload: Reply): Record<string, string> {
  const status = payload.text('status')
  const code = payload.maybe('error_code')
  const to = payload.text('to')
  return {
    id: messageIdOf(payload.text('message_id')),
    status: code !== null && rejected.has(code) ? 'Rejected' : (statuses[status] ?? status),
    phoneNumber: to,
    networkCode: networkCodeOf(to, payload.maybe('network')),
    retryCount: '0',
    ...(code === null ? {} : { failureReason: reasons[code] ?? 'DeliveryFailure' }),
  }
}

function received(payload: Reply, nowMs: number): Record<string, string> {
  const from = payload.text('from')
  return {
    date: new Date(nowMs).toISOString(),
    from,
    id: messageIdOf(payload.text('message_id')),
    linkId: '',
    text: payload.text('message'),
    to: payload.text('to'),
    networkCode: networkCodeOf(from, payload.maybe('network')),
    cost: '0',
  }
}
