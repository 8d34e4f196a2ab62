// SPDX-License-Identifier: Apache-2.0
// The status of a message: the group commits that change it, each with the two events that tell of it.
// What the network said must not be forgotten because the database was away for a moment, so these commits are repeated.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { operation, type RowOf } from '../../../platform/commit.ts'
import { eventRow, type NewEvent, occasionNow } from '../../../platform/events.ts'
import { tenantColumns, tenantOf } from '../../../platform/tenant.ts'
import { smsEvents } from '../events.ts'
import type { StoredMessage } from './load.ts'

const changeColumns = { event: eventRow, narrow_type: 'text', narrow_head: 'text' } as const

export const storeSent = operation.tenant(
  'sms.accepted',
  {
    ...tenantColumns,
    id: 'uuid',
    job: 'uuid',
    carrier: 'text',
    carrier_ids: 'jsonb',
    attempts: 'smallint',
    at: 'timestamptz',
    ...changeColumns,
  },
  { changed: 'boolean', wide: 'text', narrow: 'text', early: 'text' },
)

export const storeFailed = operation.tenant(
  'sms.failed',
  {
    ...tenantColumns,
    id: 'uuid',
    job: 'uuid',
    attempt: 'int',
    error_code: 'text',
    carrier_code: 'text',
    carrier: 'text',
    attempts: 'smallint',
    at: 'timestamptz',
    transfer: 'uuid',
    ...changeColumns,
  },
  { changed: 'boolean', wide: 'text', narrow: 'text' },
)

export const storeReceipt = operation.tenant(
  'sms.receipt',
  {
    ...tenantColumns,
    id: 'uuid',
    part: 'smallint',
    parts: 'smallint',
    carrier: 'text',
    carrier_id: 'text',
    status: 'text',
    error_code: 'text',
    carrier_code: 'text',
    at: 'timestamptz',
    ...changeColumns,
    transfer: 'uuid',
  },
  { changed: 'boolean', wide: 'text', narrow: 'text' },
)

/** Both events of a change, ready for its commit. */
export interface Change {
  readonly wide: NewEvent
  readonly narrow: NewEvent
  readonly at: Date
  readonly columns: RowOf<typeof changeColumns>
}

type Told = Pick<StoredMessage, 'id' | 'recipient' | 'sender' | 'segments' | 'metadata' | 'batch_id' | 'network'>

/** Payload that both events of a change share. */
export function payloadOf<Status extends 'sent' | 'delivered' | 'failed'>(
  message: Told,
  status: Status,
  errorCode: string | null,
) {
  return {
    message_id: idOf('sms', message.id),
    status,
    to: message.recipient,
    from: message.sender,
    parts: message.segments,
    error_code: errorCode,
    metadata: message.metadata,
    batch_id: message.batch_id && idOf('smsBatch', message.batch_id),
    network: message.network,
  }
}

export function changeOf(
  app: App,
  message: StoredMessage,
  status: 'sent' | 'delivered' | 'failed',
  errorCode: string | null,
): Change {
  const occasion = occasionNow(app.clock, tenantOf(message), message.clock_offset_ms, message.request_id)
  const id = idOf('sms', message.id)
  const payload = payloadOf(message, status, errorCode)
  const callbackUrl = message.callback_final && status === 'sent' ? null : message.callback_url
  const wide = app.outbox.prepare(smsEvents.status, occasion, id, payload, { callbackUrl })
  const narrow = app.outbox.prepareWithin(smsEvents[status], wide)
  return {
    wide,
    narrow,
    at: new Date(occasion.nowMs),
    columns: {
      event: wide.row,
      narrow_type: narrow.row.type,
      narrow_head: narrow.head,
    },
  }
}

/** Passes the events of a durable change to the dispatcher. */
export function tell(
  app: App,
  { wide, narrow }: Change,
  verdict: { changed: boolean | null; wide: string | null; narrow: string | null },
): void {
  if (!verdict.changed) return
  app.outbox.begin(wide, verdict.wide)
  app.outbox.begin(narrow, verdict.narrow)
}

/** The price goes back with a transfer of this id. */
export function transferId(app: App): string {
  return newUuid(app.clock.nowMs())
}
