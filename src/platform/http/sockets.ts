// SPDX-License-Identifier: Apache-2.0
// Websockets (RFC 6455) on the API's port. Refusals are plain HTTP replies before the upgrade. A connection ends with
// its credential, its node, a timeout, or on overload.
import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Connection, Conversation, Socket } from '../api/socket.ts'
import type { App } from '../app.ts'
import { environmentOf, refuseOtherOrigins, sessionTokenOf } from '../auth/console-sessions.ts'
import { allows } from '../auth/scopes.ts'
import type { Caller, Principal } from '../auth.ts'
import { addressPolicy, clientAddress } from './admission.ts'
import { errorBody } from './answer.ts'
import { asError } from './exchange.ts'

const maxConnections = 500
const pingEveryMs = 10_000
/** Timeout without any frame, pongs included. */
const silentMs = 25_000
/** Sends buffer limit in bytes. */
const maxWaiting = 1_048_576
/** Receives queue limit in messages. */
const maxQueued = 100
const stopping = 1001
const tooLong = 1008

interface Open {
  readonly account: string
  readonly declared: Socket
  check(): Promise<void>
  beat(nowMs: number): void
  end(code: number, reason: string): void
}

export class Sockets {
  readonly #app: App
  readonly #declared: ReadonlyMap<string, Socket>
  readonly #trustedProxies: BlockList
  readonly #server: WebSocketServer
  readonly #open = new Set<Open>()
  readonly #timer: NodeJS.Timeout
  #isClosed = false

  constructor(app: App, declared: readonly Socket[], trustedProxies: BlockList) {
    this.#app = app
    this.#declared = new Map(declared.map((one) => [one.path, one]))
    this.#trustedProxies = trustedProxies
    const maxPayload = Math.max(1, ...declared.map(({ maxMessageBytes }) => maxMessageBytes))
    this.#server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload })
    this.#timer = setInterval(() => this.#beat(), pingEveryMs).unref()
    app.signals.on('accounts', (account) => {
      for (const one of this.#open) if (one.account === account) void one.check()
    })
  }

  get size(): number {
    return this.#open.size
  }

  /** Handles an upgrade request. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => undefined)
    const ip = clientAddress(request, this.#trustedProxies)
    try {
      const declared = this.#asked(request)
      const identify = this.#identifying(request, ip)
      const principal = await this.#admit(declared, identify, ip)
      const again = () => this.#admit(declared, identify, ip)
      this.#server.handleUpgrade(request, socket, head, (line) => this.#take(declared, line, principal, again, ip))
    } catch (error) {
      refuse(this.#app, socket, error)
    }
  }

  #asked(request: IncomingMessage): Socket {
    const [path = ''] = (request.url ?? '').split('?')
    const declared = this.#declared.get(path.replace(/^\/api(?=\/v1\/)/, '').replace(/\/$/, ''))
    if (!declared || request.headers.upgrade?.toLowerCase() !== 'websocket')
      throw new AppError('NOT_FOUND', 'this path does not support WebSockets; send the request without Upgrade')
    if (this.#isClosed || this.#open.size >= maxConnections)
      throw new AppError('SERVICE_UNAVAILABLE', 'this node has reached its limit of connections', {
        retryAfterSeconds: 5,
      })
    return declared
  }

  /** How the client is known: by a key or a token, else by the console session of a page of this origin. */
  #identifying(request: IncomingMessage, ip: string): () => Principal | Promise<Principal> {
    const { authenticator } = this.#app
    const credential = credentialOf(request)
    const session = credential === undefined ? sessionTokenOf(request.headers) : null
    if (session === null) return () => authenticator.authenticate(credential, ip)
    if (request.headers.origin === undefined)
      throw new AppError('FORBIDDEN', 'WebSockets of a session are limited to pages of the console')
    refuseOtherOrigins(request.headers)
    const environment = environmentOf({ 'pamoja-environment': queryOf(request).get('environment') ?? 'test' })
    return () => authenticator.authenticateSession(session, environment, ip)
  }

  /** Authenticate; invalid credentials count towards the IP address limit. */
  async #admit(declared: Socket, identify: () => Principal | Promise<Principal>, ip: string): Promise<Principal> {
    try {
      const principal = await identify()
      if (principal.facts.suspended) throw new AppError('ACCOUNT_SUSPENDED', 'the account is suspended')
      if (!allows(principal.scopes, declared.scope))
        throw new AppError('FORBIDDEN', `the scope ${declared.scope} is missing`)
      return principal
    } catch (error) {
      const { refusedBy } = await this.#app.limits.admit([addressPolicy(ip)])
      if (refusedBy && this.#app.config.PAMOJA_RATE_LIMITS === 'on')
        throw new AppError('RATE_LIMITED', 'too many attempts from this address', { retryAfterSeconds: 1 })
      throw error
    }
  }

