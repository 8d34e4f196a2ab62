// SPDX-License-Identifier: Apache-2.0
// One call as SIP sees it (RFC 3261 §13-15): invited or inviting, ringing, answered, renegotiated, ended. Reliable provisional
// answers (RFC 3262), session timers (RFC 4028), UPDATE (RFC 3311), digits by INFO and REFER (RFC 3515) are part of it. What is
// heard and said is not: session descriptions pass through as text.

import { Authoriser } from './authoriser.ts'
import { descriptionIn, isUnderstood, sdpType } from './description.ts'
import { Dialog, type DialogState, newTag } from './dialog.ts'
import { parseAddress, tagOf } from './header-values.ts'
import { infoDigitType, readInfoDigit, writeInfoDigit } from './info-digit.ts'
import { makeResponse, readCseq, type SipRequest, type SipResponse, sameHop } from './message.ts'
import { Referral, referredTo } from './referral.ts'
import { ReliableProvisional } from './reliable-provisional.ts'
import { type RefreshedCall, SessionRefresher } from './session-refresher.ts'
import { planOf, readSessionExpires, type SessionPlan, shortestSessionSeconds } from './session-timer.ts'
import type { CallHandlers, Invitation, Switchboard } from './switchboard.ts'
import type { ClientHandlers, ClientTransaction, ServerTransaction } from './transaction.ts'
import type { Peer } from './transport.ts'

type State = 'inviting' | 'ringing' | 'answered' | 'over'

const allow = 'INVITE, ACK, CANCEL, BYE, OPTIONS, PRACK, UPDATE, INFO, REFER, NOTIFY'

export class SipCall {
  readonly #endpoint: Switchboard<SipCall>
  #handlers: CallHandlers
  readonly #dialog: Dialog
  #state: State = 'inviting'
  #description = ''
  readonly #refresher: SessionRefresher
  readonly #refreshed: RefreshedCall
  #remoteAllows = ''
  readonly #referral: Referral
  readonly direction: 'incoming' | 'outgoing'

  // Outgoing calls only.
  readonly #invitation: Invitation | null
  #outgoing: ClientTransaction | null = null
  #wantsCancel = false
  #heardProvisional = false
  #heardAnything = false
  #sessionSeconds = 1_800
  /** Passwords of the invitation. */
  readonly #authoriser: Authoriser
  #lastReliable = 0
  #earlyDescription: string | null = null

  // Incoming calls only.
  #incoming: ServerTransaction | null = null
  readonly #reliable: ReliableProvisional
  /** Offer of ours that the ACK answers: the first one, or one of a change of the session. */
  #awaitsAnswerInAck: 'first' | 'change' | null = null
  /** The offer of the caller; null if it wants to be offered something. */
  readonly offer: string | null
  /** Addresses as the headers give them. */
  readonly from: string
  readonly to: string
  readonly requestUri: string
  readonly source: Peer

