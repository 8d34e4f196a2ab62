// SPDX-License-Identifier: Apache-2.0
// Events of the SMS area: messages on their way out, inbound messages, opt-outs and senders.
// A change of status is one fact with two names: `sms.status`, and the name of the status for those who want only that.
import { type Static, Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'

const StatusChange = Type.Object(
  {
    message_id: Type.String(),
    status: OneOf(['sent', 'delivered', 'failed']),
    to: Type.String(),
    from: Type.String(),
    parts: Type.Integer({ description: 'Segments the text was sent in' }),
    error_code: Nullable(Type.String({ description: 'Why it failed' })),
    metadata: Metadata,
    batch_id: Nullable(Type.String()),
    network: Nullable(Type.String({ description: 'The operator of the recipient' })),
  },
  { title: 'SmsStatusEvent' },
)

const Received = Type.Object(
  {
    message_id: Type.String(),
    from: Type.String(),
    to: Type.String({ description: 'Your short code or number' }),
    message: Type.String(),
    keyword: Nullable(Type.String()),
    parts: Type.Integer(),
    network: Nullable(Type.String()),
    in_reply_to: Nullable(Type.String({ description: 'The message it probably answers' })),
    partial: Type.Optional(Type.Boolean({ description: 'A part never arrived' })),
  },
  { title: 'SmsReceivedEvent' },
)

const Consent = Type.Object(
  {
    phone: Type.String(),
    from: Type.String({ description: 'The sender it is about, `*` for all' }),
    reason: Nullable(Type.String()),
    source: OneOf(['keyword', 'api', 'import', 'carrier']),
    message_id: Nullable(Type.String({ description: 'The message that asked for it' })),
    created_at: At(),
  },
  { title: 'SmsConsentEvent' },
)

const BatchCompleted = Type.Object(
  {
    batch_id: Type.String(),
    status: OneOf(['completed', 'cancelled']),
    total: Type.Integer(),
    accepted: Type.Integer(),
    rejected: Type.Integer(),
    segments: Type.Integer(),
    cost: Amount(),
    currency: Type.String(),
    counts: Type.Object({
      queued: Type.Integer(),
      sent: Type.Integer(),
      delivered: Type.Integer(),
      failed: Type.Integer(),
    }),
    metadata: Metadata,
    created_at: At(),
    completed_at: At(),
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
  eventType({ name, summary, payload: StatusChange, sample, ...(within ? { within } : {}) })
const failed = { ...delivered, status: 'failed', to: '+254711000002', error_code: 'UNDELIVERABLE' } as const

export const smsEvents = {
  status: status('sms.status', 'A message was sent, delivered or failed'),
  sent: status('sms.sent', 'The operator took a message', { ...delivered, status: 'sent' }, 'sms.status'),
  delivered: status('sms.delivered', 'A message reached the handset', delivered, 'sms.status'),
  failed: status('sms.failed', 'A message will not arrive', failed, 'sms.status'),
  received: eventType({
    name: 'sms.received',
    summary: 'Somebody wrote to one of your numbers',
    payload: Received,
    sample: joined,
  }),
  optedOut: eventType({
    name: 'sms.opted_out',
    summary: 'Somebody no longer wants messages from a sender',
    payload: Consent,
    sample: consent('STOP'),
  }),
  optedIn: eventType({
    name: 'sms.opted_in',
    summary: 'Somebody wants messages from a sender again',
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
