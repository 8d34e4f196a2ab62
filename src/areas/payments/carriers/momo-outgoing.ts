// SPDX-License-Identifier: Apache-2.0
// MTN MoMo payouts: transfers of its disbursements product, which has keys and tokens of its own. The payout's own id is the
// reference, so that it can be asked about whatever became of the answer, and is taken once.
import { formatMicros, microDecimals, parseAmount } from '../../../kernel/money.ts'
import { readPaymentResult, readRequestToPayAnswer, transferBody } from '../../../protocols/momo.ts'
import type { Surroundings } from '../kind.ts'
import type { Addresses, Disbursement, FailureReason, Heard, Outgoing, OutgoingVerdict, Sent } from '../provider.ts'
import { BearerClient, basicAuthorization } from './bearer.ts'
import { notTaken } from './not-taken.ts'

export interface TransferSettings {
  base_url: string
  target_environment: string
  payout_subscription_key: string
  payout_api_user: string
  payout_api_key: string
}

const requestMs = 30_000
const queryMs = 10_000
/** A token is good for an hour; it is replaced well before. */
const tokenForMs = 50 * 60_000
const path = '/disbursement/v1_0/transfer'

/** What the provider's words mean. Any other is its own trouble. */
const reasons: Readonly<Record<string, FailureReason>> = {
  NOT_ENOUGH_FUNDS: 'PROVIDER_FLOAT_LOW',
  LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED: 'PROVIDER_FLOAT_LOW',
  PAYEE_NOT_FOUND: 'RECIPIENT_NOT_FOUND',
  PAYEE_NOT_ALLOWED_TO_RECEIVE: 'RECIPIENT_LIMIT_REACHED',
}

export function disbursementClient(settings: TransferSettings, surroundings: Surroundings): BearerClient {
  const { base_url, payout_subscription_key, payout_api_user, payout_api_key } = settings
  return new BearerClient({
    surroundings,
    request: {
      method: 'POST',
      url: `${base_url}/disbursement/token/`,
      headers: {
        authorization: basicAuthorization(payout_api_user, payout_api_key),
        'ocp-apim-subscription-key': payout_subscription_key,
      },
    },
    tokenForMs,
    isRefused: ({ status }) => status === 401,
  })
}

export class MomoOutgoing implements Outgoing {
  readonly repeatable = true
  readonly #settings: TransferSettings
  readonly #client: BearerClient

  constructor(settings: TransferSettings, client: BearerClient) {
    this.#settings = settings
    this.#client = client
  }

  async payOut({ id, micros, currency, phone, description, addresses }: Disbursement): Promise<OutgoingVerdict> {
    const { base_url, target_environment } = this.#settings
    const body = transferBody({
      amount: formatMicros(micros),
      // The provider's own sandbox knows no other currency.
      currency: target_environment === 'sandbox' ? 'EUR' : currency,
      externalId: id,
      phone,
      payerMessage: description,
      payeeNote: description,
    })
    const headers = { ...this.#headers(), 'x-reference-id': id, 'x-callback-url': addresses.result }
    const url = `${base_url}${path}`
    const answer = await this.#client.ask({ method: 'POST', url, headers, body, timeoutMs: requestMs })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readRequestToPayAnswer(answer.status, answer.body)
    switch (heard.kind) {
      case 'accepted':
      case 'repeated':
        return { kind: 'accepted', providerId: id }
      default:
        return notTaken(heard, answer.status, reasons)
    }
  }

  async queryPayout({ id }: Sent): Promise<OutgoingVerdict> {
    const url = `${this.#settings.base_url}${path}/${id}`
    const answer = await this.#client.ask({ method: 'GET', url, headers: this.#headers(), timeoutMs: queryMs })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    if (answer.status === 404) return { kind: 'missing' }
    const heard = answer.status === 200 ? read(answer.body) : null
    return heard?.verdict ?? { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }

  readPayout(topic: keyof Addresses, body: unknown): Heard | null {
    return topic === 'result' ? read(body) : null
  }

  #headers(): Record<string, string> {
    const { payout_subscription_key, target_environment } = this.#settings
    return { 'ocp-apim-subscription-key': payout_subscription_key, 'x-target-environment': target_environment }
  }
}

function read(body: unknown): Heard | null {
  const result = readPaymentResult(body)
  if (result === null) return null
  const { externalId: id, status, amount, financialTransactionId: receipt, reason } = result
  if (status === 'PENDING') return { id, verdict: { kind: 'pending' } }
  if (status === 'FAILED') return { id, verdict: refused(reason ?? status) }
  const micros = amount === null ? null : parseAmount(amount, microDecimals)
  return { id, verdict: { kind: 'paid', receipt, micros: typeof micros === 'bigint' ? micros : null } }
}

function refused(code: string): OutgoingVerdict {
  return { kind: 'refused', reason: reasons[code] ?? 'PROVIDER_ERROR', code }
}
