// SPDX-License-Identifier: Apache-2.0
// Events of the SMS area: messages on their way out, inbound messages, opt-outs and senders.
// A change of status is one fact with two names: `sms.status`, and the name of the status for those who want only that.
import { type Static, Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'

const StatusChange = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `sms_…`' }),
    status: OneOf(['sent', 'delivered', 'failed'], { description: '`sent`: the network has it; the others are final' }),
    to: Type.String({ description: 'Who gets it, in E.164' }),
    from: Type.String({ description: 'The sender that the handset shows' }),
    parts: Type.Integer({ description: 'Segments the text was sent in' }),
    error_code: Nullable(Type.String({ description: 'Why it failed' })),
    metadata: Metadata,
    batch_id: Nullable(Type.String({ description: 'The bulk or list it was sent with' })),
    network: Nullable(Type.String({ description: 'Network of the recipient, as far as it is known' })),
  },
  { title: 'SmsStatusEvent' },
)

const Received = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `smi_…`' }),
    from: Type.String({ description: 'The handset, in E.164' }),
    to: Type.String({ description: 'Your short code or number' }),
    message: Type.String({ description: 'What it says' }),
    keyword: Nullable(Type.String({ description: 'The keyword of your number that it begins with; null for none' })),
    parts: Type.Integer({ description: 'Segments it came in' }),
    network: Nullable(Type.String({ description: 'Network of the handset, as far as it is known' })),
    in_reply_to: Nullable(Type.String({ description: 'The message it probably answers' })),
    partial: Type.Optional(Type.Boolean({ description: 'A part never arrived' })),
  },
  { title: 'SmsReceivedEvent' },
)

const Consent = Type.Object(
  {
    phone: Type.String({ description: 'Whose wish it is, in E.164' }),
    from: Type.String({ description: 'The sender it is about, `*` for all' }),
    reason: Nullable(Type.String({ description: 'The word they sent, or your note' })),
    source: OneOf(['keyword', 'api', 'import', 'carrier'], {
      description: 'By a word such as STOP, by request, from a file, or as the carrier told us',
    }),
    message_id: Nullable(Type.String({ description: 'The message that asked for it' })),
    created_at: At({ description: 'When it was recorded' }),
  },
  { title: 'SmsConsentEvent' },
)

const BatchCompleted = Type.Object(
  {
    batch_id: Type.String({ description: 'Id of the bulk, such as `smb_…`' }),
    status: OneOf(['completed', 'cancelled'], {
      description: '`cancelled` if it was called off before all of it went out',
    }),
    total: Type.Integer({ description: 'Entries that you gave' }),
    accepted: Type.Integer({ description: 'Entries that became messages' }),
    rejected: Type.Integer({ description: 'Entries that were refused' }),
    segments: Type.Integer({ description: 'What it was charged for' }),
    cost: Amount({ description: 'Of all messages, less what was given back' }),
    currency: Type.String({ description: 'Of the cost' }),
    counts: Type.Object(
      {
        queued: Type.Integer({ description: 'Not sent' }),
        sent: Type.Integer({ description: 'Taken by the network, and no report came' }),
        delivered: Type.Integer({ description: 'On the handset' }),
        failed: Type.Integer({ description: 'Did not arrive' }),
      },
      { description: 'Messages by status' },
    ),
    metadata: Metadata,
    created_at: At({ description: 'When it was accepted' }),
    completed_at: At({ description: 'When its last message ended, or no report could come any more' }),
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
  sent: status('sms.sent', 'The operator took a message', { ...delivered, status: 'sent' }, 'sms.status'),
  delivered: status('sms.delivered', 'A message reached the handset', delivered, 'sms.status'),
  failed: status('sms.failed', 'A message will not arrive', failed, 'sms.status'),
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
