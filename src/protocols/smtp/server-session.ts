// SPDX-License-Identifier: Apache-2.0
// One connection to an SMTP server of ours: submission (RFC 6409), or the server that takes bounces and the sandbox's mail
// (RFC 5321). It reads commands and content, strictly; whether a sender, a recipient or a message is taken is asked of
// its host. Nothing is read ahead while the host decides, beyond what one read of the socket gave.
import type { Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { type Command, parseCommand } from './command.ts'
import { ContentReader } from './content.ts'
import { encodeReply, type Reply, reply } from './reply.ts'

const maxLineBytes = 2_048
const maxAuthLineBytes = 12_288
/** Commands that make no sense, after which a client is sent away. */
const maxBadCommands = 10

export interface Envelope {
  readonly from: string
  readonly to: readonly string[]
  readonly isUtf8: boolean
  readonly isEightBit: boolean
  /** Parameters of MAIL and of each RCPT, such as RET, ENVID, NOTIFY and ORCPT (RFC 3461). */
  readonly params: ReadonlyMap<string, string>
  readonly recipientParams: readonly ReadonlyMap<string, string>[]
}

/** The client as the host may want to know it. */
export interface Peer {
  readonly address: string
  readonly hello: string
  /** TLS version; null when the connection is not encrypted. */
  readonly tls: string | null
  /** User as the host returned it when the client authenticated. */
  readonly user: unknown
}

export interface ServerHost {
  /** Name in the greeting. */
  readonly hostname: string
  /** Certificates for STARTTLS; null when it is not offered. Asked for each connection, since they are renewed. */
  secureContext(): SecureContext | null
  /** Whether mail is taken only from those who authenticated, and AUTH only over TLS. */
  readonly isSubmission: boolean
  readonly maxBytes: number
  readonly maxRecipients: number
  readonly maxMessages: number
  readonly idleMs: number
  /** A greeting other than 220, which ends the session. */
  greet?(peer: Peer): Promise<Reply | null>
  /** A user, or the reply that refuses the credentials. */
  authenticate?(username: string, password: string, peer: Peer): Promise<{ user: unknown } | { refused: Reply }>
  /** Reply that refuses a sender; null when it is taken. */
  sender?(from: string, peer: Peer): Promise<Reply | null>
  recipient?(to: string, envelope: { from: string; to: readonly string[] }, peer: Peer): Promise<Reply | null>
  /** The content is whole; the reply is sent once this is fulfilled. 'reset' cuts the connection without a word. */
  message(envelope: Envelope, content: Buffer, peer: Peer): Promise<Reply | 'reset'>
  /** Time to let pass before each reply. */
  delayMs?(peer: Peer, recipient: string | null): number
}

interface Draft {
  from: string
  params: ReadonlyMap<string, string>
  to: string[]
  recipientParams: ReadonlyMap<string, string>[]
}

const ready = reply(250, '2.0.0 Ok')
const badSequence = reply(503, '5.5.1 Bad sequence of commands')
const notSupported = reply(555, '5.5.4 A parameter is not supported')
const smuggling = reply(521, '5.5.2 Lines must end in CR LF; nothing was imported')
const mailParams = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'RET', 'ENVID', 'AUTH'])
const recipientParams = new Set(['NOTIFY', 'ORCPT'])

export class ServerSession {
  readonly #host: ServerHost
  #socket: Socket
  /** The connection under TLS, which alone can be cut without a word. */
  readonly #wire: Socket
  readonly #address: string
  #isSecure: boolean
  #input: Buffer = Buffer.alloc(0)
  #content: ContentReader | null = null
  #awaitLine: ((line: string) => Promise<void>) | null = null
  #hello: string | null = null
  #user: unknown = null
  #draft: Draft | null = null
  #messages = 0
  #bad = 0
  #isBusy = false
  #isOver = false
  #isDraining = false
  readonly closed: Promise<void>

