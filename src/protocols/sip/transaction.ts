// SPDX-License-Identifier: Apache-2.0
// SIP transactions (RFC 3261 §17, with the repair of RFC 6026): repeats over UDP, answers matched to requests, repeated
// requests answered from memory. Every one of them ends by a timer at the latest, and there is a bound on how many live.
import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { parseVia } from './header-values.ts'
import { makeResponse, readCseq, type SipRequest, type SipResponse, sameHop } from './message.ts'
import type { Peer, TransportName } from './transport.ts'

export interface Timing {
  /** Estimate of a round trip; every other timer is made of it (RFC 3261 §17.1.1.1). */
  t1Ms: number
  t2Ms: number
  t4Ms: number
}

export const standardTiming: Timing = { t1Ms: 500, t2Ms: 4_000, t4Ms: 5_000 }

export interface ClientHandlers {
  provisional?(response: SipResponse): void
  final(response: SipResponse, from: Peer): void
  /** No answer within 64 round trips, or nothing could be sent. */
  failed(reason: 'timeout' | 'transport'): void
}

interface Wire {
  send(message: SipRequest | SipResponse, to: Peer): Promise<void>
}

const maxTransactions = 20_000

export function newBranch(): string {
  return `z9hG4bK${randomBytes(12).toString('hex')}`
}

/** All transactions of one endpoint, found by the key that RFC 3261 §17.1.3 and §17.2.3 give. */
export class Transactions {
  readonly #clients = new Map<string, ClientTransaction>()
  readonly #servers = new Map<string, ServerTransaction>()
  readonly #wire: Wire
  readonly timing: Timing

  constructor(wire: Wire, timing: Timing) {
    this.#wire = wire
    this.timing = timing
  }

  get size(): number {
    return this.#clients.size + this.#servers.size
  }

  /** Sends a request that already has its Via. */
  request(request: SipRequest, to: Peer, handlers: ClientHandlers): ClientTransaction | null {
    if (this.size >= maxTransactions) {
      queueMicrotask(() => handlers.failed('transport'))
      return null
    }
    const key = clientKey(request)
    const transaction = new ClientTransaction(request, to, this.#wire, this.timing, handlers, () =>
      this.#clients.delete(key),
    )
    this.#clients.set(key, transaction)
    transaction.start()
    return transaction
  }

  /**
   * Whether the answer belongs to a transaction; a repeated 200 of an INVITE does not. A sender who is not admitted may answer only
   * what was sent there, by address or by name.
   */
  takeResponse(response: SipResponse, from: Peer, isAdmitted = true): boolean {
    const via = parseVia(response.headers.all('via')[0] ?? '')
    const method = readCseq(response.headers)?.method ?? ''
    const transaction = this.#clients.get(`${via.parameters.get('branch') ?? ''} ${method}`)
    if (!transaction || !(isAdmitted || isIP(transaction.to.host) === 0 || transaction.to.host === from.host))
      return false
    transaction.take(response, from)
    return true
  }

  /** The transaction of a request: the old one if it is a repeat, otherwise a new one. Null when there is no room. */
  takeRequest(request: SipRequest, from: Peer, back: Peer): { transaction: ServerTransaction; isNew: boolean } | null {
    const key = serverKey(request)
    const known = this.#servers.get(key)
    if (known) {
      known.again(request)
      return { transaction: known, isNew: false }
    }
    if (this.size >= maxTransactions) return null
    const transaction = new ServerTransaction(request, from, back, this.#wire, this.timing, () =>
      this.#servers.delete(key),
    )
    if (request.method !== 'ACK') this.#servers.set(key, transaction)
    return { transaction, isNew: true }
  }

  /** The INVITE that a CANCEL is about. */
  cancelled(cancel: SipRequest): ServerTransaction | null {
    return this.#servers.get(serverKey(cancel, 'INVITE')) ?? null
  }

  close(): void {
    for (const transaction of [...this.#clients.values(), ...this.#servers.values()]) transaction.end()
  }
}

function clientKey(request: SipRequest): string {
  const via = parseVia(request.headers.all('via')[0] ?? '')
  return `${via.parameters.get('branch') ?? ''} ${request.method}`
}

function serverKey(request: SipRequest, as = request.method === 'ACK' ? 'INVITE' : request.method): string {
  const via = parseVia(request.headers.all('via')[0] ?? '')
  const branch = via.parameters.get('branch') ?? ''
  const { headers } = request
  // A branch without the cookie, or with nothing after it, is of an RFC 2543 sender and says nothing by itself.
  const name =
    branch.startsWith('z9hG4bK') && branch.length > 7
      ? branch
      : `${branch} ${headers.get('call-id')} ${headers.get('from')} ${readCseq(headers)?.number}`
  return `${name} ${via.host}:${via.port ?? ''} ${as}`
}

/** Timers of one transaction, all cleared at its end. */
class Timers {
  readonly #running = new Set<NodeJS.Timeout>()

  after(ms: number, then: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#running.delete(timer)
      then()
    }, ms)
    timer.unref()
    this.#running.add(timer)
    return timer
  }

  cancel(timer: NodeJS.Timeout): void {
    clearTimeout(timer)
    this.#running.delete(timer)
  }

  clear(): void {
    for (const timer of this.#running) clearTimeout(timer)
    this.#running.clear()
  }
}

export class ClientTransaction {
  #state: 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated' = 'calling'
  readonly #timers = new Timers()
  #repeat: NodeJS.Timeout | null = null
  readonly request: SipRequest
  readonly to: Peer
  readonly #wire: Wire
  readonly #timing: Timing
  readonly #handlers: ClientHandlers
  readonly #onEnd: () => void

