// SPDX-License-Identifier: Apache-2.0
// Airtel Money. The attempt's own id names the payment, so that it can be asked about whatever became of the answer. What
// the provider says to an id that comes twice is not certain, so nothing is sent again. It calls one address for a whole
// app, which cannot tell that it was the provider who called: nobody listens there, it is asked instead.
import { formatMicros } from '../../../kernel/money.ts'
import { factsOf } from '../../../kernel/phone.ts'
import { airtelCodes, airtelPaymentBody, readAirtelPaymentAnswer, readAirtelResult } from '../../../protocols/airtel.ts'
import { baseUrl, type ProviderKind, publicKeyText, type Surroundings, secretText } from '../kind.ts'
import type { Collection, FailureReason, Market, MobileMoney, RefundCarrier, Verdict } from '../provider.ts'
import { AirtelOutgoing, type DisbursementSettings } from './airtel-outgoing.ts'
import { AirtelRefunds } from './airtel-refunds.ts'
import { BearerClient } from './bearer.ts'
import { notTaken } from './not-taken.ts'

type AirtelSettings = Partial<DisbursementSettings> & { base_url: string; client_id: string; client_secret: string }

const paymentMs = 30_000
const queryMs = 10_000
/** A token is good for three minutes; it is replaced well before. */
const tokenForMs = 2 * 60_000

/** What the provider's codes mean. Any other is its own trouble. */
const reasons: Readonly<Record<string, FailureReason>> = {
  [airtelCodes.wrongPin]: 'WRONG_PIN',
  [airtelCodes.overLimit]: 'PAYER_LIMIT_REACHED',
  [airtelCodes.badAmount]: 'PAYER_LIMIT_REACHED',
  [airtelCodes.noPin]: 'TRANSACTION_TIMEOUT',
  [airtelCodes.notEnoughMoney]: 'INSUFFICIENT_FUNDS',
  [airtelCodes.refused]: 'USER_CANCELLED',
  [airtelCodes.timedOut]: 'TRANSACTION_TIMEOUT',
  [airtelCodes.expired]: 'TRANSACTION_TIMEOUT',
}

class AirtelCarrier implements MobileMoney {
  readonly method = 'mobile_money'
  readonly provider = 'airtel_money'
  readonly knownByAttempt = true
  readonly repeatable = false
  readonly outgoing: AirtelOutgoing | null
  readonly thanks = {}
  readonly refunds: RefundCarrier
  readonly #baseUrl: string
  readonly #client: BearerClient

  constructor(settings: AirtelSettings, surroundings: Surroundings) {
    const { base_url, client_id, client_secret } = settings
    this.#baseUrl = base_url
    this.#client = new BearerClient({
      surroundings,
      request: {
        method: 'POST',
        url: `${base_url}/auth/oauth2/token`,
        headers: {},
        body: { client_id, client_secret, grant_type: 'client_credentials' },
      },
      tokenForMs,
      isRefused: ({ status }) => status === 401,
    })
    this.outgoing = paysOut(settings) ? new AirtelOutgoing(settings, this.#client) : null
    this.refunds = new AirtelRefunds(settings.base_url, this.#client)
  }

  async collect({ attempt, micros, country, currency, phone, reference }: Collection): Promise<Verdict> {
    const callingCode = factsOf(phone).callingCode ?? ''
    const body = airtelPaymentBody({
      id: attempt,
      reference,
      country,
      currency,
      msisdn: phone.slice(1 + callingCode.length),
      amount: formatMicros(micros),
    })
    const url = `${this.#baseUrl}/merchant/v1/payments/`
    const headers = headersOf({ country, currency })
    const answer = await this.#client.ask({ method: 'POST', url, headers, body, timeoutMs: paymentMs })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readAirtelPaymentAnswer(answer.status, answer.body)
    switch (heard.kind) {
      case 'accepted':
        return { kind: 'accepted', providerId: attempt }
      default:
        return notTaken(heard, answer.status, reasons)
    }
  }

  async query(providerId: string, market: Market): Promise<Verdict> {
    const url = `${this.#baseUrl}/standard/v1/payments/${providerId}`
    const answer = await this.#client.ask({ method: 'GET', url, headers: headersOf(market), timeoutMs: queryMs })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const heard = readAirtelResult(answer.status, answer.body)
    switch (heard.kind) {
      case 'pending':
      case 'missing':
        return { kind: heard.kind }
      case 'paid':
        return { kind: 'paid', receipt: heard.receipt, micros: null }
      case 'failed':
        return refused(heard.code)
      default:
        return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
    }
  }

  readCallback(): null {
    return null
  }

  stop(): Promise<void> {
    return this.#client.close()
  }
}

function paysOut(settings: AirtelSettings): settings is AirtelSettings & DisbursementSettings {
  return settings.payout_pin !== undefined && settings.payout_public_key !== undefined
}

function headersOf({ country, currency }: Market): Record<string, string> {
  return { 'x-country': country, 'x-currency': currency }
}

function refused(code: string): Verdict {
  return { kind: 'refused', reason: reasons[code] ?? 'PROVIDER_ERROR', code }
}

export const airtel: ProviderKind = {
  method: 'mobile_money',
  provider: 'airtel_money',
  open: { base_url: baseUrl },
  secret: { client_id: secretText('Of the application'), client_secret: secretText('Of the application') },
  outgoing: {
    open: { payout_public_key: publicKeyText('The provider’s, for which the PIN is encrypted') },
    secret: { payout_pin: secretText('Of the account that pays') },
  },
  connect: (settings: AirtelSettings, surroundings) => new AirtelCarrier(settings, surroundings),
}
