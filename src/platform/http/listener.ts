// SPDX-License-Identifier: Apache-2.0
// TCP listener for TLS and plain HTTP on one port, told apart by the first byte: 0x16 starts a TLS handshake; anything
// else is plain HTTP, served only to trusted proxies (and, in development, to this machine) and refused otherwise. The
// byte is checked once per connection, before an HTTP server sees the socket.
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import { type AddressInfo, BlockList, createServer as createTcpServer, isIPv4, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Listener {
  /**
   * TLS server for Fastify's serverFactory. Give Fastify an empty `clientErrorHandler`: malformed requests are answered
   * here, and its own handler would cut the reply off.
   */
  server: HttpsServer
  listen(port: number, host: string): Promise<AddressInfo>
  /** Stops accepting, close idle connections, and wait for requests in progress. */
  close(): Promise<void>
  destroyAll(): void
  /** Certificate for new connections; throws and changes nothing when key and certificate do not match. */
  updateIdentity(identity: { key: string; cert: string }): void
  connections(): number
}

export interface ListenerOptions {
  identity: { key: string; cert: string }
  handler: RequestListener
  /** Proxies whose plain connections are served when they send `X-Forwarded-Proto: https`. */
  trustedProxies: BlockList
  allowHttpFromLoopback: boolean
  /** Reply to plain HTTP from others. The connection ends afterwards; the body is not read. */
  refusePlain: (request: IncomingMessage, response: ServerResponse) => void
  /** Reply to bytes that are not valid HTTP, with the HTTP status and the peer's address. */
  malformed: (error: Error & { code?: string }, status: MalformedStatus, peer: string) => MalformedAnswer
  /** Handler of upgrade requests; without it they are ordinary requests. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Called when accepting a connection failed, for instance without file descriptors. The listener continues. */
  onProblem?: (problem: Error) => void
  maxConnections?: number
  timeouts?: Partial<typeof defaultTimeouts>
}

type MalformedStatus = 400 | 408 | 413 | 431

interface MalformedAnswer {
  status: number
  /** JSON text. */
  body: string
  headers?: Record<string, string>
}

const defaultTimeouts = {
  /** Timeout for the first byte, and for the TLS handshake after it. */
  silenceMs: 10_000,
  headersMs: 15_000,
  requestMs: 60_000,
  /** Longer than the 60 seconds of load balancers, so that they close idle connections first. */
  keepAliveMs: 65_000,
  /** Writes timeout: a client that reads nothing of its reply. */
  writeMs: 120_000,
  /** Check interval of `headersMs` and `requestMs`. */
  checkMs: 5_000,
  /** Times a connection stays half-open after a refusal, so that a client still sending can read it. */
  lingerMs: 2_000,
}

const tlsHandshakeByte = 0x16
const maxHeaderBytes = 16 * 1024
/** Connection limit: each holds a socket and some memory; further ones are closed at once. */
const defaultMaxConnections = 10_000
const drainSweepMs = 50

export function createListener(options: ListenerOptions): Listener {
  const timeouts = { ...defaultTimeouts, ...options.timeouts }
  const limits = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
    // Node would reply to a missing Host header with a bare 400; `withHost` replies in our format.
    requireHostHeader: false,
  }
  const serve = withHost(options)
  const guard = plainGuard(options, timeouts.lingerMs)
  const servePlain = guard(serve)
  const tls = createHttpsServer(
    { ...limits, ...secureOptions(options.identity), handshakeTimeout: timeouts.silenceMs },
    serve,
  )
  const plain = createHttpServer(limits, servePlain)
  // Without this listener Node would send "100 Continue" for a request about to be refused.
  const continueAndServe: RequestListener = (request, response) => {
    response.writeContinue()
    serve(request, response)
  }
  plain.on('checkContinue', guard(continueAndServe))
  // RFC 9110 lets a server ignore unknown expectations; Node would reply with a bare 417.
  tls.on('checkExpectation', serve)
  plain.on('checkExpectation', servePlain)
  const { upgrade } = options
  if (upgrade) {
    tls.on('upgrade', upgrade)
    plain.on('upgrade', (request, socket, head) => {
      if (isServedPlain(options, request)) upgrade(request, socket, head)
      else socket.destroy()
    })
  }
  for (const server of [tls, plain]) {
    server.timeout = timeouts.writeMs
    server.on('timeout', endUnread)
    server.on('clientError', (error: Error & { code?: string }, socket) => {
      answerMalformed(options, error, socket, timeouts.lingerMs)
    })
  }

  /** All TCP connections; those without a byte yet; and the sockets HTTP is written to. */
  const open = new Set<Socket>()
  const silent = new Set<Socket>()
  const speaking = new Set<Socket>()
  tls.on('secureConnection', (socket) => {
    speaking.add(socket)
    socket.once('close', () => speaking.delete(socket))
  })

  const port = createTcpServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: timeouts.keepAliveMs })
  port.maxConnections = options.maxConnections ?? defaultMaxConnections
  port.on('connection', (socket) => {
    open.add(socket)
    silent.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      silent.delete(socket)
      speaking.delete(socket)
    })
    // A peer may disconnect at any time, also before an HTTP server owns the socket.
    socket.on('error', () => {})
    const hangUp = () => socket.destroy()
    socket.setTimeout(timeouts.silenceMs, hangUp)
    socket.once('data', (first: Buffer) => {
      silent.delete(socket)
      socket.setTimeout(0, hangUp)
      socket.pause()
      socket.unshift(first)
      if (first[0] === tlsHandshakeByte) {
        tls.emit('connection', socket)
        return
      }
      speaking.add(socket)
      plain.emit('connection', socket)
      socket.resume()
    })
  })

  function listen(number: number, host: string): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      port.once('error', reject)
      port.listen(number, host, () => {
        port.removeListener('error', reject)
        port.on('error', (problem) => options.onProblem?.(problem))
        // Node starts its header and request timeouts on this event, which a server without a port never emits.
        tls.emit('listening')
        plain.emit('listening')
        const address = port.address()
        if (address === null || typeof address === 'string') reject(new Error('The port has no TCP address.'))
        else resolve(address)
      })
    })
  }

  function drain(): Promise<void> {
    return new Promise((resolve) => {
      const sweeping = setInterval(sweep, drainSweepMs)
      port.close(async () => {
        // The server counts a connection as closed just before its socket emits `close`.
        for (const socket of open) await new Promise((ended) => socket.once('close', ended))
        clearInterval(sweeping)
        tls.close()
        plain.close()
        resolve()
      })
      for (const server of [tls, plain]) {
        server.prependListener('request', (_, response) => response.setHeader('connection', 'close'))
      }
      for (const socket of silent) socket.destroy()
      sweep()
    })
  }

  /**
   * Closes idle connections once nothing is left to write: Node counts a connection as idle when its response was handed
   * over, and would cut off the unwritten rest.
   */
  function sweep(): void {
    for (const socket of speaking) if (socket.writableLength > 0) return
    tls.closeIdleConnections()
    plain.closeIdleConnections()
  }

  let draining: Promise<void> | undefined
  return {
    server: tls,
    listen,
    close: () => {
      draining ??= drain()
      return draining
    },
    destroyAll: () => {
      for (const socket of open) socket.destroy()
    },
    updateIdentity: (identity) => tls.setSecureContext(secureOptions(identity)),
    connections: () => open.size,
  }
}

