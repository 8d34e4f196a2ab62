// SPDX-License-Identifier: Apache-2.0
// A SIP user agent: one transport, its transactions and its calls. Requests find their call by dialog; those outside of any
// are an invitation, a question about this side (OPTIONS), or the owner's business (REGISTER).
import { isIP } from 'node:net'
import { Authoriser } from './authoriser.ts'
import { SipCall } from './call.ts'
import { isUnderstood, sdpType } from './description.ts'
import { Dialog, type DialogState, dialogId, newTag } from './dialog.ts'
import type { Credentials } from './digest.ts'
import { parseUri, tagOf } from './header-values.ts'
import { makeRequest, makeResponse, SipHeaders, type SipMessage, type SipRequest, type SipResponse } from './message.ts'
import { readSessionExpires, shortestSessionSeconds } from './session-timer.ts'
import type { CallHandlers, Invitation, Switchboard } from './switchboard.ts'
import {
  type ClientHandlers,
  type ClientTransaction,
  newBranch,
  type ServerTransaction,
  standardTiming,
  type Timing,
  Transactions,
} from './transaction.ts'
import { type Peer, returnPath, SipTransport, type TransportName, type TransportOptions } from './transport.ts'

export interface EndpointOptions extends TransportOptions {
  /** Host that others reach this side at, where it is not the one listened on. */
  publicHost?: string
  timing?: Timing
  /** Pause between two questions to a held side without a session timer whether it is still there; absent: none is asked. */
  signOfLifeMs?: number
  /** A call that comes in: null refuses it with 503. */
  invited(call: SipCall): CallHandlers | null
  /** A request outside of calls that only the owner can answer. Unanswered ones are 405. */
  asked?(transaction: ServerTransaction): boolean
  /**
   * Whether a peer may talk to this side; others get no answer, except to requests of a call that is there. Its ids are secrets of
   * the two sides.
   */
  admits?(from: Peer): boolean
  /** A message could not be handled, which is a mistake of ours. Without this it is thrown. */
  failed?(error: unknown): void
}

/** Extensions that this side keeps to when a request requires them. */
const extensions = ['100rel', 'timer']
const acceptedTypes = `${sdpType}, multipart/mixed`
const maxCalls = 5_000

export class SipEndpoint implements Switchboard<SipCall> {
  readonly #calls = new Map<string, SipCall>()
  readonly #options: EndpointOptions
  #transport: SipTransport | null = null
  readonly #transactions: Transactions
  readonly timing: Timing
  readonly signOfLifeMs: number

