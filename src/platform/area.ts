// SPDX-License-Identifier: Apache-2.0
// What an area brings to the program. areas.ts lists the areas; everything else is found through these lists. Prefixes of ids
// and codes of errors are in the tables of the kernel, so that the compiler knows them.
import type { settings } from '../config.ts'
import type { App } from './app.ts'
import type { ScopeArea } from './auth/scopes.ts'
import type { EventType } from './events.ts'
import type { Hook } from './hook.ts'
import type { PlanLimit } from './limits/plan-limits.ts'
import type { AreaListener } from './listeners.ts'
import type { Chore, Partitioned } from './nodes/maintenance.ts'
import type { Chapter } from './openapi/reference.ts'
import type { Finder } from './operator/finding.ts'
import type { History } from './operator/history.ts'
import type { SpendByCountry } from './operator/spending.ts'
import type { Route } from './route.ts'
import type { Simulator } from './simulators.ts'
import type { Socket } from './socket.ts'
import type { Tenant } from './tenant.ts'
import type { Waits } from './waiting.ts'
import type { Job } from './work.ts'

/** What a receiver said when it was told of an event, in an answer that took it. */
export interface EventAnswer {
  readonly tenant: Tenant
  /** How far the account's clock was moved. */
  readonly clockOffsetMs: number
  /** What the event was about. */
  readonly resource: string
  readonly status: number
  readonly body: string
  /** False: there was more of it than is read. */
  readonly isWhole: boolean
}

/** Does what an answer asks for; gives a sentence for the log of the delivery when it refuses. May be asked twice. */
export type TakeAnswer = (app: App, answer: EventAnswer) => Promise<string | null>

/** Area of the price list -> units that something is charged by. */
export type Charges = Readonly<Record<string, readonly string[]>>

/** What all areas together charge for. */
export function chargesOf(areas: readonly Pick<Area, 'charges'>[]): ReadonlyMap<string, readonly string[]> {
  return new Map(areas.flatMap(({ charges = {} }) => Object.entries(charges)))
}

/** The first account of an installation that makes things up, for which areas may prepare something. */
export interface DemoAccount {
  readonly accountId: string
  /** Its test environment. */
  readonly tenant: Tenant
  /** What credentials.json said after an earlier start, such as a password that can be shown only once. */
  readonly written: Readonly<Record<string, unknown>>
}

export interface Area {
  /** Its folder, its schema in the database, and how the log calls it. */
  readonly name: string
  readonly routes: readonly Route[]
  /** Chapters of the reference: the first word of an operation -> its title, and what is found there. */
  readonly chapters?: Readonly<Record<string, Chapter>>
  /** Areas whose doors (`area.ts`) it imports. Everything else crosses as an event. */
  readonly uses?: readonly string[]
  /** What credentials may be allowed to do here. */
  readonly scopes?: readonly ScopeArea[]
  /** Limits by the minute that plans set. */
  readonly limits?: readonly PlanLimit[]
  readonly jobs?: readonly Job<App>[]
  readonly events?: readonly EventType[]
  readonly chores?: readonly Chore[]
  /** What its nodes tell each other of, beside what the platform does: topics of `app.signals`. */
  readonly topics?: readonly string[]
  /** Its tables that are cut by time, and how long their rows are kept. */
  readonly partitions?: readonly Partitioned[]
  /** Its part of config.ts, which joins it. */
  readonly settings?: Readonly<Partial<typeof settings>>
  /** Ports that it listens on. */
  readonly listeners?: readonly AreaListener[]
  /** Simulators that it speaks to in the sandbox. */
  readonly simulators?: readonly Simulator<unknown>[]
  /** Events whose receivers may ask for something in their answer: name -> who does it. */
  readonly answers?: Readonly<Record<string, TakeAnswer>>
  /** What it charges for: the names under which the price list has it, and what they are counted by. */
  readonly charges?: Charges
  /** What accounts paid for what it did, by the country it went to; for usage. The ledger has it under `revenue:` and its name. */
  readonly spendByCountry?: SpendByCountry
  /** What operators find by an id, a number or a reference, whoever's it is. */
  readonly finders?: readonly Finder[]
  /** What it knows of a customer's past, by phone number or mail address. */
  readonly histories?: readonly History[]
  /** Addresses outside /v1, for carriers, providers and people, who have no key. */
  readonly hooks?: readonly Hook[]
  /** Websockets below /v1. */
  readonly sockets?: readonly Socket[]
  /** How its ways to the outside are, for /readyz, which anybody may read: `ok`, or what is the matter. */
  health?(app: App): string
  /** What requests wait for. A node that takes no more of them answers those that wait. */
  readonly waits?: readonly Waits[]
  /** Opens what the area keeps open beside requests and jobs, such as connections to carriers. Gives the way to stop. */
  start?(app: App): Promise<() => Promise<void>>
  /** Prepares what the first account finds here, at every start anew; gives what credentials.json says of it. */
  demo?(app: App, account: DemoAccount): Promise<Readonly<Record<string, unknown>>>
}
