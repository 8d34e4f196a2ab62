// SPDX-License-Identifier: Apache-2.0
// Handover of payments within one node, so that rows just written are not read back: from the transaction that accepted a
// payment to the sender, and from the sender to the provider's callback. Each is taken once; what is not found here is read
// from the database. Only speed depends on it: an attempt is sent by the one that marks it so in the database, and a payment
// is changed only by the one that knows its last version.
import type { App } from '../../../platform/app.ts'
import { atMost } from '../../../platform/concurrency/at-most.ts'
import { Handover } from '../../../platform/concurrency/handover.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { AttemptRow, PaymentRow } from '../records/store.ts'

/** Time that an accepted payment is kept: well within the lease of its job, so that no other node has changed it. */
const acceptedForMs = 5_000
/** Time that an attempt is kept for its callback: most payers have decided by then. */
const askedForMs = 30_000
/** Time that a callback waits for the provider's answer, which it overtook. */
const answerMs = 1_000
const maxKept = 10_000

/** An attempt and its payment, as they were when the commit that changed them last was over. */
export interface PaymentAttempt {
  readonly attempt: AttemptRow
  readonly payment: PaymentRow
}

class Handovers {
  /** Accepted payments, by the attempt's id, or by the payment's where the request that brought it sends it. */
  readonly accepted = new Handover<PaymentAttempt>(acceptedForMs, maxKept)
  /** Attempts sent to the provider, by account, environment and attempt id. */
  readonly asked = new Handover<Promise<PaymentAttempt | null>>(askedForMs, maxKept)
  /** Generation: grows when everything is dropped. Rows read in an older one may be out of date and are not kept. */
  forgotten = 0

  forget(): void {
    this.forgotten++
    this.accepted.clear()
    this.asked.clear()
  }
}

const handoversOf = onePerApp((app) => {
  const handovers = new Handovers()
  // A test account may have moved its clock, by which the moments of its payments are told.
  app.signals.on('accounts', () => handovers.forget())
  app.signals.onGap(() => handovers.forget())
  return handovers
})

/** The generation to read before the rows that are to be kept; null while signals are down and nothing is kept. */
export function learningSince(app: App): number | null {
  const { forgotten } = handoversOf(app)
  return app.signals.connected ? forgotten : null
}

/** Keeps an accepted payment for its sender, under the id by which that will ask for it. */
export function keepAccepted(app: App, since: number | null, name: string, known: PaymentAttempt): void {
  const { accepted, forgotten } = handoversOf(app)
  if (since === forgotten) accepted.keep(name, known)
}

export function takeAccepted(app: App, name: string): PaymentAttempt | null {
  return handoversOf(app).accepted.take(name)
}

/** Keeps an attempt that is being sent for its callback. The function given back is told the attempt once the provider took it, or null. */
export function keepAsked(
  app: App,
  since: number | null,
  { attempt, payment }: PaymentAttempt,
): (known: PaymentAttempt | null) => void {
  const { asked, forgotten } = handoversOf(app)
  let tell: (known: PaymentAttempt | null) => void = () => undefined
  const told = new Promise<PaymentAttempt | null>((resolve) => {
    tell = resolve
  })
  if (since === forgotten) asked.keep(`${payment.account_id} ${payment.environment} ${attempt.id}`, told)
  return tell
}

/** Attempt for a callback. One that overtook the provider's answer waits for that for a second, as both change the same row. */
export async function takeAsked(
  app: App,
  { account, environment }: Tenant,
  attempt: string,
): Promise<PaymentAttempt | null> {
  const told = handoversOf(app).asked.take(`${account} ${environment} ${attempt}`)
  return told ? atMost(answerMs, told, null) : null
}
