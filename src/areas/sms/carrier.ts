// SPDX-License-Identifier: Apache-2.0
// Contract of an SMS carrier, and how one is chosen: a route names tiers of carriers; inside a tier their weights share
// the messages, and the next tier is used when no carrier of this one can take the message.
import type { Environment } from '../../platform/tenant.ts'
import type { Frame, Note } from '../../platform/timeline.ts'
import type { Wish } from '../../protocols/smpp/wish.ts'
import type { Priority } from './message.ts'

/** A message as a carrier needs it. */
export interface OutboundMessage {
  readonly id: string
  /** Whose turn it takes, and before whom it goes. */
  readonly account: string
  readonly priority: Priority
  /** Share of its account in a turn of the queue. */
  readonly weight: number
  readonly to: string
  readonly from: string
  readonly text: string
  readonly encoding: 'gsm7' | 'ucs2'
  /** Names its parts, if it has several; the same each time that it is handed over. */
  readonly reference: number
  /** Time for which the network may retry. */
  readonly validitySeconds: number
  /** Behaviour wanted of the sandbox's network; never given to any other. */
  readonly wish?: Wish
  /** Notes the frames of the message; null or left out: none are kept. `masksText`: without its text. */
  readonly trace?: { readonly note: Note; readonly masksText: boolean } | null
  /** Asked right before anything of it goes out; it does not if that is refused. */
  readonly permit: (() => Promise<boolean>) | null
}

export type SubmitOutcome =
  /** All of it was taken; one id for each part in which it was handed over. */
  | { kind: 'sent'; carrierIds: readonly string[] }
  /** Refused for good: `code` is ours, `carrierCode` the carrier's own. */
  | { kind: 'rejected'; code: string; carrierCode: string }
  /** This carrier cannot take it; another may. */
  | { kind: 'reroute'; code: string; carrierCode: string | null }
  /** Not now. */
  | { kind: 'retry'; afterMs: number; reason: string }
  /** The permit to send was refused. */
  | { kind: 'withheld' }
  /**
   * There was no answer, or the connection was lost before it: it may have been taken, or not. `late` is fulfilled, with what
   * `sent` would have said, if the answers come after all.
   */
  | { kind: 'unknown'; reason: string; late?: Promise<readonly string[]> }

export interface Carrier {
  readonly name: string
  /** Whether it can take messages at this moment. */
  readonly isUp: boolean
  /** Connections that are open; of a carrier that keeps none, 1 while it answers. */
  readonly sessions: number
  /** Messages that wait for it, or for its answer. */
  readonly pending: number
  /** Current send rate; null: unlimited. */
  readonly ratePerSecond: number | null
  readonly lastError: string | null
  /** Opens connections; resolves when the first attempts are over, successful or not. */
  start(): Promise<void>
  submit(message: OutboundMessage): Promise<SubmitOutcome>
  stop(): Promise<void>
}

/** Receipt of one part. */
export interface Receipt {
  readonly carrier: string
  readonly carrierId: string
  readonly status: 'delivered' | 'failed'
  readonly errorCode: string | null
  readonly carrierCode: string | null
  /** The frame that it came in, where it was one; for the timeline of its message. */
  frame?(isMasked: boolean): Frame
}

/** A message, or a part of one, from a handset. */
export interface Incoming {
  readonly carrier: string
  readonly from: string
  readonly to: string
  readonly text: string
  readonly encoding: 'gsm7' | 'ucs2'
  /** Set when it is one of several parts. */
  readonly part: { readonly reference: number; readonly total: number; readonly number: number } | null
  /** The frame that it came in; for the timeline of the message. */
  frame?(isMasked: boolean): Frame
}

/** Intake of what carriers bring, which are told that it arrived once the promise is fulfilled. */
export interface Intake {
  receipt(receipt: Receipt): Promise<void>
  incoming(message: Incoming): Promise<void>
}

export interface Member {
  readonly bind: string
  readonly weight: number
}

/** Carriers for the messages that match; null matches everything. */
export interface Route {
  readonly id: string
  readonly environment: Environment
  readonly account: string | null
  readonly country: string | null
  readonly network: string | null
  readonly tiers: readonly (readonly Member[])[]
  /** Handling of a message whose connection was lost before the answer. */
  readonly onUnknown: 'maybe_twice' | 'maybe_never'
  /** Whether a message that could not be delivered goes over the next tier. */
  readonly rerouteOnUndelivered: boolean
  /** Whether a message that was sent and could not be delivered costs nothing. */
  readonly refundUndelivered: boolean
  /** Handling of a message while no carrier can take it: keep it for them, or refuse it. */
  readonly whenDown: 'queue' | 'refuse'
}

export interface Destination {
  readonly environment: Environment
  readonly account: string
  readonly country: string | null
  readonly network: string | null
}

/** The most exact of the routes that match: by account, then by network, then by country. */
export function routeFor(routes: readonly Route[], destination: Destination): Route | null {
  let best: Route | null = null
  for (const route of routes) {
    if (route.environment !== destination.environment) continue
    if (route.account !== null && route.account !== destination.account) continue
    if (route.country !== null && route.country !== destination.country) continue
    if (route.network !== null && route.network !== destination.network) continue
    if (best === null || exactness(route) > exactness(best)) best = route
  }
  return best
}

function exactness({ account, network, country }: Route): number {
  return (account === null ? 0 : 4) + (network === null ? 0 : 2) + (country === null ? 0 : 1)
}

/** The carriers of a route in the order in which they are to be asked: tier by tier, drawn by weight inside each. */
export function* inOrder(route: Route, random: () => number): Generator<string> {
  for (const tier of route.tiers) {
    const left = [...tier]
    while (left.length > 0) {
      const [drawn] = left.splice(draw(left, random()), 1)
      if (drawn) yield drawn.bind
    }
  }
}

function draw(members: readonly Member[], random: number): number {
  let point = random * members.reduce((sum, { weight }) => sum + weight, 0)
  for (let i = 0; i < members.length; i++) {
    point -= members[i]?.weight ?? 0
    if (point < 0) return i
  }
  return members.length - 1
}

/** The binds of the tiers up to the one that a carrier is in; null when there is no tier after it. */
export function tiersUpTo({ tiers }: Route, carrier: string): string[] | null {
  const at = tiers.findIndex((tier) => tier.some(({ bind }) => bind === carrier))
  if (at < 0 || at === tiers.length - 1) return null
  return tiers.slice(0, at + 1).flatMap((tier) => tier.map(({ bind }) => bind))
}
