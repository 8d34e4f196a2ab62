// SPDX-License-Identifier: Apache-2.0
// EcoCash, over its Open API. A payment is known by the attempt's own id and the payer's number, so that it can be
// polled even when the answer got lost. The provider's reply to a repeated id is not certain, so nothing is sent again.
import { formatMicros } from '../../../kernel/money.ts'
import { type ProviderAnswer, ProviderClient, type ProviderRequest } from '../../../platform/outbound/provider-http.ts'
import {
  ecocashKeyHeader,
  ecocashPaths,
  ecocashPaymentBody,
  ecocashStateBody,
  readEcocashAnswer,
  readEcocashState,
} from '../../../protocols/ecocash.ts'
import { baseUrl, openText, type ProviderKind, type Surroundings, secretText } from '../providers/kind.ts'
import type { Collection, FailureReason, Taken, Verdict } from '../providers/provider.ts'
import { ecocashFacts } from './ecocash-facts.ts'
import { notTaken } from './not-taken.ts'
import { paidAs } from './paid-as.ts'
import { orderMs, PolledCarrier, queryMs } from './polled.ts'

type EcocashSettings = { base_url: string; ecocash_mode: string; ecocash_api_key: string }

/** Failure reasons by the provider's words. Any other word is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  INSUFFICIENT_FUNDS: 'INSUFFICIENT_FUNDS',
  CANCELLED: 'USER_CANCELLED',
  REJECTED: 'USER_CANCELLED',
  EXPIRED: 'TRANSACTION_TIMEOUT',
  TIMEOUT: 'TRANSACTION_TIMEOUT',
}

class EcocashCarrier extends PolledCarrier {
  readonly #settings: EcocashSettings

  constructor(settings: EcocashSettings, { http, patienceMs }: Surroundings) {
    super(
      ecocashFacts,
      new ProviderClient(http, patienceMs),
      'gives payments back in its own merchant portal, not here',
    )
    this.#settings = settings
  }

  override async collect({
    attempt,
    micros,
    currency,
    phone,
    reference,
    description,
    trace,
  }: Collection): Promise<Verdict> {
    const reason = description || reference
    const body = ecocashPaymentBody({ reference: attempt, phone, amount: formatMicros(micros), currency, reason })
    const answer = await this.#post(ecocashPaths.payment, { body, timeoutMs: orderMs, trace })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readEcocashAnswer(answer.status, answer.body)
    return heard.kind === 'accepted' ? { ...heard, providerId: attempt } : notTaken(heard, answer.status, reasons)
  }

  override async query({ attempt, phone, trace }: Taken): Promise<Verdict> {
    const body = ecocashStateBody({ reference: attempt, phone })
    const answer = await this.#post(ecocashPaths.state, { body, timeoutMs: queryMs, trace })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const heard = readEcocashState(answer.status, answer.body)
    switch (heard.kind) {
      case 'pending':
      case 'missing':
        return heard
      case 'paid':
        return paidAs(heard.receipt, heard)
      case 'failed':
        return { kind: 'refused', reason: reasons[heard.word] ?? 'PROVIDER_ERROR', code: heard.word }
      default:
        return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
    }
  }

  #post(
    path: (mode: string) => string,
    request: Pick<ProviderRequest, 'body' | 'timeoutMs' | 'trace'>,
  ): Promise<ProviderAnswer> {
    const { base_url, ecocash_mode, ecocash_api_key } = this.#settings
    return this.client.ask({
      method: 'POST',
      url: `${base_url}${path(ecocash_mode)}`,
      headers: { [ecocashKeyHeader]: ecocash_api_key },
      ...request,
    })
  }
}

export const ecocash: ProviderKind = {
  method: 'mobile_money',
  facts: ecocashFacts,
  open: {
    base_url: baseUrl,
    ecocash_mode: openText('^(live|sandbox)$', 'must be live or sandbox', 'Mode of the EcoCash API'),
  },
  secret: { ecocash_api_key: secretText('API key of the application') },
  outgoing: { open: {}, secret: {} },
  identity: ['base_url', 'ecocash_mode', 'ecocash_api_key'],
  connect: (settings: EcocashSettings, surroundings) => new EcocashCarrier(settings, surroundings),
}
