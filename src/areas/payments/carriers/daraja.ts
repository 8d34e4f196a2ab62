// SPDX-License-Identifier: Apache-2.0
// M-Pesa in Kenya, over Daraja. A push has no key of ours that would make it safe to repeat, so it is never sent twice: an
// attempt whose answer was lost waits for its callback, which comes to an address of its own.
import { formatMicros } from '../../../kernel/money.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { ProviderAnswer, ProviderRequest } from '../../../platform/outbound/provider-http.ts'
import {
  readStkCallback,
  readStkPushAnswer,
  readStkQueryAnswer,
  stkPushBody,
  stkQueryBody,
} from '../../../protocols/daraja.ts'
import { payerHeaders } from '../../../protocols/sandbox-payer.ts'
import {
  baseUrl,
  openText,
  type ProviderKind,
  publicKeyText,
  type Surroundings,
  secretText,
} from '../providers/kind.ts'
import type {
  Collection,
  FailureReason,
  MobileMoney,
  Outgoing,
  RefundCarrier,
  Taken,
  Verdict,
} from '../providers/provider.ts'
import { BearerClient, basicAuthorization } from './bearer.ts'
import { darajaFacts } from './daraja-facts.ts'
import { DarajaOutgoing, type InitiatorSettings, type Post } from './daraja-outgoing.ts'
import { DarajaReversals } from './daraja-reversals.ts'
import { noRefunds } from './no-refunds.ts'
import { paidAs } from './paid-as.ts'

type DarajaSettings = Partial<InitiatorSettings> & {
  base_url: string
  shortcode: string
  passkey: string
  consumer_key: string
  consumer_secret: string
}

type More = Partial<Pick<ProviderRequest, 'headers' | 'trace'>>

const pushMs = 30_000
const queryMs = 10_000
/** A token is good for an hour; it is replaced well before. */
const tokenForMs = 50 * 60_000

/** Failure reasons by the provider's codes. Any other code is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  '1': 'INSUFFICIENT_FUNDS',
  '2': 'PAYER_LIMIT_REACHED',
  '3': 'PAYER_LIMIT_REACHED',
  '4': 'PAYER_LIMIT_REACHED',
  '8': 'PAYER_LIMIT_REACHED',
  '17': 'TRANSACTION_IN_PROGRESS',
  '26': 'PROVIDER_UNAVAILABLE',
  '1001': 'TRANSACTION_IN_PROGRESS',
  '1019': 'TRANSACTION_TIMEOUT',
  '1032': 'USER_CANCELLED',
  '1037': 'PAYER_UNREACHABLE',
  '2001': 'WRONG_PIN',
  '8006': 'WRONG_PIN',
}

/** Code, with a server's error, for a push that it did not make: the payer has another one open, or the password is wrong. */
const notAskedCode = '500.001.1001'
/** Words for another open push, by which alone it is told from a wrong password. */
const lockedWords = /lock subscriber/i

class DarajaCarrier implements MobileMoney {
  readonly method = 'mobile_money'
  readonly provider = darajaFacts.provider
  readonly knownByAttempt = false
  readonly repeatable = false
  readonly outgoing: Outgoing | null
  readonly refunds: RefundCarrier
  readonly thanks = { ResultCode: 0, ResultDesc: 'Accepted' }
  readonly #settings: DarajaSettings
  readonly #clock: Clock
  readonly #client: BearerClient

