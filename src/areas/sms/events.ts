// SPDX-License-Identifier: Apache-2.0
// Events of the SMS area: messages on their way out, inbound messages, opt-outs and senders.
// A change of status is one fact with two names: `sms.status`, and the name of the status for those who want only that.
import { type Static, Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'

const StatusChange = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `sms_…`' }),
    status: OneOf(['sent', 'delivered', 'failed'], {
      description: '`sent`: accepted by the network; the others are final',
    }),
    to: Type.String({ description: 'Recipient in E.164' }),
    from: Type.String({ description: 'Sender shown on the handset' }),
    parts: Type.Integer({ description: 'Number of segments sent' }),
    error_code: Nullable(Type.String({ description: 'Failure reason' })),
    metadata: Metadata,
    batch_id: Nullable(Type.String({ description: 'Id of the bulk or list it was sent with' })),
    network: Nullable(Type.String({ description: 'Network of the recipient, if known' })),
  },
  { title: 'SmsStatusEvent' },
)

const Received = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `smi_…`' }),
    from: Type.String({ description: 'Number of the handset, E.164' }),
    to: Type.String({ description: 'Your short code or number' }),
    message: Type.String({ description: 'Content' }),
    keyword: Nullable(Type.String({ description: 'Keyword that it begins with; null if none' })),
    parts: Type.Integer({ description: 'Number of segments it came in' }),
    network: Nullable(Type.String({ description: 'Network of the handset; null if unknown' })),
    in_reply_to: Nullable(Type.String({ description: 'Id of the message that it probably replies to' })),
    partial: Type.Optional(Type.Boolean({ description: 'True if a part never arrived' })),
  },
  { title: 'SmsReceivedEvent' },
)

const Consent = Type.Object(
  {
    phone: Type.String({ description: 'Phone number of the consent, in E.164' }),
    from: Type.String({ description: 'Sender of the consent, `*` for all' }),
    reason: Nullable(Type.String({ description: 'Keyword that was sent, or your note' })),
    source: OneOf(['keyword', 'api', 'import', 'carrier'], {
      description: 'Source: a keyword such as STOP, a request, a file, or the carrier',
    }),
    message_id: Nullable(Type.String({ description: 'Id of the message with the request' })),
    created_at: At({ description: 'Time at which it was recorded' }),
  },
  { title: 'SmsConsentEvent' },
)

const BatchCompleted = Type.Object(
  {
    batch_id: Type.String({ description: 'Id of the bulk, such as `smb_…`' }),
    status: OneOf(['completed', 'cancelled'], {
      description: '`cancelled` if it was cancelled before all of it was sent',
    }),
    total: Type.Integer({ description: 'Entries in the request' }),
    accepted: Type.Integer({ description: 'Entries that became messages' }),
    rejected: Type.Integer({ description: 'Entries that were refused' }),
    segments: Type.Integer({ description: 'Number of charged segments' }),
    cost: Amount({ description: 'Total cost less refunds' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    counts: Type.Object(
      {
        queued: Type.Integer({ description: 'Messages not sent' }),
        sent: Type.Integer({ description: 'Accepted by the network, without a report' }),
        delivered: Type.Integer({ description: 'Messages delivered to the handset' }),
        failed: Type.Integer({ description: 'Messages that failed' }),
      },
      { description: 'Messages by status' },
    ),
    metadata: Metadata,
    created_at: At({ description: 'Time of acceptance' }),
    completed_at: At({ description: 'Time at which its last message ended, or was past the time for reports' }),
  },
  { title: 'SmsBatchCompletedEvent' },
)

const delivered: Static<typeof StatusChange> = {
  message_id: 'sms_01jb2c3d4e5f6g7h8j9kamnpqr',
  status: 'delivered',
  to: '+254711000001',
  from: 'PAMOJA',
  parts: 1,
  error_code: null,
  metadata: { order: '77' },
  batch_id: null,
  network: 'Safaricom',
}

const joined: Static<typeof Received> = {
  message_id: 'smi_01jb2c3d4e5f6g7h8j9kamnpqr',
  from: '+254711000014',
  to: '22141',
  message: 'JOIN',
  keyword: 'JOIN',
  parts: 1,
  network: 'Safaricom',
  in_reply_to: null,
}

const consent = (word: string): Static<typeof Consent> => ({
  phone: '+254711000013',
  from: 'PAMOJA',
  reason: word,
  source: 'keyword',
  message_id: 'smi_01jb2c3d4e5f6g7h8j9kamnpqr',
  created_at: new Date('2026-03-01T09:15:30Z'),
})

const batch: Static<typeof BatchCompleted> = {
  batch_id: 'smb_01jb2c3d4e5f6g7h8j9kamnpqr',
  status: 'completed',
  total: 3,
  accepted: 2,
  rejected: 1,
  segments: 2,
  cost: 1_600_000n,
  currency: 'KES',
  counts: { queued: 0, sent: 0, delivered: 1, failed: 1 },
  metadata: {},
  created_at: new Date('2026-03-01T09:14:00Z'),
  completed_at: new Date('2026-03-01T09:15:30Z'),
}

const status = (name: string, summary: string, sample = delivered, within?: string) =>
  eventType({
    name,
    summary,
    payload: StatusChange,
    sample,
    ...(within ? { within } : {}),
    person: ({ to, status }) => (status === 'sent' ? { phone: to, isInbound: false } : null),
  })
const failed = { ...delivered, status: 'failed', to: '+254711000002', error_code: 'UNDELIVERABLE' } as const

export const smsEvents = {
  status: status('sms.status', 'A message was sent, delivered or failed'),
  sent: status('sms.sent', 'The network accepted a message', { ...delivered, status: 'sent' }, 'sms.status'),
  delivered: status('sms.delivered', 'A message reached the handset', delivered, 'sms.status'),
  failed: status('sms.failed', 'A message failed', failed, 'sms.status'),
  received: eventType({
    name: 'sms.received',
    summary: 'A text arrived at one of your numbers',
    payload: Received,
    sample: joined,
    person: ({ from, to, message_id, message }) => ({
      ...{ phone: from, isInbound: true },
      said: { channel: 'sms', id: message_id, text: message, line: to },
    }),
  }),
  optedOut: eventType({
    name: 'sms.opted_out',
    summary: 'A number opted out of a sender’s messages',
    payload: Consent,
    sample: consent('STOP'),
  }),
  optedIn: eventType({
    name: 'sms.opted_in',
    summary: 'A number opted in to a sender’s messages again',
    payload: Consent,
    sample: consent('START'),
  }),
  batchCompleted: eventType({
    name: 'sms.batch_completed',
    summary: 'Every message of a batch was delivered, failed or cancelled',
    payload: BatchCompleted,
    sample: batch,
  }),
}