  constructor(request: SipRequest, to: Peer, wire: Wire, timing: Timing, handlers: ClientHandlers, onEnd: () => void) {
    this.request = request
    this.to = to
    this.#wire = wire
    this.#timing = timing
    this.#handlers = handlers
    this.#onEnd = onEnd
  }

  start(): void {
    this.#transmit(this.request)
    if (this.to.transport === 'udp') this.#repeatAfter(this.#timing.t1Ms)
    this.#timers.after(64 * this.#timing.t1Ms, () => {
      if (this.#state === 'calling' || (this.#state === 'proceeding' && !this.#isInvite)) this.#fail('timeout')
    })
  }

  get #isInvite(): boolean {
    return this.request.method === 'INVITE'
  }

  #transmit(message: SipRequest): void {
    this.#wire.send(message, this.to).catch(() => {
      if (this.#state === 'calling' || this.#state === 'proceeding') this.#fail('transport')
    })
  }

  /** Timers A and E: an INVITE doubles for ever, others up to T2. */
  #repeatAfter(ms: number): void {
    this.#repeat = this.#timers.after(ms, () => {
      if (this.#state !== 'calling' && !(this.#state === 'proceeding' && !this.#isInvite)) return
      this.#transmit(this.request)
      this.#repeatAfter(this.#isInvite ? ms * 2 : Math.min(ms * 2, this.#timing.t2Ms))
    })
  }

  take(response: SipResponse, from: Peer): void {
    if (response.status < 200) {
      if (this.#state !== 'calling' && this.#state !== 'proceeding') return
      this.#state = 'proceeding'
      if (this.#isInvite && this.#repeat) this.#timers.cancel(this.#repeat)
      this.#handlers.provisional?.(response)
      return
    }
    if (this.#isInvite && response.status < 300) {
      // Forks and repeats of a 200 come here for 64 T1; the dialog acknowledges each (RFC 6026).
      if (this.#state === 'terminated' || this.#state === 'completed') return
      if (this.#state !== 'accepted') this.#timers.after(64 * this.#timing.t1Ms, () => this.end())
      this.#state = 'accepted'
      this.#handlers.final(response, from)
      return
    }
    if (this.#isInvite) this.#transmit(sameHop('ACK', this.request, response.headers.get('to') ?? ''))
    if (this.#state === 'completed' || this.#state === 'accepted' || this.#state === 'terminated') return
    this.#state = 'completed'
    const isUdp = this.to.transport === 'udp'
    this.#timers.after(isUdp ? (this.#isInvite ? 64 * this.#timing.t1Ms : this.#timing.t4Ms) : 0, () => this.end())
    this.#handlers.final(response, from)
  }

  #fail(reason: 'timeout' | 'transport'): void {
    this.end()
    this.#handlers.failed(reason)
  }

  end(): void {
    this.#state = 'terminated'
    this.#timers.clear()
    this.#onEnd()
  }
}

export class ServerTransaction {
  #last: SipResponse | null = null
  #isConfirmed = false
  #isOver = false
  readonly #timers = new Timers()
  #repeat: NodeJS.Timeout | null = null
  readonly request: SipRequest
  readonly from: Peer
  readonly #back: Peer
  readonly #wire: Wire
  readonly #timing: Timing
  readonly #onEnd: () => void
  /** Called when the final answer of an INVITE was not acknowledged. */
  onUnconfirmed: () => void = () => undefined

  constructor(request: SipRequest, from: Peer, back: Peer, wire: Wire, timing: Timing, onEnd: () => void) {
    this.request = request
    this.from = from
    this.#back = back
    this.#wire = wire
    this.#timing = timing
    this.#onEnd = onEnd
  }

  get isAnswered(): boolean {
    return (this.#last?.status ?? 0) >= 200
  }

  get transport(): TransportName {
    return this.from.transport
  }

  /** A repeat of the request: the last answer again, or the ACK of a refusal. */
  again(request: SipRequest): void {
    if (request.method === 'ACK') return this.confirmed()
    if (this.#last) this.#transmit(this.#last)
  }

  respond(response: SipResponse): void {
    if (this.isAnswered || this.#isOver) return
    this.#last = response
    this.#transmit(response)
    if (response.status < 200) return
    const isInvite = this.request.method === 'INVITE'
    if (isInvite && (this.from.transport === 'udp' || response.status < 300)) this.#repeatAfter(this.#timing.t1Ms)
    this.#timers.after(isInvite || this.from.transport === 'udp' ? 64 * this.#timing.t1Ms : 0, () => {
      const isLost = isInvite && !this.#isConfirmed
      this.end()
      if (isLost) this.onUnconfirmed()
    })
  }

  /** A short answer without more to say. */
  reply(status: number, toTag: string | null, reason?: string): void {
    this.respond(makeResponse(this.request, status, toTag, reason))
  }

  /** The answer has arrived. A refusal's transaction has nothing more to do; a 200 may still be asked for. */
  confirmed(): void {
    this.#isConfirmed = true
    if (this.#repeat) this.#timers.cancel(this.#repeat)
    if ((this.#last?.status ?? 0) >= 300)
      this.#timers.after(this.from.transport === 'udp' ? this.#timing.t4Ms : 0, () => this.end())
  }

  #repeatAfter(ms: number): void {
    this.#repeat = this.#timers.after(ms, () => {
      if (this.#isConfirmed || this.#isOver || !this.#last) return
      this.#transmit(this.#last)
      this.#repeatAfter(Math.min(ms * 2, this.#timing.t2Ms))
    })
  }

  #transmit(response: SipResponse): void {
    this.#wire.send(response, this.#back).catch(() => undefined)
  }

  end(): void {
    this.#isOver = true
    this.#timers.clear()
    this.#onEnd()
  }
}
