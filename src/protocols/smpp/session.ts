// SPDX-License-Identifier: Apache-2.0
// SMPP 3.4 sessions: Esme binds to a message centre, Smsc is one. What both ends have in common, requests and answers
// over one connection, is link.ts.
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type SecureContext, Server as TlsServer } from 'node:tls'
import { dial } from './dial.ts'
import { Link, SessionError } from './link.ts'
import {
  type CancelSm,
  type Command,
  type DataSm,
  type DeliverSm,
  newShortMessage,
  type Pdu,
  type PduOf,
  type QuerySm,
  type QuerySmAnswer,
  type SubmitSm,
} from './pdu.ts'
import { commandStatus, PduError, statusName } from './status.ts'
import type { Tlvs } from './tlvs.ts'

/** Requests beyond the window that may wait for their turn. */
const defaultMaxQueued = 10_000
const interfaceVersion = 0x34
const defaultBindTimeoutMs = 10_000

export type BindMode = 'transceiver' | 'transmitter' | 'receiver'

export interface EsmeOptions {
  host: string
  port: number
  /** Certificates that are trusted, where the centre speaks TLS; null, or left out: it does not. */
  tls?: SecureContext | null
  systemId: string
  password: string
  systemType?: string
  bindMode: BindMode
  /** The most requests without an answer. */
  window: number
  /** The most requests that wait for a place in the window; 10,000 unless told. */
  maxQueued?: number
  /** Timeout for connecting, binding and each answer. */
  responseTimeoutMs: number
  /** Silence after which the other side is asked whether it is there. */
  enquireLinkMs: number
  /**
   * A message or receipt arrived, by deliver_sm or data_sm; gives the command_status to answer with. It may be called before
   * connect() has resolved. When it rejects, the answer is ESME_RX_T_APPN, upon which the centre tries again.
   */
  onDeliver(message: DeliverSm, sequence: number): Promise<number>
  /** Called once when the session ends, by either side; never when connect() rejects. */
  onClosed(reason: string): void
}

export interface SubmitAnswer {
  /** command_status: 0 when the centre took the message. */
  status: number
  /** Id that the centre gave; empty when it refused. */
  messageId: string
  /** Number of the request; none where it had no octets to send. */
  sequence?: number
  /** Optional parameters of the answer. */
  tlvs?: Tlvs
}

/** The customer's end: External Short Message Entity. */
export class Esme {
  readonly #link: Link

  private constructor(link: Link) {
    this.#link = link
  }

  /** Connects and binds; rejects with a SessionError of kind connect, bind_refused, timeout or closed. */
  static async connect(options: EsmeOptions): Promise<Esme> {
    const socket = await dial(options)
    let bound = false
    let closedBecause: string | null = null
    const link = new Link(socket, {
      window: options.window,
      maxQueued: options.maxQueued ?? defaultMaxQueued,
      responseTimeoutMs: options.responseTimeoutMs,
      enquireLinkMs: options.enquireLinkMs,
      onRequest: (pdu) => receive(link, pdu, options.onDeliver),
      onClosed: (reason) => {
        closedBecause = reason
        if (bound) options.onClosed(reason)
      },
    })
    const answer = await link
      .urgent(`bind_${options.bindMode}`, {
        systemId: options.systemId,
        password: options.password,
        systemType: options.systemType ?? '',
        interfaceVersion,
        addressRange: { ton: 0, npi: 0, address: '' },
      })
      .catch((error: unknown) => {
        link.end('the bind failed')
        throw error instanceof PduError
          ? new SessionError('bind_refused', error.message, { sent: false, status: error.status })
          : error
      })
    if (answer.status !== 0) {
      link.end('the bind was refused')
      const message = `${options.systemId} may not bind as ${options.bindMode}: ${statusName(answer.status)}`
      throw new SessionError('bind_refused', message, { sent: true, status: answer.status })
    }
    if (closedBecause !== null) throw new SessionError('closed', closedBecause, { sent: true })
    bound = true
    link.keepAlive()
    return new Esme(link)
  }

  /**
   * Resolves with the centre's answer. A message that has no bytes (an address too long, say) resolves with the status that a
   * centre would have refused it with. Rejects with a SessionError when there is no answer; see its `sent`. After a timeout
   * `onLate` is told of the answer if it comes after all.
   */
  async submit(message: SubmitSm, onLate?: (answer: SubmitAnswer) => void): Promise<SubmitAnswer> {
    try {
      return submitAnswer(
        await this.#link.request('submit_sm', message, onLate ? (answer) => onLate(submitAnswer(answer)) : null),
      )
    } catch (error) {
      if (error instanceof PduError) return { status: error.status, messageId: '' }
      throw error
    }
  }

  /** State of a message at the centre; null when it does not say. */
  async query(query: QuerySm): Promise<QuerySmAnswer | null> {
    const answer = await this.#link.request('query_sm', query)
    return answer.command === 'query_sm_resp' && answer.status === 0 ? answer.body : null
  }

