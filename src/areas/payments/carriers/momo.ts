// SPDX-License-Identifier: Apache-2.0
// MTN MoMo. The attempt's own id is the reference of the request, so that it can be asked about whatever became of the
// answer, and sent again when the provider never heard of it: the same reference is taken once.
import { formatMicros, microDecimals, parseAmount } from '../../../kernel/money.ts'
import { readPaymentResult, readRequestToPayAnswer, requestToPayBody } from '../../../protocols/momo.ts'
import { baseUrl, openText, type ProviderKind, type Surroundings, secretText } from '../kind.ts'
import type { Collection, FailureReason, MobileMoney, RefundCarrier, Verdict } from '../provider.ts'
import { BearerClient, basicAuthorization } from './bearer.ts'
import { disbursementClient, MomoOutgoing, type TransferSettings } from './momo-outgoing.ts'
import { MomoRefunds } from './momo-refunds.ts'
import { noRefunds } from './no-refunds.ts'
import { notTaken } from './not-taken.ts'

type MomoSettings = Partial<TransferSettings> & {
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
const path = '/collection/v1_0/requesttopay'

/** What the provider's words mean. Any other is its own trouble. */
const reasons: Readonly<Record<string, FailureReason>> = {
  NOT_ENOUGH_FUNDS: 'INSUFFICIENT_FUNDS',
  LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED: 'INSUFFICIENT_FUNDS',
  APPROVAL_REJECTED: 'USER_CANCELLED',
  TRANSACTION_CANCELED: 'USER_CANCELLED',
  PAYER_NOT_FOUND: 'PAYER_NOT_FOUND',
  PAYER_LIMIT_REACHED: 'PAYER_LIMIT_REACHED',
  EXPIRED: 'TRANSACTION_TIMEOUT',
  COULD_NOT_PERFORM_TRANSACTION: 'TRANSACTION_TIMEOUT',
  SERVICE_UNAVAILABLE: 'PROVIDER_UNAVAILABLE',
}

class MomoCarrier implements MobileMoney {
  readonly method = 'mobile_money'
  readonly provider = 'mtn_momo'
  readonly knownByAttempt = true
  readonly repeatable = true
  readonly outgoing: MomoOutgoing | null
  readonly thanks = {}
  readonly refunds: RefundCarrier
  readonly #settings: MomoSettings
  readonly #client: BearerClient
  readonly #disbursementClient: BearerClient | null

  constructor(settings: MomoSettings, surroundings: Surroundings) {
    this.#settings = settings
    const { base_url, subscription_key, api_user, api_key } = settings
    const authorization = basicAuthorization(api_user, api_key)
    this.#client = new BearerClient({
      surroundings,
      request: {
        method: 'POST',
        url: `${base_url}/collection/token/`,
        headers: { authorization, 'ocp-apim-subscription-key': subscription_key },
      },
      tokenForMs,
      isRefused: ({ status }) => status === 401,
    })
    if (paysOut(settings)) {
      this.#disbursementClient = disbursementClient(settings, surroundings)
      this.outgoing = new MomoOutgoing(settings, this.#disbursementClient)
      this.refunds = new MomoRefunds(settings, this.#disbursementClient)
    } else {
      this.#disbursementClient = null
      this.outgoing = null
      this.refunds = noRefunds('gives nothing back until its operator has entered an account for disbursements')
    }
  }

  async collect({ attempt, micros, currency, phone, reference, description, callbackUrl }: Collection) {
    const { base_url, target_environment } = this.#settings
    const body = requestToPayBody({
      amount: formatMicros(micros),
      // The provider's own sandbox knows no other currency.
      currency: target_environment === 'sandbox' ? 'EUR' : currency,
      externalId: attempt,
      phone,
      payerMessage: description || reference,
      payeeNote: reference,
    })
    const headers = { ...this.#headers(), 'x-reference-id': attempt, 'x-callback-url': callbackUrl }
    const url = `${base_url}${path}`
    const answer = await this.#client.ask({ method: 'POST', url, headers, body, timeoutMs: requestMs })
    if (answer.kind === 'unsent') return unavailable(answer.reason)
    if (answer.kind === 'unknown') return answer
    const heard = readRequestToPayAnswer(answer.status, answer.body)
    switch (heard.kind) {
      case 'accepted':
      case 'repeated':
        return { kind: 'accepted' as const, providerId: attempt }
      default:
        return notTaken(heard, answer.status, reasons)
    }
  }

  async query(providerId: string): Promise<Verdict> {
    const url = `${this.#settings.base_url}${path}/${providerId}`
    const answer = await this.#client.ask({ method: 'GET', url, headers: this.#headers(), timeoutMs: queryMs })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    if (answer.status === 404) return { kind: 'missing' }
    const verdict = answer.status === 200 ? verdictOf(answer.body) : null
    return verdict?.verdict ?? { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }

  readCallback(body: unknown): { providerId: string; verdict: Verdict } | null {
    return verdictOf(body)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#client.close(), this.#disbursementClient?.close()])
  }

  #headers(): Record<string, string> {
    const { subscription_key, target_environment } = this.#settings
    return { 'ocp-apim-subscription-key': subscription_key, 'x-target-environment': target_environment }
  }
}

function paysOut(settings: MomoSettings): settings is MomoSettings & TransferSettings {
  return settings.payout_api_user !== undefined && settings.payout_api_key !== undefined
}

function verdictOf(body: unknown): { providerId: string; verdict: Verdict } | null {
  const result = readPaymentResult(body)
  if (result === null) return null
  const { externalId: providerId, status, amount, financialTransactionId: receipt, reason } = result
  if (status === 'PENDING') return { providerId, verdict: { kind: 'pending' } }
  if (status === 'FAILED') return { providerId, verdict: refused(reason ?? status) }
  const micros = amount === null ? null : parseAmount(amount, microDecimals)
  return { providerId, verdict: { kind: 'paid', receipt, micros: typeof micros === 'bigint' ? micros : null } }
}

function refused(code: string) {
  return { kind: 'refused' as const, reason: reasons[code] ?? ('PROVIDER_ERROR' as const), code }
}

function unavailable(reason: string) {
  return { kind: 'unavailable' as const, reason }
}

export const momo: ProviderKind = {
  method: 'mobile_money',
  provider: 'mtn_momo',
  open: {
    base_url: baseUrl,
    target_environment: openText(
      '^[a-z]{3,40}$',
      'must have 3 to 40 small letters, such as mtnuganda',
      'Such as mtnuganda',
    ),
  },
  secret: {
    subscription_key: secretText('Of the collections product'),
    api_user: secretText('Of the collections product'),
    api_key: secretText('Of the API user'),
  },
  outgoing: {
    open: {},
    secret: {
      payout_subscription_key: secretText('Of the disbursements product'),
      payout_api_user: secretText('Of the disbursements product'),
      payout_api_key: secretText('Of that API user'),
    },
  },
  connect: (settings: MomoSettings, surroundings) => new MomoCarrier(settings, surroundings),
}
