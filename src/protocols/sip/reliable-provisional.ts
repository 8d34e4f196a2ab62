// SPDX-License-Identifier: Apache-2.0
// Provisional answers that must arrive (RFC 3262 §3): repeated until PRACK says that one came, and given up at last.
import type { SipRequest, SipResponse } from './message.ts'
import type { ServerTransaction, Timing } from './transaction.ts'

export class ReliableProvisional {
  readonly #timing: Timing
  #seq = 0
  #timer: NodeJS.Timeout | null = null

  constructor(timing: Timing) {
    this.#timing = timing
  }

  /** Sends a response reliably, one at a time: while one is repeated, another is not sent. */
  send(response: SipResponse, to: ServerTransaction, givenUp: () => void): void {
    if (this.#timer) return
    this.#seq++
    response.headers.add('require', '100rel').add('rseq', this.#seq)
    const repeat = (ms: number): void => {
      to.respond(response)
      if (ms > 32 * this.#timing.t1Ms) return givenUp()
      this.#timer = setTimeout(() => repeat(ms * 2), ms)
      this.#timer.unref()
    }
    repeat(this.#timing.t1Ms)
  }

  /** Whether a PRACK is for the one that was sent last; that is repeated no more then. */
  isConfirmedBy(prack: SipRequest): boolean {
    const [seq] = (prack.headers.get('rack') ?? '').split(' ')
    if (this.#seq === 0 || Number(seq) !== this.#seq) return false
    this.stop()
    return true
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }
}
