// SPDX-License-Identifier: Apache-2.0
// Messages as those need them who submit them and tell what became of them.
import type { App } from '../../../platform/app.ts'
import { gatheredByCell } from '../../../platform/db/gather-by-cell.ts'
import { type Queryable, statement } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import type { MessageType } from '../message.ts'

export interface StoredMessage {
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
  /** Whether `sent` is not told to the callback URL. */
  callback_final: boolean
  batch_id: string | null
  request_id: string | null
  /** The bind it went over, or is going over. */
  route: string | null
  /** Possibly sent, with an unknown outcome. Only noted where it must not go out twice. */
  under_way: boolean
  attempts: number
  created_at: Date
  scheduled_at: Date | null
  clock_offset_ms: bigint
}

/** Meaning of a carrier's message id: the part, the number of parts, and the carrier that holds the message. */
export interface NamedPart {
  readonly message: StoredMessage
  readonly part: number
  readonly parts: number
  readonly holder: string | null
}

const storedColumns = `m.bucket, m.account_id, m.environment, m.id, m.status, m.recipient, m.sender, m.body, m.encoding,
          m.segments, m.type, m.currency, m.country, m.network, m.validity, m.metadata, m.callback_url, m.callback_final, m.batch_id, m.request_id,
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

const selectMessages = statement.everywhere<
  { buckets: readonly number[]; accounts: readonly string[]; environments: readonly string[]; ids: readonly string[] },
  StoredMessage
>(
  'sms.load_messages',
  storedFrom('sms.messages_at($buckets::smallint[], $accounts::uuid[], $environments::text[], $ids::uuid[]) m'),
)

interface Wanted {
  readonly tenant: Tenant
  readonly id: string
}

/** Messages that exist among the wanted ones, in any order. */
export function loadMessages(queryable: Queryable, wanted: readonly Wanted[]): Promise<StoredMessage[]> {
  return queryable.query(selectMessages, {
    buckets: wanted.map(({ tenant }) => tenant.bucket),
    accounts: wanted.map(({ tenant }) => tenant.account),
    environments: wanted.map(({ tenant }) => tenant.environment),
    ids: wanted.map(({ id }) => id),
  })
}

const loader = onePerApp((app) =>
  gatheredByCell(app.db, async (wanted: readonly Wanted[]): Promise<(StoredMessage | null)[]> => {
    const byId = new Map((await loadMessages(app.db, wanted)).map((row) => [row.id, row]))
    return wanted.map(({ id }) => byId.get(id) ?? null)
  }),
)

/** Reads a message; reads at the same moment share one statement. */
export function loadMessage(app: App, tenant: Tenant, id: string): Promise<StoredMessage | null> {
  return loader(app)({ tenant, id })
}
