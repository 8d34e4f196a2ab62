// SPDX-License-Identifier: Apache-2.0
// What an area brings to the program. areas.ts lists the areas; everything else is found through these lists.
import type { App } from './app.ts'
import type { EventType } from './events.ts'
import type { Hook } from './hook.ts'
import type { Chore } from './nodes/maintenance.ts'
import type { Route } from './route.ts'
import type { SpendByCountry } from './spending.ts'
import type { Tenant } from './tenant.ts'
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

export interface Area {
  readonly name: string
  readonly routes: readonly Route[]
  readonly jobs?: readonly Job<App>[]
  readonly events?: readonly EventType[]
  readonly chores?: readonly Chore[]
  /** Events whose receivers may ask for something in their answer: name -> who does it. */
  readonly answers?: Readonly<Record<string, TakeAnswer>>
  /** What it charges for: the names under which the price list has it, and what they are counted by. */
  readonly charges?: Charges
  /** What accounts paid for what it did, by the country it went to; for usage. The ledger has it under `revenue:` and its name. */
  readonly spendByCountry?: SpendByCountry
  /** Addresses outside /v1, for carriers, providers and people, who have no key. */
  readonly hooks?: readonly Hook[]
  /** How its ways to the outside are, for /readyz, which anybody may read: `ok`, or what is the matter. */
  health?(app: App): string
  /** The node takes no requests any more: those that wait for something to happen are answered now. */
  drain?(app: App): void
  /** Opens what the area keeps open beside requests and jobs, such as connections to carriers. Gives the way to stop. */
  start?(app: App): Promise<() => Promise<void>>
}
