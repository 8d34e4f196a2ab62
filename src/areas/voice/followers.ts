// SPDX-License-Identifier: Apache-2.0
// Areas that take part in calls: they give flows to numbers that are theirs, carry out actions that voice knows only the name of,
// and hear what becomes of every leg. All of it happens on the node that has the call.
import type { App } from '../../platform/app.ts'
import { onePerApp } from '../../platform/one-per-app.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { HandedAction } from './flow/action.ts'
import type { Target } from './store.ts'

/** A call as another area sees it. Ids are UUIDs. */
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

/** A list of actions. Questions of an own flow go to the area (`asked`), those of others to customers' addresses. */
export interface Flow {
  readonly actions: readonly unknown[]
  readonly isOwn?: boolean
}

/** Something that has become of a leg, or of a call that has legs. */
export interface LegChange {
  readonly tenant: Tenant
  readonly call: string
  /** The room it is in: its own, or that of the call it was rung for. */
  readonly room: string
  readonly tag: string | null
  readonly kind: 'ringing' | 'answered' | 'ended' | 'digit' | 'joined' | 'left'
  readonly status: string
  readonly cause: string | null
  readonly by: string | null
  readonly digit: string | null
  readonly atMs: number
}

/** Why an action that is an area's own is not carried out. */
export interface Refusal {
  readonly code: string
  readonly message: string
}

/** What the `record` of a flow made. Its id is a UUID. */
export interface FlowRecording {
  readonly id: string
  readonly url: string
  readonly seconds: number
}

export interface CallFollower {
  readonly name: string
  /** The flow of a call to a number that is assigned to something of this area; null where it is not. */
  flowOf?(app: App, call: CallFacts, target: Target): Promise<Flow | null>
  /** Whether it gives a flow to a call for a number that is assigned to nothing, or to the rules. */
  answers?(app: App, tenant: Tenant, call: { readonly from: string; readonly to: string }): Promise<boolean>
  /** What a question of its own flow brought; null goes on with the flow. */
  asked?(app: App, call: CallFacts, body: Readonly<Record<string, unknown>>): Promise<Flow | null>
  /** Takes over an action; the flow waits until `resume`. False: it is not this area's; a refusal is told, and the flow goes on. */
  took?(app: App, call: CallFacts, action: HandedAction): Promise<boolean | Refusal>
  /** What a flow of its own recorded can be fetched now. */
  recorded?(app: App, call: CallFacts, recording: FlowRecording): Promise<void>
  /** What is wrong with assigning a number to a target; null where it is this area's and in order, undefined where it is not. */
  targetProblem?(app: App, tenant: Tenant, target: Target): Promise<string | null | undefined>
  changed?(app: App, change: LegChange): void | Promise<void>
}

const followers = onePerApp(() => new Map<string, CallFollower>())

/** Takes part in the calls of this node from now on. */
export function followCalls(app: App, follower: CallFollower): void {
  followers(app).set(follower.name, follower)
}

export function followersOf(app: App): readonly CallFollower[] {
  return [...followers(app).values()]
}

/** Tells everybody of a change; one that fails is logged and does not stop the call. */
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
