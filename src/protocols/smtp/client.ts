// SPDX-License-Identifier: Apache-2.0
// SMTP client connection (RFC 5321), on which messages are sent one after the other. Where the server offers PIPELINING
// (RFC 2920), sender, recipient and DATA go out in one packet. TLS is used where it is offered; the caller decides
// whether to do without.

import { X509Certificate } from 'node:crypto'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import {
  type ConnectionOptions,
  connect as connectTls,
  type DetailedPeerCertificate,
  type SecureContext,
  TLSSocket,
} from 'node:tls'
import { encodeContent } from './content.ts'
import { isPositive, maxReplyBytes, type Reply, ReplyReader, replyLine } from './reply.ts'

export interface ClientOptions {
  host: string
  port: number
  /** Name that is said in EHLO. */
  hello: string
  /**
   * `opportunistic` takes any certificate: without DANE or MTA-STS a right one cannot be told (RFC 7435). `encrypted` does
   * too, unless `chainProblem` finds fault with it, but does not go on without TLS. `required` wants one of a trusted
   * authority, for `servername`.
   */
  tls: 'none' | 'opportunistic' | 'encrypted' | 'required'
  /** Problem of the server's certificates, its own first; null for none. */
  chainProblem?(chain: readonly X509Certificate[]): string | null
  /** Name that the certificate must have, where TLS is required. */
  servername?: string
  ca?: ConnectionOptions['ca']
  /** Authorities as a context that connections share: making one of many certificates takes milliseconds. */
  secureContext?: SecureContext
  /** TLS from the first byte, as on port 465. */
  isImplicitTls?: boolean
  localAddress?: string
  auth?: { username: string; password: string }
  connectMs?: number
  greetingMs?: number
  commandMs?: number
  contentMs?: number
}

export type SmtpFailure = 'connect' | 'greeting' | 'refused' | 'tls' | 'auth' | 'timeout' | 'closed' | 'garbage'

/** The server gave no usable answer; `sent` says whether it may have the message all the same. */
export class SmtpError extends Error {
  readonly kind: SmtpFailure
  readonly sent: boolean
  readonly reply: Reply | null

  constructor(kind: SmtpFailure, message: string, more: { sent?: boolean; reply?: Reply; cause?: unknown } = {}) {
    super(message, { cause: more.cause })
    this.kind = kind
    this.sent = more.sent ?? false
    this.reply = more.reply ?? null
  }
}

export interface Transaction {
  from: string
  to: string
  /** Lines end in CR LF. */
  content: Buffer
  /** Whether an address needs SMTPUTF8. */
  isUtf8: boolean
  isEightBit: boolean
}

export interface Sent {
  /** Stage at which the server accepted or refused. */
  stage: 'sender' | 'recipient' | 'data' | 'content'
  reply: Reply
}

interface Awaited {
  resolve(answer: Reply): void
  reject(error: SmtpError): void
}

export class SmtpClient {
  readonly #options: ClientOptions
  #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #reader = new ReplyReader()
  #awaited: Awaited[] = []
  #replies: Reply[] = []
  #failure: SmtpError | null = null
  #offers = new Map<string, string>()
  #isSending = false
  /** Version of TLS; null where the connection is not encrypted. */
  tls: string | null = null
  /** Reason that the certificate would not do where TLS is required; null where it would. */
  distrust: string | null = null

  private constructor(socket: Socket, options: ClientOptions) {
    this.#options = options
    this.#socket = socket
    this.#listen(socket)
  }

  /** Connects, greets, and encrypts and authenticates where that is wanted. Rejects with an SmtpError. */
  static async connect(options: ClientOptions): Promise<SmtpClient> {
    const client = new SmtpClient(await dial(options), options)
    try {
      await client.#begin()
      return client
    } catch (error) {
      client.destroy()
      throw error
    }
  }

  get isUsable(): boolean {
    return this.#failure === null && !this.#socket.destroyed
  }

  offers(extension: string): boolean {
    return this.#offers.has(extension)
  }

