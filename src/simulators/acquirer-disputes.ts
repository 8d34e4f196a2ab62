// SPDX-License-Identifier: Apache-2.0
// The disputes of the simulated acquirer: a payer of a certain card wants back what it has paid, some seconds later, and
// somebody decides it. Both are told again until they are taken, as acquirers do.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { disputeNotice } from '../protocols/acquirer.ts'
import { type Asked, say } from './provider-server.ts'

const openAfterMs = 20_000
const tellAgainMs = 10_000
const mostTellings = 5

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
  status: 'needs_response' | 'won' | 'lost'
}

interface Surroundings {
  later(ms: number, what: () => void): void
  /** What of an intent is left to want back, in minor units. */
  leftOf(intent: Disputed): number
  /** Whether whoever is told has taken it. */
  tell(url: string, notice: object): Promise<boolean>
}

/** One for each charge of the card, at most as many as there are intents. */
export class DisputeDesk {
  readonly #surroundings: Surroundings
  readonly #byIntent = new Map<string, Dispute | null>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** Opens the dispute of a charge when its time has come. */
  expect(intent: Disputed): void {
    if (this.#byIntent.has(intent.id)) return
    this.#byIntent.set(intent.id, null)
    this.#surroundings.later(openAfterMs, () => {
      const amount = this.#surroundings.leftOf(intent)
      if (amount <= 0) return
      const dispute: Dispute = { id: `dp_${randomBytes(12).toString('hex')}`, intent, amount, status: 'needs_response' }
      this.#byIntent.set(intent.id, dispute)
      this.#tell(dispute, 'created')
    })
  }

  answerSearch(reference: string, response: ServerResponse): void {
    const found = [...this.#byIntent.values()].filter((one) => one !== null && one.intent.reference === reference)
    say(response, 200, { data: found.flatMap((one) => (one ? [shown(one)] : [])) })
  }

  decide(id: string, body: Asked['body'], response: ServerResponse): void {
    const dispute = [...this.#byIntent.values()].find((one) => one?.id === id)
    if (!dispute) return say(response, 404, { error: { type: 'invalid_request_error', code: 'resource_missing' } })
    const outcome = body?.outcome
    if (dispute.status !== 'needs_response' || (outcome !== 'won' && outcome !== 'lost'))
      return say(response, 400, { error: { type: 'invalid_request_error', code: 'dispute_unexpected_state' } })
    dispute.status = outcome
    say(response, 200, shown(dispute))
    this.#surroundings.later(0, () => this.#tell(dispute, 'closed'))
  }

  #tell(dispute: Dispute, moment: 'created' | 'closed', tellings = 1): void {
    const notice = { type: disputeNotice(moment), data: { object: shown(dispute) } }
    void this.#surroundings.tell(dispute.intent.notifyUrl, notice).then((isTaken) => {
      if (isTaken || tellings >= mostTellings) return
      this.#surroundings.later(tellAgainMs, () => this.#tell(dispute, moment, tellings + 1))
    })
  }
}

function shown({ id, amount, status, intent }: Dispute): object {
  const { id: payment_intent, currency, reference } = intent
  const metadata = { reference }
  return { id, object: 'dispute', amount, currency, reason: 'fraudulent', status, payment_intent, metadata }
}