  constructor(settings: DarajaSettings, surroundings: Surroundings) {
    this.#settings = settings
    this.#clock = surroundings.clock
    const { base_url, consumer_key, consumer_secret } = settings
    this.#client = new BearerClient({
      surroundings,
      request: {
        method: 'GET',
        url: `${base_url}/oauth/v1/generate?grant_type=client_credentials`,
        headers: { authorization: basicAuthorization(consumer_key, consumer_secret) },
      },
      tokenForMs,
      isRefused: ({ status, body }) => readStkQueryAnswer(status, body).kind === 'token',
    })
    const post: Post = (path, body, timeoutMs, more) => this.#post(path, body, timeoutMs, more)
    this.outgoing = paysOut(settings) ? new DarajaOutgoing(settings, post) : null
    this.refunds = paysOut(settings)
      ? new DarajaReversals(settings, settings.shortcode, post)
      : noRefunds('gives nothing back until its operator has entered an initiator')
  }

  async collect({ micros, phone, reference, description, callbackUrl, isByHand, trace }: Collection): Promise<Verdict> {
    const { shortcode, passkey } = this.#settings
    const at = new Date(this.#clock.nowMs())
    const amount = formatMicros(micros)
    const body = stkPushBody({ shortcode, passkey, amount, phone, callbackUrl, reference, description, at })
    const answer = await this.#post('/mpesa/stkpush/v1/processrequest', body, pushMs, {
      headers: payerHeaders(isByHand),
      trace,
    })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readStkPushAnswer(answer.status, answer.body)
    if (heard.kind === 'accepted') return { kind: 'accepted', providerId: heard.checkoutId }
    if (heard.kind === 'token') return { kind: 'unavailable', reason: 'the provider does not take our credentials' }
    if (heard.kind === 'busy') return { kind: 'unavailable', reason: 'it takes nothing just now' }
    // A server in trouble may have asked the payer all the same.
    if (heard.kind === 'strange' || (answer.status >= 500 && heard.code !== notAskedCode))
      return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
    const reason = lockedWords.test(heard.message) ? 'TRANSACTION_IN_PROGRESS' : reasons[heard.code]
    return { kind: 'refused', reason: reason ?? 'PROVIDER_ERROR', code: heard.code }
  }

  async query({ providerId, trace }: Taken): Promise<Verdict> {
    const { shortcode, passkey } = this.#settings
    const body = stkQueryBody({ shortcode, passkey, at: new Date(this.#clock.nowMs()) }, providerId)
    const answer = await this.#post('/mpesa/stkpushquery/v1/query', body, queryMs, { trace })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const heard = readStkQueryAnswer(answer.status, answer.body)
    if (heard.kind === 'pending') return heard
    if (heard.kind === 'final') return verdictOf(heard.resultCode, null, null)
    return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }

  readCallback(body: unknown): { providerId: string; verdict: Verdict } | null {
    const callback = readStkCallback(body)
    if (callback === null) return null
    const { checkoutId, resultCode, amount, receipt } = callback
    return { providerId: checkoutId, verdict: verdictOf(resultCode, receipt, amount) }
  }

  stop(): Promise<void> {
    return this.#client.close()
  }

  #post(path: string, body: Record<string, string>, timeoutMs: number, more: More = {}): Promise<ProviderAnswer> {
    const url = `${this.#settings.base_url}${path}`
    return this.#client.ask({ method: 'POST', url, headers: {}, body, timeoutMs, ...more })
  }
}

function paysOut(settings: DarajaSettings): settings is DarajaSettings & InitiatorSettings {
  // Whether it is there, without reading it: the simulator makes its own when it is first read.
  return settings.initiator_name !== undefined && 'certificate' in settings
}

function verdictOf(resultCode: string, receipt: string | null, amount: string | null): Verdict {
  if (resultCode === '0') return paidAs(receipt, { amount })
  return { kind: 'refused', reason: reasons[resultCode] ?? 'PROVIDER_ERROR', code: resultCode }
}

export const daraja: ProviderKind = {
  method: 'mobile_money',
  facts: darajaFacts,
  open: {
    base_url: baseUrl,
    shortcode: openText('^\\d{4,10}$', 'must have 4 to 10 digits', 'Paybill number'),
  },
  secret: {
    passkey: secretText('Passkey of the online checkout'),
    consumer_key: secretText('Consumer key of the app'),
    consumer_secret: secretText('Consumer secret of the app'),
  },
  outgoing: {
    open: {
      initiator_name: openText(
        '^[\\x21-\\x7e]{1,64}$',
        'must have 1 to 64 visible ASCII characters',
        'Initiator of payouts',
      ),
      certificate: publicKeyText('Provider’s certificate, used to encrypt the password'),
      payout_shortcode: openText('^\\d{4,10}$', 'must have 4 to 10 digits', 'Short code that payouts are made from'),
    },
    secret: { initiator_password: secretText('Password of the initiator of payouts') },
  },
  identity: ['base_url', 'shortcode', 'payout_shortcode'],
  connect: (settings: DarajaSettings, surroundings) => new DarajaCarrier(settings, surroundings),
}