  /** Resolves with the server's verdict; rejects with an SmtpError where there is none, after which the client is useless. */
  async send({ from, to, content, isUtf8, isEightBit }: Transaction): Promise<Sent> {
    const { contentMs = 120_000, commandMs = 60_000 } = this.#options
    const size = this.#offers.has('SIZE') ? ` SIZE=${content.length}` : ''
    const body = isEightBit && this.#offers.has('8BITMIME') ? ' BODY=8BITMIME' : ''
    const commands = [
      `MAIL FROM:<${from}>${size}${body}${isUtf8 ? ' SMTPUTF8' : ''}\r\n`,
      `RCPT TO:<${to}>\r\n`,
      'DATA\r\n',
    ]
    const stages = ['sender', 'recipient', 'data'] as const
    const isPipelined = this.#offers.has('PIPELINING')
    if (isPipelined) this.#write(commands.join(''))
    let refused: Sent | null = null
    let isOpen = false
    for (const [i, stage] of stages.entries()) {
      if (!isPipelined) {
        if (refused) break
        this.#write(commands[i] ?? '')
      }
      const reply = await this.#next(commandMs)
      isOpen = stage === 'data' && reply.code === 354
      const isTaken = stage === 'data' ? isOpen : isPositive(reply)
      if (!isTaken && !refused) refused = { stage, reply }
    }
    if (refused) {
      if (isOpen) await this.#closeEmpty(commandMs)
      await this.#reset()
      return refused
    }
    this.#isSending = true
    this.#socket.cork()
    for (const part of encodeContent(content)) this.#socket.write(part)
    this.#socket.uncork()
    const reply = await this.#next(contentMs)
    this.#isSending = false
    return { stage: 'content', reply }
  }

  async quit(): Promise<void> {
    if (!this.isUsable) return this.destroy()
    this.#write('QUIT\r\n')
    await this.#next(2_000).catch(() => undefined)
    this.destroy()
  }

  destroy(): void {
    this.#failure ??= new SmtpError('closed', 'the connection was closed')
    this.#socket.destroy()
  }

  /** No recipient was accepted, and the server waits for content all the same: it gets none (RFC 2920 §3.1). */
  async #closeEmpty(ms: number): Promise<void> {
    this.#write('.\r\n')
    await this.#next(ms)
  }

  async #reset(): Promise<void> {
    if (!this.isUsable) return
    this.#write('RSET\r\n')
    await this.#next(this.#options.commandMs ?? 60_000).catch(() => this.destroy())
  }

  async #begin(): Promise<void> {
    const { greetingMs = 30_000, tls, auth } = this.#options
    if (this.#socket instanceof TLSSocket) this.tls = this.#socket.getProtocol()
    const greeting = await this.#next(greetingMs)
    if (greeting.code !== 220) throw new SmtpError('greeting', replyLine(greeting), { reply: greeting })
    await this.#hello()
    if (tls !== 'none' && this.tls === null) await this.#startTls(tls)
    if (auth) await this.#auth(auth)
  }

  async #hello(): Promise<void> {
    const { hello, commandMs = 60_000 } = this.#options
    this.#write(`EHLO ${hello}\r\n`)
    let answer = await this.#next(commandMs)
    if (answer.code >= 500 && answer.code !== 521) {
      this.#write(`HELO ${hello}\r\n`)
      answer = await this.#next(commandMs)
    }
    if (answer.code !== 250) throw new SmtpError('refused', replyLine(answer), { reply: answer })
    const [, ...offers] = answer.text.split('\n')
    this.#offers = new Map(
      offers.map((line) => {
        const [word = '', ...rest] = line.trim().split(' ')
        return [word.toUpperCase(), rest.join(' ')]
      }),
    )
  }

  async #startTls(wanted: 'opportunistic' | 'encrypted' | 'required'): Promise<void> {
    const { commandMs = 60_000, servername, ca, secureContext, host, chainProblem } = this.#options
    if (!this.#offers.has('STARTTLS')) {
      if (wanted !== 'opportunistic') throw new SmtpError('tls', 'the server offers no STARTTLS')
      return
    }
    this.#write('STARTTLS\r\n')
    const answer = await this.#next(commandMs)
    if (answer.code !== 220) throw new SmtpError('tls', replyLine(answer), { reply: answer })
    // Bytes from before the handshake may be injected (CVE-2011-0411 and similar).
    if (this.#received.length > 0 || this.#replies.length > 0 || this.#reader.isMidway)
      throw new SmtpError('tls', 'the server spoke before the handshake')
    const plain = this.#socket
    plain.removeAllListeners('data')
    const secure = connectTls({
      socket: plain,
      ...named(servername ?? host),
      rejectUnauthorized: wanted === 'required',
      ...(ca ? { ca } : {}),
      ...(secureContext ? { secureContext } : {}),
    })
    await shaken(secure, commandMs)
    const problem = chainProblem?.(chainOf(secure)) ?? null
    if (problem !== null) {
      secure.destroy()
      throw new SmtpError('tls', problem)
    }
    this.distrust = secure.authorized ? null : distrustOf(secure)
    this.#socket = secure
    this.tls = secure.getProtocol()
    this.#listen(secure)
    await this.#hello()
  }

  async #auth({ username, password }: { username: string; password: string }): Promise<void> {
    const { commandMs = 60_000 } = this.#options
    this.#write(`AUTH PLAIN ${Buffer.from(`\0${username}\0${password}`).toString('base64')}\r\n`)
    const answer = await this.#next(commandMs)
    if (answer.code !== 235) throw new SmtpError('auth', replyLine(answer), { reply: answer })
  }

  #write(text: string): void {
    if (this.#socket.writable) this.#socket.write(text)
  }

  #listen(socket: Socket): void {
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', (cause) => this.#fail('closed', 'the connection broke', cause))
    socket.on('close', () => this.#fail('closed', 'the server closed the connection'))
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length > 0 ? Buffer.concat([this.#received, chunk]) : chunk
    if (this.#received.length > maxReplyBytes) return this.#fail('garbage', 'the server says too much')
    for (let end = this.#received.indexOf(10); end >= 0; end = this.#received.indexOf(10)) {
      const line = this.#received.toString('utf8', 0, end).replace(/\r$/, '')
      this.#received = this.#received.subarray(end + 1)
      const answer = this.#reader.take(line)
      if (answer === 'malformed') return this.#fail('garbage', `not a reply: ${line.slice(0, 80)}`)
      if (answer === 'more') continue
      const waiting = this.#awaited.shift()
      if (waiting) waiting.resolve(answer)
      else if (this.#replies.length < 10) this.#replies.push(answer)
      else return this.#fail('garbage', 'the server answers what was not asked')
    }
  }

  #next(ms: number): Promise<Reply> {
    const early = this.#replies.shift()
    if (early) return Promise.resolve(early)
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail('timeout', `no answer within ${ms} ms`), ms)
      const settle = () => clearTimeout(timer)
      this.#awaited.push({
        resolve: (answer) => {
          settle()
          resolve(answer)
        },
        reject: (error) => {
          settle()
          reject(error)
        },
      })
    })
  }

  #fail(kind: SmtpFailure, message: string, cause?: unknown): void {
    this.#failure ??= new SmtpError(kind, message, { sent: this.#isSending, cause })
    for (const waiting of this.#awaited.splice(0)) waiting.reject(this.#failure)
    this.#socket.destroy()
  }
}

