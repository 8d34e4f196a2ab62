// SPDX-License-Identifier: Apache-2.0
// A message as those who ask for it read it.
import type { Static } from 'typebox'
import { idOf } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import type { MessageRecord } from './schema.ts'
import type { MessageRow } from './store.ts'

/** A message as the customer reads it at a moment of the account's own time. */
export function recordOf(row: MessageRow, homeCurrency: string, nowMs: number): Static<typeof MessageRecord> {
  const { carrier_code } = row
  const error_code = errorCodeOf(row, nowMs)
  const moments: [MessageRow['status'], Date | null][] = [
    [row.direction === 'inbound' ? 'received' : 'queued', row.created_at],
    ['sent', row.sent_at],
    ['delivered', row.delivered_at],
    ['failed', row.failed_at],
    ['delivered', row.late_at],
  ]
  return {
    message_id: publicId(row),
    status: row.status,
    direction: row.direction,
    to: row.recipient,
    from: row.sender,
    message: row.body,
    segments: row.segments,
    parts: row.segments,
    encoding: row.encoding,
    cost: costOf(row),
    price_per_segment: row.unit_price,
    currency: row.currency ?? homeCurrency,
    created_at: row.created_at,
    scheduled_at: row.scheduled_at,
    sent_at: row.sent_at,
    delivered_at: row.delivered_at,
    failed_at: row.failed_at,
    error_code,
    error: error_code && (sentences[error_code] ?? null),
    metadata: row.metadata,
    reference: row.reference,
    country: row.country,
    network: row.network,
    attempts: row.attempts,
    batch_id: row.batch_id && idOf('smsBatch', row.batch_id),
    timeline: moments.flatMap(([status, at]) =>
      at === null
        ? []
        : [
            {
              status,
              at,
              error_code: status === 'failed' ? error_code : null,
              carrier_code: status === 'failed' ? carrier_code : null,
            },
          ],
    ),
  }
}

/** Record of a message for operators, which also names the bind. */
export function operatorRecordOf(row: MessageRow, homeCurrency: string, nowMs: number): Static<typeof MessageRecord> {
  return { ...recordOf(row, homeCurrency, nowMs), route: row.route }
}

/** Final cost: a message that never went out was refunded. */
export function costOf({ status, sent_at, cost }: MessageRow): bigint {
  return status === 'failed' && sent_at === null ? 0n : cost
}

/** Why it failed, or what is amiss with it. */
export function errorCodeOf(row: MessageRow, nowMs: number): string | null {
  return row.error_code ?? (isUnheardOf(row, nowMs) ? 'DLR_TIMEOUT' : null)
}

/** Sent, and still no receipt a day after its validity: it stays sent, and the record says so. */
function isUnheardOf({ status, sent_at, validity }: MessageRow, nowMs: number): boolean {
  return status === 'sent' && sent_at !== null && nowMs > sent_at.getTime() + validity * 1_000 + dayMs
}

export function publicId({ direction, id }: MessageRow): string {
  return direction === 'inbound' ? idOf('smsInbound', id) : idOf('sms', id)
}

/** Sentence for a failed message's code. */
const sentences: Readonly<Record<string, string>> = {
  INVALID_NUMBER: 'The operator does not know the number.',
  UNKNOWN_SUBSCRIBER: 'Nobody has this number.',
  ABSENT_SUBSCRIBER: 'The handset was off or out of reach.',
  UNDELIVERABLE: 'The operator could not deliver it.',
  EXPIRED: 'It was not delivered within its validity.',
  REJECTED: 'The operator refused it.',
  BLOCKED: 'The recipient takes no such messages.',
  OPTED_OUT: 'The recipient does not want messages from this sender.',
  SPAM_REJECTED: 'The operator took it for spam.',
  INVALID_SENDER: 'The operator does not accept this sender.',
  SENDER_NOT_ALLOWED: 'The sender was not approved for the country when it was due.',
  COUNTRY_NOT_ENABLED: 'Messages to the country were not enabled when it was due.',
  NO_ROUTE: 'No route leads to this number.',
  CARRIER_ERROR: 'The operator had an error.',
  THROTTLED: 'The operator took no more messages for too long.',
  INSUFFICIENT_BALANCE: 'The wallet could not cover it when it was due.',
  CANCELLED: 'It was cancelled before it was sent.',
  ENCODING_ERROR: 'The text cannot be written in its encoding.',
  DLR_TIMEOUT: 'The operator never said what became of it.',
}
