// SPDX-License-Identifier: Apache-2.0
// Purposes of payments. Most are what an account collects from its customers; an area that collects for another reason says here
// what it costs and what follows when the money came.
import type { Static } from 'typebox'
import type { App } from '../../../platform/app.ts'
import type { Queryable, Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { PaymentDetails } from '../providers/provider.ts'
import type { Payment, topupFields } from './events.ts'
import type { PaymentRow } from './store.ts'

export interface Purpose {
  /** Stored with the payment, and the first word of its steps in the ledger. */
  readonly name: PaymentRow['purpose']
  readonly isFree: boolean
  /** The invoice that such a payment pays. */
  readonly invoiceId?: string
  /** Kept with each such payment. */
  readonly details?: PaymentDetails
  /**
   * Whether it is the account's own money: usable at once, whatever it was paid with, and paid out only some days
   * later.
   */
  readonly isOwn?: boolean
  /**
   * The hook schedules by the account's clock, which is locked until that is written. Lock order: the clock's row, then jobs.
   */
  readonly holdsClock?: boolean
  /** Done in the transaction that makes the payment completed, when the money has come. */
  completed?(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow): Promise<void>
  /** Called when a payment failed, was cancelled or expired. Late money may still complete it. */
  failed?(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow): Promise<void>
  /** Called when some or all of its money was refunded, or taken back by a lost dispute. */
  refunded?(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow, refund: Refunded): Promise<void>
  /** Called when a refund failed; `refund` is its id. */
  refundFailed?(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow, refund: string): Promise<void>
  /** Called when the provider took a refund back; `total` is the sum of refunds including this one. */
  refundTakenBack?(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow, refund: Refunded): Promise<void>
  /** Further fields of such a payment, when it is read. */
  shown?(queryable: Queryable, payment: PaymentRow): Promise<Pick<Static<typeof Payment>, keyof typeof topupFields>>
}

/** A refund of a payment that is completed, or a lost dispute; `total` is what all of them come to, with this one. */
export interface Refunded {
  readonly id: string
  readonly amount: bigint
  readonly total: bigint
}

export const collection: Purpose = { name: 'payment', isFree: false }

const purposes = new Map<string, Purpose>([[collection.name, collection]])
/** Purpose of payments that came over a link, which are collected as all others are. */
const overLink = 'payment_link'

export function declarePurpose(purpose: Purpose, name: string = purpose.name): Purpose {
  purposes.set(name, purpose)
  return purpose
}

export function declareLinkPurpose(purpose: Purpose): Purpose {
  return declarePurpose(purpose, overLink)
}

export function purposeOf({ purpose, details }: Pick<PaymentRow, 'purpose' | 'details'>): Purpose {
  const name = details.payment_link === undefined ? purpose : overLink
  const found = purposes.get(name)
  if (!found) throw new Error(`nobody knows what a payment for ${name} is`)
  return found
}
