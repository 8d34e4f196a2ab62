// SPDX-License-Identifier: Apache-2.0
// Carries SIP messages over UDP, TCP and TLS (RFC 3261 §18): framing on streams, reuse of connections, `received` and `rport`
// (RFC 3581). It parses what arrives, drops what cannot be answered, and knows nothing of transactions.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect as connectTcp, createServer as createTcpServer, isIP, type Server, type Socket } from 'node:net'
import {
  connect as connectTls,
  createServer as createTlsServer,
  type SecureContextOptions,
  Server as TlsServer,
} from 'node:tls'
import { SipError } from './error.ts'
import { parseVia, viaText } from './header-values.ts'
import {
  contentLength,
  endOfHead,
  MessageError,
  maximumMessageBytes,
  parseHead,
  parseMessage,
  type SipMessage,
  type SipRequest,
  serialise,
} from './message.ts'

export type TransportName = 'udp' | 'tcp' | 'tls'

export interface Peer {
  transport: TransportName
  host: string
  port: number
  /** Name that the certificate of a TLS peer is for, where it is not the host. */
  name?: string
}

export interface TransportHandlers {
  message(message: SipMessage, from: Peer): void
  /** A request that breaks the rules, but says enough to be answered. */
  malformed?(message: SipRequest, status: number, reason: string, from: Peer): void
  /** A connection that was in use is gone. */
  lost?(peer: Peer): void
  /** A message was read and could not be handled, which is a mistake of ours. Without this handler it is thrown. */
  failed?(error: unknown, from: Peer): void
}

export interface TransportOptions {
  host: string
  /** Ports by transport; 0 takes a free one, absent does not listen. */
  ports: Partial<Record<TransportName, number>>
  /** Certificate of this side, for TLS. */
  tls?: SecureContextOptions
  /** Certificates that connections to others are checked against. */
  trusted?: string
  /** Name that the certificate at a host is for, where it is not for the host. */
  nameAt?(host: string): string | null
}

const maxConnections = 1_000
const idleConnectionMs = 10 * 60_000
const connectMs = 5_000

export class SipTransport {
  readonly #streams = new Map<string, Socket>()
  readonly #servers: Server[] = []
  #options: TransportOptions
  readonly #handlers: TransportHandlers
  #udp: DatagramSocket | null = null
  readonly ports: Partial<Record<TransportName, number>> = {}
  dropped = 0

  private constructor(options: TransportOptions, handlers: TransportHandlers) {
    this.#options = options
    this.#handlers = handlers
  }

  static async open(options: TransportOptions, handlers: TransportHandlers): Promise<SipTransport> {
    const transport = new SipTransport(options, handlers)
    try {
      const { udp, tcp, tls } = options.ports
      if (udp !== undefined) await transport.#openUdp(udp)
      if (tcp !== undefined) await transport.#openStream('tcp', tcp)
      if (tls !== undefined) await transport.#openStream('tls', tls)
    } catch (error) {
      await transport.close()
      throw error
    }
    return transport
  }