  constructor(socket: Socket, host: ServerHost) {
    this.#host = host
    this.#socket = socket
    this.#wire = socket
    this.#address = socket.remoteAddress ?? ''
    this.#isSecure = socket instanceof TLSSocket
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()))
    this.#listen(socket)
    void this.#run(async () => {
      const refusal = await host.greet?.(this.#peer())
      if (refusal) return this.#end(refusal)
      await this.#reply(reply(220, `${host.hostname} ESMTP`))
    })
  }

  /** Takes no further message: the client is told so when it asks for the next, or now if it asks for nothing. */
  drain(): void {
    this.#isDraining = true
    if (!this.#isBusy && this.#content === null && this.#draft === null) this.#end(shuttingDown)
  }

  destroy(): void {
    this.#isOver = true
    this.#socket.destroy()
  }

  #listen(socket: Socket): void {
    socket.setTimeout(this.#host.idleMs, () => this.#end(reply(421, '4.4.2 Idle for too long')))
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      this.#input = this.#input.length > 0 ? Buffer.concat([this.#input, chunk]) : chunk
      void this.#run(() => this.#consume())
    })
    socket.setNoDelay(true)
  }

  /** Runs one thing at a time: while the host decides, the socket is not read. */
  async #run(what: () => Promise<void>): Promise<void> {
    if (this.#isBusy || this.#isOver) return
    this.#isBusy = true
    this.#socket.pause()
    try {
      await what()
      if (this.#input.length > 0) await this.#consume()
    } catch {
      this.#end(reply(451, '4.3.0 This server could not do that; try again later'))
    } finally {
      this.#isBusy = false
      if (!this.#isOver) this.#socket.resume()
    }
  }

  async #consume(): Promise<void> {
    while (!this.#isOver && this.#input.length > 0) {
      if (this.#content) {
        if (!(await this.#takeContent(this.#content))) return
        continue
      }
      const end = this.#input.indexOf(10)
      const most = this.#awaitLine ? maxAuthLineBytes : maxLineBytes
      if (end > most || (end < 0 && this.#input.length > most)) return this.#end(reply(500, '5.5.2 Line too long'))
      if (end < 0) return
      if (end === 0 || this.#input.indexOf(13) !== end - 1) return this.#end(smuggling)
      const line = this.#input.toString('utf8', 0, end - 1)
      this.#input = this.#input.subarray(end + 1)
      const awaited = this.#awaitLine
      this.#awaitLine = null
      await (awaited ? awaited(line) : this.#obey(parseCommand(line)))
    }
  }

  /** Reads content; false when more bytes must come first. */
  async #takeContent(reader: ContentReader): Promise<boolean> {
    const input = this.#input
    this.#input = Buffer.alloc(0)
    const end = reader.push(input)
    if (end.kind === 'more') return false
    if (end.kind === 'bare_line_end') this.#end(smuggling)
    if (end.kind === 'flood') this.#end(reply(552, '5.3.4 Message too large'))
    if (end.kind === 'bare_line_end' || end.kind === 'flood') return false
    this.#content = null
    this.#input = end.rest
    const envelope = envelopeOf(this.#draft)
    this.#draft = null
    if (end.kind === 'too_large' || !envelope) {
      await this.#reply(reply(552, '5.3.4 Message too large'))
      return true
    }
    this.#messages += 1
    const verdict = await this.#host.message(envelope, end.content, this.#peer())
    if (verdict === 'reset') this.destroyWithReset()
    else await this.#reply(verdict, envelope.to[0])
    return true
  }

  /** Cuts the connection as a crash would. */
  destroyWithReset(): void {
    this.#isOver = true
    if (this.#wire instanceof TLSSocket) this.#wire.destroy()
    else this.#wire.resetAndDestroy()
  }

  async #obey(command: Command): Promise<void> {
    if (this.#isDraining && command.verb !== 'QUIT') return this.#end(shuttingDown)
    switch (command.verb) {
      case 'EHLO':
      case 'HELO':
        return this.#greet(command.verb, command.name)
      case 'STARTTLS':
        return this.#startTls()
      case 'AUTH':
        return this.#auth(command.mechanism, command.initial)
      case 'MAIL':
        return this.#mail(command.from, command.params)
      case 'RCPT':
        return this.#rcpt(command.to, command.params)
      case 'DATA':
        return this.#data()
      case 'RSET':
        this.#draft = null
        return this.#reply(ready)
      case 'NOOP':
        return this.#reply(ready)
      case 'VRFY':
        return this.#reply(reply(252, '2.5.0 Send some mail and see'))
      case 'HELP':
        return this.#reply(reply(214, '2.0.0 See RFC 5321'))
      case 'QUIT':
        return this.#end(reply(221, '2.0.0 Bye'))
      case 'bad_address':
        return this.#reply(reply(553, '5.1.3 INVALID_EMAIL The address is not valid'))
      case 'malformed':
        return this.#wrong(reply(501, `5.5.4 Syntax error in the parameters of ${command.of}`))
      case 'unknown':
        return this.#wrong(reply(500, '5.5.2 Command not recognised'))
    }
  }

  async #wrong(answer: Reply): Promise<void> {
    if (++this.#bad >= maxBadCommands) return this.#end(reply(421, '4.7.0 Too many errors'))
    await this.#reply(answer)
  }

  async #greet(verb: 'EHLO' | 'HELO', name: string): Promise<void> {
    this.#hello = name
    this.#draft = null
    if (verb === 'HELO') return this.#reply(reply(250, this.#host.hostname))
    const { isSubmission, maxBytes } = this.#host
    const offers = [
      this.#host.hostname,
      'PIPELINING',
      `SIZE ${maxBytes}`,
      '8BITMIME',
      'SMTPUTF8',
      'ENHANCEDSTATUSCODES',
      'DSN',
    ]
    if (!this.#isSecure && this.#host.secureContext()) offers.push('STARTTLS')
    if (isSubmission && this.#isSecure) offers.push('AUTH PLAIN LOGIN')
    await this.#reply(reply(250, offers.join('\n')))
  }

  async #startTls(): Promise<void> {
    const secureContext = this.#isSecure ? null : this.#host.secureContext()
    if (!secureContext) return this.#reply(badSequence)
    // Commands sent before the handshake may be injected.
    if (this.#input.length > 0) return this.#end(reply(521, '5.5.1 Nothing may follow STARTTLS before the handshake'))
    const plain = this.#socket
    plain.removeAllListeners('data')
    plain.removeAllListeners('timeout')
    await this.#reply(reply(220, '2.0.0 Ready to start TLS'))
    const secure = new TLSSocket(plain, { isServer: true, secureContext })
    this.#socket = secure
    this.#isSecure = true
    this.#hello = null
    this.#draft = null
    this.#listen(secure)
    // Paused sockets do not shake hands.
    secure.resume()
  }

  async #auth(mechanism: string, initial: string | null): Promise<void> {
    const { authenticate, isSubmission } = this.#host
    if (!isSubmission || !authenticate) return this.#reply(reply(502, '5.5.1 AUTH is not offered'))
    if (!this.#isSecure) return this.#reply(reply(538, '5.7.11 Start TLS before AUTH'))
    if (this.#user !== null || this.#draft || this.#hello === null) return this.#reply(badSequence)
    if (mechanism === 'PLAIN') return this.#authPlain(initial)
    if (mechanism === 'LOGIN') return this.#authLogin(initial)
    return this.#reply(reply(504, '5.5.4 Use AUTH PLAIN or AUTH LOGIN'))
  }

  async #authPlain(initial: string | null): Promise<void> {
    if (initial === null) return this.#prompt('', (line) => this.#authPlain(line))
    const [, username, password, ...more] = (decodeBase64(initial) ?? '').split('\0')
    if (username === undefined || password === undefined || more.length > 0) return this.#wrong(malformedAuth)
    await this.#judge(username, password)
  }

  async #authLogin(initial: string | null): Promise<void> {
    if (initial === null) return this.#prompt('VXNlcm5hbWU6', (line) => this.#authLogin(line))
    const username = decodeBase64(initial)
    if (username === null) return this.#wrong(malformedAuth)
    await this.#prompt('UGFzc3dvcmQ6', async (line) => {
      const password = decodeBase64(line)
      await (password === null ? this.#wrong(malformedAuth) : this.#judge(username, password))
    })
  }

  async #prompt(text: string, then: (line: string) => Promise<void>): Promise<void> {
    this.#awaitLine = async (line) => (line === '*' ? this.#reply(reply(501, '5.7.0 Cancelled')) : then(line))
    await this.#reply({ code: 334, enhanced: null, text })
  }

  async #judge(username: string, password: string): Promise<void> {
    const verdict = await this.#host.authenticate?.(username, password, this.#peer())
    if (verdict && 'user' in verdict) {
      this.#user = verdict.user
      return this.#reply(reply(235, '2.7.0 Authenticated'))
    }
    const refused = verdict?.refused ?? reply(535, '5.7.8 Authentication failed')
    if (refused.code === 421) return this.#end(refused)
    await this.#wrong(refused)
  }

  async #mail(from: string, params: ReadonlyMap<string, string>): Promise<void> {
    const { isSubmission, maxBytes, maxMessages } = this.#host
    if (isSubmission && !this.#isSecure) return this.#reply(reply(530, '5.7.0 Start TLS first'))
    if (isSubmission && this.#user === null) return this.#reply(reply(530, '5.7.0 Authenticate first'))
    if (this.#draft || this.#hello === null) return this.#reply(badSequence)
    if (this.#messages >= maxMessages) return this.#end(reply(421, '4.7.0 Enough messages for one connection'))
    if ([...params.keys()].some((key) => !mailParams.has(key))) return this.#reply(notSupported)
    if (Number(params.get('SIZE') ?? 0) > maxBytes) return this.#reply(reply(552, '5.3.4 Message too large'))
    if (!areAscii(from) && !params.has('SMTPUTF8')) return this.#reply(reply(553, '5.6.7 SMTPUTF8 is needed'))
    const refusal = await this.#host.sender?.(from, this.#peer())
    if (refusal) return this.#reply(refusal)
    this.#draft = { from, params, to: [], recipientParams: [] }
    await this.#reply(reply(250, '2.1.0 Ok'))
  }

  async #rcpt(to: string, params: ReadonlyMap<string, string>): Promise<void> {
    const draft = this.#draft
    if (!draft) return this.#reply(badSequence)
    if ([...params.keys()].some((key) => !recipientParams.has(key))) return this.#reply(notSupported)
    if (draft.to.length >= this.#host.maxRecipients) return this.#reply(reply(452, '4.5.3 Too many recipients'))
    if (!areAscii(to) && !draft.params.has('SMTPUTF8')) return this.#reply(reply(553, '5.6.7 SMTPUTF8 is needed'))
    const refusal = await this.#host.recipient?.(to, draft, this.#peer())
    if (refusal) return this.#reply(refusal, to)
    draft.to.push(to)
    draft.recipientParams.push(params)
    await this.#reply(reply(250, '2.1.5 Ok'), to)
  }

  async #data(): Promise<void> {
    if (!this.#draft) return this.#reply(badSequence)
    if (this.#draft.to.length === 0) return this.#reply(reply(554, '5.5.1 No valid recipients'))
    this.#content = new ContentReader(this.#host.maxBytes)
    await this.#reply(reply(354, 'End data with <CR><LF>.<CR><LF>'), this.#draft.to[0])
  }

  #peer(): Peer {
    const tls = this.#socket instanceof TLSSocket ? this.#socket.getProtocol() : null
    return { address: this.#address, hello: this.#hello ?? '', tls, user: this.#user }
  }

  async #reply(answer: Reply, recipient: string | null = this.#draft?.to[0] ?? null): Promise<void> {
    const waitMs = this.#host.delayMs?.(this.#peer(), recipient) ?? 0
    if (waitMs > 0) await this.#pause(waitMs)
    if (!this.#isOver && !this.#socket.destroyed) this.#socket.write(encodeReply(answer))
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#socket.once('close', () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #end(answer: Reply): void {
    if (this.#isOver) return
    this.#isOver = true
    const socket = this.#socket
    socket.resume()
    if (!socket.destroyed) socket.end(encodeReply(answer))
    setTimeout(() => socket.destroy(), 1_000).unref()
  }
}

const shuttingDown = reply(421, '4.3.2 Shutting down; try again at once elsewhere, or here later')
const malformedAuth = reply(501, '5.5.2 Cannot decode the credentials')

function envelopeOf(draft: Draft | null): Envelope | null {
  if (!draft) return null
  const { from, to, params, recipientParams: each } = draft
  const isEightBit = params.get('BODY')?.toUpperCase() === '8BITMIME'
  return { from, to, params, recipientParams: each, isEightBit, isUtf8: params.has('SMTPUTF8') }
}

function areAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

function decodeBase64(text: string): string | null {
  if (text === '=') return ''
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64').toString() : null
}
