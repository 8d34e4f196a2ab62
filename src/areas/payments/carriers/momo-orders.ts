// SPDX-License-Identifier: Apache-2.0
// Orders of MTN MoMo, the same for money that comes in, goes out or goes back. Our own id is the reference of an order,
// so that it can be polled even when the answer got lost, and sent again when the provider never heard of it: it takes
// a reference once.

import type { ProviderRequest } from '../../../platform/outbound/provider-http.ts'
import { readPaymentResult, readRequestToPayAnswer } from '../../../protocols/momo.ts'
import type { Surroundings } from '../providers/kind.ts'
import type { FailureReason, OrderVerdict } from '../providers/provider.ts'
import { BearerClient, basicAuthorization } from './bearer.ts'
import { notTaken } from './not-taken.ts'
import { paidAs } from './paid-as.ts'

/** Credentials of one of the provider's products: each has keys and tokens of its own. */
export type MomoAccess = {
  base_url: string
  target_environment: string
  subscription_key: string
  api_user: string
  api_key: string
}

const requestMs = 30_000
const queryMs = 10_000
/** A token is good for an hour; it is replaced well before. */
const tokenForMs = 50 * 60_000

export function momoClient(
  product: 'collection' | 'disbursement',
  { base_url, subscription_key, api_user, api_key }: MomoAccess,
  surroundings: Surroundings,
): BearerClient {
  return new BearerClient({
    surroundings,
    request: {
      method: 'POST',
      url: `${base_url}/${product}/token/`,
      headers: {
        authorization: basicAuthorization(api_user, api_key),
        'ocp-apim-subscription-key': subscription_key,
      },
    },
    tokenForMs,
    isRefused: ({ status }) => status === 401,
  })
}

export class MomoOrders {
  readonly #access: MomoAccess
  readonly #client: BearerClient
  readonly #path: string
  readonly #reasons: Readonly<Record<string, FailureReason>>

  /** `reasons` are what the provider's words mean; any other is its own trouble. */
  constructor(
    access: MomoAccess,
    client: BearerClient,
    path: string,
    reasons: Readonly<Record<string, FailureReason>>,
  ) {
    this.#access = access
    this.#client = client
    this.#path = path
    this.#reasons = reasons
  }

  /** The provider's own sandbox knows no other currency than one. */
  currencyOf(currency: string): string {
    return this.#isPlay ? 'EUR' : currency
  }

  get #isPlay(): boolean {
    return this.#access.target_environment === 'sandbox'
  }

  async send(
    id: string,
    body: object,
    callbackUrl: string,
    { headers: more = {}, trace }: Partial<Pick<ProviderRequest, 'headers' | 'trace'>> = {},
  ): Promise<OrderVerdict> {
    const headers = { ...this.#headers(), ...more, 'x-reference-id': id, 'x-callback-url': callbackUrl }
    const url = `${this.#access.base_url}${this.#path}`
    const answer = await this.#client.ask({ method: 'POST', url, headers, body, timeoutMs: requestMs, trace })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readRequestToPayAnswer(answer.status, answer.body)
    switch (heard.kind) {
      case 'accepted':
      case 'repeated':
        return { kind: 'accepted', providerId: id }
      default:
        return notTaken(heard, answer.status, this.#reasons)
    }
  }

  async query(id: string, trace?: ProviderRequest['trace']): Promise<OrderVerdict> {
    const url = `${this.#access.base_url}${this.#path}/${id}`
    const answer = await this.#client.ask({ method: 'GET', url, headers: this.#headers(), timeoutMs: queryMs, trace })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    if (answer.status === 404) return { kind: 'missing' }
    const heard = answer.status === 200 ? this.read(answer.body) : null
    return heard?.verdict ?? { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }

  /** Verdict that an answer or a call gives on an order; null when it names none. */
  read(body: unknown): { id: string; verdict: OrderVerdict } | null {
    const result = readPaymentResult(body)
    if (result === null) return null
    const { externalId: id, status, amount, currency, financialTransactionId: receipt, reason } = result
    if (status === 'PENDING') return { id, verdict: { kind: 'pending' } }
    if (status === 'FAILED') {
      const code = reason ?? status
      return { id, verdict: { kind: 'refused', reason: this.#reasons[code] ?? 'PROVIDER_ERROR', code } }
    }
    return { id, verdict: paidAs(receipt, { amount, currency: this.#isPlay ? '' : currency }) }
  }

  #headers(): Record<string, string> {
    const { subscription_key, target_environment } = this.#access
    return { 'ocp-apim-subscription-key': subscription_key, 'x-target-environment': target_environment }
  }
}
