// SPDX-License-Identifier: Apache-2.0
// M-Pesa payouts, over Daraja's B2C. The payout's own id is the provider's OriginatorConversationID, by which it can be asked
// about. Nothing is answered at once: what became of a payout, and of a question about one, comes to an address.
import { formatMicros } from '../../../kernel/money.ts'
import type { ProviderAnswer, ProviderRequest } from '../../../platform/outbound/provider-http.ts'
import {
  b2cBody,
  type Initiator,
  readOutgoingAnswer,
  readOutgoingResult,
  securityCredential,
  statusQueryBody,
} from '../../../protocols/daraja-outgoing.ts'
import type {
  Addresses,
  Disbursement,
  FailureReason,
  Heard,
  Outgoing,
  OutgoingVerdict,
  Sent,
} from '../providers/provider.ts'
import { paidAs } from './paid-as.ts'

export interface InitiatorSettings {
  initiator_name: string
  initiator_password: string
  certificate: string
  payout_shortcode: string
}

export type Post = (
  path: string,
  body: Record<string, string>,
  timeoutMs: number,
  more?: Pick<ProviderRequest, 'trace'>,
) => Promise<ProviderAnswer>

const requestMs = 30_000
const queryMs = 10_000

/** Failure reasons by the provider's codes. Any other code is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = {
  '1': 'PROVIDER_FLOAT_LOW',
  '2': 'RECIPIENT_LIMIT_REACHED',
  '3': 'RECIPIENT_LIMIT_REACHED',
  '4': 'RECIPIENT_LIMIT_REACHED',
  '8': 'RECIPIENT_LIMIT_REACHED',
  '2040': 'RECIPIENT_NOT_FOUND',
  SFC_IC0003: 'RECIPIENT_NOT_FOUND',
}

/** Code for an id that the provider does not know. Any other refusal of a question tells nothing. */
const unknownIdCode = 'R000002'
/** Code for an id that came before: it tells nothing of what became of it. */
const repeatedCode = '15'

const endings: Readonly<Record<string, 'paid' | 'reversed' | 'failed'>> = {
  Completed: 'paid',
  Reversed: 'reversed',
  Failed: 'failed',
  Declined: 'failed',
  Cancelled: 'failed',
  Expired: 'failed',
}

export class DarajaOutgoing implements Outgoing {
  readonly repeatable = true
  readonly #settings: InitiatorSettings
  readonly #post: Post

  constructor(settings: InitiatorSettings, post: Post) {
    this.#settings = settings
    this.#post = post
  }

  async payOut({ id, micros, phone, description, addresses, trace }: Disbursement): Promise<OutgoingVerdict> {
    const body = b2cBody({
      id,
      initiator: this.#initiator(),
      shortcode: this.#settings.payout_shortcode,
      amount: formatMicros(micros),
      phone,
      remarks: description,
      resultUrl: addresses.result,
      timeoutUrl: addresses.timeout,
    })
    return outgoingVerdict(id, await this.#post('/mpesa/b2c/v3/paymentrequest', body, requestMs, { trace }))
  }

  async queryPayout({ id, addresses, trace }: Sent): Promise<OutgoingVerdict> {
    const body = statusQueryBody({
      id,
      initiator: this.#initiator(),
      shortcode: this.#settings.payout_shortcode,
      resultUrl: addresses.answer,
      timeoutUrl: addresses.timeout,
    })
    const answer = await this.#post('/mpesa/transactionstatus/v1/query', body, queryMs, { trace })
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    if (readOutgoingAnswer(answer.status, answer.body).kind === 'accepted') return { kind: 'asked' }
    return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }

  readPayout(topic: keyof Addresses, body: unknown): Heard | null {
    // A timeout inside the provider says nothing of the money, whatever else the call says.
    if (topic === 'timeout') return { id: null, verdict: { kind: 'unknown', reason: 'the provider timed out' } }
    return topic === 'answer' ? readAnswer(body) : readResult(body, reasons)
  }

  #initiator(): Initiator {
    const { initiator_name, initiator_password, certificate } = this.#settings
    return { name: initiator_name, credential: securityCredential(initiator_password, certificate) }
  }
}

/** Verdict on the answer to a request to pay out. */
export function outgoingVerdict(id: string, answer: ProviderAnswer): OutgoingVerdict {
  if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
  if (answer.kind === 'unknown') return answer
  const heard = readOutgoingAnswer(answer.status, answer.body)
  if (heard.kind === 'accepted') return { kind: 'accepted', providerId: id }
  if (heard.kind === 'token') return { kind: 'unavailable', reason: 'the provider does not take our credentials' }
  if (heard.kind === 'busy') return { kind: 'unavailable', reason: 'it takes nothing just now' }
  // A server in trouble may have taken it all the same.
  if (heard.kind === 'strange' || answer.status >= 500)
    return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  return { kind: 'refused', reason: 'PROVIDER_ERROR', code: heard.code }
}

/** Verdict that a `Result` gives on its request. */
export function readResult(body: unknown, reasons: Readonly<Record<string, FailureReason>>): Heard | null {
  const result = readOutgoingResult(body)
  if (result === null) return null
  const { originatorConversationId: id, resultCode, transactionId: receipt, parameters } = result
  if (resultCode === repeatedCode) return { id, verdict: { kind: 'unknown', reason: 'the id came twice' } }
  if (resultCode !== '0')
    return { id, verdict: { kind: 'refused', reason: reasons[resultCode] ?? 'PROVIDER_ERROR', code: resultCode } }
  return { id, verdict: paidAs(receipt, { amount: parameters.get('TransactionAmount') }) }
}

/** Verdict that the answer to a poll gives. Its id is that of the poll; the request polled for is among its parameters. */
export function readAnswer(body: unknown): Heard | null {
  const result = readOutgoingResult(body)
  if (result === null) return null
  const { resultCode, parameters } = result
  if (resultCode === unknownIdCode) return { id: null, verdict: { kind: 'missing' } }
  const status = parameters.get('TransactionStatus') ?? ''
  const id = parameters.get('OriginatorConversationID') || null
  if (resultCode !== '0' || status === '')
    return { id, verdict: { kind: 'unknown', reason: `the question was answered ${resultCode}` } }
  switch (endings[status]) {
    case 'paid':
      return {
        id,
        verdict: paidAs(parameters.get('ReceiptNo') || null, { amount: parameters.get('Amount') }),
      }
    case 'reversed':
      return { id, verdict: { kind: 'reversed' } }
    case 'failed':
      return { id, verdict: { kind: 'refused', reason: 'PROVIDER_ERROR', code: status } }
    default:
      return { id, verdict: { kind: 'pending' } }
  }
}
