// SPDX-License-Identifier: Apache-2.0
// Wave, over its checkout: the payer is sent to an address of the provider's. A session is looked up by the attempt's
// id, so that one whose answer got lost is found, and its payer sent on later. Callbacks go to one address per
// business, which does not name the account, so the provider is polled.
import { formatMicros } from '../../../kernel/money.ts'
import { type ProviderAnswer, ProviderClient, type ProviderRequest } from '../../../platform/outbound/provider-http.ts'
import { readWaveAnswer, type WaveSession, wavePaths, waveSessionBody } from '../../../protocols/wave.ts'
import { baseUrl, type ProviderKind, type Surroundings, secretText } from '../providers/kind.ts'
import type { Collection, FailureReason, Taken, Verdict } from '../providers/provider.ts'
import { notTaken } from './not-taken.ts'
import { paidAs } from './paid-as.ts'
import { orderMs, PolledCarrier, queryMs } from './polled.ts'
import { waveFacts } from './wave-facts.ts'

type WaveSettings = { base_url: string; wave_api_key: string }

/** Failure reasons by the provider's codes. Any other code is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  'insufficient-funds': 'INSUFFICIENT_FUNDS',
  'payer-mobile-mismatch': 'PAYER_NOT_FOUND',
}

class WaveCarrier extends PolledCarrier {
  readonly #settings: WaveSettings

  constructor(settings: WaveSettings, { http, patienceMs }: Surroundings) {
    super(waveFacts, new ProviderClient(http, patienceMs), 'gives payments back in its own business portal, not here')
    this.#settings = settings
  }

  override async collect({ attempt, micros, currency, phone, returnUrl, trace }: Collection): Promise<Verdict> {
    const body = waveSessionBody({ amount: formatMicros(micros), currency, reference: attempt, returnUrl, phone })
    const answer = await this.#ask('POST', wavePaths.sessions, { body, timeoutMs: orderMs, trace })
    if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
    if (answer.kind === 'unknown') return answer
    const heard = readWaveAnswer(answer.status, answer.body)
    if (heard.kind === 'session') return sentOn(attempt, heard.session)
    // Nothing answers to an order that there is no such thing.
    return notTaken(heard.kind === 'missing' ? { kind: 'refused', code: '404' } : heard, answer.status, {})
  }

  override async query({ attempt, kept, trace }: Taken): Promise<Verdict> {
    const { session: id } = kept
    const path = id === undefined ? `${wavePaths.search}?client_reference=${attempt}` : `${wavePaths.sessions}/${id}`
    const answer = await this.#ask('GET', path, { timeoutMs: queryMs, trace })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    const heard = readWaveAnswer(answer.status, answer.body)
    if (heard.kind === 'missing') return heard
    if (heard.kind !== 'session') return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
    const { session } = heard
    if (session.state === 'open') return id === undefined ? sentOn(attempt, session) : { kind: 'pending' }
    return endOf(session)
  }

  #ask(
    method: 'GET' | 'POST',
    path: string,
    request: Pick<ProviderRequest, 'body' | 'timeoutMs' | 'trace'>,
  ): Promise<ProviderAnswer> {
    const { base_url, wave_api_key } = this.#settings
    return this.client.ask({
      method,
      url: `${base_url}${path}`,
      headers: { authorization: `Bearer ${wave_api_key}` },
      ...request,
    })
  }
}

function sentOn(attempt: string, { id, launchUrl }: WaveSession): Verdict {
  return { kind: 'action', providerId: attempt, details: { page_url: launchUrl }, keeps: { session: id } }
}

function endOf({ isPaid, amount, currency, receipt, errorCode }: WaveSession): Verdict {
  if (isPaid) return paidAs(receipt, { amount, currency })
  if (errorCode === null) return { kind: 'refused', reason: 'TRANSACTION_TIMEOUT', code: 'expired' }
  return { kind: 'refused', reason: reasons[errorCode] ?? 'PROVIDER_ERROR', code: errorCode }
}

export const wave: ProviderKind = {
  method: 'mobile_money',
  facts: waveFacts,
  open: { base_url: baseUrl },
  secret: { wave_api_key: secretText('API key of the business wallet, with access to the Checkout API') },
  outgoing: { open: {}, secret: {} },
  identity: ['base_url', 'wave_api_key'],
  connect: (settings: WaveSettings, surroundings) => new WaveCarrier(settings, surroundings),
}
