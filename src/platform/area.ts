// SPDX-License-Identifier: Apache-2.0
// Area: what one part of the product declares. areas.ts lists the areas; everything else is found through these lists.
// Id prefixes and error codes are in the kernel, so that the compiler knows them.
import type { settings } from '../config.ts'
import type { Hook } from './api/hook.ts'
import type { AreaTools } from './api/offered.ts'
import type { Chapter } from './api/reference.ts'
import type { Route } from './api/route.ts'
import type { Socket } from './api/socket.ts'
import type { App } from './app.ts'
import type { Dealing } from './auth/dealings.ts'
import type { ScopeArea } from './auth/scopes.ts'
import type { EventType } from './events.ts'
import type { PlanLimit } from './limits/plan-limits.ts'
import type { Chore, Partitioned } from './nodes/maintenance.ts'
import type { Waits } from './nodes/waiting.ts'
import type { Erasable } from './operator/erasing.ts'
import type { Finder } from './operator/finding.ts'
import type { History, MergeCustomers } from './operator/history.ts'
import type { FindProfile } from './operator/profile.ts'
import type { SpendByCountry } from './operator/spending.ts'
import type { Traffic } from './operator/traffic.ts'
import type { WaitingCount } from './operator/waiting.ts'
import type { AreaListener } from './program/listeners.ts'
import type { Simulator } from './program/simulators.ts'
import type { Tenant } from './tenant.ts'
import type { Job } from './work.ts'

/** Webhook reply with a success status. */
export interface EventAnswer {
  readonly tenant: Tenant
  /** Clock offset of the account. */
  readonly clockOffsetMs: number
  /** Resource of the event. */
  readonly resource: string
  readonly status: number
  readonly body: string
  /** Whether the reply is whole; false when it was truncated. */
  readonly isWhole: boolean
}

/**
 * Handles a webhook reply that asks for something; returns the error for the delivery log, or null. May be called twice.
 */
export type TakeAnswer = (app: App, answer: EventAnswer) => Promise<string | null>

/** Area of the price list → units charged. */
export type Charges = Readonly<Record<string, readonly string[]>>

/** Units charged by all areas. */
export function chargesOf(areas: readonly Pick<Area, 'charges'>[]): ReadonlyMap<string, readonly string[]> {
  return new Map(areas.flatMap(({ charges = {} }) => Object.entries(charges)))
}

/** First account of a demo installation, for which areas may create data. */
export interface DemoAccount {
  readonly accountId: string
  /** Test environment of the account. */
  readonly tenant: Tenant
  /** Content of credentials.json from an earlier start, such as a password shown only once. */
  readonly written: Readonly<Record<string, unknown>>
}

export interface Area {
  /** Folder, database schema and log field. */
  readonly name: string
  readonly routes: readonly Route[]
  /** Chapters of the reference: first word of an operation → title and description. */
  readonly chapters?: Readonly<Record<string, Chapter>>
  /** What assistants are told of its operations, at /mcp. */
  readonly tools?: AreaTools
  /** Areas whose doors (`area.ts`) it imports. All else crosses as events. */
  readonly uses?: readonly string[]
  /** Scopes of credentials. */
  readonly scopes?: readonly ScopeArea[]
  /** Plan limits per minute. */
  readonly limits?: readonly PlanLimit[]
  readonly jobs?: readonly Job<App>[]
  readonly events?: readonly EventType[]
  readonly chores?: readonly Chore[]
  /** Signal topics between nodes, beside the platform's. */
  readonly topics?: readonly string[]
  /** Tables partitioned by time, and their retention. */
  readonly partitions?: readonly Partitioned[]
  /** Settings, part of config.ts. */
  readonly settings?: Readonly<Partial<typeof settings>>
  /** Listening ports. */
  readonly listeners?: readonly AreaListener[]
  /** Simulators of the sandbox it talks to. */
  readonly simulators?: readonly Simulator<unknown, unknown>[]
  /** Events whose webhook reply may ask for something: name → handler. */
  readonly answers?: Readonly<Record<string, TakeAnswer>>
  /** Units it charges for, as named in the price list. */
  readonly charges?: Charges
  /** Spending by destination country, for usage. The ledger has it under `revenue:` and its name. */
  readonly spendByCountry?: SpendByCountry
  /** Operator search by id, number or reference, across accounts. */
  readonly finders?: readonly Finder[]
  /** Records and money over time, for charts. */
  readonly traffic?: readonly Traffic[]
  /** Counts of what waits for a person, for the badges of the console. */
  readonly waiting?: readonly WaitingCount[]
  /** Customer history by phone number or email address. */
  readonly histories?: readonly History[]
  /** Who has a phone number. */
  readonly profiles?: readonly FindProfile[]
  /** Moves what it has of one customer to another, when both are merged. */
  readonly mergeCustomers?: MergeCustomers
  /** Rows about people, which are erased when somebody asks for it. */
  readonly erasables?: readonly Erasable<App>[]
  /** Calls and conversations by which a member has to do with a number. */
  readonly dealings?: readonly Dealing[]
  /** Endpoints outside /v1 for carriers, providers and people without a key. */
  readonly hooks?: readonly Hook[]
  /** Websockets below /v1. */
  readonly sockets?: readonly Socket[]
  /** Health of its outside connections for /readyz, which is public: `ok` or the problem. */
  health?(app: App): string
  /** Waiting requests, which a stopping node answers. */
  readonly waits?: readonly Waits[]
  /** Starts what runs beside requests and jobs, such as connections to carriers. Returns the stop function. */
  start?(app: App): Promise<() => Promise<void>>
  /** Creates demo data at every start; returns its part of credentials.json. */
  demo?(app: App, account: DemoAccount): Promise<Readonly<Record<string, unknown>>>
}
