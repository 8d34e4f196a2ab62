// SPDX-License-Identifier: Apache-2.0
// Refunds of Airtel Money: all of a payment at once, named by the provider's own id of it. The answer says how it went,
// and nothing can be polled afterwards: when the answer gets lost, a person has to look at the provider's statement.
import { airtelCodes, airtelRefundBody, readAirtelRefundAnswer } from '../../../protocols/airtel.ts'
import type { FailureReason, OutgoingVerdict, RefundCarrier, RefundOrder } from '../providers/provider.ts'
import { marketHeaders } from './airtel-orders.ts'
import type { BearerClient } from './bearer.ts'
import { notTaken } from './not-taken.ts'

const refundMs = 30_000

/** Failure reasons by the provider's codes where we pay. Any other code is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  [airtelCodes.notEnoughMoney]: 'PROVIDER_FLOAT_LOW',
  [airtelCodes.notPermitted]: 'RECIPIENT_NOT_FOUND',
  [airtelCodes.overLimit]: 'RECIPIENT_LIMIT_REACHED',
}

export class AirtelRefunds implements RefundCarrier {
  readonly repeatable = false
  readonly resultsAreFinal = false
  readonly #baseUrl: string
  readonly #client: BearerClient

  constructor(baseUrl: string, client: BearerClient) {
    this.#baseUrl = baseUrl
    this.#client = client
  }

  objection({ micros, payment }: Pick<RefundOrder, 'micros' | 'payment'>): string | null {
    if (micros !== payment.micros) return 'gives back whole payments only'
    return payment.receipt === null ? 'has told no receipt of the payment yet' : null
  }

  async refund({ payment, country, currency }: RefundOrder): Promise<OutgoingVerdict> {
    const url = `${this.#baseUrl}/standard/v1/payments/refund`
    const headers = marketHeaders({ country, currency })
    const body = airtelRefundBody(payment.receipt ?? '')
    const answer = await this.#client.ask({ method: 'POST', url, headers, body, timeoutMs: refundMs })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readAirtelRefundAnswer(answer.status, answer.body)
    switch (heard.kind) {
      case 'refunded':
        return { kind: 'paid', receipt: heard.receipt, micros: null }
      default:
        return notTaken(heard, answer.status, reasons)
    }
  }

  async queryRefund(): Promise<OutgoingVerdict> {
    return { kind: 'unknown', reason: 'the provider cannot be asked about a refund' }
  }

  readRefund(): null {
    return null
  }
}
