// SPDX-License-Identifier: Apache-2.0
// M-Pesa in Tanzania, over Vodacom's Open API. The attempt's own id names the payment, so that it can be polled even
// when the answer got lost; the provider's reply to a repeated id is not certain, so nothing is sent again. Its
// callbacks go to one address per application and are not taken; it is polled.
import { formatMicros } from '../../../kernel/money.ts'
import { membersOf, textOf } from '../../../protocols/json.ts'
import {
  mpesaOpenCodes,
  mpesaOpenPath,
  mpesaOpenPaymentBody,
  mpesaOpenQuery,
  readMpesaOpenAnswer,
  readMpesaOpenState,
} from '../../../protocols/mpesa-open.ts'
import { encryptFor } from '../../../protocols/rsa.ts'
import {
  baseUrl,
  openText,
  type ProviderKind,
  publicKeyText,
  type Surroundings,
  secretText,
} from '../providers/kind.ts'
import type { Collection, FailureReason, Taken, Verdict } from '../providers/provider.ts'
import { BearerClient } from './bearer.ts'
import { mpesaOpenFacts } from './mpesa-open-facts.ts'
import { notTaken } from './not-taken.ts'
import { orderMs, PolledCarrier, queryMs } from './polled.ts'

type MpesaOpenSettings = {
  base_url: string
  open_api_market: string
  service_provider_code: string
  open_api_public_key: string
  open_api_key: string
}

/** Sessions are good for as long as the application says, an hour at least; each is replaced well before. */
const sessionForMs = 40 * 60_000
/** The provider takes no longer reference. */
const referenceLength = 20

/** Failure reasons by the provider's codes and words. Any other is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  [mpesaOpenCodes.notEnoughMoney]: 'INSUFFICIENT_FUNDS',
  [mpesaOpenCodes.cancelled]: 'USER_CANCELLED',
  [mpesaOpenCodes.inactive]: 'PAYER_NOT_FOUND',
  [mpesaOpenCodes.badNumber]: 'PAYER_NOT_FOUND',
  [mpesaOpenCodes.overLimit]: 'PAYER_LIMIT_REACHED',
  [mpesaOpenCodes.profileLimit]: 'PAYER_LIMIT_REACHED',
  cancelled: 'USER_CANCELLED',
  declined: 'USER_CANCELLED',
  rejected: 'USER_CANCELLED',
  expired: 'TRANSACTION_TIMEOUT',
}

class MpesaOpenCarrier extends PolledCarrier {
  readonly #settings: MpesaOpenSettings

  constructor(settings: MpesaOpenSettings, surroundings: Surroundings) {
    const { base_url, open_api_market, open_api_public_key: publicKey, open_api_key } = settings
    const client = new BearerClient({
      surroundings,
      request: {
        method: 'GET',
        url: `${base_url}${mpesaOpenPath(open_api_market, 'getSession')}`,
        headers: { authorization: `Bearer ${encryptFor(publicKey, open_api_key)}`, origin: '*' },
      },
      readToken: (body) => {
        const session = textOf(membersOf(body).output_SessionID)
        return session === '' ? null : encryptFor(publicKey, session)
      },
      tokenForMs: sessionForMs,
      isRefused: ({ status, body }) => readMpesaOpenState(status, body).kind === 'token',
    })
    super(mpesaOpenFacts, client, 'gives payments back in its own organisation portal, not here')
    this.#settings = settings
  }

  override async collect({
    attempt,
    shortId,
    micros,
    currency,
    phone,
    reference,
    description,
    trace,
  }: Collection): Promise<Verdict> {
    const body = mpesaOpenPaymentBody({
      ...this.#merchant,
      conversationId: conversationOf(attempt),
      reference: shortId.slice(-referenceLength),
      currency,
      phone,
      amount: formatMicros(micros),
      description: description || reference,
    })
    const { base_url, open_api_market } = this.#settings
    const url = `${base_url}${mpesaOpenPath(open_api_market, 'c2bPayment/singleStage')}`
    const answer = await this.client.ask({ method: 'POST', url, headers, body, timeoutMs: orderMs, trace })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readMpesaOpenAnswer(answer.status, answer.body)
    // Whether the payer was waited for hangs on the application, so that nothing is taken for paid before it was asked about.
    if (heard.kind === 'accepted') return { kind: 'accepted', providerId: attempt }
    return notTaken(heard, answer.status, reasons)
  }

  override async query({ attempt, trace }: Taken): Promise<Verdict> {
    const conversationId = conversationOf(attempt)
    const query = mpesaOpenQuery({ ...this.#merchant, reference: conversationId, conversationId })
    const { base_url, open_api_market } = this.#settings
    const url = `${base_url}${mpesaOpenPath(open_api_market, 'queryTransactionStatus')}?${query}`
    const answer = await this.client.ask({ method: 'GET', url, headers, timeoutMs: queryMs, trace })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const heard = readMpesaOpenState(answer.status, answer.body)
    switch (heard.kind) {
      case 'pending':
      case 'missing':
        return heard
      case 'paid':
        return { ...heard, micros: null }
      case 'ended':
        return { kind: 'refused', reason: reasons[heard.word] ?? 'PROVIDER_ERROR', code: heard.word }
      default:
        return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
    }
  }

  get #merchant() {
    const { open_api_market, service_provider_code: serviceProviderCode } = this.#settings
    return { serviceProviderCode, country: open_api_market.slice(-3) }
  }
}

const headers = { origin: '*' }

/** The provider takes letters and digits. */
function conversationOf(attempt: string): string {
  return attempt.replaceAll('-', '')
}

export const mpesaOpen: ProviderKind = {
  method: 'mobile_money',
  facts: mpesaOpenFacts,
  open: {
    base_url: baseUrl,
    open_api_market: openText(
      '^voda(com|fone)[A-Z]{3}$',
      'must be such as vodacomTZN',
      'Market code in the API path, such as vodacomTZN',
    ),
    service_provider_code: openText(
      '^[A-Za-z0-9]{4,12}$',
      'must have 4 to 12 letters or digits',
      'Service provider code (short code)',
    ),
    open_api_public_key: publicKeyText('Provider’s public key, used to encrypt keys'),
  },
  secret: { open_api_key: secretText('API key of the application') },
  outgoing: { open: {}, secret: {} },
  identity: ['base_url', 'open_api_market', 'service_provider_code'],
  connect: (settings: MpesaOpenSettings, surroundings) => new MpesaOpenCarrier(settings, surroundings),
}