  /** The command_status: 0 when the message will not be delivered any more. */
  async cancel(message: CancelSm): Promise<number> {
    return refusalOf(await this.#link.request('cancel_sm', message), 'cancel_sm_resp')
  }

  /** Requests that were sent and not yet answered, and those that wait for their turn. */
  get pending(): number {
    return this.#link.pending
  }

  /** Waits for the answers that are due, unbinds and closes. What waited for its turn rejects as not sent. */
  close(): Promise<void> {
    return this.#link.close()
  }
}

/** Who asks to bind. */
export interface BindPeer {
  readonly address: string
  /** Version of SMPP that it speaks: 0x34 is 3.4. */
  readonly interfaceVersion: number
}

export interface SmscOptions {
  host: string
  /** 0 for any free port. */
  port: number
  /** Certificate, where the centre speaks TLS; null, or left out: it does not. */
  tls?: { readonly key: string; readonly cert: string } | null
  /** System id that the centre gives to clients. */
  systemId?: string
  window?: number
  maxQueued?: number
  maxSessions?: number
  /** Within it a new connection must have bound. */
  bindTimeoutMs?: number
  responseTimeoutMs?: number
  enquireLinkMs?: number
  /** Whether a connection is taken: what to call when it has ended; null refuses it. */
  admits?(address: string): (() => void) | null
  /** The command_status to answer a bind with: 0 lets it in. Requests that come before the answer are refused. */
  authenticate(systemId: string, password: string, mode: BindMode, peer: BindPeer): number | Promise<number>
  onSubmit(session: SmscSession, message: SubmitSm, command: 'submit_sm' | 'data_sm'): Promise<SubmitAnswer>
  /** Answers a query; null when no such message is known. Without this, queries are refused. */
  onQuery?(session: SmscSession, query: QuerySm): Promise<QuerySmAnswer | null>
  /** Gives the command_status. Without this, cancellations are refused. */
  onCancel?(session: SmscSession, message: CancelSm): Promise<number>
  onSession?(session: SmscSession): void
  onClosed?(session: SmscSession, reason: string): void
}

/** Session of a bound ESME, as the centre sees it. */
export class SmscSession {
  readonly systemId: string
  readonly bindMode: BindMode
  readonly peer: BindPeer
  readonly #link: Link

  constructor(systemId: string, bindMode: BindMode, peer: BindPeer, link: Link) {
    this.systemId = systemId
    this.bindMode = bindMode
    this.peer = peer
    this.#link = link
  }

  /** Messages that were sent and not yet answered, and those that wait for their turn. */
  get pending(): number {
    return this.#link.pending
  }

  get receives(): boolean {
    return this.bindMode !== 'transmitter'
  }

  /** Resolves with the command_status of the answer; rejects with a SessionError when there is none. */
  async deliver(message: DeliverSm): Promise<number> {
    if (!this.receives) return commandStatus.ESME_RINVBNDSTS
    return refusalOf(await this.#link.request('deliver_sm', message), 'deliver_sm_resp')
  }

  unbind(): Promise<void> {
    return this.#link.close()
  }

  /** Cuts the connection as a failing network does: without a word. */
  drop(): void {
    this.#link.cut('cut by this side')
  }
}

/** The operator's end: Short Message Service Centre. */
export class Smsc {
  readonly #server: Server
  readonly #options: SmscOptions
  readonly #links = new Set<Link>()
  readonly #sessions = new Set<SmscSession>()

