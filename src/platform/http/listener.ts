// SPDX-License-Identifier: Apache-2.0
// One TCP port for everything: the first byte of a connection decides. 0x16 opens a TLS handshake; anything else is
// plain HTTP, which is served only to trusted proxies (and, in development, to this machine) and refused otherwise.
// The look at the first byte happens once per connection, before either HTTP server sees the socket.
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
   * The TLS side, for Fastify's serverFactory. Give Fastify a `clientErrorHandler` that does nothing: malformed
   * requests are answered here, and its own handler would cut that answer off.
   */
  server: HttpsServer
  listen(port: number, host: string): Promise<AddressInfo>
  /** Stops accepting and ends idle connections; resolves when the requests in progress and their connections ended. */
  close(): Promise<void>
  destroyAll(): void
  /** Used by connections from now on; throws and changes nothing when key and certificate do not fit. */
  updateIdentity(identity: { key: string; cert: string }): void
  connections(): number
}

export interface ListenerOptions {
  identity: { key: string; cert: string }
  handler: RequestListener
  /** Peers whose plain connections are served when they say `X-Forwarded-Proto: https`. */
  trustedProxies: BlockList
  allowHttpFromLoopback: boolean
  /** Answers plain HTTP from everyone else. The connection ends afterwards; the body is not to be read. */
  refusePlain: (request: IncomingMessage, response: ServerResponse) => void
  /** Words the answer to bytes that are no valid HTTP request; `status` is what HTTP would call it, `peer` the address. */
  malformed: (error: Error & { code?: string }, status: MalformedStatus, peer: string) => MalformedAnswer
  /** Takes requests that ask to speak another protocol; without it they are requests like any other. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Failures to accept a connection, such as running out of file descriptors. The listener goes on. */
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
  /** Until the first byte, and from there to the end of the TLS handshake. */
  silenceMs: 10_000,
  headersMs: 15_000,
  requestMs: 60_000,
  /** Longer than the 60 seconds for which load balancers keep idle connections, so that they are the ones to close. */
  keepAliveMs: 65_000,
  /** For which a client that is sent an answer may take none of it. */
  writeMs: 120_000,
  /** How often `headersMs` and `requestMs` are checked. */
  checkMs: 5_000,
  /** How long a connection stays half-open after a refusal, so that a client that is still sending can read it. */
  lingerMs: 2_000,
}

const tlsHandshakeByte = 0x16
const maxHeaderBytes = 16 * 1024
/** Each holds a socket and a little memory; one more is closed at once. */
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
    // Node would answer a missing Host header with a bare 400; `withHost` answers it in our own words.
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
  // Without this listener Node would ask for the body ("100 Continue") of a request that is about to be refused.
  const continueAndServe: RequestListener = (request, response) => {
    response.writeContinue()
    serve(request, response)
  }
  plain.on('checkContinue', guard(continueAndServe))
  // RFC 9110 lets a server ignore expectations it does not know; Node would answer with a bare 417.
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

  /** Every TCP connection; those that have sent nothing yet; and the sockets, TLS or not, that HTTP is written to. */
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
    // A peer may vanish at any time, also while the socket belongs to no HTTP server.
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
        // Node starts to watch header and request timeouts on this event, which a server without a port never has.
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
        // The port counts a connection as ended a moment before its socket says so.
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
   * Node takes a connection for idle once its response was handed over, even if most of that still waits to be
   * written, and would cut it short. So idle connections stay while anything is waiting: it is what we wait for anyway.
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

/** Ciphers of TLS 1.2 that keep what was recorded secret and are not cut into blocks, and all of TLS 1.3. */
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

/** HTTP/1.1 asks for a Host header, and for one only (RFC 9112 3.2): of two, whoever stands in between may follow the other. */
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

/** Lets a plain request pass or refuses it. Who the peer is, is found out once per connection. */
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
    // Requests pipelined behind a refused one are not answered: the connection is already ending.
    if (peer === 'refused') return
    peers.set(socket, 'refused')
    response.shouldKeepAlive = false
    // Closing a socket with unread input resets the connection, and the client would lose the answer. So only our
    // side is closed at first, and Node discards what still arrives.
    socket.destroySoon = () => linger(socket, lingerMs)
    options.refusePlain(request, response)
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** A port that listens on both families reports IPv4 peers as ::ffff:192.0.2.1, which BlockList understands. */
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

/** With several proxies in a row there are several values, and the request was encrypted only if all say so. */
function isForwardedHttps(request: IncomingMessage): boolean {
  const protocols = String(request.headers['x-forwarded-proto'] ?? '').split(',')
  return protocols.every((protocol) => protocol.trim().toLowerCase() === 'https')
}

const malformedStatuses: Record<string, MalformedStatus> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** Node reports failed TLS handshakes and lost connections here as well; those sockets have nobody to answer. */
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
  // The bytes after the faulty ones are reported as errors too, while the answer is on its way.
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
 * Ends a connection that was silent for its time: one that is kept alive, or whose client reads nothing of its answer. One
 * whose answer is not ready yet, or that is told something now and then, stays.
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

/** Response that Node is about to write, or is writing, to a socket; Node keeps it under this name. */
function responseInProgress(socket: Duplex): ServerResponse | null {
  const response: unknown = Reflect.get(socket, '_httpMessage')
  return response instanceof ServerResponse ? response : null
}

/**
 * Stray bytes behind a whole request: the request is carried out, so its own answer goes out, and the connection ends with it.
 * A 400 in its place would tell the client that nothing was done.
 */
function closeAfter(response: ServerResponse, socket: Duplex): void {
  response.shouldKeepAlive = false
  response.once('close', () => socket.destroy())
}

/** Closes our side, then waits for the peer to close its own, but not for long. */
function linger(socket: Duplex, lingerMs: number): void {
  if (socket.writableEnded) return
  socket.end()
  const giveUp = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(giveUp))
}
