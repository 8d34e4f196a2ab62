// SPDX-License-Identifier: Apache-2.0
// A payment on its way into the database: the request for it, and the draft of all the rows that are stored with it.
import type { Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { NewJob } from '../../../platform/work.ts'
import type { Weighed } from '../fraud/assess.ts'
import type { PaymentMethod } from '../methods/method.ts'
import type { NewPayment } from '../records/input.ts'
import type { Purpose } from '../records/purpose.ts'
import type { AttemptRow, PaymentRow } from '../records/store.ts'

/** Request for a payment. `sendsInline`: the HTTP request that brings it also sends it to the provider. */
export interface PaymentRequest<O extends Occasion = Occasion> {
  readonly input: NewPayment
  readonly occasion: O
  readonly sendsInline: boolean
  /** Collection from a customer of the account, unless given. */
  readonly purpose?: Purpose
  /** Stores more in the transaction that accepts the payment, such as the answer to its request. */
  conclude?(tx: Tx, payment: PaymentRow): Promise<void>
  /** Runs something as part of the trace of this request, while a batch is accepted by another. */
  within?<T>(run: () => T): T
}

/** Payment with its risk decision, its attempt and its job, ready to be stored. */
export interface Draft {
  readonly request: PaymentRequest
  readonly method: PaymentMethod
  readonly payment: PaymentRow
  readonly weighed: Weighed | null
  /** Attempt to collect it; null when the payment is blocked, and no provider is asked. */
  readonly attempt: AttemptRow | null
  /** The job that sends the attempt and follows it. */
  readonly job: NewJob
  readonly isInline: boolean
}

export function runWithin<T>({ within }: PaymentRequest, run: () => T): T {
  return within ? within(run) : run()
}
