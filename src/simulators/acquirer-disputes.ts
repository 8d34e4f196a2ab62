// SPDX-License-Identifier: Apache-2.0
// Disputes of the simulated acquirer: the payer of a certain card disputes a payment some seconds later, and the
// dispute is decided by a request. Both are reported until they are acknowledged, as acquirers do.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { disputeNotice } from '../protocols/acquirer.ts'
import { membersOf, textOf } from '../protocols/json.ts'
import type { Book, Journal } from './journal.ts'
import { type Asked, say } from './provider-server.ts'

const openAfterMs = 20_000
const tellAgainMs = 10_000
const maxTellings = 5
const maxDisputes = 100_000

interface Disputed {
  id: string
  reference: string
  currency: string
  notifyUrl: string
}

interface Dispute {
  id: string
  intent: Disputed
  amount: number
  /** Expected until its time has come. */
  status: 'expected' | 'needs_response' | 'under_review' | 'won' | 'lost'
  /** Evidence, and the key under which it came. */
  answered?: { key: string; evidence: unknown }
  /** Number of reports of its status. */
  tellings: number
}

interface Surroundings {
  journal: Journal
  /** Undisputed rest of an intent, in minor units. */
  leftOf(intent: Disputed): number
  /** Reports; resolves with whether it was acknowledged. */
  tell(url: string, notice: object): Promise<boolean>
}

/** Disputes, one for each charge of the card, by the id of its intent. */
export class DisputeDesk {
  readonly #surroundings: Surroundings
  readonly #disputes: Book<Dispute>

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    this.#disputes = surroundings.journal.book({
      name: 'disputes',
      most: maxDisputes,
      due: (dispute) => this.#goOn(dispute),
    })
  }

  /** Opens the dispute of a charge when its time has come. */
  expect({ id, reference, currency, notifyUrl }: Disputed): void {
    if (this.#disputes.has(id)) return
    const intent = { id, reference, currency, notifyUrl }
    const dispute = { id: `dp_${randomBytes(12).toString('hex')}`, intent, amount: 0, tellings: 0 }
    this.#disputes.put(id, { ...dispute, status: 'expected' }, openAfterMs)
  }

  /** Whether the payer's bank has the money of a charge, for good or until it is decided. */
  isTaken(intent: string): boolean {
    const status = this.#disputes.get(intent)?.status
    return status !== undefined && status !== 'expected' && status !== 'won'
  }

  /** Takes evidence once; the same request again has the same answer. */
  takeEvidence(id: string, { headers, body }: Asked, response: ServerResponse): void {
    const dispute = this.#opened().find((one) => one.id === id)
    if (!dispute) return say(response, 404, { error: { type: 'invalid_request_error', code: 'resource_missing' } })
    const key = String(headers['idempotency-key'])
    if (dispute.answered?.key === key) return say(response, 200, shown(dispute))
    const { evidence } = body ?? {}
    if (dispute.status !== 'needs_response' || textOf(membersOf(evidence).uncategorized_text) === '')
      return say(response, 400, { error: { type: 'invalid_request_error', code: 'dispute_unexpected_state' } })
    Object.assign(dispute, { status: 'under_review', answered: { key, evidence } })
    this.#disputes.keep(dispute.intent.id)
    say(response, 200, shown(dispute))
  }

  answerSearch(reference: string, response: ServerResponse): void {
    const found = this.#opened().filter(({ intent }) => intent.reference === reference)
    say(response, 200, { data: found.map(shown) })
  }

  decide(id: string, body: Asked['body'], response: ServerResponse): void {
    const dispute = this.#opened().find((one) => one.id === id)
    if (!dispute) return say(response, 404, { error: { type: 'invalid_request_error', code: 'resource_missing' } })
    const outcome = body?.outcome
    const isOpen = dispute.status === 'needs_response' || dispute.status === 'under_review'
    if (!isOpen || (outcome !== 'won' && outcome !== 'lost'))
      return say(response, 400, { error: { type: 'invalid_request_error', code: 'dispute_unexpected_state' } })
    const decided: Dispute = { ...dispute, status: outcome, tellings: 0 }
    this.#disputes.put(dispute.intent.id, decided, 0)
    say(response, 200, shown(decided))
  }

  #opened(): Dispute[] {
    return this.#disputes.values().filter(({ status }) => status !== 'expected')
  }

  async #goOn(dispute: Dispute): Promise<number | undefined> {
    const { intent } = dispute
    const { leftOf, tell } = this.#surroundings
    if (dispute.status === 'expected') {
      const amount = leftOf(intent)
      if (amount <= 0) return
      Object.assign(dispute, { amount, status: 'needs_response' })
      this.#disputes.keep(intent.id)
    }
    const isDecided = dispute.status === 'won' || dispute.status === 'lost'
    const type = disputeNotice(isDecided ? 'closed' : 'created')
    dispute.tellings += 1
    this.#disputes.keep(intent.id)
    const isTaken = await tell(intent.notifyUrl, { type, data: { object: shown(dispute) } })
    return isTaken || dispute.tellings >= maxTellings ? undefined : tellAgainMs
  }
}

function shown({ id, amount, status, intent, answered }: Dispute): object {
  const { id: payment_intent, currency, reference } = intent
  const metadata = { reference }
  const { evidence = {} } = answered ?? {}
  return { id, object: 'dispute', amount, currency, reason: 'fraudulent', status, payment_intent, metadata, evidence }
}
