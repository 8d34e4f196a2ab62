// SPDX-License-Identifier: Apache-2.0
// A card acquirer with payment intents. The attempt's own id is the key of the request and the reference of the intent: a
// request that failed on the way may be sent a second time at once, and is done once; later it is only asked about.
import type { IncomingHttpHeaders } from 'node:http'
import { type Currency, currencies, isCurrency } from '../../../kernel/money.ts'
import type { Clock } from '../../../platform/clock.ts'
import { type ProviderAnswer, ProviderClient } from '../../../platform/outbound/provider-http.ts'
import {
  acquirerPaths,
  type DisputeEvidence,
  evidenceBody,
  type Intent,
  intentBody,
  isNoticeSigned,
  readDisputes,
  readEvidenceAnswer,
  readIntentAnswer,
  readIntentSearch,
  readRefund,
  signatureHeader,
} from '../../../protocols/acquirer.ts'
import type {
  Acquirer,
  Authorisation,
  CardDispute,
  CardOutcome,
  DisputeOutcome,
  EvidenceOutcome,
  Money,
  RefundOutcome,
} from '../providers/acquirer.ts'
import { cardRefunds } from '../providers/card-refunds.ts'
import { baseUrl, type ProviderKind, type Surroundings, secretText } from '../providers/kind.ts'
import type { FailureReason } from '../providers/provider.ts'
import { maxWords } from './paid-as.ts'

type AcquirerSettings = { base_url: string; secret_key: string; webhook_secret: string }

/** Time limit of a request; twice this is less than the wait before a lost attempt is taken up. */
const authoriseMs = 15_000
const queryMs = 10_000

/** Failure reasons by the words of issuers. Any other word is a refusal without a reason. */
const reasons: Readonly<Record<string, FailureReason>> = {
  insufficient_funds: 'INSUFFICIENT_FUNDS',
  expired_card: 'CARD_EXPIRED',
  incorrect_cvc: 'INCORRECT_CVV',
  invalid_cvc: 'INCORRECT_CVV',
  authentication_failed: 'AUTHENTICATION_FAILED',
  authentication_required: 'AUTHENTICATION_FAILED',
  payment_intent_authentication_failure: 'AUTHENTICATION_FAILED',
}

/** Why a payer wants its money back. Any other word is a reason that they do not tell. */
const disputeReasons: Readonly<Record<string, CardDispute['reason']>> = {
  fraudulent: 'fraudulent',
  duplicate: 'duplicate',
  product_not_received: 'not_received',
  product_unacceptable: 'not_as_described',
  credit_not_processed: 'not_credited',
}

class AcquirerCarrier implements Acquirer {
  readonly method = 'card'
  readonly provider = 'acquirer'
  readonly outgoing = null
  readonly refunds = cardRefunds(this)
  readonly #settings: AcquirerSettings
  readonly #clock: Clock
  readonly #client: ProviderClient

  constructor(settings: AcquirerSettings, { clock, http, patienceMs }: Surroundings) {
    this.#settings = settings
    this.#clock = clock
    this.#client = new ProviderClient(http, patienceMs)
  }

  async authorise(authorisation: Authorisation): Promise<CardOutcome> {
    const { attempt, micros, currency } = authorisation
    const body = intentBody({ ...authorisation, reference: attempt, amount: minorUnits(micros, currency) })
    const first = await this.#post(acquirerPaths.intents, attempt, body, authoriseMs)
    const isStumble = first.kind === 'unknown' || (first.kind === 'answered' && first.status === 500)
    const answer = isStumble ? await this.#post(acquirerPaths.intents, attempt, body, authoriseMs) : first
    // Whether the first of two was taken is not known when the second was not sent.
    if (answer.kind === 'unsent') return { kind: isStumble ? 'unknown' : 'unavailable', reason: answer.reason }
    const outcome = outcomeOf(answer, currency)
    return isStumble && outcome.kind === 'unavailable' ? { kind: 'unknown', reason: outcome.reason } : outcome
  }

  async query(attempt: string, currency: Currency): Promise<CardOutcome> {
    const found = await this.#find(attempt)
    return 'status' in found ? intentOutcome(found, currency) : found
  }

