// SPDX-License-Identifier: Apache-2.0
// Keeps a session alive, or finds out that the other side does not (RFC 4028 §10): by UPDATE where that is known there, otherwise
// by INVITE with the description that holds. A side that agreed to no timer is asked now and then whether it is still in the
// call, by UPDATE or OPTIONS: nothing else tells that a phone on hold is gone.
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

type Inside = Pick<Switchboard<never>, 'contact' | 'transmit' | 'signOfLifeMs'>

export class SessionRefresher {
  readonly #endpoint: Inside
  readonly #dialog: Dialog
  #timer: NodeJS.Timeout | null = null
  #plan: SessionPlan | null = null

  constructor(endpoint: Inside, dialog: Dialog) {
    this.#endpoint = endpoint
    this.#dialog = dialog
  }

  /** What was agreed last. */
  get plan(): SessionPlan | null {
    return this.#plan
  }

  /** Begins anew with what was agreed last; null: the other side agreed to nothing. */
  watch(plan: SessionPlan | null, call: RefreshedCall): void {
    this.stop()
    this.#plan = plan
    const dueMs = plan ? dueAfterMs(plan) : this.#endpoint.signOfLifeMs
    if (dueMs === 0) return
    this.#timer = setTimeout(() => {
      if (!plan || plan.isOurs) this.#refresh(plan, call)
      else call.silent()
    }, dueMs)
    this.#timer.unref()
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#plan = null
  }

  #refresh(plan: SessionPlan | null, call: RefreshedCall): void {
    const { peer } = this.#dialog.state
    const method = /\bUPDATE\b/i.test(call.allows()) ? 'UPDATE' : plan ? 'INVITE' : 'OPTIONS'
    const body = method === 'INVITE' ? { body: Buffer.from(call.description()), type: 'application/sdp' } : {}
    const request = this.#dialog.request(method, this.#endpoint.contact(peer), body)
    if (plan) request.headers.add('supported', 'timer').add('session-expires', `${plan.seconds};refresher=uac`)
    const timer = this.#timer
    this.#endpoint.transmit(request, peer, {
      final: (response) => {
        if (method === 'INVITE' && response.status < 300) call.accepted(readCseq(response.headers)?.number ?? 1)
        if (this.#timer === null) return
        if (response.status >= 300) call.refused(response.status)
        // What was agreed meanwhile holds.
        if (this.#timer === timer) this.watch(plan, call)
      },
      failed: () => call.unanswered(),
    })
  }
}
