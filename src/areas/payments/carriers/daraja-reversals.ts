// SPDX-License-Identifier: Apache-2.0
// M-Pesa refunds, over Daraja's reversal: all of a payment at once, named by its receipt. The provider knows the reversal by
// an id that it gives itself. When that got lost with the answer, the reversal is asked for again: a payment is taken back
// once, and that it was done before is an answer too.
import { formatMicros } from '../../../kernel/money.ts'
import { readOutgoingResult, securityCredential, statusQueryBody } from '../../../protocols/daraja-outgoing.ts'
import { readReversalAnswer, reversalBody, reversalCodes } from '../../../protocols/daraja-reversals.ts'
import type {
  Addresses,
  FailureReason,
  Heard,
  OutgoingVerdict,
  RefundCarrier,
  RefundOrder,
} from '../providers/provider.ts'
import { type InitiatorSettings, outgoingVerdict, type Post, readAnswer, readResult } from './daraja-outgoing.ts'
import { paidAs } from './paid-as.ts'

const requestMs = 30_000
const queryMs = 10_000

/** Failure reasons by the provider's codes. Any other code is a fault on its side. */
const reasons: Readonly<Record<string, FailureReason>> = { [reversalCodes.noMoney]: 'PROVIDER_FLOAT_LOW' }

export class DarajaReversals implements RefundCarrier {
  readonly repeatable = true
  readonly resultsAreFinal = true
  readonly #settings: InitiatorSettings
  /** Party that was paid. */
  readonly #shortcode: string
  readonly #post: Post

  constructor(settings: InitiatorSettings, shortcode: string, post: Post) {
    this.#settings = settings
    this.#shortcode = shortcode
    this.#post = post
  }

  objection({ micros, payment }: Pick<RefundOrder, 'micros' | 'payment'>): string | null {
    if (micros !== payment.micros) return 'takes back whole payments only'
    return payment.receipt === null ? 'has told no receipt of the payment' : null
  }

  async refund({ micros, payment, description, reference, addresses }: RefundOrder): Promise<OutgoingVerdict> {
    const body = reversalBody({
      initiator: this.#initiator(),
      shortcode: this.#shortcode,
      receipt: payment.receipt ?? '',
      amount: formatMicros(micros),
      remarks: description || reference,
      resultUrl: addresses.result,
      timeoutUrl: addresses.timeout,
    })
    const answer = await this.#post('/mpesa/reversal/v1/request', body, requestMs)
    const given = answer.kind === 'answered' ? readReversalAnswer(answer.status, answer.body).id : null
    const verdict = outgoingVerdict(given ?? '', answer)
    // Without its id it cannot be asked about, but it was taken.
    return verdict.kind === 'accepted' && given === null ? { kind: 'pending' } : verdict
  }

  async queryRefund({ providerId, addresses }: RefundOrder): Promise<OutgoingVerdict> {
    if (providerId === null) return { kind: 'missing' }
    const body = statusQueryBody({
      id: providerId,
      initiator: this.#initiator(),
      shortcode: this.#shortcode,
      resultUrl: addresses.answer,
      timeoutUrl: addresses.timeout,
    })
    const answer = await this.#post('/mpesa/transactionstatus/v1/query', body, queryMs)
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
    if (readReversalAnswer(answer.status, answer.body).kind === 'accepted') return { kind: 'asked' }
    return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }

  readRefund(topic: keyof Addresses, body: unknown): Heard | null {
    if (topic === 'answer') return readAnswer(body)
    const heard = readResult(body, reasons)
    if (heard?.verdict.kind === 'paid') {
      const amount = readOutgoingResult(body)?.parameters.get('Amount')
      return { ...heard, verdict: paidAs(heard.verdict.receipt, { amount }) }
    }
    if (heard?.verdict.kind !== 'refused' || heard.verdict.code !== reversalCodes.doneBefore) return heard
    return { ...heard, verdict: { kind: 'paid', receipt: null, micros: null } }
  }

  #initiator() {
    const { initiator_name, initiator_password, certificate } = this.#settings
    return { name: initiator_name, credential: securityCredential(initiator_password, certificate) }
  }
}
