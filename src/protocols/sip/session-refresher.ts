// SPDX-License-Identifier: Apache-2.0
// Keeps a session alive, or finds out that the other side does not (RFC 4028 §10): by UPDATE where that is known there, otherwise
// by INVITE with the description that holds. A side that agreed to no timer and is on hold is asked now and then whether it is
// still in the call, by UPDATE or OPTIONS, since nothing else tells that it is gone. Some networks answer neither inside a call:
// there an INVITE decides, which every telephone answers.
import type { Dialog } from './dialog.ts'
import { readCseq } from './message.ts'
import { dueAfterMs, type SessionPlan } from './session-timer.ts'
import type { Switchboard } from './switchboard.ts'

/** The call whose session it is. */
export interface RefreshedCall {
  description(): string
  /** Methods that the other side takes. */
  allows(): string
  /** The other side took an INVITE with this number, which is to be acknowledged. */
  accepted(seq: number): void
  /** The other side does not know the call any more. */
  unknown(): void
  unanswered(): void
  /** The other side should have refreshed, and has not. */
  silent(): void
  /** Whether the other side sends no audio, by which it could be missed. */
  isHeld(): boolean
}

type Question = 'INVITE' | 'UPDATE' | 'OPTIONS'
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
      if (plan?.isOurs === false) return call.silent()
      if (!plan && !call.isHeld()) return this.watch(plan, call)
      const method = /\bUPDATE\b/i.test(call.allows()) ? 'UPDATE' : plan ? 'INVITE' : 'OPTIONS'
      this.#ask(method, plan, call)
    }, dueMs)
    this.#timer.unref()
  }

  /** The other side has said something: one that agreed to no timer is not asked for as long again. */
  heard(call: RefreshedCall): void {
    if (this.#timer && !this.#plan) this.watch(null, call)
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#plan = null
  }

  #ask(method: Question, plan: SessionPlan | null, call: RefreshedCall): void {
    const { peer } = this.#dialog.state
    const body = method === 'INVITE' ? { body: Buffer.from(call.description()), type: 'application/sdp' } : {}
    const request = this.#dialog.request(method, this.#endpoint.contact(peer), body)
    if (plan) request.headers.add('supported', 'timer').add('session-expires', `${plan.seconds};refresher=uac`)
    const timer = this.#timer
    const unanswered = () => {
      if (plan || method === 'INVITE') call.unanswered()
      else if (call.isHeld()) this.#ask('INVITE', plan, call)
      else this.watch(plan, call)
    }
    this.#endpoint.transmit(request, peer, {
      final: (response) => {
        if (method === 'INVITE' && response.status < 300) call.accepted(readCseq(response.headers)?.number ?? 1)
        // What was agreed or said meanwhile holds.
        if (this.#timer === null || this.#timer !== timer) return
        if (response.status === 481) call.unknown()
        else if (response.status === 408) unanswered()
        else this.watch(plan, call)
      },
      failed: (reason) => {
        if (this.#timer === null || this.#timer !== timer) return
        // What could not be sent says nothing of a side that is only asked for a sign of life.
        if (!plan && reason === 'transport') this.watch(plan, call)
        else unanswered()
      },
    })
  }
}
