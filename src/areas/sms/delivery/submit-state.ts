// SPDX-License-Identifier: Apache-2.0
// One run of the job that submits a message, and what those before it left to know: how often the message was offered, and
// whether it may be out already.
import type { App } from '../../../platform/app.ts'
import type { Outcome } from '../../../platform/work.ts'
import type { SubmitRun } from './queue.ts'

const maxOffers = 32_767
/** Carriers that take a message and do not answer may deliver it all the same: after so many it is given up. */
const maxUnanswered = 5

export class Errand {
  readonly app: App
  readonly run: SubmitRun
  readonly #began: number
  #isUnsent: boolean
  #offers: number
  #unanswered: number

  constructor(app: App, run: SubmitRun) {
    const { attempt, payload } = run
    this.app = app
    this.run = run
    this.#began = attempt
    // A run that was not settled, because its node died or could not store what it knew, may have sent the message.
    this.#isUnsent = attempt === 1 || payload.unsent === attempt - 1
    this.#offers = payload.offers ?? 0
    this.#unanswered = payload.unanswered ?? 0
  }

  /** How often carriers were asked to take it. */
  get offers(): number {
    return Math.min(this.#offers, maxOffers)
  }

  offered(): void {
    this.#offers++
  }

  /** It may be out, or not. False: it may have been out often enough. */
  doubt(): boolean {
    this.#isUnsent = false
    return ++this.#unanswered < maxUnanswered
  }

  /** The message did not go out, as far as is known: it waits, and whoever takes it next knows as much. */
  goesOn(place: string | null, afterMs: number, tried: readonly string[] = []): Outcome {
    const { attempt, payload } = this.run
    const { tried: _tried, unsent: _unsent, ...rest } = payload
    // An attempt that grew meanwhile is that of a lease which was lost: another node may have had the message.
    const isUnsent = this.#isUnsent && attempt === this.#began
    return {
      kind: 'move',
      place,
      payload: {
        ...rest,
        ...(tried.length > 0 && { tried }),
        ...(this.#offers > 0 && { offers: this.#offers }),
        ...(this.#unanswered > 0 && { unanswered: this.#unanswered }),
        ...(isUnsent && { unsent: attempt }),
      },
      afterMs,
    }
  }
}
