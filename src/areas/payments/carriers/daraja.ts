// SPDX-License-Identifier: Apache-2.0
// M-Pesa in Kenya, over Daraja. A push has no key of ours that would make it safe to repeat, so it is never sent twice: an
// attempt whose answer was lost waits for its callback, which comes to an address of its own.
import { formatMicros, parseAmount } from '../../../kernel/money.ts'
import type { Clock } from '../../../platform/clock.ts'
import { type ProviderAnswer, ProviderClient } from '../../../platform/provider-http.ts'
import {
  readStkCallback,
  readStkPushAnswer,
  readStkQueryAnswer,
  stkPushBody,
  stkQueryBody,
} from '../../../protocols/daraja.ts'
import type { Collection, FailureReason, MobileMoney, Verdict } from '../provider.ts'

export interface DarajaSettings {
  baseUrl: string
  shortcode: string
  passkey: string
  consumerKey: string
  consumerSecret: string
}

const pushMs = 30_000
const queryMs = 10_000
const tokenMs = 10_000
/** A token is good for an hour; it is replaced well before. */
const tokenForMs = 50 * 60_000

/** What the provider's codes mean. Any other is its own trouble. */
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

/** Codes of a push that was not taken because the provider was too busy for it. */
const busyCodes = new Set(['500.003.02', '500.003.03'])

export class DarajaCarrier implements MobileMoney {
  readonly provider = 'mpesa'
  readonly thanks = { ResultCode: 0, ResultDesc: 'Accepted' }
  readonly #settings: DarajaSettings
  readonly #clock: Clock
  readonly #client = new ProviderClient()
  #token: { text: string; untilMs: number } | null = null

  constructor(settings: DarajaSettings, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
  }

  async collect({ micros, phone, reference, description, callbackUrl }: Collection): Promise<Verdict> {
    const { shortcode, passkey } = this.#settings
    const at = new Date(this.#clock.nowMs())
    const amount = formatMicros(micros)
    const body = stkPushBody({ shortcode, passkey, amount, phone, callbackUrl, reference, description, at })
    const answer = await this.#post('/mpesa/stkpush/v1/processrequest', body, pushMs)
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readStkPushAnswer(answer.status, answer.body)
    if (heard.kind === 'accepted') return { kind: 'accepted', providerId: heard.checkoutId }
    if (heard.kind === 'token') return { kind: 'unavailable', reason: 'the provider does not take our credentials' }
    if (heard.kind === 'strange') return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
    if (busyCodes.has(heard.code)) return { kind: 'unavailable', reason: heard.code }
    return { kind: 'refused', reason: reasons[heard.code] ?? 'PROVIDER_ERROR', code: heard.code }
  }

  async query(providerId: string): Promise<Verdict> {
    const { shortcode, passkey } = this.#settings
    const body = stkQueryBody({ shortcode, passkey, at: new Date(this.#clock.nowMs()) }, providerId)
    const answer = await this.#post('/mpesa/stkpushquery/v1/query', body, queryMs)
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
    const micros = amount === null ? null : parseAmount(amount, 2)
    return {
      providerId: checkoutId,
      verdict: verdictOf(resultCode, receipt, typeof micros === 'bigint' ? micros : null),
    }
  }

  stop(): Promise<void> {
    return this.#client.close()
  }

  /** A token that the provider no longer knows is replaced, once: nothing was done with it. */
  async #post(path: string, body: Record<string, string>, timeoutMs: number): Promise<ProviderAnswer> {
    for (let isFirst = true; ; isFirst = false) {
      const token = await this.#freshToken()
      if (typeof token !== 'string') return token
      const url = `${this.#settings.baseUrl}${path}`
      const headers = { authorization: `Bearer ${token}` }
      const answer = await this.#client.ask({ method: 'POST', url, headers, body, timeoutMs })
      const isRefused = answer.kind === 'answered' && readStkQueryAnswer(answer.status, answer.body).kind === 'token'
      if (!isRefused || !isFirst) return answer
      this.#token = null
    }
  }

  async #freshToken(): Promise<string | ProviderAnswer> {
    if (this.#token && this.#token.untilMs > performance.now()) return this.#token.text
    const { baseUrl, consumerKey, consumerSecret } = this.#settings
    const authorization = `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString('base64')}`
    const url = `${baseUrl}/oauth/v1/generate?grant_type=client_credentials`
    const answer = await this.#client.ask({ method: 'GET', url, headers: { authorization }, timeoutMs: tokenMs })
    const body = answer.kind === 'answered' ? Object(answer.body) : {}
    // Whatever became of this request, the one it was for was not sent.
    if (typeof body.access_token !== 'string') return { kind: 'unsent', reason: 'no token was given' }
    this.#token = { text: body.access_token, untilMs: performance.now() + tokenForMs }
    return this.#token.text
  }
}

function verdictOf(resultCode: string, receipt: string | null, micros: bigint | null): Verdict {
  if (resultCode === '0') return { kind: 'paid', receipt, micros }
  return { kind: 'refused', reason: reasons[resultCode] ?? 'PROVIDER_ERROR', code: resultCode }
}
