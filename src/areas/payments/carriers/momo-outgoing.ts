// SPDX-License-Identifier: Apache-2.0
// MTN MoMo payouts: transfers of its disbursements product. The payout's own id is the reference of the order.
import { formatMicros } from '../../../kernel/money.ts'
import { transferBody } from '../../../protocols/momo.ts'
import type {
  Addresses,
  Disbursement,
  FailureReason,
  Heard,
  Outgoing,
  OutgoingVerdict,
  Sent,
} from '../providers/provider.ts'
import type { BearerClient } from './bearer.ts'
import { type MomoAccess, MomoOrders } from './momo-orders.ts'

const path = '/disbursement/v1_0/transfer'

/** Failure reasons by the provider's words. Any other word is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  NOT_ENOUGH_FUNDS: 'PROVIDER_FLOAT_LOW',
  LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED: 'PROVIDER_FLOAT_LOW',
  PAYEE_NOT_FOUND: 'RECIPIENT_NOT_FOUND',
  PAYEE_NOT_ALLOWED_TO_RECEIVE: 'RECIPIENT_LIMIT_REACHED',
}

export class MomoOutgoing implements Outgoing {
  readonly repeatable = true
  readonly #orders: MomoOrders

  constructor(access: MomoAccess, client: BearerClient) {
    this.#orders = new MomoOrders(access, client, path, reasons)
  }

  async payOut({ id, micros, currency, phone, description, addresses, trace }: Disbursement): Promise<OutgoingVerdict> {
    const body = transferBody({
      amount: formatMicros(micros),
      currency: this.#orders.currencyOf(currency),
      externalId: id,
      phone,
      payerMessage: description,
      payeeNote: description,
    })
    return this.#orders.send(id, body, addresses.result, { trace })
  }

  queryPayout({ id, trace }: Sent): Promise<OutgoingVerdict> {
    return this.#orders.query(id, trace)
  }

  readPayout(topic: keyof Addresses, body: unknown): Heard | null {
    return topic === 'result' ? this.#orders.read(body) : null
  }
}
