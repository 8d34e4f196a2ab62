// SPDX-License-Identifier: Apache-2.0
// Followers: areas that take part in calls. They supply flows for their numbers, run actions that voice only names, and
// observe every leg. All on the node of the call.
import type { App } from '../../platform/app.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { HandedAction } from './flow/action.ts'
import type { Target } from './store.ts'

/** Call as seen by other areas. Ids are UUIDs. */
export interface CallFacts {
  readonly tenant: Tenant
  readonly call: string
  readonly conversation: string
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly customData: Readonly<Record<string, unknown>>
  readonly clockOffsetMs: number
}

/** List of actions. Webhook requests of an area's own flow go to the area (`asked`), others to customers' URLs. */
export interface Flow {
  readonly actions: readonly unknown[]
  readonly isOwn?: boolean
}

/** Status change of a leg or of a call with legs. */
export interface LegChange {
  readonly tenant: Tenant
  readonly call: string
  /** Room of the leg: its own, or that of the call it was rung for. */
  readonly room: string
  readonly tag: string | null
  readonly kind: 'ringing' | 'answered' | 'ended' | 'digit' | 'joined' | 'left'
  readonly status: string
  readonly cause: string | null
  readonly by: string | null
  readonly digit: string | null
  readonly atMs: number
}

/** Why an area refuses its action. */
export interface Refusal {
  readonly code: string
  readonly message: string
}

/** Recording made by the `record` action. Its id is a UUID. */
export interface FlowRecording {
  readonly id: string
  readonly url: string
  readonly seconds: number
}

export interface CallFollower {
  readonly name: string
  /** Flow of a call to a number assigned to this area; null when it is not. */
  flowOf?(app: App, call: CallFacts, target: Target): Promise<Flow | null>
  /** Whether this area answers a number that is unassigned, or assigned to the routing rules. */
  answers?(app: App, tenant: Tenant, call: { readonly from: string; readonly to: string }): Promise<boolean>
  /** Reply to a request of its own flow; null continues the flow. */
  asked?(app: App, call: CallFacts, body: Readonly<Record<string, unknown>>): Promise<Flow | null>
  /**
   * Takes over an action; the flow waits until `resume`. False: not this area's; a refusal is reported and the flow
   * continues.
   */
  took?(app: App, call: CallFacts, action: HandedAction): Promise<boolean | Refusal>
  /** A recording of its own flow can be downloaded. */
  recorded?(app: App, call: CallFacts, recording: FlowRecording): Promise<void>
  /** Validates the assignment of a number to a target: null when valid, undefined when it is another area's. */
  targetProblem?(app: App, tenant: Tenant, target: Target): Promise<string | null | undefined>
  /**
   * Lets go of a caller who waits for this area alone, because another node is to have the call; gives how to take the caller
   * back, or null where nobody waits.
   */
  letGo?(app: App, call: CallFacts): Promise<(() => Promise<void>) | null>
  changed?(app: App, change: LegChange): void | Promise<void>
}

const followers = onePerApp(() => new Map<string, CallFollower>())

/** Registers a follower on this node. */
export function followCalls(app: App, follower: CallFollower): void {
  followers(app).set(follower.name, follower)
}

export function followersOf(app: App): readonly CallFollower[] {
  return [...followers(app).values()]
}

/** Notifies all followers; an error is logged and does not stop the call. */
export function tellFollowers(app: App, change: LegChange): void {
  for (const { name, changed } of followersOf(app))
    Promise.resolve()
      .then(() => changed?.(app, change))
      .catch((error) =>
        app.log.warn(
          { error, area: name, call: change.call },
          'change of a call not handled: the area catches up with its next sweep; check the error if this repeats',
        ),
      )
}
