// SPDX-License-Identifier: Apache-2.0
// telebirr, over its web checkout: the payer is sent to a page of the provider's. Every request is signed with the
// merchant's own key. An order whose answer got lost has no page and cannot be paid.
import { randomBytes } from 'node:crypto'
import { formatMicros } from '../../../kernel/money.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { ProviderAnswer, ProviderRequest } from '../../../platform/outbound/provider-http.ts'
import { membersOf, textOf } from '../../../protocols/json.ts'
import {
  readTelebirrAnswer,
  readTelebirrNotice,
  readTelebirrState,
  type TelebirrMoment,
  telebirrOrderBody,
  telebirrPageUrl,
  telebirrPaths,
  telebirrQueryBody,
} from '../../../protocols/telebirr.ts'
import {
  baseUrl,
  openText,
  type ProviderKind,
  privateKeyText,
  type Surroundings,
  secretText,
} from '../providers/kind.ts'
import type { Asked, Collection, Taken, Verdict } from '../providers/provider.ts'
import { BearerClient } from './bearer.ts'
import { notTaken } from './not-taken.ts'
import { paidAs } from './paid-as.ts'
import { orderMs, PolledCarrier, queryMs } from './polled.ts'
import { telebirrFacts } from './telebirr-facts.ts'

type TelebirrSettings = {
  base_url: string
  checkout_url: string
  merchant_app_id: string
  merchant_code: string
  fabric_app_id: string
  app_secret: string
  private_key: string
}

/** A token is good for an hour; it is replaced well before. */
const tokenForMs = 45 * 60_000

class TelebirrCarrier extends PolledCarrier {
  override readonly knownByAttempt = false
  override readonly thanks = { code: '0', msg: 'success' }
  readonly #settings: TelebirrSettings
  readonly #clock: Clock

  constructor(settings: TelebirrSettings, surroundings: Surroundings) {
    const { base_url, fabric_app_id, app_secret } = settings
    const client = new BearerClient({
      surroundings,
      request: {
        method: 'POST',
        url: `${base_url}${telebirrPaths.token}`,
        headers: { 'x-app-key': fabric_app_id },
        body: { appSecret: app_secret },
      },
      readToken: (body) => textOf(membersOf(body).token).replace(/^Bearer /, '') || null,
      tokenForMs,
      isRefused: ({ status, body }) => readTelebirrAnswer(status, body).kind === 'token',
    })
    super(telebirrFacts, client, 'gives payments back in its own merchant portal, not here')
    this.#settings = settings
    this.#clock = surroundings.clock
  }

  override async collect({
    shortId,
    micros,
    currency,
    reference,
    description,
    callbackUrl,
    returnUrl,
    trace,
  }: Collection) {
    const { private_key: key, checkout_url } = this.#settings
    const order = {
      ...this.#merchant,
      orderId: shortId,
      amount: formatMicros(micros),
      currency,
      title: description || reference,
      notifyUrl: callbackUrl,
      returnUrl,
      minutes: Math.ceil(telebirrFacts.expirySeconds / 60),
    }
    const answer = await this.#post(telebirrPaths.order, () => telebirrOrderBody(order, this.#moment(), key), {
      timeoutMs: orderMs,
      trace,
    })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason } as const
    if (answer.kind === 'unknown') return answer
    const heard = readTelebirrAnswer(answer.status, answer.body)
    if (heard.kind !== 'opened') return notTaken(heard, answer.status, {})
    const page_url = telebirrPageUrl(checkout_url, this.#merchant, heard.prepayId, this.#moment(), key)
    return { kind: 'action', providerId: shortId, details: { page_url } } as const
  }

  override async query({ providerId, trace }: Taken): Promise<Verdict> {
    const { private_key: key } = this.#settings
    const body = () => telebirrQueryBody(this.#merchant, providerId, this.#moment(), key)
    const answer = await this.#post(telebirrPaths.query, body, { timeoutMs: queryMs, trace })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const heard = readTelebirrState(answer.status, answer.body)
    if (!heard) return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
    switch (heard.state) {
      case 'PAY_SUCCESS':
        return paidAs(heard.receipt, heard)
      case 'PAY_FAILED':
        return { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'PAY_FAILED' }
      case 'ORDER_CLOSED':
        return { kind: 'refused', reason: 'TRANSACTION_TIMEOUT', code: 'ORDER_CLOSED' }
      default:
        return { kind: 'pending' }
    }
  }

  /**
   * Reads a callback. A payment counts only once a poll confirms it; the secret address of the callback proves the rest.
   */
  override readCallback(body: unknown, { providerId }: Asked): { providerId: string; verdict: Verdict } | null {
    const notice = readTelebirrNotice(body)
    if (!notice || notice.orderId !== providerId) return null
    if (notice.isPaid) return { providerId, verdict: paidAs(notice.receipt, notice) }
    return { providerId, verdict: { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'Failure' } }
  }

  get #merchant() {
    const { merchant_app_id: appId, merchant_code: shortCode } = this.#settings
    return { appId, shortCode }
  }

  #moment(): TelebirrMoment {
    return { nonce: randomBytes(16).toString('hex'), atSeconds: Math.floor(this.#clock.nowMs() / 1_000) }
  }

  async #post(
    path: string,
    signed: () => object,
    request: Pick<ProviderRequest, 'timeoutMs' | 'trace'>,
  ): Promise<ProviderAnswer> {
    const { base_url, fabric_app_id } = this.#settings
    const headers = { 'x-app-key': fabric_app_id }
    try {
      return await this.client.ask({ method: 'POST', url: `${base_url}${path}`, headers, body: signed(), ...request })
    } catch {
      // Only the signature can throw; errors of the request are answers.
      return { kind: 'unsent', reason: 'the private key cannot sign' }
    }
  }
}

export const telebirr: ProviderKind = {
  method: 'mobile_money',
  facts: telebirrFacts,
  open: {
    base_url: baseUrl,
    checkout_url: openText(
      '^https?://[^\\s?#]{1,290}$',
      'must be a URL without a query',
      'URL of the provider’s payment page',
    ),
    merchant_app_id: openText('^\\d{4,32}$', 'must have 4 to 32 digits', 'Id of the merchant’s application'),
    merchant_code: openText('^\\d{4,10}$', 'must have 4 to 10 digits', 'Short code of the merchant'),
  },
  secret: {
    fabric_app_id: secretText('Key of the application'),
    app_secret: secretText('Secret of the application'),
    private_key: privateKeyText('Private key; the provider has the public key'),
  },
  outgoing: { open: {}, secret: {} },
  identity: ['base_url', 'merchant_app_id', 'merchant_code'],
  connect: (settings: TelebirrSettings, surroundings) => new TelebirrCarrier(settings, surroundings),
}