  #take(declared: Socket, line: WebSocket, principal: Principal, again: () => Promise<Principal>, ip: string): void {
    const { account } = principal.tenant
    const app = this.#app
    const peers = [...this.#open].filter((one) => one.account === account && one.declared === declared).length
    if (peers >= declared.perAccount) return line.close(tooLong, 'TOO_MANY_STREAMS')
    const talk = new Talk(app, declared, line, async () => callerOf(app, await again(), ip))
    const open: Open = {
      account,
      declared,
      check: () => talk.check(),
      beat: (nowMs) => talk.beat(nowMs),
      end: (code, reason) => talk.close(code, reason),
    }
    this.#open.add(open)
    line.once('close', () => this.#open.delete(open))
    void talk.begin(callerOf(app, principal, ip))
  }

  #beat(): void {
    for (const one of this.#open) {
      one.beat(this.#app.clock.nowMs())
      void one.check()
    }
  }

  /** Closes all connections and refuse new ones. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const one of this.#open) one.end(stopping, 'this node is stopping; connect again')
  }
}

/** Connection of one client: messages are handled in order and rate limited. */
class Talk implements Connection {
  readonly #app: App
  readonly #declared: Socket
  readonly #line: WebSocket
  readonly caller: () => Promise<Caller>
  readonly #conversation: Promise<Conversation>
  #began: (conversation: Conversation) => void = () => undefined
  #turn: Promise<void> = Promise.resolve()
  #queued = 0
  #tokens: number
  #refilledMs: number
  #heardMs: number

  constructor(app: App, declared: Socket, line: WebSocket, caller: () => Promise<Caller>) {
    this.#app = app
    this.#declared = declared
    this.#line = line
    this.caller = caller
    this.#tokens = declared.messagesPerSecond
    this.#refilledMs = app.clock.nowMs()
    this.#heardMs = this.#refilledMs
    this.#conversation = new Promise((began) => {
      this.#began = began
    })
    line.on('message', (data, isBinary) => this.#take(data, isBinary))
    line.on('pong', () => this.#heard())
    line.on('error', () => line.terminate())
  }

  async begin(caller: Caller): Promise<void> {
    try {
      const conversation = await this.#declared.open(this.#app, this, caller)
      this.#began(conversation)
      const closed = () => this.#say(() => conversation.closed())
      if (this.isOpen) this.#line.once('close', closed)
      else closed()
    } catch (error) {
      this.#refuse(error)
    }
  }

  get isOpen(): boolean {
    return this.#line.readyState === this.#line.OPEN
  }

  send(message: object): void {
    if (!this.isOpen) return
    if (this.#line.bufferedAmount > maxWaiting) return this.#line.terminate()
    this.#line.send(JSON.stringify(message))
  }

  close(code: number, reason: string): void {
    this.#line.close(code, reason.slice(0, 120))
    // A peer that does not confirm the close is cut off.
    setTimeout(() => this.#line.terminate(), 1_000).unref()
  }

  async check(): Promise<void> {
    await this.caller().catch((error) => {
      if (error instanceof AppError) this.#refuse(error)
    })
  }

  beat(nowMs: number): void {
    if (nowMs - this.#heardMs > silentMs) return this.#line.terminate()
    if (this.isOpen) this.#line.ping()
  }

  #heard(): void {
    this.#heardMs = this.#app.clock.nowMs()
  }

  #refuse(error: unknown): void {
    const known = error instanceof AppError ? error : null
    if (!known)
      this.#app.log.error(
        { error, operation: this.#declared.operation },
        'websocket failed inside this program and is closed: report the error',
      )
    this.send({
      type: 'error',
      code: known?.code ?? 'INTERNAL_ERROR',
      message: known?.details ?? 'an internal error occurred',
    })
    this.close(known ? 4_000 + (known.status % 1_000) : 1_011, known?.code ?? 'INTERNAL_ERROR')
  }

  #take(data: RawData, isBinary: boolean): void {
    this.#heard()
    if (!this.#mayHear()) return this.close(tooLong, 'too many messages')
    const message = isBinary ? undefined : parsed(data)
    if (message === undefined)
      return this.send({ type: 'error', code: 'INVALID_REQUEST', message: 'a message must be a JSON object, as text' })
    this.#queued++
    this.#turn = this.#turn.then(async () => {
      this.#queued--
      const conversation = await this.#conversation
      if (this.isOpen) await this.#say(() => conversation.heard(message))
    })
  }

  /** Token bucket: one second's worth as burst. */
  #mayHear(): boolean {
    const { messagesPerSecond: most } = this.#declared
    const nowMs = this.#app.clock.nowMs()
    this.#tokens = Math.min(most, this.#tokens + ((nowMs - this.#refilledMs) / 1_000) * most)
    this.#refilledMs = nowMs
    if (this.#tokens < 1 || this.#queued >= maxQueued) return false
    this.#tokens--
    return true
  }

  async #say(work: () => Promise<void> | void): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#app.log.error(
        { error, operation: this.#declared.operation },
        'websocket message failed inside this program: report the error',
      )
    }
  }
}

function parsed(data: RawData): object | undefined {
  try {
    const value: unknown = JSON.parse(String(data))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Browsers cannot set headers on a websocket, so the token may be in the query. */
function credentialOf(request: IncomingMessage): string | undefined {
  const token = queryOf(request).get('token')
  return token === null ? request.headers.authorization : `Bearer ${token}`
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'))
}

function callerOf(app: App, principal: Principal, ip: string): Caller {
  const receivedMs = app.clock.nowMs()
  const { tenant, accountId, actor, facts } = principal
  const requestId = newId('request', receivedMs)
  return { principal, tenant, accountId, actor, ip, requestId, receivedMs, nowMs: receivedMs + facts.clockOffsetMs }
}

/** Refuses an upgrade with an HTTP reply and closes the connection. */
function refuse(app: App, socket: Duplex, thrown: unknown): void {
  const error = thrown instanceof AppError ? thrown : new AppError('INTERNAL_ERROR', 'an internal error occurred')
  if (!(thrown instanceof AppError))
    app.log.error(
      { error: asError(thrown) },
      'websocket not opened, for an error inside this program: report the error',
    )
  const body = errorBody(app, { id: newId('request', app.clock.nowMs()) }, error)
  const headers = [
    `HTTP/1.1 ${error.status} ${error.code}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    ...(error.extras.retryAfterSeconds === undefined ? [] : [`retry-after: ${error.extras.retryAfterSeconds}`]),
    'connection: close',
  ]
  if (!socket.destroyed) socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`)
}