  private constructor(
    endpoint: Switchboard<SipCall>,
    dialog: Dialog,
    handlers: CallHandlers,
    about: Pick<SipCall, 'direction' | 'offer' | 'from' | 'to' | 'requestUri' | 'source'>,
    invitation: Invitation | null = null,
  ) {
    this.#endpoint = endpoint
    this.#dialog = dialog
    this.#handlers = handlers
    this.#reliable = new ReliableProvisional(endpoint.timing)
    this.#invitation = invitation
    this.#authoriser = new Authoriser(invitation?.credentials ?? null)
    const transmit: Switchboard<never>['transmit'] = (request, to, then) => this.#transmit(request, to, then)
    const { signOfLifeMs } = endpoint
    const inside = { contact: (peer: Peer) => endpoint.contact(peer), transmit, signOfLifeMs }
    this.#refresher = new SessionRefresher(inside, dialog)
    this.#refreshed = {
      description: () => this.#description,
      allows: () => this.#remoteAllows,
      accepted: (seq) => this.#acknowledge(dialog, seq),
      unknown: () => this.#forgotten(),
      unanswered: () => this.#lose('a refresh was not answered'),
      silent: () => this.hangup('the other side no longer refreshes the session'),
      isHeld: () => this.#handlers.isHeld?.() ?? false,
    }
    this.#referral = new Referral(inside, dialog)
    this.direction = about.direction
    this.offer = about.offer
    this.from = about.from
    this.to = about.to
    this.requestUri = about.requestUri
    this.source = about.source
  }

  static invite(endpoint: Switchboard<SipCall>, invitation: Invitation, handlers: CallHandlers): SipCall {
    const to = invitation.to ?? `<${invitation.uri}>`
    const dialog = new Dialog(
      {
        callId: `${newTag()}${newTag()}`,
        localAddress: invitation.from,
        remoteAddress: to,
        localTag: newTag(),
        remoteTag: null,
        localSeq: 0,
        remoteSeq: null,
        target: invitation.uri,
        routes: [],
        peer: invitation.peer,
      },
      invitation.mayReach,
    )
    const { from, uri: requestUri, peer: source } = invitation
    const about = { direction: 'outgoing' as const, offer: null, from, to, requestUri, source }
    const call = new SipCall(endpoint, dialog, handlers, about, invitation)
    call.#description = invitation.description
    call.#sessionSeconds = invitation.sessionSeconds ?? call.#sessionSeconds
    endpoint.enter(dialog.id, call)
    call.#sendInvite()
    return call
  }

  static invited(
    endpoint: Switchboard<SipCall>,
    transaction: ServerTransaction,
    handlersOf: (call: SipCall) => CallHandlers,
  ): SipCall {
    const { request, from: source } = transaction
    const { headers } = request
    const [from, to] = [headers.get('from') ?? '', headers.get('to') ?? '']
    const dialog = new Dialog({
      callId: headers.get('call-id') ?? '',
      localAddress: to,
      remoteAddress: from.replace(/;\s*tag\s*=\s*[^;\s]+/i, ''),
      localTag: newTag(),
      remoteTag: tagOf(from),
      localSeq: 0,
      remoteSeq: readCseq(headers)?.number ?? 0,
      target: parseAddress(from).uri.text,
      routes: [],
      peer: source,
    })
    dialog.learn(request, source, true)
    const offer = descriptionIn(request)
    const about = { direction: 'incoming' as const, offer, from, to, requestUri: request.uri, source }
    const call = new SipCall(endpoint, dialog, {}, about)
    call.#incoming = transaction
    call.#remoteAllows = headers.all('allow').join(',')
    endpoint.enter(dialog.id, call)
    // The owner's own object: it may put handlers into it later, when it knows more of the call.
    call.#handlers = handlersOf(call)
    return call
  }

  get callId(): string {
    return this.#dialog.state.callId
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** Whether the other side may go on with the call from another address: one that was told where it may lead may not. */
  get mayMove(): boolean {
    return this.#invitation?.mayReach === undefined
  }

  /** Dialog of the call, from which another node can end it. */
  get dialogState(): DialogState {
    return this.#dialog.state
  }

  /** Whether the other side has said anything yet to an invitation of ours. */
  get hasHeard(): boolean {
    return this.#heardAnything
  }

  header(name: string): string | null {
    return this.#incoming?.request.headers.get(name) ?? null
  }

  // --- outgoing ---

  #sendInvite(): void {
    const invitation = this.#invitation
    const dialog = this.#dialog
    if (!invitation) return
    const contact = this.#contact()
    const body = Buffer.from(this.#description)
    const request = dialog.request('INVITE', contact, { body, type: sdpType })
    request.headers.add('allow', allow).add('supported', '100rel, timer')
    request.headers.add('session-expires', this.#sessionSeconds).add('min-se', shortestSessionSeconds)
    for (const [name, value] of invitation.headers ?? []) request.headers.add(name, value)
    const authorisation = this.#authoriser.headerFor('INVITE', invitation.uri)
    if (authorisation) request.headers.add(...authorisation)
    this.#outgoing = this.#endpoint.transmit(request, invitation.peer, {
      provisional: (response) => this.#takeProvisional(response),
      final: (response, from) => this.#takeFinal(response, from),
      failed: (reason) =>
        this.#refuse(reason === 'timeout' ? 408 : 503, reason === 'timeout' ? 'No answer' : 'Not reached'),
    })
  }

  #takeProvisional(response: SipResponse): void {
    this.#heardProvisional = true
    this.#heardAnything = true
    if (this.#wantsCancel) return this.#sendCancel()
    if (response.status === 100 || this.#state === 'over') return
    this.#state = 'ringing'
    const seq = Number(response.headers.get('rseq') ?? 0)
    if (response.headers.has('require', '100rel') && seq > 0) {
      if (seq <= this.#lastReliable) return
      this.#lastReliable = seq
      this.#acknowledgeProvisional(response, seq)
    }
    const description = descriptionIn(response)
    if (description) this.#earlyDescription = description
    this.#handlers.progress?.(response.status, description, this.#dialog.state.peer)
  }

  #acknowledgeProvisional(response: SipResponse, seq: number): void {
    const early = this.#dialog.with(tagOf(response.headers.get('to')))
    early.learn(response, this.#dialog.state.peer, true)
    const prack = early.request('PRACK', this.#endpoint.contact(early.state.peer))
    this.#dialog.state.localSeq = early.state.localSeq
    prack.headers.add('rack', `${seq} ${readCseq(response.headers)?.number ?? 1} INVITE`)
    this.#endpoint.transmit(prack, early.state.peer, { final: () => undefined, failed: () => undefined })
  }

  #takeFinal(response: SipResponse, from: Peer): void {
    this.#heardAnything = true
    const isChallenged = this.#authoriser.isChallengedBy(response)
    if (response.status >= 300) return this.#takeRefusal(response, isChallenged)
    const seq = readCseq(response.headers)?.number ?? 1
    const tag = tagOf(response.headers.get('to'))
    if (this.#state === 'answered') {
      // A repeat is acknowledged again; another phone that answered too is acknowledged and hung up.
      if (tag === this.#dialog.state.remoteTag) this.#acknowledge(this.#dialog, seq)
      else this.#dismiss(response, from, seq)
      return
    }
    if (this.#state === 'over' || this.#wantsCancel) {
      this.#dismiss(response, from, seq)
      return this.#wantsCancel ? this.#refuse(487, 'Request Terminated') : undefined
    }
    this.#dialog.learn(response, from, true)
    this.#state = 'answered'
    this.#remoteAllows = response.headers.all('allow').join(',')
    this.#acknowledge(this.#dialog, seq)
    this.#watch(planOf(response, 'uac'))
    const description = descriptionIn(response) ?? this.#earlyDescription
    if (description === null) return this.hangup('no session description')
    this.#handlers.answered?.(description, from)
  }

  #acknowledge(dialog: Dialog, seq: number): void {
    const ack = dialog.request('ACK', this.#endpoint.contact(dialog.state.peer), { seq })
    this.#endpoint.sendDirect(ack, dialog.state.peer)
  }

  #dismiss(response: SipResponse, from: Peer, seq: number): void {
    const other = this.#dialog.with(tagOf(response.headers.get('to')))
    other.learn(response, from, true)
    this.#acknowledge(other, seq)
    const bye = other.request('BYE', this.#endpoint.contact(other.state.peer))
    this.#endpoint.transmit(bye, other.state.peer, { final: () => undefined, failed: () => undefined })
  }

  #takeRefusal(response: SipResponse, isChallenged: boolean): void {
    const { status, headers } = response
    if (this.#state === 'over') return
    // A cancelled call does not authenticate, and does not ring a second time.
    if (this.#wantsCancel) return this.#refuse(487, 'Request Terminated')
    if (isChallenged) return this.#sendInvite()
    const least = Number(headers.get('min-se'))
    if (status === 422 && least > 0 && least <= 86_400 && this.#lastReliable >= 0) {
      this.#lastReliable = -1
      this.#sessionSeconds = least
      return this.#sendInvite()
    }
    this.#refuse(status, response.reason, status < 400 ? headers.all('contact') : [])
  }

  #refuse(status: number, reason: string, contacts: readonly string[] = []): void {
    if (this.#state === 'over') return
    this.#finish()
    this.#handlers.refused?.(status, reason, contacts)
  }

  /** Cancels an unanswered invitation, after the first provisional response, as required (§9.1). */
  cancel(): void {
    if (this.#state === 'answered') return this.hangup('cancelled')
    if (this.#state === 'over' || this.#wantsCancel) return
    this.#wantsCancel = true
    if (this.#heardProvisional) this.#sendCancel()
    // A silent other side is not waited for longer than an INVITE lasts.
    const timer = setTimeout(() => this.#refuse(487, 'Request Terminated'), 64 * this.#endpoint.timing.t1Ms)
    timer.unref()
  }

  #sendCancel(): void {
    const invite = this.#outgoing?.request
    if (!invite || !this.#invitation) return
    const cancel = sameHop('CANCEL', invite, invite.headers.get('to') ?? '')
    this.#endpoint.transmit(cancel, this.#invitation.peer, { final: () => undefined, failed: () => undefined }, true)
    this.#heardProvisional = false
  }

  // --- incoming ---

  /** Tells the caller that it rings. With a description the caller hears something before the answer. */
  ring(status: 180 | 183 = 180, description: string | null = null): void {
    if (!this.#incoming || this.#state === 'over' || this.#state === 'answered') return
    this.#state = 'ringing'
    const response = this.#response(this.#incoming.request, status, description)
    const wanted = this.#incoming.request.headers
    if (wanted.has('require', '100rel')) this.#reliable.send(response, this.#incoming, () => this.reject(504))
    else this.#incoming.respond(response)
  }

  answer(description: string): void {
    const incoming = this.#incoming
    if (!incoming || this.#state === 'over' || this.#state === 'answered') return
    const asked = readSessionExpires(incoming.request.headers)
    this.#state = 'answered'
    this.#description = description
    this.#awaitsAnswerInAck = this.offer === null ? 'first' : null
    const response = this.#response(incoming.request, 200, description)
    if (asked && incoming.request.headers.has('supported', 'timer')) this.#agree(response, asked)
    else this.#watch(null)
    this.#reliable.stop()
    incoming.onUnconfirmed = () => this.hangup('nobody acknowledged the answer')
    incoming.respond(response)
    if (this.offer !== null) this.#handlers.answered?.(this.offer, this.source)
  }

  /** Refuses the caller; a redirect names other addresses to call. */
  reject(status: number, reason?: string, contacts: readonly string[] = []): void {
    if (!this.#incoming || this.#state === 'over' || this.#state === 'answered') return
    const response = makeResponse(this.#incoming.request, status, this.#dialog.state.localTag, reason)
    for (const contact of contacts) response.headers.add('contact', contact)
    this.#incoming.respond(response)
    this.#finish()
    this.#handlers.refused?.(status, reason ?? '', contacts)
  }

  /** The caller gave up before the answer. */
  cancelled(): void {
    if (this.#state === 'over' || this.#state === 'answered' || !this.#incoming) return
    this.#incoming.reply(487, this.#dialog.state.localTag)
    this.#finish()
    this.#handlers.ended?.('remote', 'cancelled')
  }

  #response(request: SipRequest, status: number, description: string | null): SipResponse {
    const response = makeResponse(request, status, this.#dialog.state.localTag)
    for (const route of request.headers.all('record-route')) response.headers.add('record-route', route)
    response.headers.add('contact', this.#endpoint.contact(this.#dialog.state.peer)).add('allow', allow)
    response.headers.add('supported', '100rel, timer')
    if (description === null) return response
    response.headers.add('content-type', sdpType)
    return { ...response, body: Buffer.from(description) }
  }

  // --- in the dialog, both ways ---

  /** A request inside this call. */
  take(transaction: ServerTransaction): void {
    const { request } = transaction
    if (request.method === 'ACK') return this.#takeAck(transaction)
    const tag = this.#dialog.state.localTag
    if (!this.#dialog.accepts(request)) return transaction.reply(500, tag, 'Old sequence number')
    if (this.#state === 'over' && request.method !== 'BYE') return transaction.reply(481, tag)
    this.#refresher.heard(this.#refreshed)
    switch (request.method) {
      case 'BYE':
        return this.#takeBye(transaction)
      case 'INVITE':
      case 'UPDATE':
        return this.#takeOffer(transaction)
      case 'PRACK':
        return this.#takePrack(transaction)
      case 'INFO':
        return this.#takeInfo(transaction)
      case 'REFER':
        return this.#takeRefer(transaction)
      case 'NOTIFY':
        transaction.respond(this.#response(request, 200, null))
        return this.#referral.takeNotice(request)
      case 'OPTIONS':
        return transaction.respond(this.#response(request, 200, null))
      default:
        return transaction.reply(405, tag)
    }
  }

  /** An ACK carries the answer where the offer was ours. One of a change that answers nothing leaves all as it was. */
  #takeAck({ request, from }: ServerTransaction): void {
    this.#incoming?.confirmed()
    const awaited = this.#awaitsAnswerInAck
    this.#awaitsAnswerInAck = null
    const description = awaited === null ? null : descriptionIn(request)
    if (description === null) return awaited === 'first' ? this.hangup('no session description') : undefined
    if (awaited === 'first') this.#handlers.answered?.(description, from)
    else this.#handlers.offered?.(description, from)
  }

  #takeBye(transaction: ServerTransaction): void {
    transaction.respond(this.#response(transaction.request, 200, null))
    if (this.#state === 'over') return
    const transfer = this.#referral.isAccepted ? this.#referral.takeAsked() : null
    this.#finish()
    transfer?.done(200)
    this.#handlers.ended?.('remote', 'hung up')
  }

  /** Re-INVITE and UPDATE: a change of the session, or only a sign of life. */
  #takeOffer(transaction: ServerTransaction): void {
    const { request, from } = transaction
    const tag = this.#dialog.state.localTag
    if (this.#state !== 'answered' && request.method === 'INVITE') return transaction.reply(491, tag)
    this.#dialog.learn(request, from, false)
    const asked = readSessionExpires(request.headers)
    if (asked && asked.seconds < shortestSessionSeconds) {
      const refusal = this.#response(request, 422, null)
      refusal.headers.add('min-se', shortestSessionSeconds)
      return transaction.respond(refusal)
    }
    if (!isUnderstood(request)) return transaction.reply(415, tag)
    const offer = descriptionIn(request)
    const isLate = offer === null && request.method === 'INVITE'
    const answer = offer === null ? (isLate ? this.#description : '') : this.#handlers.offered?.(offer, from)
    if (answer === null || answer === undefined) return transaction.reply(488, tag)
    if (answer !== '') this.#description = answer
    const response = this.#response(request, 200, answer === '' ? null : answer)
    const plan = this.#refresher.plan
    if (asked) this.#agree(response, asked)
    else if (plan) {
      // Who changes the session without its timer may not refresh it any more: this side does.
      response.headers.add('session-expires', `${plan.seconds};refresher=uas`)
      this.#watch({ ...plan, isOurs: true })
    }
    if (request.method === 'INVITE') this.#incoming = transaction
    if (isLate) this.#awaitsAnswerInAck = 'change'
    transaction.respond(response)
  }

  #takePrack(transaction: ServerTransaction): void {
    if (!this.#reliable.isConfirmedBy(transaction.request)) return transaction.reply(481, this.#dialog.state.localTag)
    transaction.respond(this.#response(transaction.request, 200, null))
  }

  #takeInfo(transaction: ServerTransaction): void {
    const { request } = transaction
    transaction.respond(this.#response(request, 200, null))
    const pressed = readInfoDigit(request)
    if (pressed) this.#handlers.digit?.(pressed.digit, pressed.durationMs)
  }

  #takeRefer(transaction: ServerTransaction): void {
    const { request } = transaction
    const target = referredTo(request)
    if (target === null) return transaction.reply(400, this.#dialog.state.localTag)
    // A call that was asked to replace another one (Replaces) is not taken.
    const isPlain = target.headers === null && this.#state === 'answered'
    const seq = readCseq(request.headers)?.number ?? 0
    const tell = (status: number) => {
      if (this.#state === 'answered') this.#send(this.#referral.notice(status, seq))
    }
    const isTaken = isPlain && (this.#handlers.referred?.(target.text, tell) ?? false)
    transaction.respond(this.#response(request, isTaken ? 202 : 603, null))
    if (isTaken) tell(100)
  }

  /**
   * Asks the other side to call another target in place of this side. `done` hears once how that went, as a SIP status; a side
   * that accepts and hangs up has done it.
   */
  refer(target: string, done: (status: number) => void): void {
    if (this.#state !== 'answered' || this.#referral.isAsked) return done(491)
    this.#referral.ask(target, done, (status) => this.#takeDialogFailure(status))
  }

  sendInfoDigit(digit: string, durationMs: number): void {
    if (this.#state !== 'answered') return
    const body = writeInfoDigit(digit, durationMs)
    this.#send(this.#dialog.request('INFO', this.#contact(), { body, type: infoDigitType }))
  }

  /** Offers a changed session, such as one on hold. */
  reinvite(description: string): void {
    if (this.#state !== 'answered') return
    this.#description = description
    const request = this.#dialog.request('INVITE', this.#contact(), { body: Buffer.from(description), type: sdpType })
    request.headers.add('allow', allow).add('supported', 'timer')
    // An INVITE without its timer would end the timer of the session for the other side alone.
    const plan = this.#refresher.plan
    if (plan) request.headers.add('session-expires', `${plan.seconds};refresher=${plan.isOurs ? 'uac' : 'uas'}`)
    let isAnswered = false
    this.#transmit(request, this.#dialog.state.peer, {
      final: (response, from) => {
        if (response.status >= 300) return this.#takeDialogFailure(response.status)
        this.#dialog.learn(response, from, false)
        this.#acknowledge(this.#dialog, readCseq(response.headers)?.number ?? 1)
        // A repeat of the answer is acknowledged again, and says nothing new.
        if (isAnswered) return
        isAnswered = true
        if (this.#state === 'answered') this.#watch(planOf(response, 'uac'))
        const description = descriptionIn(response)
        if (description !== null) this.#handlers.offered?.(description, from)
      },
      failed: () => this.#lose('a change of the session was not answered'),
    })
  }

  #takeDialogFailure(status: number): void {
    if (status === 481) this.#forgotten()
    else if (status === 408) this.#lose('the other side does not answer')
  }

  /** Agrees to the session timer that the other side asks for. */
  #agree({ headers }: SipResponse, { seconds, refresher }: { seconds: number; refresher: 'uac' | 'uas' | null }): void {
    headers.add('session-expires', `${seconds};refresher=${refresher ?? 'uac'}`).add('require', 'timer')
    this.#watch({ seconds, isOurs: refresher === 'uas' })
  }

  /** Refreshes the session, or waits for the other side to; null: no timer was agreed. */
  #watch(plan: SessionPlan | null): void {
    this.#refresher.watch(plan, this.#refreshed)
  }

  /** Ends the call in any state. */
  hangup(reason = 'hung up'): void {
    if (this.#state === 'over') return
    if (this.#state !== 'answered') return this.direction === 'outgoing' ? this.cancel() : this.reject(480)
    this.#leave('local', reason)
  }

  #leave(by: 'local' | 'lost', reason: string): void {
    this.#send(this.#dialog.request('BYE', this.#contact()))
    this.#finish()
    this.#handlers.ended?.(by, reason)
  }

  /** The other side cannot be reached. It is told all the same, since it may hear and still be in the call. */
  #lose(reason: string): void {
    if (this.#state !== 'over') this.#leave('lost', reason)
  }

  #forgotten(): void {
    if (this.#state === 'over') return
    this.#finish()
    this.#handlers.ended?.('lost', 'the other side does not know the call')
  }

  #contact(): string {
    return this.#endpoint.contact(this.#dialog.state.peer)
  }

  /**
   * Sends a request inside the call, and repeats it with credentials when the other side asks for them. Each request has its own
   * tries, so that a long call that is asked for its password at each of them can still be ended with it.
   */
  #transmit(
    request: SipRequest,
    to: Peer,
    handlers: ClientHandlers,
    authoriser = new Authoriser(this.#invitation?.credentials ?? null),
  ): ClientTransaction | null {
    return this.#endpoint.transmit(request, to, {
      ...handlers,
      final: (response, from) => {
        if (!authoriser.isChallengedBy(response)) return handlers.final(response, from)
        const again = this.#dialog.repeated(request)
        const authorisation = authoriser.headerFor(again.method, again.uri)
        if (authorisation) again.headers.add(...authorisation)
        this.#transmit(again, to, handlers, authoriser)
      },
    })
  }

  #send(request: SipRequest): void {
    this.#transmit(request, this.#dialog.state.peer, {
      final: (response) => {
        // A notice of a transfer that nobody waits for any more says nothing of the call (RFC 5057 §5.2).
        if (request.method !== 'BYE' && request.method !== 'NOTIFY') this.#takeDialogFailure(response.status)
      },
      failed: () => undefined,
    })
  }

  #finish(): void {
    this.#state = 'over'
    this.#referral.end(487)
    this.#refresher.stop()
    this.#reliable.stop()
    this.#endpoint.leave(this.#dialog.id)
  }
}
