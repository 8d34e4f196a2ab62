// SPDX-License-Identifier: Apache-2.0
// Refunds of MTN MoMo: of a payment or a part of it, named by the reference of the payment. The refund's own id is the
// reference of the request, so that it can be asked about and sent again as a payment can.
import { formatMicros, microDecimals, parseAmount } from '../../../kernel/money.ts'
import { readPaymentResult, readRequestToPayAnswer, refundBody } from '../../../protocols/momo.ts'
import type { FailureReason, Heard, OutgoingVerdict, RefundCarrier, RefundOrder } from '../provider.ts'
import type { BearerClient } from './bearer.ts'
import type { TransferSettings } from './momo-outgoing.ts'
import { notTaken } from './not-taken.ts'

const requestMs = 30_000
const queryMs = 10_000
const path = '/disbursement/v1_0/refund'

/** What the provider's words mean when it is money of ours that goes. Any other is its own trouble. */
const reasons: Readonly<Record<string, FailureReason>> = {
  NOT_ENOUGH_FUNDS: 'PROVIDER_FLOAT_LOW',
  PAYEE_NOT_FOUND: 'RECIPIENT_NOT_FOUND',
  PAYEE_LIMIT_REACHED: 'RECIPIENT_LIMIT_REACHED',
  PAYEE_NOT_ALLOWED_TO_RECEIVE: 'RECIPIENT_LIMIT_REACHED',
}

export class MomoRefunds implements RefundCarrier {
  readonly repeatable = true
  readonly resultsAreFinal = false
  readonly #settings: TransferSettings
  readonly #client: BearerClient

  constructor(settings: TransferSettings, client: BearerClient) {
    this.#settings = settings
    this.#client = client
  }

  objection(): null {
    return null
  }

  async refund({ id, micros, currency, payment, reference, description, addresses }: RefundOrder) {
    const { base_url, target_environment } = this.#settings
    const body = refundBody({
      amount: formatMicros(micros),
      // The provider's own sandbox knows no other currency.
      currency: target_environment === 'sandbox' ? 'EUR' : currency,
      externalId: id,
      referenceIdToRefund: payment.providerId ?? '',
      payerMessage: description || reference,
      payeeNote: reference,
    })
    const answer = await this.#client.ask({
      method: 'POST',
      url: `${base_url}${path}`,
      headers: { ...this.#headers(), 'x-reference-id': id, 'x-callback-url': addresses.result },
      body,
      timeoutMs: requestMs,
    })
    if (answer.kind === 'unsent') return unavailable(answer.reason)
    if (answer.kind === 'unknown') return answer
    const heard = readRequestToPayAnswer(answer.status, answer.body)
    switch (heard.kind) {
      case 'accepted':
      case 'repeated':
        return { kind: 'accepted' as const, providerId: id }
      default:
        return notTaken(heard, answer.status, reasons)
    }
  }

  async queryRefund({ id }: RefundOrder): Promise<OutgoingVerdict> {
    const url = `${this.#settings.base_url}${path}/${id}`
    const answer = await this.#client.ask({ method: 'GET', url, headers: this.#headers(), timeoutMs: queryMs })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    if (answer.status === 404) return { kind: 'missing' }
    const heard = answer.status === 200 ? heardOf(answer.body) : null
    return heard?.verdict ?? { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }

  readRefund(_topic: unknown, body: unknown): Heard | null {
    return heardOf(body)
  }

  #headers(): Record<string, string> {
    const { payout_subscription_key, target_environment } = this.#settings
    return { 'ocp-apim-subscription-key': payout_subscription_key, 'x-target-environment': target_environment }
  }
}

function heardOf(body: unknown): { id: string; verdict: OutgoingVerdict } | null {
  const result = readPaymentResult(body)
  if (result === null) return null
  const { externalId: id, status, reason, amount, financialTransactionId: receipt } = result
  if (status === 'PENDING') return { id, verdict: { kind: 'pending' } }
  if (status === 'FAILED') return { id, verdict: refused(reason ?? status) }
  const micros = amount === null ? null : parseAmount(amount, microDecimals)
  return { id, verdict: { kind: 'paid', receipt, micros: typeof micros === 'bigint' ? micros : null } }
}

function refused(code: string) {
  return { kind: 'refused' as const, reason: reasons[code] ?? ('PROVIDER_ERROR' as const), code }
}

function unavailable(reason: string) {
  return { kind: 'unavailable' as const, reason }
}
