// SPDX-License-Identifier: Apache-2.0
// State table of a payment: the change that a verdict makes, and the money that is posted. Nothing is read or stored here; what
// cannot be is no change, so that verdicts may come twice, late and in any order.
import { type FailureReason, isAsAsked, type Verdict } from '../providers/provider.ts'
import { type AttemptState, open, type PaymentRow, type Status } from '../records/store.ts'

/** A success that the provider itself confirmed also revives a payment that was given up. */
const givenUp: readonly Status[] = ['expired', 'cancelled', 'failed']

export interface Change {
  /** Progress of the attempt, if it is not further already. */
  readonly attempt: AttemptState | null
  /** Provider's id of the attempt, if this verdict brought it. */
  readonly providerId: string | null
  /** The payment as it is then; null when it stays as it is. */
  readonly after: PaymentRow | null
  readonly posting: Posting | null
}

/** Money that came to us from a provider, and what of it is the fee. */
interface Posting {
  readonly step: 'settle' | 'mismatch'
  readonly credit: string
  readonly micros: bigint
  readonly currency: string
  readonly fee: bigint
}

/** `at` is the account's time. */
export function changeOf(payment: PaymentRow, verdict: Verdict, at: Date): Change {
  const nothing: Change = { attempt: null, providerId: null, after: null, posting: null }
  const hasIt = (): Change => ({ ...nothing, attempt: 'accepted', after: begun(payment, 'processing', at) })
  switch (verdict.kind) {
    case 'accepted': {
      const { providerId, details = {} } = verdict
      return { ...nothing, attempt: 'accepted', providerId, after: begun(payment, 'processing', at, { details }) }
    }
    case 'pending':
    // A provider that was paid has it: it is not sent again, whatever is said of it later.
    case 'unreadable':
      return hasIt()
    case 'action': {
      const { providerId, details } = verdict
      return { ...nothing, attempt: 'accepted', providerId, after: begun(payment, 'requires_action', at, { details }) }
    }
    case 'authorised': {
      const { details, until: expires_at } = verdict
      const from = ['pending', 'requires_action'] as const
      return { ...nothing, attempt: 'accepted', after: moved(payment, from, 'processing', at, { details, expires_at }) }
    }
    case 'unknown':
    case 'missing':
      return { ...nothing, attempt: 'unknown' }
    case 'unavailable':
      return { ...nothing, attempt: 'final', after: unasked(payment, at) }
    case 'refused': {
      const to = verdict.reason === 'USER_CANCELLED' ? 'cancelled' : 'failed'
      return { ...nothing, attempt: 'final', after: ended(payment, to, at, verdict.reason) }
    }
    case 'paid': {
      if (isAsAsked(payment, verdict)) return { ...nothing, attempt: 'final', ...paid(payment, verdict.receipt, at) }
      const { micros } = verdict
      // Another currency, and not how much: nothing can be booked before that is told.
      if (micros === null) return hasIt()
      return { ...nothing, attempt: 'final', ...mismatched(payment, { ...verdict, micros }, at) }
    }
  }
}

/** End of a payment that will not be paid. */
export function ended(
  payment: PaymentRow,
  to: 'failed' | 'cancelled' | 'expired',
  at: Date,
  reason: FailureReason | null = null,
): PaymentRow | null {
  return moved(payment, open, to, at, { failure_reason: reason })
}

/** End of a payment that no provider was asked for: its reference may be used again. */
function unasked(payment: PaymentRow, at: Date): PaymentRow | null {
  const after = ended(payment, 'failed', at, 'PROVIDER_UNAVAILABLE')
  return after && withChanges(after, { reference: null })
}

function begun(
  payment: PaymentRow,
  to: 'processing' | 'requires_action',
  at: Date,
  changes: Partial<PaymentRow> = {},
): PaymentRow | null {
  return moved(payment, ['pending'], to, at, changes)
}

function paid(payment: PaymentRow, receipt: string | null, at: Date): Pick<Change, 'after' | 'posting'> {
  const late = givenUp.includes(payment.status)
  const after = moved(payment, late ? givenUp : open, 'completed', at, { provider_reference: receipt, late })
  const { amount, currency, fee } = payment
  if (after) return { after, posting: { step: 'settle', credit: 'wallet', micros: amount - fee, currency, fee } }
  // The money may have been known of before the provider's receipt for it.
  const isNews = payment.status === 'completed' && payment.provider_reference === null && receipt !== null
  return { after: isNews ? withChanges(payment, { provider_reference: receipt }) : null, posting: null }
}

/** Payment of other money than was asked for, in time or late: it stays in suspense until an operator resolves it. */
function mismatched(
  payment: PaymentRow,
  { micros, receipt, currency }: Extract<Verdict, { kind: 'paid' }> & { micros: bigint },
  at: Date,
): Pick<Change, 'after' | 'posting'> {
  const from = [...open, ...givenUp]
  const after = moved(payment, from, 'failed', at, { failure_reason: 'AMOUNT_MISMATCH', provider_reference: receipt })
  const credit = `suspense:${payment.provider}`
  const posting = { step: 'mismatch', credit, micros, currency: currency ?? payment.currency, fee: 0n } as const
  return { after, posting: after && posting }
}

/** Payment after a transition; null when the transition is not allowed. Events of a payment are numbered. */
function moved(
  payment: PaymentRow,
  from: readonly Status[],
  to: Status,
  at: Date,
  { failure_reason = null, provider_reference = null, late = false, details = {}, expires_at }: Partial<PaymentRow>,
): PaymentRow | null {
  if (!from.includes(payment.status) || payment.failure_reason === 'AMOUNT_MISMATCH') return null
  const isTold = !open.includes(to) || (to === 'requires_action' && details.redirect_url !== undefined)
  return withChanges(payment, {
    status: to,
    failure_reason,
    late: payment.late || late,
    sequence: payment.sequence + (isTold ? 1 : 0),
    provider_reference: provider_reference ?? payment.provider_reference,
    details: { ...payment.details, ...details },
    expires_at: expires_at ?? payment.expires_at,
    completed_at: to === 'completed' ? at : null,
    updated_at: at,
  })
}

/** Copy of a payment with changes. By assignment: spreading a row of thirty columns takes twenty times as long. */
function withChanges(payment: PaymentRow, changes: Partial<PaymentRow>): PaymentRow {
  return Object.assign({}, payment, changes)
}