  async #openUdp(port: number): Promise<void> {
    const socket = createSocket({ type: isIP(this.#options.host) === 6 ? 'udp6' : 'udp4', recvBufferSize: 1 << 20 })
    socket.on('message', (bytes, { address, port: from }) => {
      // Keep-alives of NAT (RFC 5626 §3.5.1 and empty datagrams) say nothing.
      if (bytes.length > 4) this.#take(bytes, { transport: 'udp', host: address, port: from })
    })
    socket.on('error', () => undefined)
    socket.bind(port, this.#options.host)
    await once(socket, 'listening')
    this.#udp = socket
    this.ports.udp = socket.address().port
  }

  async #openStream(name: 'tcp' | 'tls', port: number): Promise<void> {
    const accept = (socket: Socket) => {
      const peer = { transport: name, host: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 }
      this.#adopt(socket, peer)
    }
    const server = name === 'tcp' ? createTcpServer(accept) : createTlsServer({ ...this.#options.tls }, accept)
    server.maxConnections = maxConnections
    server.on('tlsClientError', () => undefined)
    server.listen(port, this.#options.host)
    await once(server, 'listening')
    this.#servers.push(server)
    const address = server.address()
    if (address && typeof address === 'object') this.ports[name] = address.port
  }

  /** Uses another certificate for connections from now on. */
  updateIdentity(tls: SecureContextOptions): void {
    this.#options = { ...this.#options, tls }
    for (const server of this.#servers) if (server instanceof TlsServer) server.setSecureContext(tls)
  }

  /** Sends a message; a stream is opened when there is none. Failure to open it is told by the promise. */
  async send(message: SipMessage, to: Peer): Promise<void> {
    const bytes = serialise(message)
    if (to.transport === 'udp') return this.#sendDatagram(bytes, to)
    const stream = this.#streamTo(to) ?? (await this.#dial(to))
    if (!stream.write(bytes) && stream.writableLength > 8 * maximumMessageBytes) stream.destroy()
  }

  #streamTo(to: Peer): Socket | undefined {
    return this.#streams.get(keyOf(to)) ?? this.#streams.get(keyOf({ ...to, name: this.#nameOf(to) }))
  }

  #sendDatagram(bytes: Buffer, to: Peer): Promise<void> {
    return new Promise((done, failed) => {
      if (!this.#udp) return failed(new Error('no UDP socket is open'))
      this.#udp.send(bytes, to.port, to.host, (error) => (error ? failed(error) : done()))
    })
  }

  async #dial(to: Peer): Promise<Socket> {
    if (this.#streams.size >= maxConnections) throw new Error('too many connections are open')
    const { tls, trusted } = this.#options
    const address = { host: to.host, port: to.port }
    const socket =
      to.transport === 'tcp'
        ? connectTcp(address)
        : connectTls({ ...address, ...tls, ...(trusted ? { ca: trusted } : {}), ...serverName(this.#nameOf(to)) })
    socket.setTimeout(connectMs, () => socket.destroy(new Error('connecting took too long')))
    await once(socket, to.transport === 'tcp' ? 'connect' : 'secureConnect')
    this.#adopt(socket, to)
    return socket
  }

  #nameOf({ host, name }: Peer): string {
    return name ?? this.#options.nameAt?.(host) ?? host
  }

  #adopt(socket: Socket, peer: Peer): void {
    const key = keyOf(peer)
    this.#streams.set(key, socket)
    socket.setNoDelay(true)
    socket.setTimeout(idleConnectionMs, () => socket.destroy())
    const reader = new StreamReader((message) => this.#deliver(message, peer))
    socket.on('data', (bytes) => {
      try {
        reader.push(bytes)
      } catch (error) {
        this.#refuse(error, peer)
        socket.end()
      }
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (this.#streams.get(key) === socket) this.#streams.delete(key)
      this.#handlers.lost?.(peer)
    })
  }

  #take(bytes: Buffer, from: Peer): void {
    try {
      this.#deliver(parseMessage(bytes), from)
    } catch (error) {
      this.#refuse(error, from)
    }
  }

  #deliver(message: SipMessage, from: Peer): void {
    if (message.kind === 'request') stampSource(message, from)
    this.#handlers.message(message, from)
  }

  /** Answers a message that breaks the rules where it says enough for it, and drops it otherwise. Nothing that arrives may throw. */
  #refuse(error: unknown, from: Peer): void {
    if (!(error instanceof SipError)) return this.#failed(error, from)
    this.dropped++
    const partial = error instanceof MessageError ? error.partial : null
    const isAnswerable =
      partial?.kind === 'request' &&
      partial.method !== 'ACK' &&
      ['via', 'from', 'to', 'call-id', 'cseq'].every((name) => partial.headers.get(name) !== null)
    if (!isAnswerable) return
    try {
      stampSource(partial, from)
      this.#handlers.malformed?.(partial, error.status, error.message, from)
    } catch (problem) {
      if (!(problem instanceof SipError)) this.#failed(problem, from)
    }
  }

  #failed(error: unknown, from: Peer): void {
    if (!this.#handlers.failed) throw error
    this.#handlers.failed(error, from)
  }

  async close(): Promise<void> {
    this.#udp?.close()
    this.#udp = null
    for (const stream of this.#streams.values()) stream.destroy()
    await Promise.all(this.#servers.map((server) => new Promise((done) => server.close(done))))
  }
}

/** A connection whose certificate was for one name is none for another. */
function keyOf({ transport, host, port, name = '' }: Peer): string {
  return `${transport} ${host} ${port} ${transport !== 'tls' || name === host ? '' : name}`
}

function serverName(host: string): { servername?: string } {
  return isIP(host) ? {} : { servername: host }
}

/** Notes at the topmost Via where a request really came from (RFC 3261 §18.2.1, RFC 3581 §4). */
function stampSource(request: SipRequest, from: Peer): void {
  const [top] = request.headers.all('via')
  if (!top) return
  const via = parseVia(top)
  const parameters = new Map(via.parameters)
  const asksForPort = parameters.has('rport')
  // A `received` from the sender itself is ignored: it could direct answers to others.
  const wasStamped = parameters.delete('received')
  if (via.host === from.host && !asksForPort && !wasStamped) return
  parameters.delete('rport')
  parameters.set('received', from.host)
  if (asksForPort) parameters.set('rport', `${from.port}`)
  const stamped = viaText({ ...via, parameters })
  request.headers.removeFirst('via').prepend('via', stamped)
}

/** Peer for the answer to a request: back over its connection, or as the topmost Via says. */
export function returnPath(request: SipRequest, from: Peer): Peer {
  if (from.transport !== 'udp') return from
  const via = parseVia(request.headers.all('via')[0] ?? '')
  const rport = via.parameters.get('rport')
  return {
    transport: 'udp',
    host: via.parameters.get('received') ?? via.host,
    port: rport ? Number(rport) : (via.port ?? 5060),
  }
}

/** Cuts a stream into messages by Content-Length, which is mandatory there (RFC 3261 §18.3). */
class StreamReader {
  #waiting: Buffer = Buffer.alloc(0)
  readonly #emit: (message: SipMessage) => void

  constructor(emit: (message: SipMessage) => void) {
    this.#emit = emit
  }

  push(bytes: Buffer): void {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes])
    for (let message = this.#next(); message; message = this.#next()) this.#emit(message)
  }

  #next(): SipMessage | null {
    let start = 0
    while (this.#waiting[start] === 13 || this.#waiting[start] === 10) start++
    if (start > 0) this.#waiting = this.#waiting.subarray(start)
    const end = endOfHead(this.#waiting)
    if (end === null) return null
    const message = parseHead(this.#waiting.subarray(0, end.head))
    const length = contentLength(message)
    if (length === null) throw new MessageError(400, 'A stream needs Content-Length', message)
    if (length > maximumMessageBytes) throw new MessageError(513, 'Message Too Large', message)
    if (this.#waiting.length < end.body + length) return null
    message.body = Buffer.from(this.#waiting.subarray(end.body, end.body + length))
    this.#waiting = this.#waiting.subarray(end.body + length)
    return message
  }
}