  async capture(attempt: string, { micros, currency }: Money): Promise<CardOutcome> {
    const found = await this.#find(attempt)
    if (!('status' in found)) return found
    if (found.status !== 'requires_capture' || moneyOf(found, currency) !== currency)
      return intentOutcome(found, currency)
    const body = { amount_to_capture: Number(minorUnits(micros, currency)) }
    const path = `${acquirerPaths.intents}/${found.id}/capture`
    const outcome = outcomeOf(await this.#post(path, `${attempt}-capture`, body, queryMs), currency)
    // The money stays set aside while the acquirer takes nothing: it is asked for again.
    return outcome.kind === 'unavailable' ? { kind: 'unknown', reason: outcome.reason } : outcome
  }

  async withdraw(attempt: string, currency: Currency): Promise<CardOutcome> {
    const found = await this.#find(attempt)
    if (!('status' in found)) return found
    if (found.status !== 'requires_capture' && found.status !== 'requires_action') return intentOutcome(found, currency)
    const path = `${acquirerPaths.intents}/${found.id}/cancel`
    const answer = await this.#post(path, `${attempt}-cancel`, {}, queryMs)
    const outcome = outcomeOf(answer, currency)
    // A refused cancellation is no refusal by the issuer: polling finds the outcome.
    return outcome.kind === 'refused' || outcome.kind === 'unavailable'
      ? { kind: 'unknown', reason: 'it was not given up' }
      : outcome
  }

  async refund(refund: string, attempt: string, { micros, currency }: Money): Promise<RefundOutcome> {
    const found = await this.#find(attempt)
    if (!('status' in found))
      return found.kind === 'missing' ? { kind: 'refused', code: 'resource_missing' } : unclear(found)
    const body = {
      payment_intent: found.id,
      amount: Number(minorUnits(micros, currency)),
      metadata: { reference: refund },
    }
    const answer = await this.#post(acquirerPaths.refunds, refund, body, queryMs)
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    return refundOutcome(answer, currency)
  }

  async queryRefund(refund: string, currency: Currency): Promise<RefundOutcome> {
    const outcome = refundOutcome(await this.#get(`${acquirerPaths.refunds}?reference=${refund}`), currency)
    // An unavailable answer about a refund does not mean that it was never taken.
    return outcome.kind === 'unavailable' ? { kind: 'unknown', reason: outcome.reason } : outcome
  }

  async disputes(attempt: string, currency: Currency): Promise<DisputeOutcome> {
    const answer = await this.#get(`${acquirerPaths.disputes}?reference=${attempt}`)
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const found = readDisputes(answer.status, answer.body)
    if (!found?.every((one) => one.currency.toUpperCase() === currency))
      return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
    const disputes = found.map(({ id, status, amount, reason }) => ({
      id,
      status,
      micros: amount * minorUnit(currency),
      reason: disputeReasons[reason] ?? 'other',
    }))
    return { kind: 'found', disputes }
  }

  async sendEvidence(dispute: string, id: string, evidence: DisputeEvidence): Promise<EvidenceOutcome> {
    const path = `${acquirerPaths.disputes}/${encodeURIComponent(id)}`
    const answer = await this.#post(path, `${dispute}-evidence`, evidenceBody(evidence), queryMs)
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const kind = readEvidenceAnswer(answer.status, answer.body)
    return kind === 'unknown' ? { kind, reason: `an answer with status ${answer.status}` } : { kind }
  }

  isSigned(bytes: Buffer, headers: IncomingHttpHeaders): boolean {
    const nowSeconds = Math.floor(this.#clock.nowMs() / 1_000)
    return isNoticeSigned(this.#settings.webhook_secret, bytes, headers[signatureHeader], nowSeconds)
  }

  stop(): Promise<void> {
    return this.#client.close()
  }

  /** The intent of an attempt, or why there is none. */
  async #find(attempt: string): Promise<Intent | Extract<CardOutcome, { kind: 'missing' | 'unknown' }>> {
    const answer = await this.#get(`${acquirerPaths.intents}?reference=${attempt}`)
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const heard = readIntentSearch(answer.status, answer.body)
    if (heard.kind === 'intent') return heard.intent
    if (heard.kind === 'missing' && answer.status === 200) return { kind: 'missing' }
    return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }

  #get(path: string): Promise<ProviderAnswer> {
    const { base_url, secret_key } = this.#settings
    const headers = { authorization: `Bearer ${secret_key}` }
    return this.#client.ask({ method: 'GET', url: `${base_url}${path}`, headers, timeoutMs: queryMs })
  }

  #post(path: string, key: string, body: object, timeoutMs: number): Promise<ProviderAnswer> {
    const { base_url, secret_key } = this.#settings
    const headers = { authorization: `Bearer ${secret_key}`, 'idempotency-key': key }
    const url = `${base_url}${path}`
    return this.#client.ask({ method: 'POST', url, headers, body, timeoutMs })
  }
}

function outcomeOf(answer: ProviderAnswer, currency: Currency): CardOutcome {
  if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
  const heard = readIntentAnswer(answer.status, answer.body)
  switch (heard.kind) {
    case 'intent':
      return intentOutcome(heard.intent, currency)
    case 'refused':
      return { kind: 'refused', reason: 'PROVIDER_ERROR', code: heard.code }
    case 'busy':
      return { kind: 'unavailable', reason: 'it takes nothing just now' }
    case 'credentials':
      return { kind: 'unavailable', reason: 'the acquirer does not take our credentials' }
    case 'missing':
    case 'strange':
      return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }
}

function intentOutcome(intent: Intent, asked: Currency): CardOutcome {
  const { id, status, received, challengeUrl, token, code } = intent
  const currency = moneyOf(intent, asked)
  switch (status) {
    case 'succeeded':
      return received === null || currency === null
        ? unreadable(id, received, intent.currency)
        : { kind: 'paid', id, micros: received * minorUnit(currency), currency, token }
    case 'requires_capture':
      // What was set aside in another currency is not taken, and given up when its time is over.
      return currency === asked
        ? { kind: 'authorised', id, token }
        : { kind: 'unknown', reason: `it was set aside in ${intent.currency.slice(0, maxWords)}` }
    case 'canceled':
      return { kind: 'withdrawn' }
    case 'failed':
      return { kind: 'refused', reason: reasons[code ?? ''] ?? 'CARD_DECLINED', code: code ?? 'card_declined' }
    case 'requires_action':
      return challengeUrl === null
        ? { kind: 'unknown', reason: 'it does not say where the payer must go' }
        : { kind: 'challenge', id, url: challengeUrl }
  }
}

/** Currency of what the acquirer tells of: the one asked for where it does not say; null for one that is not known. */
function moneyOf({ currency }: Pick<Intent, 'currency'>, asked: Currency): Currency | null {
  const told = currency.trim().toUpperCase()
  if (told === '') return asked
  return isCurrency(told) ? told : null
}

function refundOutcome(answer: ProviderAnswer, asked: Currency): RefundOutcome {
  if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
  const refund = answer.status === 200 ? readRefund(answer.body) : null
  if (refund) {
    const { id, status, amount, code } = refund
    if (status === 'failed') return { kind: 'refused', code: code ?? 'failed' }
    if (status === 'pending') return { kind: 'pending', id }
    const currency = moneyOf(refund, asked)
    if (amount === null || currency === null) return unreadable(id, amount ?? null, refund.currency)
    return { kind: 'refunded', id, micros: amount === undefined ? null : amount * minorUnit(currency), currency }
  }
  const heard = readIntentSearch(answer.status, answer.body)
  if (heard.kind === 'missing') return { kind: 'missing' }
  if (heard.kind === 'refused') return { kind: 'refused', code: heard.code }
  if (heard.kind === 'busy' || heard.kind === 'credentials') return { kind: 'unavailable', reason: heard.kind }
  return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
}

function unreadable(receipt: string, amount: bigint | null, currency: string) {
  return { kind: 'unreadable', receipt, words: `${amount ?? ''} ${currency}`.trim().slice(0, maxWords) } as const
}

function unclear(outcome: Extract<CardOutcome, { kind: 'missing' | 'unknown' }>): RefundOutcome {
  return outcome.kind === 'unknown' ? { kind: 'unavailable', reason: outcome.reason } : outcome
}

function minorUnit(currency: Currency): bigint {
  return 10n ** BigInt(6 - currencies[currency])
}

function minorUnits(micros: bigint, currency: Currency): bigint {
  return micros / minorUnit(currency)
}

export const acquirer: ProviderKind = {
  method: 'card',
  facts: { provider: 'acquirer', name: 'Cards', tile: [['Card'], '#1459b3', '#ffffff'] },
  open: { base_url: baseUrl },
  secret: {
    secret_key: secretText('Secret key of the account with the acquirer'),
    webhook_secret: secretText('Signs what the acquirer tells'),
  },
  outgoing: { open: {}, secret: {} },
  identity: ['base_url', 'secret_key'],
  connect: (settings: AcquirerSettings, surroundings) => new AcquirerCarrier(settings, surroundings),
}
