// SPDX-License-Identifier: Apache-2.0
// Events of email: each step per recipient, the end of a bulk, and domains. `event` is the short name (`delivered`), as
// email webhooks expect; `type` is the name to subscribe to.
import { type Static, type TSchema, Type } from 'typebox'
import { actionOf, eventType, type Head } from '../../platform/events.ts'
import { At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { TlsLevelWord } from './schema.ts'

const head: Head = { event: 'action', type: 'name', event_id: 'id', timestamp: 'at' }

const about = {
  message_id: Type.String({ description: 'Id of the message, such as `em_…`' }),
  email: Type.String({ description: 'Recipient address' }),
}
const ours = {
  bulk_id: Nullable(Type.String({ description: 'Id of the bulk that contains it' })),
  tags: Type.Array(Type.String(), { description: 'Tags of the message' }),
  metadata: Metadata,
}
const reader = {
  user_agent: Nullable(Type.String({ description: 'User agent of the browser or mail client' })),
  ip: Nullable(Type.String({ description: 'Address that the request came from' })),
}
const machine = Type.Boolean({
  description: 'True if the request probably came from a scanner or a prefetching mail client',
})

const Sent = Type.Object(
  {
    ...about,
    ...ours,
    mx: Nullable(Type.String({ description: 'Receiving mail server' })),
    ip_pool: Nullable(Type.String({ description: 'Stream: `transactional` or `bulk`' })),
  },
  { title: 'EmailSentEvent' },
)

const Delivered = Type.Object(
  {
    ...about,
    ...ours,
    smtp_response: Type.String({ description: 'Reply of the server' }),
    mx: Nullable(Type.String({ description: 'Mail server that accepted it' })),
    tls: Nullable(Type.String({ description: 'TLS version, such as TLSv1.3; null without encryption' })),
    tls_level: TlsLevelWord,
    attempts: Type.Integer({ description: 'Number of delivery attempts' }),
  },
  { title: 'EmailDeliveredEvent' },
)

const Opened = Type.Object(
  {
    ...about,
    ...reader,
    ...ours,
    machine,
    client: Nullable(
      Type.Object(
        {
          name: Nullable(Type.String({ description: 'Mail client or browser' })),
          os: Nullable(Type.String({ description: 'Operating system' })),
          device: Nullable(Type.String({ description: 'Kind of device' })),
        },
        { description: 'Client that opened it, derived from the user agent' },
      ),
    ),
    country: Nullable(Type.String({ description: 'Country of the open, ISO 3166; null if unknown' })),
  },
  { title: 'EmailOpenedEvent' },
)

const Clicked = Type.Object(
  {
    ...about,
    url: Type.String({ description: 'Target of the link' }),
    ...reader,
    ...ours,
    link_index: Type.Integer({ description: 'Index of the link in the message, from 0' }),
    machine,
  },
  { title: 'EmailClickedEvent' },
)

const Bounced = Type.Object(
  {
    ...about,
    reason: Type.String({ description: 'Reason for the bounce, in words' }),
    ...ours,
    bounce_type: OneOf(['hard', 'soft'], {
      description: '`hard` for an address that does not exist; it is then suppressed',
    }),
    category: OneOf(['invalid_recipient', 'mailbox_full', 'policy', 'spam', 'domain_error', 'expired', 'other'], {
      description: 'Bounce category',
    }),
    smtp_code: Nullable(Type.Integer({ description: 'SMTP code of the server, such as 550' })),
    enhanced_code: Nullable(Type.String({ description: 'Enhanced status code, such as 5.1.1' })),
    diagnostic: Nullable(Type.String({ description: 'Reply of the server' })),
    source: OneOf(['smtp', 'dsn'], {
      description: 'Source of the bounce: refusal by the server (`smtp`), or a later report (`dsn`)',
    }),
  },
  { title: 'EmailBouncedEvent' },
)

const Complained = Type.Object(
  {
    ...about,
    ...ours,
    feedback_type: Type.String({ description: 'Kind of the report, such as `abuse`' }),
    reporter: Nullable(Type.String({ description: 'Sender of the report' })),
  },
  { title: 'EmailComplainedEvent' },
)

const Unsubscribed = Type.Object(
  {
    ...about,
    ...reader,
    ...ours,
    source: OneOf(['one_click', 'page', 'mailto', 'api'], {
      description: 'Source: the button of the mail client, the page behind the link, a mail, or your request',
    }),
  },
  { title: 'EmailUnsubscribedEvent' },
)

const NotSent = Type.Object(
  {
    ...about,
    reason: Type.String({ description: 'Reason it was not sent' }),
    next_attempt_at: Nullable(At({ description: 'Time of the next attempt; null if there is none' })),
    ...ours,
  },
  { title: 'EmailNotSentEvent' },
)

/** Progress of a bulk, in its record and in its event. */
export const bulkProgress = {
  total: Type.Integer({ description: 'Recipients in the request' }),
  accepted: Type.Integer({ description: 'Messages accepted for sending' }),
  rejected: Type.Integer({ description: 'Invalid recipients' }),
  suppressed: Type.Integer({ description: 'Recipients skipped because they bounced, complained or unsubscribed' }),
  batches: Type.Integer({ description: 'Number of batches' }),
  batches_sent: Type.Integer({ description: 'Number of batches sent' }),
  counts: Type.Object(
    {
      queued: Type.Integer({ description: 'Messages without a delivery attempt so far' }),
      sent: Type.Integer({ description: 'Messages with a delivery attempt, but no outcome so far' }),
      delivered: Type.Integer({ description: 'Messages accepted by a server' }),
      opened: Type.Integer({ description: 'Messages opened at least once' }),
      clicked: Type.Integer({ description: 'Messages with a click' }),
      bounced: Type.Integer({ description: 'Bounced messages' }),
      complained: Type.Integer({ description: 'Messages reported as spam' }),
      unsubscribed: Type.Integer({ description: 'Messages that led to an opt-out' }),
      failed: Type.Integer({ description: 'Messages that failed for another reason or were cancelled' }),
    },
    { description: 'Messages by outcome' },
  ),
  created_at: At({ description: 'Time of acceptance' }),
  started_at: Nullable(At({ description: 'Time at which the first batch was sent; null until then' })),
}

const BulkCompleted = Type.Object(
  {
    bulk_id: Type.String({ description: 'Id of the bulk, such as `emb_…`' }),
    status: OneOf(['completed', 'cancelled'], { description: '`completed` once every batch was sent' }),
    ...bulkProgress,
    completed_at: At({ description: 'Time at which its last message ended' }),
    paused_reason: Nullable(
      OneOf(['bounce_rate', 'complaint_rate'], {
        description: 'Reason for an automatic pause; null if there was none',
      }),
    ),
  },
  { title: 'EmailBulkCompletedEvent' },
)

const DomainChecked = Type.Object(
  {
    id: Type.String({ description: 'Id of the domain, such as `dom_…`' }),
    domain: Type.String({ description: 'Name of the domain, such as shop.example' }),
    status: OneOf(['verified', 'failed'], { description: 'Only a `verified` domain can send' }),
    created_at: At({ description: 'Time at which it was added' }),
    verified_at: Nullable(At({ description: 'Time at which its records were first verified; null until then' })),
    last_checked_at: At({ description: 'Time at which its records were last checked' }),
    dkim_selector: Type.String({ description: 'Name of the signing key in your DNS' }),
    records: Type.Array(
      Type.Object({
        type: OneOf(['TXT', 'CNAME'], { description: 'Kind of DNS record' }),
        name: Type.String({ description: 'Name of the record in your DNS' }),
        value: Type.String({ description: 'Required value' }),
        purpose: OneOf(['verification', 'dkim', 'return_path', 'tracking', 'dmarc'], { description: 'Intended use' }),
        required: Type.Boolean({ description: 'True if the record is required for verification' }),
        status: OneOf(['pending', 'valid', 'invalid', 'missing'], { description: 'Result of the last check' }),
      }),
      { description: 'Required records of your DNS' },
    ),
  },
  { title: 'EmailDomainEvent' },
)

const message = {
  message_id: 'em_01jb2c3d4e5f6g7h8j9kamnpqr',
  email: 'amina@shop.example',
  bulk_id: null,
  tags: ['receipts'],
  metadata: { order: '77' },
}
const browser = { user_agent: 'Mozilla/5.0 (Linux; Android 14)', ip: '197.248.1.2' }
const mx = 'mx1.shop.example'

const complaint: Static<typeof Complained> = { ...message, feedback_type: 'abuse', reporter: 'mail.example' }

const bulk: Static<typeof BulkCompleted> = {
  bulk_id: 'emb_01jb2c3d4e5f6g7h8j9kamnpqr',
  status: 'completed',
  total: 500,
  accepted: 497,
  rejected: 2,
  suppressed: 1,
  batches: 2,
  batches_sent: 2,
  counts: {
    queued: 0,
    sent: 0,
    delivered: 490,
    opened: 211,
    clicked: 64,
    bounced: 7,
    complained: 0,
    unsubscribed: 3,
    failed: 0,
  },
  created_at: new Date('2026-03-01T09:00:00Z'),
  started_at: new Date('2026-03-01T09:00:01Z'),
  completed_at: new Date('2026-03-01T09:15:30Z'),
  paused_reason: null,
}

const domain = (status: 'verified' | 'failed'): Static<typeof DomainChecked> => ({
  id: 'dom_01jb2c3d4e5f6g7h8j9kamnpqr',
  domain: 'shop.example',
  status,
  created_at: new Date('2026-03-01T09:00:00Z'),
  verified_at: status === 'verified' ? new Date('2026-03-01T09:15:30Z') : null,
  last_checked_at: new Date('2026-03-01T09:15:30Z'),
  dkim_selector: 'pj1',
  records: [
    {
      type: 'TXT',
      name: '_pamoja.shop.example',
      value: 'pamoja-verification=3f9c2a',
      purpose: 'verification',
      required: true,
      status: status === 'verified' ? 'valid' : 'missing',
    },
  ],
})

/** Email event that can also be subscribed to by its short name. */
function email<S extends TSchema>(name: string, summary: string, payload: S, sample: Static<S>, within?: string) {
  const wider = within === undefined ? {} : { within }
  return eventType({ name, summary, payload, sample, head, aliases: [actionOf(name)], ...wider })
}

export const emailEvents = {
  sent: email('email.sent', 'A message is on its way to the recipient’s server', Sent, {
    ...message,
    mx,
    ip_pool: 'transactional',
  }),
  delivered: email('email.delivered', 'The recipient’s server accepted a message', Delivered, {
    ...message,
    smtp_response: '250 2.0.0 OK',
    mx,
    tls: 'TLSv1.3',
    tls_level: 'mta_sts',
    attempts: 1,
  }),
  opened: email('email.opened', 'A recipient opened a message for the first time', Opened, {
    ...message,
    ...browser,
    machine: false,
    client: { name: 'Chrome', os: 'Android', device: 'mobile' },
    country: 'KE',
  }),
  clicked: email('email.clicked', 'A recipient followed a link for the first time', Clicked, {
    ...message,
    ...browser,
    url: 'https://shop.example/orders/77',
    link_index: 0,
    machine: false,
  }),
  bounced: email('email.bounced', 'A message bounced: the recipient’s server refused it permanently', Bounced, {
    ...message,
    reason: 'the mailbox does not exist',
    bounce_type: 'hard',
    category: 'invalid_recipient',
    smtp_code: 550,
    enhanced_code: '5.1.1',
    diagnostic: '550 5.1.1 no such user',
    source: 'smtp',
  }),
  complained: email('email.complained', 'A recipient reported a message as spam', Complained, complaint),
  spam: email('email.spam', 'Alias of `email.complained`', Complained, complaint, 'email.complained'),
  unsubscribed: email('email.unsubscribed', 'A recipient unsubscribed from bulk messages', Unsubscribed, {
    ...message,
    ...browser,
    source: 'one_click',
  }),
  deferred: email('email.deferred', 'The recipient’s server deferred a message: it is retried', NotSent, {
    ...message,
    reason: '451 4.7.1 greylisted',
    next_attempt_at: new Date('2026-03-01T09:16:30Z'),
  }),
  suppressed: email('email.suppressed', 'A recipient was left out because of the suppression list', NotSent, {
    ...message,
    reason: 'hard_bounce',
    next_attempt_at: null,
  }),
  failed: email('email.failed', 'A message could not be sent', NotSent, {
    ...message,
    reason: 'the wallet was empty at the scheduled time',
    next_attempt_at: null,
  }),
  cancelled: email('email.cancelled', 'A message was cancelled before it was sent', NotSent, {
    ...message,
    reason: 'cancelled by request',
    next_attempt_at: null,
  }),
  bulkCompleted: email('email.bulk_completed', 'A bulk send ended', BulkCompleted, bulk),
  domainVerified: email('email.domain_verified', 'A domain was verified', DomainChecked, domain('verified')),
  domainFailed: email('email.domain_failed', 'A domain lost the records it needs', DomainChecked, domain('failed')),
}
