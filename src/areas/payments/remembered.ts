// SPDX-License-Identifier: Apache-2.0
// What this node knows of payments without asking the database: those that it has just accepted and is about to send, and
// those that a provider is being asked for and will call back about. Each is told of once and then forgotten; whatever is not
// found here is read. Nothing depends on it: an attempt is sent by whoever marks it so, and a payment is changed only by who
// knows its last version.
import type { App } from '../../platform/app.ts'
import { atMost } from '../../platform/at-most.ts'
import { Memory } from '../../platform/memory.ts'
import { onePerApp } from '../../platform/one-per-app.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { AttemptRow, PaymentRow } from './store.ts'

/** Well within the lease of a job that was born here: until then no other node looks after the payment. */
const acceptedForMs = 5_000
/** Most payers have decided by then. */
const askedForMs = 30_000
/** How long a callback waits for the answer that it overtook. */
const answerMs = 1_000
const maxRemembered = 10_000

/** An attempt and its payment, as they were when the commit that changed them last was over. */
export interface Known {
  readonly attempt: AttemptRow
  readonly payment: PaymentRow
}

class Memories {
  /** By the attempt's id, or by the payment's where the request that brought it sends it. */
  readonly accepted = new Memory<Known>(acceptedForMs, maxRemembered)
  /** By the account, the environment and the attempt's id. */
  readonly asked = new Memory<Promise<Known | null>>(askedForMs, maxRemembered)
  /** Grows whenever all is forgotten: what was learned before may be out of date already. */
  forgotten = 0

  forget(): void {
    this.forgotten++
    this.accepted.clear()
    this.asked.clear()
  }
}

const memoriesOf = onePerApp((app) => {
  const memories = new Memories()
  // A test account may have moved its clock, by which the moments of its payments are told.
  app.signals.on('accounts', () => memories.forget())
  app.signals.onGap(() => memories.forget())
  return memories
})

/** Taken before something is learned that is to be remembered; null while nothing can be. */
export function learningSince(app: App): number | null {
  const { forgotten } = memoriesOf(app)
  return app.signals.connected ? forgotten : null
}

/** For whoever sends a payment that was accepted a moment ago, under the name by which it will be asked for. */
export function rememberAccepted(app: App, since: number | null, name: string, known: Known): void {
  const { accepted, forgotten } = memoriesOf(app)
  if (since === forgotten) accepted.keep(name, known)
}

export function recallAccepted(app: App, name: string): Known | null {
  return memoriesOf(app).accepted.take(name)
}

/** For the callback about an attempt that is being sent: what is known of it when the provider has taken it, or null. */
export function rememberAsked(
  app: App,
  since: number | null,
  { attempt, payment }: Known,
): (known: Known | null) => void {
  const { asked, forgotten } = memoriesOf(app)
  let tell: (known: Known | null) => void = () => undefined
  const told = new Promise<Known | null>((resolve) => {
    tell = resolve
  })
  if (since === forgotten) asked.keep(`${payment.account_id} ${payment.environment} ${attempt.id}`, told)
  return tell
}

/** One that overtakes the provider's answer waits for that, since both would change the same; not long, as it may be lost. */
export async function recallAsked(app: App, { account, environment }: Tenant, attempt: string): Promise<Known | null> {
  const told = memoriesOf(app).asked.take(`${account} ${environment} ${attempt}`)
  return told ? atMost(answerMs, told, null) : null
}
