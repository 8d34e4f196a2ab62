// SPDX-License-Identifier: Apache-2.0
// App: all dependencies of handlers and jobs, built once in node/build-app.ts and passed as the first argument.
import type { Config } from '../config.ts'
import type { Currency, Money } from '../kernel/money.ts'
import type { Dialect } from './api/dialect.ts'
import type { Idempotency } from './api/idempotency.ts'
import type { Dealing } from './auth/dealings.ts'
import type { Tokens } from './auth/tokens.ts'
import type { Authenticator } from './auth.ts'
import type { Clock } from './clock.ts'
import type { Columns, Committer, Operation, PlainColumns, RowOf } from './commit.ts'
import type { Database } from './db.ts'
import type { Catalogue } from './events/catalogue.ts'
import type { Courier, Outbox } from './events.ts'
import type { RequestLog } from './http/request-log.ts'
import type { Limits } from './limits.ts'
import type { Leases } from './nodes/leases.ts'
import type { SandboxNode } from './nodes/sandbox.ts'
import type { Signals } from './nodes/signals.ts'
import type { Erasable } from './operator/erasing.ts'
import type { Finder } from './operator/finding.ts'
import type { History, MergeCustomers } from './operator/history.ts'
import type { FindProfile } from './operator/profile.ts'
import type { SpendByCountry } from './operator/spending.ts'
import type { Traffic } from './operator/traffic.ts'
import type { WaitingCount } from './operator/waiting.ts'
import type { Outbound } from './outbound.ts'
import type { Simulators } from './program/simulators.ts'
import type { Secrets } from './secrets.ts'
import type { Storage } from './storage.ts'
import type { Logger } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'
import type { Tracer } from './telemetry/tracing.ts'
import type { Timeline } from './timeline.ts'
import type { Work } from './work/worker.ts'

export interface App {
  readonly config: Config
  readonly version: string
  readonly nodeId: string
  /** Public base URL of the API, without a trailing slash. */
  readonly publicUrl: string
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Tracer; null when tracing is off. */
  readonly tracer: Tracer | null
  readonly db: Database
  readonly signals: Signals
  readonly committer: Committer
  readonly work: Work<App>
  /** All event types. */
  readonly catalogue: Catalogue
  /** Spending by country, from the areas that know it, by name. */
  readonly spendByCountry: ReadonlyMap<string, SpendByCountry>
  /** Search functions for operators, across accounts. */
  readonly finders: readonly Finder[]
  /** Traffic over time, by area. */
  readonly traffic: readonly Traffic[]
  /** Counts of what waits for a person. */
  readonly waiting: readonly WaitingCount[]
  /** Sources of a customer's history. */
  readonly histories: readonly History[]
  /** Who has a phone number, as areas know it. */
  readonly profiles: readonly FindProfile[]
  /** What areas do when two customers are merged. */
  readonly customerMergers: readonly MergeCustomers[]
  /** What areas have of people, to be erased. */
  readonly erasables: readonly Erasable<App>[]
  /** What areas know of the numbers that a member has to do with. */
  readonly dealings: readonly Dealing[]
  readonly outbox: Outbox
  /** Dialects of callbacks, by name. */
  readonly dialects: ReadonlyMap<string, Dialect>
  readonly courier: Courier
  /** HTTP client for customers' URLs. */
  readonly outbound: Outbound
  /** HTTP client for carriers: operators entered the URLs, so private addresses are allowed. */
  readonly carrierOutbound: Outbound
  readonly leases: Leases
  readonly secrets: Secrets
  /** Files of customers. */
  readonly storage: Storage
  readonly tokens: Tokens
  readonly limits: Limits
  readonly idempotency: Idempotency
  readonly requestLog: RequestLog
  /** Wire frames per message or payment. */
  readonly timeline: Timeline
  readonly authenticator: Authenticator
  readonly prices: PriceSource
  /** Price list: area → units. */
  readonly charges: ReadonlyMap<string, readonly string[]>
  readonly simulators: Simulators
  /** Which node's simulators are used. */
  readonly sandbox: SandboxNode
  /** Group commit: one durable write in a batch with concurrent ones. */
  commit<Item extends Columns, Verdict extends PlainColumns>(
    operation: Operation<Item, Verdict>,
    item: RowOf<Item>,
  ): Promise<RowOf<Verdict>>
  /** Commits what must not be lost, again as long as the database is away: the operation changes nothing the second time. */
  commitSurely: App['commit']
}

/** Current price of a unit for an account. Implemented by the ledger. */
export interface PriceSource {
  quote(wanted: PriceQuery): Money | null
  /** Start of validity of the price that `quote` returns. */
  inForceSince(wanted: PriceQuery): Date | null
  start(): Promise<void>
  stop(): Promise<void>
  /** Resolves when all prices committed before the call are loaded. */
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