function dial({
  host,
  port,
  connectMs = 10_000,
  localAddress,
  isImplicitTls,
  servername,
  ca,
}: ClientOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const local = localAddress === undefined ? {} : { localAddress }
    const socket = isImplicitTls
      ? connectTls({ host, port, ...named(servername ?? host), ...(ca ? { ca } : {}), ...local })
      : connectTcp({ host, port, ...local })
    const fail = (message: string, cause?: unknown) => {
      socket.destroy()
      reject(new SmtpError('connect', message, { cause }))
    }
    const timer = setTimeout(() => fail(`${host} did not answer within ${connectMs} ms`), connectMs)
    const onError = (cause: Error) => {
      clearTimeout(timer)
      fail(`${host}:${port} cannot be reached: ${cause.message}`, cause)
    }
    socket.once('error', onError)
    socket.once(isImplicitTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      socket.off('error', onError)
      resolve(socket)
    })
  })
}

function shaken(socket: TLSSocket, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (message: string, cause?: unknown) => {
      clearTimeout(timer)
      socket.destroy()
      reject(new SmtpError('tls', message, { cause }))
    }
    const timer = setTimeout(() => fail('the handshake took too long'), ms)
    socket.once('secureConnect', () => {
      clearTimeout(timer)
      socket.removeAllListeners('error')
      socket.removeAllListeners('close')
      resolve()
    })
    socket.once('error', (cause) => fail(`the handshake failed: ${cause.message}`, cause))
    socket.once('close', () => fail('the connection was closed during the handshake'))
  })
}

const maxChain = 10

/** Certificates that the server sent, its own first, each followed by its issuer. */
function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = []
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  while (next?.raw && chain.length < maxChain) {
    chain.push(new X509Certificate(next.raw))
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate
  }
  return chain
}

/** Node has an error here, or only its code. */
function distrustOf({ authorizationError: error }: { authorizationError: Error | string | null }): string {
  return error instanceof Error ? error.message : (error ?? 'unknown')
}

/** An address is no name that a certificate could be asked for by. */
function named(host: string): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {}
}