/** Ciphers: TLS 1.2 with forward secrecy and AEAD, and all of TLS 1.3. */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

function secureOptions(identity: { key: string; cert: string }) {
  return {
    ciphers,
    key: identity.key,
    cert: identity.cert,
    minVersion: 'TLSv1.2' as const,
    ALPNProtocols: ['http/1.1'],
  }
}

/** Requires exactly one Host header (RFC 9112 3.2): of two, a proxy may have used the other. */
function withHost(options: ListenerOptions): RequestListener {
  const { handler } = options
  return (request, response) => {
    const hosts = hostsIn(request)
    if (hosts === 1 || (hosts === 0 && request.httpVersion !== '1.1')) {
      handler(request, response)
      return
    }
    const problem = new Error(hosts === 0 ? 'the request has no Host header' : 'the request has two Host headers')
    const answer = options.malformed(problem, 400, addressOf(request.socket))
    response.writeHead(answer.status, { ...answer.headers, ...jsonHeaders(answer.body) }).end(answer.body)
  }
}

function hostsIn({ rawHeaders, headers }: IncomingMessage): number {
  if (headers.host === undefined) return 0
  let found = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') found++
  return found
}

type PlainPeer = 'open' | 'proxy' | 'stranger' | 'refused'

/** Serves or refuse plain requests. The peer is classified once per connection. */
function plainGuard(options: ListenerOptions, lingerMs: number): (serve: RequestListener) => RequestListener {
  const peers = new WeakMap<Socket, PlainPeer>()
  return (serve) => (request, response) => {
    const { socket } = request
    const peer = peers.get(socket) ?? plainPeer(options, socket.remoteAddress)
    peers.set(socket, peer)
    if (peer === 'open' || (peer === 'proxy' && isForwardedHttps(request))) {
      serve(request, response)
      return
    }
    // Requests pipelined after a refused one are ignored: the connection is ending.
    if (peer === 'refused') return
    peers.set(socket, 'refused')
    response.shouldKeepAlive = false
    // Closing a socket with unread input would reset the connection and lose the reply: half-close it, and Node
    // discards further input.
    socket.destroySoon = () => linger(socket, lingerMs)
    options.refusePlain(request, response)
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Classifies a peer. Dual-stack ports report IPv4 peers as ::ffff:192.0.2.1, which BlockList understands. */
function plainPeer(options: ListenerOptions, address: string | undefined): PlainPeer {
  if (address === undefined) return 'stranger'
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  if (options.allowHttpFromLoopback && loopback.check(address, family)) return 'open'
  return options.trustedProxies.check(address, family) ? 'proxy' : 'stranger'
}

function isServedPlain(options: ListenerOptions, request: IncomingMessage): boolean {
  const peer = plainPeer(options, request.socket.remoteAddress)
  return peer === 'open' || (peer === 'proxy' && isForwardedHttps(request))
}

/** Several proxies give several values: the request was encrypted only if all say so. */
function isForwardedHttps(request: IncomingMessage): boolean {
  const protocols = String(request.headers['x-forwarded-proto'] ?? '').split(',')
  return protocols.every((protocol) => protocol.trim().toLowerCase() === 'https')
}

const malformedStatuses: Record<string, MalformedStatus> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** Reply to malformed bytes. Failed TLS handshakes and lost connections arrive here too; they get no reply. */
function answerMalformed(
  options: ListenerOptions,
  error: Error & { code?: string },
  socket: Duplex,
  lingerMs: number,
): void {
  const code = error.code ?? ''
  const isHttp = code.startsWith('HPE_') || code.startsWith('ERR_HTTP_')
  const response = responseInProgress(socket)
  if (isHttp && response?.req.complete && !response.headersSent && !socket.destroyed) {
    closeAfter(response, socket)
    return
  }
  if (!isHttp || socket.destroyed || response?.headersSent) {
    socket.destroy()
    return
  }
  // Further bytes are reported as errors too, while the reply is being sent.
  if (socket.writableEnded) return
  try {
    const answer = options.malformed(error, malformedStatuses[code] ?? 400, addressOf(socket))
    const headers = { ...answer.headers, ...jsonHeaders(answer.body), connection: 'close' }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const status = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? 'Error'}\r\n`
    socket.write(`${status}${lines.join('')}\r\n${answer.body}`)
    linger(socket, lingerMs)
  } catch (problem) {
    socket.destroy()
    options.onProblem?.(problem instanceof Error ? problem : new Error(String(problem)))
  }
}

/**
 * Closes a connection after its timeout: an idle one, or one whose client does not read. One that waits for its reply,
 * or is a live stream, stays.
 */
function endUnread(socket: Socket): void {
  if (responseInProgress(socket) === null || socket.writableLength > 0) socket.destroy()
}

function addressOf(socket: Duplex): string {
  return (socket instanceof Socket ? socket.remoteAddress : undefined) ?? '0.0.0.0'
}

function jsonHeaders(body: string): Record<string, string> {
  return { 'content-type': 'application/json; charset=utf-8', 'content-length': String(Buffer.byteLength(body)) }
}

/** Response in progress on a socket; Node keeps it under this name. */
function responseInProgress(socket: Duplex): ServerResponse | null {
  const response: unknown = Reflect.get(socket, '_httpMessage')
  return response instanceof ServerResponse ? response : null
}

/**
 * Extra bytes after a complete request: its own reply is sent and the connection then closed. A 400 would claim that
 * nothing was done.
 */
function closeAfter(response: ServerResponse, socket: Duplex): void {
  response.shouldKeepAlive = false
  response.once('close', () => socket.destroy())
}

/** Half-close, then wait briefly for the peer to close. */
function linger(socket: Duplex, lingerMs: number): void {
  if (socket.writableEnded) return
  socket.end()
  const giveUp = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(giveUp))
}
