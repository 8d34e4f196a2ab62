// SPDX-License-Identifier: Apache-2.0
// Contract of a payment method: the fields of a request, who takes the payment and at what fee, what is stored, how the
// provider is asked and polled. Everything else is the same for all of them.
import type { ErrorCode } from '../../../kernel/errors.ts'
import type { Money } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import type { Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Subject } from '../fraud/fields.ts'
import type { FailureReason, PaymentDetails, Verdict } from '../providers/provider.ts'
import type { Callback } from '../records/callback-address.ts'
import type { NewPayment } from '../records/input.ts'
import type { PollSchedule } from '../records/poll-schedule.ts'
import type { AttemptRow, PaymentRow } from '../records/store.ts'

/** Provider, fee and times of a payment, decided before anything is stored. */
export interface Plan {
  readonly provider: string
  /** Country of the provider account that takes it. */
  readonly country: string
  readonly fee: bigint
  readonly phone: string | null
  /** Unless the request says otherwise. */
  readonly expirySeconds: number
  /** Upper limit of what a request may ask for. */
  readonly maxSeconds?: number
  /** Shown with the payment. */
  readonly details: PaymentDetails
  /** Facts that it adds to those the risk is judged by. */
  readonly judged?: Pick<Subject, 'card' | 'bank' | 'riskHint'>
}

export interface PaymentMethod {
  readonly name: PaymentRow['method']
  /** Time that the reply waits for the provider's first answer. */
  readonly budgetMs: number
  /** Poll schedule of its payments. */
  readonly polls: PollSchedule
  /** Whether everything needed to send it is stored. Otherwise only the request that brought it can send it. */
  readonly isQueued: boolean
  /** Failure reasons that the request is answered with as errors. */
  readonly refusals: Readonly<Partial<Record<FailureReason, ErrorCode>>>
  /** Whether a request that names no method means this one. */
  isMeant(input: NewPayment): boolean
  /** Plan of a payment by this method; throws when it cannot be paid so. */
  plan(app: App, tx: Tx, occasion: Occasion, input: NewPayment, money: Money): Plan | Promise<Plan>
  /** Stores rows beside the payment, in its transaction. */
  store?(app: App, tx: Tx, occasion: Occasion, input: NewPayment, payment: PaymentRow): Promise<void>
  /** Whether the provider knows the attempt by our own id, so that it can be asked about before it was ever answered. */
  isKnownByAttempt(app: App, tenant: Tenant, attempt: AttemptRow): boolean
  /** Whether an attempt that the provider has never heard of may be sent again: it takes the same id once. */
  isRepeatable(app: App, tenant: Tenant, attempt: AttemptRow): boolean
  /** Asks for the money. `input` is what the request brought, where it is the request that sends it. */
  send(app: App, tenant: Tenant, attempt: AttemptRow, payment: PaymentRow, input: NewPayment | null): Promise<Verdict>
  /** Polls for the outcome; null when this installation has no account with the provider. */
  query(app: App, tenant: Tenant, attempt: AttemptRow, payment: PaymentRow): Promise<Verdict | null>
  /** Tells the provider that the payment was given up, where it can be told. */
  withdraw?(app: App, tenant: Tenant, attempt: AttemptRow): Promise<Verdict>
  /**
   * Content of a callback: its verdict, the provider's expected reply, and what else must be polled; null when it is
   * not from the provider.
   */
  heard(
    app: App,
    tenant: Tenant,
    attempt: AttemptRow,
    callback: Callback,
    payment: PaymentRow,
  ): Promise<{ verdicts: readonly Verdict[]; thanks: object; follows?: 'dispute' | 'refund' | null } | null>
}
