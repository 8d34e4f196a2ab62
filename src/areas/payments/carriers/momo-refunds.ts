// SPDX-License-Identifier: Apache-2.0
// Refunds of MTN MoMo: of a payment or a part of it, named by the reference of the payment. The refund's own id is the
// reference of the order.
import { formatMicros } from '../../../kernel/money.ts'
import { refundBody } from '../../../protocols/momo.ts'
import type { FailureReason, Heard, OutgoingVerdict, RefundCarrier, RefundOrder } from '../providers/provider.ts'
import type { BearerClient } from './bearer.ts'
import { type MomoAccess, MomoOrders } from './momo-orders.ts'

const path = '/disbursement/v1_0/refund'

/** Failure reasons by the provider's words where we pay. Any other word is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  NOT_ENOUGH_FUNDS: 'PROVIDER_FLOAT_LOW',
  PAYEE_NOT_FOUND: 'RECIPIENT_NOT_FOUND',
  PAYEE_LIMIT_REACHED: 'RECIPIENT_LIMIT_REACHED',
  PAYEE_NOT_ALLOWED_TO_RECEIVE: 'RECIPIENT_LIMIT_REACHED',
}

export class MomoRefunds implements RefundCarrier {
  readonly repeatable = true
  readonly resultsAreFinal = false
  readonly #orders: MomoOrders

  constructor(access: MomoAccess, client: BearerClient) {
    this.#orders = new MomoOrders(access, client, path, reasons)
  }

  objection(): null {
    return null
  }

  async refund({ id, micros, currency, payment, reference, description, addresses }: RefundOrder) {
    const body = refundBody({
      amount: formatMicros(micros),
      currency: this.#orders.currencyOf(currency),
      externalId: id,
      referenceIdToRefund: payment.providerId ?? '',
      payerMessage: description || reference,
      payeeNote: reference,
    })
    return this.#orders.send(id, body, addresses.result)
  }

  queryRefund({ id }: RefundOrder): Promise<OutgoingVerdict> {
    return this.#orders.query(id)
  }

  readRefund(_topic: unknown, body: unknown): Heard | null {
    return this.#orders.read(body)
  }
}
