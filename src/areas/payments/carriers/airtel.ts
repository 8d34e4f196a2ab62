// SPDX-License-Identifier: Apache-2.0
// Airtel Money. The attempt's own id names the payment, so that it can be polled even when the answer got lost. The
// provider's reply to a repeated id is not certain, so nothing is sent again. Its callbacks go to one address per app
// and prove nothing of the caller, so they are not taken; it is polled.
import { formatMicros } from '../../../kernel/money.ts'
import { airtelCodes, airtelPaymentBody } from '../../../protocols/airtel.ts'
import { payerHeaders } from '../../../protocols/sandbox-payer.ts'
import { baseUrl, type ProviderKind, publicKeyText, type Surroundings, secretText } from '../providers/kind.ts'
import type { Collection, MobileMoney, RefundCarrier, Taken, Verdict } from '../providers/provider.ts'
import { airtelFacts } from './airtel-facts.ts'
import { type AirtelReasons, marketHeaders, msisdnOf, orderVerdict, stateVerdict } from './airtel-orders.ts'
import { AirtelOutgoing, type DisbursementSettings } from './airtel-outgoing.ts'
import { AirtelRefunds } from './airtel-refunds.ts'
import { BearerClient } from './bearer.ts'

type AirtelSettings = Partial<DisbursementSettings> & { base_url: string; client_id: string; client_secret: string }

const paymentMs = 30_000
const queryMs = 10_000
/** A token is good for three minutes; it is replaced well before. */
const tokenForMs = 2 * 60_000

/** Failure reasons by the provider's codes. Any other code is a fault on its side. */
const reasons: AirtelReasons = {
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
  readonly provider = airtelFacts.provider
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

  async collect({
    attempt,
    micros,
    country,
    currency,
    phone,
    reference,
    isByHand,
    trace,
  }: Collection): Promise<Verdict> {
    const body = airtelPaymentBody({
      id: attempt,
      reference,
      country,
      currency,
      msisdn: msisdnOf(phone),
      amount: formatMicros(micros),
    })
    const url = `${this.#baseUrl}/merchant/v1/payments/`
    const headers = { ...marketHeaders({ country, currency }), ...payerHeaders(isByHand) }
    const answer = await this.#client.ask({ method: 'POST', url, headers, body, timeoutMs: paymentMs, trace })
    return orderVerdict(attempt, answer, reasons)
  }

  async query({ providerId, country, currency, trace }: Taken): Promise<Verdict> {
    const url = `${this.#baseUrl}/standard/v1/payments/${providerId}`
    const headers = marketHeaders({ country, currency })
    const answer = await this.#client.ask({ method: 'GET', url, headers, timeoutMs: queryMs, trace })
    return stateVerdict(answer, reasons)
  }

  readCallback(): null {
    return null
  }

  stop(): Promise<void> {
    return this.#client.close()
  }
}

function paysOut(settings: AirtelSettings): settings is AirtelSettings & DisbursementSettings {
  // Whether it is there, without reading it: the simulator makes its own when it is first read.
  return settings.payout_pin !== undefined && 'payout_public_key' in settings
}

export const airtel: ProviderKind = {
  method: 'mobile_money',
  facts: airtelFacts,
  open: { base_url: baseUrl },
  secret: {
    client_id: secretText('Client id of the application'),
    client_secret: secretText('Client secret of the application'),
  },
  outgoing: {
    open: { payout_public_key: publicKeyText('Provider’s public key, used to encrypt the PIN') },
    secret: { payout_pin: secretText('PIN of the paying account') },
  },
  identity: ['base_url', 'client_id'],
  connect: (settings: AirtelSettings, surroundings) => new AirtelCarrier(settings, surroundings),
}
