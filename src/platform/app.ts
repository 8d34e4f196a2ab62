// SPDX-License-Identifier: Apache-2.0
// Everything a verb may need, built once in server.ts and handed down as the first argument.
import type { Config } from '../config.ts'
import type { Currency, Money } from '../kernel/money.ts'
import type { Tokens } from './auth/tokens.ts'
import type { Authenticator } from './auth.ts'
import type { Clock } from './clock.ts'
import type { Columns, Committer, Operation, PlainColumns, RowOf } from './commit.ts'
import type { Database } from './db.ts'
import type { Catalogue } from './events/catalogue.ts'
import type { Courier, Outbox } from './events.ts'
import type { Idempotency } from './http/idempotency.ts'
import type { RequestLog } from './http/request-log.ts'
import type { Limits } from './limits.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Leases } from './nodes/leases.ts'
import type { Signals } from './nodes/signals.ts'
import type { Finder } from './operator/finding.ts'
import type { History } from './operator/history.ts'
import type { SpendByCountry } from './operator/spending.ts'
import type { Outbound } from './outbound.ts'
import type { Secrets } from './secrets.ts'
import type { Simulators } from './simulators.ts'
import type { Storage } from './storage.ts'
import type { Timeline } from './timeline.ts'
import type { Tracer } from './tracing.ts'
import type { Work } from './work.ts'

export interface App {
  readonly config: Config
  readonly version: string
  readonly nodeId: string
  /** Where customers reach the API, without a trailing slash. */
  readonly publicUrl: string
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Null unless traces are collected. */
  readonly tracer: Tracer | null
  readonly db: Database
  readonly signals: Signals
  readonly committer: Committer
  readonly work: Work<App>
  /** Every event there is. */
  readonly catalogue: Catalogue
  /** The areas that know where what they did went, by name. */
  readonly spendByCountry: ReadonlyMap<string, SpendByCountry>
  /** Where things are found of which nobody knows whose they are. */
  readonly finders: readonly Finder[]
  /** What the areas know of a customer's past. */
  readonly histories: readonly History[]
  readonly outbox: Outbox
  readonly courier: Courier
  /** The one door to URLs that customers gave. */
  readonly outbound: Outbound
  /** The door to carriers that are reached by URL: operators gave them, so that they may be private addresses. */
  readonly carrierOutbound: Outbound
  readonly leases: Leases
  readonly secrets: Secrets
  /** Files of customers. */
  readonly storage: Storage
  readonly tokens: Tokens
  readonly limits: Limits
  readonly idempotency: Idempotency
  readonly requestLog: RequestLog
  /** What went over the wire, frame by frame. */
  readonly timeline: Timeline
  readonly authenticator: Authenticator
  readonly prices: PriceSource
  /** What can have a price: area -> units. */
  readonly charges: ReadonlyMap<string, readonly string[]>
  readonly simulators: Simulators
  /** Group commit: one durable write, shared with whoever writes at the same moment. */
  commit<Item extends Columns, Verdict extends PlainColumns>(
    operation: Operation<Item, Verdict>,
    item: RowOf<Item>,
  ): Promise<RowOf<Verdict>>
}

/** What a unit of something costs an account now. Kept by the ledger. */
export interface PriceSource {
  quote(wanted: PriceQuery): Money | null
  /** When the price that `quote` gives came into force. */
  inForceSince(wanted: PriceQuery): Date | null
  start(): Promise<void>
  stop(): Promise<void>
  /** Resolves when everything committed before the call is known here. */
  refresh(): Promise<void>
}

export interface PriceQuery {
  area: string
  unit: string
  currency: Currency
  account: string
  country?: string
  network?: string
  atMs: number
}
