// SPDX-License-Identifier: Apache-2.0
// Orange Money, over its web payment: the payer is sent to a page of the provider's. What the answer gave is needed to ask how
// it went, so that an attempt whose answer got lost cannot be asked about; its payer was never sent anywhere either.
import { timingSafeEqual } from 'node:crypto'
import { formatMicros } from '../../../kernel/money.ts'
import type { ProviderAnswer, ProviderRequest } from '../../../platform/outbound/provider-http.ts'
import {
  orangeMoneyPath,
  orangeMoneyPaymentBody,
  orangeMoneyPlayMoney,
  orangeMoneyStateBody,
  orangeMoneyTokenPath,
  readOrangeMoneyAnswer,
  readOrangeMoneyNotice,
  readOrangeMoneyState,
} from '../../../protocols/orange-money.ts'
import { baseUrl, openText, type ProviderKind, type Surroundings, secretText } from '../providers/kind.ts'
import type { Asked, Collection, Taken, Verdict } from '../providers/provider.ts'
import { BearerClient, basicAuthorization } from './bearer.ts'
import { notTaken } from './not-taken.ts'
import { orangeMoneyFacts } from './orange-money-facts.ts'
import { orderMs, PolledCarrier, queryMs } from './polled.ts'

type OrangeMoneySettings = {
  base_url: string
  webpay_market: string
  client_id: string
  client_secret: string
  merchant_key: string
}

/** A token is good for an hour; it is replaced well before. */
const tokenForMs = 50 * 60_000
const playMarket = 'dev'
/** Language of the provider's page: all its countries but one read French. */
const language = 'fr'

class OrangeMoneyCarrier extends PolledCarrier {
  override readonly knownByAttempt = false
  readonly #settings: OrangeMoneySettings

  constructor(settings: OrangeMoneySettings, surroundings: Surroundings) {
    const { base_url, client_id, client_secret } = settings
    const client = new BearerClient({
      surroundings,
      request: {
        method: 'POST',
        url: `${base_url}${orangeMoneyTokenPath}`,
        headers: { authorization: basicAuthorization(client_id, client_secret) },
        form: { grant_type: 'client_credentials' },
      },
      tokenForMs,
      isRefused: ({ status }) => status === 401,
    })
    super(orangeMoneyFacts, client, 'gives nothing back over its web payments')
    this.#settings = settings
  }

  override async collect({
    shortId,
    micros,
    currency,
    reference,
    callbackUrl,
    returnUrl,
    trace,
  }: Collection): Promise<Verdict> {
    const { merchant_key: merchantKey, webpay_market } = this.#settings
    const body = orangeMoneyPaymentBody({
      merchantKey,
      currency: webpay_market === playMarket ? orangeMoneyPlayMoney : currency,
      orderId: shortId,
      amount: formatMicros(micros),
      returnUrl,
      notifyUrl: callbackUrl,
      language,
      reference,
    })
    const answer = await this.#post('webpayment', { body, timeoutMs: orderMs, trace })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readOrangeMoneyAnswer(answer.status, answer.body)
    if (heard.kind !== 'opened') return notTaken(heard, answer.status, {})
    const { payToken, notifyToken, paymentUrl } = heard
    const keeps = { pay_token: payToken, notif_token: notifyToken }
    return { kind: 'action', providerId: shortId, details: { page_url: paymentUrl }, keeps }
  }

  override async query({ providerId, micros, kept, trace }: Taken): Promise<Verdict> {
    const { pay_token: payToken } = kept
    if (payToken === undefined) return { kind: 'unknown', reason: 'its answer, which names the payment, was not kept' }
    const body = orangeMoneyStateBody({ orderId: providerId, amount: formatMicros(micros), payToken })
    const answer = await this.#post('transactionstatus', { body, timeoutMs: queryMs, trace })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const heard = readOrangeMoneyState(answer.status, answer.body)
    switch (heard?.state) {
      case undefined:
        return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
      case 'INITIATED':
      case 'PENDING':
        return { kind: 'pending' }
      case 'SUCCESS':
        // The poll named the amount.
        return { kind: 'paid', receipt: heard?.receipt ?? null, micros }
      case 'EXPIRED':
        return { kind: 'refused', reason: 'TRANSACTION_TIMEOUT', code: 'EXPIRED' }
      case 'FAILED':
        return { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'FAILED' }
    }
  }

  override readCallback(
    body: unknown,
    { providerId, micros, kept }: Asked,
  ): { providerId: string; verdict: Verdict } | null {
    const notice = readOrangeMoneyNotice(body)
    if (!notice || providerId === null || !isSame(notice.notifyToken, kept.notif_token)) return null
    const { state, receipt } = notice
    if (state === 'SUCCESS') return { providerId, verdict: { kind: 'paid', receipt, micros } }
    return { providerId, verdict: { kind: 'refused', reason: 'PROVIDER_ERROR', code: state } }
  }

  #post(
    what: 'webpayment' | 'transactionstatus',
    request: Pick<ProviderRequest, 'body' | 'timeoutMs' | 'trace'>,
  ): Promise<ProviderAnswer> {
    const { base_url, webpay_market } = this.#settings
    const url = `${base_url}${orangeMoneyPath(webpay_market, what)}`
    return this.client.ask({ method: 'POST', url, headers: {}, ...request })
  }
}

function isSame(given: string, known: string | undefined): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(known ?? '')]
  return one.length === other.length && timingSafeEqual(one, other)
}

export const orangeMoney: ProviderKind = {
  method: 'mobile_money',
  facts: orangeMoneyFacts,
  open: {
    base_url: baseUrl,
    webpay_market: openText(
      '^[a-z]{2,3}$',
      'must have 2 or 3 small letters, such as ci',
      'Market code in the API path, such as ci, or dev',
    ),
  },
  secret: {
    client_id: secretText('Client id of the application'),
    client_secret: secretText('Client secret of the application'),
    merchant_key: secretText('Merchant key of the web payment contract'),
  },
  outgoing: { open: {}, secret: {} },
  identity: ['base_url', 'webpay_market', 'merchant_key'],
  connect: (settings: OrangeMoneySettings, surroundings) => new OrangeMoneyCarrier(settings, surroundings),
}