  private constructor(options: SmscOptions) {
    this.#options = options
    const { tls = null, bindTimeoutMs = defaultBindTimeoutMs } = options
    this.#server =
      tls === null
        ? createServer({ noDelay: true }, (socket) => this.#accept(socket))
        : createTlsServer({ ...tls, noDelay: true, handshakeTimeout: bindTimeoutMs }, (socket) => this.#accept(socket))
    this.#server.maxConnections = options.maxSessions ?? 1000
  }

  static async listen(options: SmscOptions): Promise<Smsc> {
    const smsc = new Smsc(options)
    await new Promise<void>((resolve, reject) => {
      smsc.#server.once('error', reject)
      smsc.#server.listen(options.port, options.host, resolve)
    })
    return smsc
  }

  /** Uses another certificate for connections from now on. */
  updateIdentity(identity: { readonly key: string; readonly cert: string }): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(identity)
  }

  get port(): number {
    const address = this.#server.address()
    return address === null || typeof address === 'string' ? 0 : address.port
  }

  /** Bound sessions, oldest first. */
  get sessions(): ReadonlySet<SmscSession> {
    return this.#sessions
  }

  deliver(session: SmscSession, message: DeliverSm): Promise<number> {
    return session.deliver(message)
  }

  /** Takes no new connections, unbinds every session and waits until all are gone. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await Promise.all([...this.#links].map((link) => link.close()))
    await closed
  }

  /** Ends what close() still waits for. */
  cut(): void {
    for (const link of this.#links) link.cut('cut by this side')
  }

  #accept(socket: Socket): void {
    const { window = 100, maxQueued = defaultMaxQueued, bindTimeoutMs = defaultBindTimeoutMs } = this.#options
    const address = socket.remoteAddress ?? ''
    const release = this.#options.admits?.(address)
    if (release === null) return void socket.destroy()
    const { responseTimeoutMs = 30_000, enquireLinkMs = 30_000 } = this.#options
    let session: SmscSession | null = null
    let binds = false
    const link: Link = new Link(socket, {
      window,
      maxQueued,
      responseTimeoutMs,
      enquireLinkMs,
      onRequest: async (pdu) => {
        if (session !== null) return this.#serve(session, link, pdu)
        if (binds || !isBind(pdu)) return link.refuse(pdu, commandStatus.ESME_RINVBNDSTS)
        binds = true
        const peer = { address, interfaceVersion: pdu.body.interfaceVersion }
        const verdict = this.#options.authenticate(pdu.body.systemId, pdu.body.password, bindModes[pdu.command], peer)
        const status = typeof verdict === 'number' ? verdict : await verdict
        binds = false
        if (link.endedBecause !== null) return
        session = this.#bind(link, pdu, status, peer)
        if (session === null) return
        clearTimeout(bindTimer)
        this.#sessions.add(session)
        link.keepAlive()
        this.#options.onSession?.(session)
      },
      onClosed: (reason) => {
        clearTimeout(bindTimer)
        release?.()
        this.#links.delete(link)
        if (session === null) return
        this.#sessions.delete(session)
        this.#options.onClosed?.(session, reason)
      },
    })
    const bindTimer = setTimeout(() => link.end(`no bind within ${bindTimeoutMs} ms`), bindTimeoutMs)
    this.#links.add(link)
  }

  /** Answers a bind; null, and the end of the connection, unless it is let in. */
  #bind(link: Link, pdu: PduOf<keyof typeof bindModes>, status: number, peer: BindPeer): SmscSession | null {
    if (status !== 0) {
      link.refuse(pdu, status)
      link.end(`the bind was refused with ${statusName(status)}`)
      return null
    }
    const tlvs = peer.interfaceVersion < interfaceVersion ? {} : { scInterfaceVersion: interfaceVersion }
    link.answer(pdu, { systemId: this.#options.systemId ?? 'PAMOJA', tlvs })
    return new SmscSession(pdu.body.systemId, bindModes[pdu.command], peer, link)
  }

  async #serve(session: SmscSession, link: Link, pdu: Pdu): Promise<void> {
    if (isBind(pdu)) return link.refuse(pdu, commandStatus.ESME_RALYBND)
    if (session.bindMode === 'receiver') return link.refuse(pdu, commandStatus.ESME_RINVBNDSTS)
    const { onSubmit, onQuery, onCancel } = this.#options
    if (pdu.command === 'submit_sm') {
      const { status, messageId, tlvs } = await onSubmit(session, pdu.body, pdu.command)
      return link.answer(pdu, { messageId, ...(tlvs ? { tlvs } : {}) }, status)
    }
    if (pdu.command === 'data_sm') {
      const { status, messageId, tlvs = {} } = await onSubmit(session, fromDataSm(pdu.body), pdu.command)
      return link.answer(pdu, { messageId, tlvs }, status)
    }
    if (pdu.command === 'query_sm' && onQuery) {
      const found = await onQuery(session, pdu.body)
      return found ? link.answer(pdu, found) : link.refuse(pdu, commandStatus.ESME_RQUERYFAIL)
    }
    if (pdu.command === 'cancel_sm' && onCancel) return link.answer(pdu, {}, await onCancel(session, pdu.body))
    link.refuse(pdu, commandStatus.ESME_RINVCMDID)
  }
}

const bindModes = {
  bind_transceiver: 'transceiver',
  bind_transmitter: 'transmitter',
  bind_receiver: 'receiver',
} as const satisfies Partial<Record<Command, BindMode>>

const isBind = (pdu: Pdu): pdu is PduOf<keyof typeof bindModes> => Object.hasOwn(bindModes, pdu.command)

async function receive(link: Link, pdu: Pdu, onDeliver: EsmeOptions['onDeliver']): Promise<void> {
  if (pdu.command === 'alert_notification' || pdu.command === 'outbind') return
  if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return link.refuse(pdu, commandStatus.ESME_RINVCMDID)
  const message = pdu.command === 'deliver_sm' ? pdu.body : fromDataSm(pdu.body)
  const status = await onDeliver(message, pdu.sequence).catch(() => commandStatus.ESME_RX_T_APPN)
  if (status !== 0) link.refuse(pdu, status)
  else if (pdu.command === 'deliver_sm') link.answer(pdu, { messageId: '' })
  else link.answer(pdu, { messageId: '', tlvs: {} })
}

/** data_sm says the same as the others, with its text in message_payload. */
function fromDataSm(body: DataSm): DeliverSm {
  return newShortMessage(body)
}

function submitAnswer(answer: Pdu): SubmitAnswer {
  return {
    status: refusalOf(answer, 'submit_sm_resp'),
    messageId: answer.command === 'submit_sm_resp' ? answer.body.messageId : '',
    sequence: answer.sequence,
  }
}

/** The status of an answer. A generic_nack refuses even if it does not say why. */
function refusalOf(answer: Pdu, expected: Command): number {
  return answer.command === expected || answer.status !== 0 ? answer.status : commandStatus.ESME_RUNKNOWNERR
}
