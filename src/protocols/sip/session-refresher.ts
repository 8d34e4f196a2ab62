// SPDX-License-Identifier: Apache-2.0
// Keeps a session alive, or finds out that the other side does not (RFC 4028 §10): by UPDATE where that is known there, otherwise
// by INVITE with the description that holds.
import type { Dialog } from './dialog.ts'
import { readCseq } from './message.ts'
import { dueAfterMs, type SessionPlan } from './session-timer.ts'
import type { Switchboard } from './switchboard.ts'

/** The call whose session it is. */
interface RefreshedCall {
  description(): string
  /** Methods that the other side takes. */
  allows(): string
  /** The other side took an INVITE with this number, which is to be acknowledged. */
  accepted(seq: number): void
  refused(status: number): void
  unanswered(): void
  /** The other side should have refreshed, and has not. */
  silent(): void
}

export class SessionRefresher {
  readonly #endpoint: Pick<Switchboard<never>, 'contact' | 'transmit'>
  readonly #dialog: Dialog
  #timer: NodeJS.Timeout | null = null
  #plan: SessionPlan | null = null

  constructor(endpoint: Pick<Switchboard<never>, 'contact' | 'transmit'>, dialog: Dialog) {
    this.#endpoint = endpoint
    this.#dialog = dialog
  }

  /** What was agreed last. */
  get plan(): SessionPlan | null {
    return this.#plan
  }

  /** Begins anew with what was agreed last; null ends it. */
  watch(plan: SessionPlan | null, call: RefreshedCall): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#plan = plan
    if (!plan) return
    this.#timer = setTimeout(() => {
      if (plan.isOurs) this.#refresh(plan, call)
      else call.silent()
    }, dueAfterMs(plan))
    this.#timer.unref()
  }

  #refresh(plan: SessionPlan, call: RefreshedCall): void {
    const { peer } = this.#dialog.state
    const usesUpdate = /\bUPDATE\b/i.test(call.allows())
    const body = usesUpdate ? {} : { body: Buffer.from(call.description()), type: 'application/sdp' }
    const request = this.#dialog.request(usesUpdate ? 'UPDATE' : 'INVITE', this.#endpoint.contact(peer), body)
    request.headers.add('supported', 'timer').add('session-expires', `${plan.seconds};refresher=uac`)
    this.#endpoint.transmit(request, peer, {
      final: (response) => {
        if (request.method === 'INVITE' && response.status < 300) call.accepted(readCseq(response.headers)?.number ?? 1)
        if (this.#timer === null) return
        if (response.status >= 300) call.refused(response.status)
        if (this.#timer !== null) this.watch(plan, call)
      },
      failed: () => call.unanswered(),
    })
  }
}
