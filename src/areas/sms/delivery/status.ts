// SPDX-License-Identifier: Apache-2.0
// Storing what became of messages: the group commits that change a status, each with the two events that tell of it.
// What the network said must not be forgotten because the database was away for a moment, so these commits are repeated.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { type Columns, type Operation, operation, type RowOf } from '../../../platform/commit.ts'
import { isUnavailable, statement } from '../../../platform/db.ts'
import { eventColumns, type NewEvent, occasionNow } from '../../../platform/events.ts'
import { type Environment, tenantOf } from '../../../platform/tenant.ts'
import { smsEvents } from '../events.ts'
import type { MessageType } from '../message.ts'

/** How long a commit that the database did not confirm waits before it is repeated, and how often. */
const repeatMs = 500
const maxRepeats = 120

const changeColumns = { ...eventColumns, narrow_type: 'text', narrow_head: 'text' } as const

/** A carrier took it. */
export const taken = operation(
  'sms.accepted',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
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

/** A carrier: it is about to be asked. Null: it did not take the message. */
export const mark = operation(
  'sms.mark',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
    id: 'uuid',
    job: 'uuid',
    attempt: 'int',
    carrier: 'text',
  },
  { marked: 'boolean' },
)

export const failed = operation(
  'sms.failed',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
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

export const receipt = operation(
  'sms.receipt',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
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

/** A stored message, as far as sending it and telling of it need it. */
export interface Stored {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  status: string
  recipient: string
  sender: string
  body: string | null
  encoding: 'gsm7' | 'ucs2'
  segments: number
  type: MessageType
  currency: string | null
  country: string | null
  network: string | null
  validity: number
  metadata: Record<string, string | number | boolean>
  callback_url: string | null
  batch_id: string | null
  request_id: string | null
  /** The bind it went over, or is going over. */
  route: string | null
  /** It may be out, although nobody knows yet. Only noted where it must not go out twice. */
  under_way: boolean
  attempts: number
  created_at: Date
  scheduled_at: Date | null
  clock_offset_ms: bigint
}

const storedColumns = `m.bucket, m.account_id, m.environment, m.id, m.status, m.recipient, m.sender, m.body, m.encoding,
          m.segments, m.type, m.currency, m.country, m.network, m.validity, m.metadata, m.callback_url, m.batch_id, m.request_id,
          m.route, m.under_way, m.attempts, m.created_at, m.scheduled_at, c.offset_ms as clock_offset_ms`

/**
 * Messages as SQL, from a FROM that calls them `m`, with `more` columns of it. The clock of an account is looked at once,
 * not for each of the messages that it has among them.
 */
export function storedFrom(from: string, more: readonly string[] = []): string {
  return `with asked as materialized (select ${[...more.map((column) => `n.${column}`), 'm.*'].join(', ')} from ${from}),
     clocks as materialized (
       select account_id, environment, accounts.clock_offset_ms(account_id, environment) as offset_ms
         from (select distinct account_id, environment from asked) a)
   select ${more.map((column) => `m.${column}, `).join('')}${storedColumns}
     from asked m join clocks c on c.account_id = m.account_id and c.environment = m.environment`
}

export const loadMessages = statement<
  { buckets: readonly number[]; accounts: readonly string[]; environments: readonly string[]; ids: readonly string[] },
  Stored
>(
  'sms.load_messages',
  storedFrom('sms.messages_at($buckets::smallint[], $accounts::uuid[], $environments::text[], $ids::uuid[]) m'),
)

/** Both events of a change, ready for its commit. */
export interface Change {
  readonly wide: NewEvent
  readonly narrow: NewEvent
  readonly at: Date
  readonly columns: RowOf<typeof changeColumns>
}

type Told = Pick<Stored, 'id' | 'recipient' | 'sender' | 'segments' | 'metadata' | 'batch_id' | 'network'>

/** What both events say of a change. */
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
  message: Stored,
  status: 'sent' | 'delivered' | 'failed',
  errorCode: string | null,
): Change {
  const occasion = occasionNow(app.clock, tenantOf(message), message.clock_offset_ms, message.request_id)
  const id = idOf('sms', message.id)
  const payload = payloadOf(message, status, errorCode)
  const wide = app.outbox.prepare(smsEvents.status, occasion, id, payload, { callbackUrl: message.callback_url })
  const narrow = app.outbox.prepareWithin(smsEvents[status], wide)
  return {
    wide,
    narrow,
    at: new Date(occasion.nowMs),
    columns: {
      narrow_type: narrow.columns.event_type,
      narrow_head: narrow.head,
      ...wide.columns,
    },
  }
}

/** Hands the events of a change that is durable to whoever delivers them. */
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

/** Commits, and does so again as long as the database is away: these operations change nothing the second time. */
export async function commitSurely<Item extends Columns, Verdict extends Columns>(
  app: App,
  what: Operation<Item, Verdict>,
  item: RowOf<Item>,
): Promise<RowOf<Verdict>> {
  for (let repeats = 0; ; repeats++)
    try {
      return await app.commit(what, item)
    } catch (error) {
      if (!isUnavailable(error) || repeats >= maxRepeats) throw error
      await new Promise((resolve) => setTimeout(resolve, repeatMs))
    }
}