  private constructor(options: EndpointOptions) {
    this.#options = options
    this.timing = options.timing ?? standardTiming
    this.signOfLifeMs = options.signOfLifeMs ?? 0
    const wire = { send: (message: SipMessage, to: Peer) => this.#send(message, to) }
    this.#transactions = new Transactions(wire, this.timing)
  }

  static async open(options: EndpointOptions): Promise<SipEndpoint> {
    const endpoint = new SipEndpoint(options)
    endpoint.#transport = await SipTransport.open(options, {
      message: (message, from) => endpoint.#take(message, from),
      malformed: (request, status, reason, from) => {
        if (options.admits?.(from) !== false)
          void endpoint
            .#send(makeResponse(request, status, newTag(), reason), returnPath(request, from))
            .catch(() => undefined)
      },
      ...(options.failed ? { failed: options.failed } : {}),
    })
    return endpoint
  }

  get ports(): Partial<Record<TransportName, number>> {
    return this.#transport?.ports ?? {}
  }

  updateIdentity(tls: NonNullable<TransportOptions['tls']>): void {
    this.#transport?.updateIdentity(tls)
  }

  get size(): { calls: number; transactions: number } {
    return { calls: this.#calls.size, transactions: this.#transactions.size }
  }

  async #send(message: SipMessage, to: Peer): Promise<void> {
    if (!this.#transport) throw new Error('the endpoint is closed')
    await this.#transport.send(message, to)
  }

  invite(invitation: Invitation, handlers: CallHandlers): SipCall {
    return SipCall.invite(this, invitation, handlers)
  }

  /** A request outside of calls, with its password if it is asked for one. A silent other side is a 408. */
  async request(
    method: string,
    uri: string,
    to: Peer,
    options: {
      from: string
      address?: string
      headers?: readonly (readonly [string, string | number])[]
      credentials?: Credentials
      callId?: string
      seq?: number
    },
  ): Promise<SipResponse> {
    const callId = options.callId ?? newTag()
    const tag = newTag()
    const make = (seq: number, authorisation: readonly [string, string] | null): SipRequest => {
      const headers = SipHeaders.of([
        ['max-forwards', 70],
        ['from', `${options.from};tag=${tag}`],
        ['to', options.address ?? `<${uri}>`],
        ['call-id', callId],
        ['cseq', `${seq} ${method}`],
        ['contact', this.contact(to)],
      ])
      for (const [name, value] of options.headers ?? []) headers.add(name, value)
      if (authorisation) headers.add(...authorisation)
      return makeRequest(method, uri, headers)
    }
    const authoriser = new Authoriser(options.credentials ?? null)
    for (let seq = options.seq ?? 1; ; seq++) {
      const response = await this.#ask(make(seq, authoriser.headerFor(method, uri)), to)
      if (!authoriser.isChallengedBy(response)) return response
    }
  }

  /** Ends a call of which only the dialog is known, because the node that had it is gone. */
  async hangUp(state: DialogState, credentials: Credentials | null): Promise<SipResponse> {
    const dialog = new Dialog(state)
    const authoriser = new Authoriser(credentials)
    for (;;) {
      const bye = dialog.request('BYE', this.contact(state.peer))
      const authorisation = authoriser.headerFor('BYE', state.target)
      if (authorisation) bye.headers.add(...authorisation)
      const response = await this.#ask(bye, state.peer)
      if (!authoriser.isChallengedBy(response)) return response
    }
  }

  #ask(request: SipRequest, to: Peer): Promise<SipResponse> {
    return new Promise((done) => {
      const nobody = () => done(makeResponse(request, 408, null))
      this.transmit(request, to, { final: done, failed: nobody })
    })
  }

  // --- for calls ---

  contact(peer: Peer): string {
    const parameter = peer.transport === 'udp' ? '' : `;transport=${peer.transport}`
    return `<sip:pamoja@${this.#sentBy(peer)}${parameter}>`
  }

  /** Whoever is on this machine reaches the address listened on; others the public one. */
  #sentBy({ transport, host: peer }: Peer): string {
    const { host: own, publicHost = own } = this.#options
    const host = /^(127\.|::1$)/.test(peer) ? own : publicHost
    const port = this.ports[transport] ?? this.ports.udp ?? this.ports.tcp ?? 5060
    return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  }

  enter(dialog: string, call: SipCall): void {
    this.#calls.set(dialog, call)
  }

  leave(dialog: string): void {
    this.#calls.delete(dialog)
  }

  transmit(request: SipRequest, to: Peer, handlers: ClientHandlers, stamped = false): ClientTransaction | null {
    if (!stamped) this.#stamp(request, to)
    return this.#transactions.request(request, to, handlers)
  }

  sendDirect(request: SipRequest, to: Peer): void {
    this.#stamp(request, to)
    void this.#send(request, to).catch(() => undefined)
  }

  #stamp(request: SipRequest, to: Peer): void {
    const via = `SIP/2.0/${to.transport.toUpperCase()} ${this.#sentBy(to)};branch=${newBranch()};rport`
    request.headers.prepend('via', via)
  }

  // --- what arrives ---

  #take(message: SipMessage, from: Peer): void {
    const isAdmitted = this.#options.admits?.(from) !== false
    if (message.kind === 'response') return void this.#transactions.takeResponse(message, from, isAdmitted)
    // Large networks go on with a call from other addresses than the one they began it at, and end it from there.
    if (!isAdmitted && !this.#callOf(message)?.mayMove) return
    if (message.method === 'ACK') return this.#takeAck(message, from)
    const taken = this.#transactions.takeRequest(message, from, returnPath(message, from))
    if (!taken)
      return void this.#send(makeResponse(message, 503, newTag()), returnPath(message, from)).catch(() => undefined)
    if (taken.isNew) this.#dispatch(taken.transaction)
  }

  #takeAck(request: SipRequest, from: Peer): void {
    const call = this.#callOf(request)
    const taken = this.#transactions.takeRequest(request, from, returnPath(request, from))
    if (taken?.isNew) call?.take(taken.transaction)
  }

  #callOf({ headers }: SipRequest): SipCall | null {
    const tag = tagOf(headers.get('to'))
    return tag === null ? null : (this.#calls.get(dialogId(headers.get('call-id') ?? '', tag)) ?? null)
  }

  #dispatch(transaction: ServerTransaction): void {
    const { request } = transaction
    const tag = newTag()
    const unknown = request.headers.all('require').filter((name) => !extensions.includes(name.toLowerCase()))
    if (unknown.length > 0 && request.method !== 'CANCEL') {
      const response = makeResponse(request, 420, tag)
      response.headers.add('unsupported', unknown.join(', '))
      return transaction.respond(response)
    }
    if (request.method === 'CANCEL') return this.#takeCancel(transaction)
    const call = this.#callOf(request)
    if (call) return call.take(transaction)
    if (tagOf(request.headers.get('to')) !== null) return transaction.reply(481, null)
    if (!['sip', 'sips', 'tel'].includes(parseUri(request.uri).scheme)) return transaction.reply(416, tag)
    if (request.headers.get('max-forwards') === '0' && request.method !== 'OPTIONS') return transaction.reply(483, tag)
    if (request.method === 'INVITE') return this.#takeInvite(transaction, tag)
    if (this.#options.asked?.(transaction)) return
    if (request.method !== 'OPTIONS') return transaction.reply(405, tag)
    const response = makeResponse(request, 200, tag)
    response.headers.add('allow', 'INVITE, ACK, CANCEL, BYE, OPTIONS').add('accept', acceptedTypes)
    transaction.respond(response)
  }

  #takeCancel(transaction: ServerTransaction): void {
    const invite = this.#transactions.cancelled(transaction.request)
    transaction.reply(invite ? 200 : 481, newTag())
    if (!invite || invite.isAnswered) return
    const callId = invite.request.headers.get('call-id')
    for (const call of this.#calls.values())
      if (call.callId === callId && call.direction === 'incoming') call.cancelled()
  }

  #takeInvite(transaction: ServerTransaction, tag: string): void {
    const { headers } = transaction.request
    const asked = readSessionExpires(headers)
    if (asked && asked.seconds < shortestSessionSeconds) {
      const response = makeResponse(transaction.request, 422, tag)
      response.headers.add('min-se', shortestSessionSeconds)
      return transaction.respond(response)
    }
    if (this.#calls.size >= maxCalls) return transaction.reply(503, tag)
    if (!isUnderstood(transaction.request)) {
      const response = makeResponse(transaction.request, 415, tag)
      response.headers.add('accept', acceptedTypes)
      return transaction.respond(response)
    }
    transaction.reply(100, null)
    let isTaken = true
    const call = SipCall.invited(this, transaction, (incoming) => {
      const handlers = this.#options.invited(incoming)
      isTaken = handlers !== null
      return handlers ?? {}
    })
    if (!isTaken) call.reject(503)
  }

  /** Ends every call politely, then the transport. */
  async close(): Promise<void> {
    for (const call of [...this.#calls.values()]) call.hangup('the endpoint closes')
    await new Promise((done) => setImmediate(done))
    this.#transactions.close()
    await this.#transport?.close()
    this.#transport = null
  }
}
