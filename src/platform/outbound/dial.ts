// SPDX-License-Identifier: Apache-2.0
// Dial checked addresses, directly or through the operator's proxy, and classify failures. Nothing is resolved here:
// the caller has checked every address.
import type { LookupAddress } from 'node:dns'
import { type Socket, connect as tcpConnect } from 'node:net'
import { performance } from 'node:perf_hooks'
import { createSecureContext, rootCertificates, type SecureContext, connect as tlsConnect } from 'node:tls'
import type { buildConnector } from 'undici'
import { errorCode } from '../../kernel/error-code.ts'
import type { Target } from './customer-urls.ts'

export type OutboundError = 'TIMEOUT' | 'CONNECTION_FAILED' | 'DNS_FAILED' | 'TLS_FAILED' | 'ADDRESS_BLOCKED'

/** Limit of addresses tried, one after the other; all of them are checked. */
const maxDialled = 6
const nextAddressAfterMs = 500
export const maxHeaderBytes = 16 * 1024
const maxProxyAnswerBytes = 4 * 1024

/** Progress of a connection, so that a timeout can say how far it came. */
export interface Connection {
  readonly openedAt: number
  /** Socket before the HTTP client owns it. */
  dialling: Socket | null
  ip: string | null
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
}

/** Outcome passed through the HTTP client as an error. */
export class Failure extends Error {
  readonly error: OutboundError

  constructor(error: OutboundError, reason: string) {
    super(reason)
    this.error = error
  }
}

interface Call {
  /** TLS session for resumption. */
  readonly pool: { readonly target: Target; session: Buffer | null }
  readonly connection: Connection
  readonly addresses: readonly LookupAddress[]
  readonly isStrict: boolean
  readonly secureContext: SecureContext
  /** http://host:port, with credentials when needed. */
  readonly proxy: string | null
}

/** Checked destination for another protocol than HTTP, in plain values: another thread may dial it. */
export interface Destination {
  readonly target: Target
  readonly addresses: readonly LookupAddress[]
  readonly isStrict: boolean
  readonly extraCa: string | null
  readonly proxy: string | null
}

/** Contexts by their extra authority, of which a process has one or two: to make one takes tens of milliseconds. */
const contexts = new Map<string | null, SecureContext>()

export function secureContextOf(extraCa: string | null): SecureContext {
  const known = contexts.get(extraCa)
  if (known) return known
  const ca = extraCa === null ? {} : { ca: [...rootCertificates, extraCa] }
  const context = createSecureContext({ minVersion: 'TLSv1.2', ...ca })
  if (contexts.size >= maxContexts) contexts.clear()
  contexts.set(extraCa, context)
  return context
}

const maxContexts = 10

/** Connection that is opened now, with nothing measured yet. */
export function newConnection(): Connection {
  return { openedAt: performance.now(), dialling: null, ip: null, dnsMs: null, connectMs: null, tlsMs: null }
}

/** Connects to a checked destination, or reject with a Failure. */
export function connectTo({ target, extraCa, ...how }: Destination, timeoutMs: number): Promise<Socket> {
  const connection = newConnection()
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Failure('TIMEOUT', `No connection was open within ${timeoutMs / 1_000} seconds.`))
      connection.dialling?.destroy()
    }, timeoutMs)
    const call = { ...how, pool: { target, session: null }, connection, secureContext: secureContextOf(extraCa) }
    dial(call, (error, socket) => {
      clearTimeout(timer)
      if (socket) resolve(socket)
      else reject(error ?? new Failure('CONNECTION_FAILED', closedEarly))
    })
  })
}

/** Opens a connection to checked addresses only. */
export function dial(call: Call, callback: buildConnector.Callback): void {
  const { pool, connection, addresses, proxy } = call
  const { port } = pool.target
  const startedAt = performance.now()
  let isDone = false
  if (proxy === null) watch(open(call, null))
  else tunnel(proxy, addresses[0]?.address ?? '', port, connection).then((through) => watch(open(call, through)), fail)

  function watch(socket: Socket): void {
    const { isTls } = pool.target
    connection.dialling = socket
    const connected = (): void => {
      connection.connectMs ??= since(startedAt)
      connection.ip ??= socket.remoteAddress ?? null
      if (!isTls) succeed(socket)
    }
    if (proxy === null) socket.once('connect', connected)
    else connected()
    socket.once('secureConnect', () => {
      connection.tlsMs = since(startedAt) - (connection.connectMs ?? 0)
      succeed(socket)
    })
    if (isTls && call.isStrict)
      socket.on('session', (session: Buffer) => {
        pool.session = session
      })
    socket.on('error', (error) =>
      fail(failureOf(error, connection.connectMs === null ? 'connecting' : 'shaking hands')),
    )
    socket.once('close', () => fail(new Failure('CONNECTION_FAILED', closedEarly)))
  }

  function succeed(socket: Socket): void {
    if (isDone) return
    isDone = true
    connection.dialling = null
    callback(null, socket)
  }

  function fail(failure: Error): void {
    if (isDone) return
    isDone = true
    pool.session = null
    callback(failure, null)
  }
}

/** Socket to the target, over the proxy's socket if there is one. */
function open({ pool, addresses, isStrict, secureContext }: Call, through: Socket | null): Socket {
  const { hostname, port, isTls, literal } = pool.target
  const to = {
    host: hostname,
    port,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    lookup: (_: string, __: object, found: (error: null, list: LookupAddress[]) => void) =>
      found(null, addresses.slice(0, maxDialled)),
  }
  if (!isTls) return through ?? tcpConnect(to)
  return tlsConnect({
    ...(through === null ? to : { socket: through, host: hostname }),
    secureContext,
    rejectUnauthorized: isStrict,
    ALPNProtocols: ['http/1.1'],
    ...(literal === null ? { servername: hostname } : {}),
    ...(isStrict && pool.session ? { session: pool.session } : {}),
  })
}

/**
 * CONNECT through the operator's proxy. It gets the address, not the name, which it would resolve again and perhaps
 * differently.
 */
function tunnel(proxy: string, address: string, port: number, connection: Connection): Promise<Socket> {
  const { hostname, port: proxyPort, username, password } = new URL(proxy)
  const authority = `${address.includes(':') ? `[${address}]` : address}:${port}`
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const authorization = username === '' ? '' : `Proxy-Authorization: Basic ${credentials}\r\n`
  return new Promise((resolve, reject) => {
    const socket = tcpConnect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(proxyPort || 80), noDelay: true })
    connection.dialling = socket
    let answer = ''
    const fail = (reason: string): void => {
      socket.destroy()
      reject(new Failure('CONNECTION_FAILED', reason))
    }
    const failed = (): void => fail('The proxy cannot be reached.')
    const closed = (): void => fail('The proxy closed the connection.')
    const heard = (chunk: Buffer): void => {
      answer += chunk.toString('latin1')
      const end = answer.indexOf('\r\n\r\n')
      if (end === -1 && answer.length > maxProxyAnswerBytes) return fail('The proxy did not answer as one.')
      if (end === -1) return
      // The client speaks first, so nothing of the target can have arrived yet.
      if (!/^HTTP\/1\.[01] 2\d\d/.test(answer) || end + 4 < answer.length)
        return fail('The proxy does not connect to the host.')
      socket.off('data', heard).off('error', failed).off('close', closed)
      socket.pause()
      connection.ip = address
      resolve(socket)
    }
    socket.on('data', heard).once('error', failed).once('close', closed)
    socket.once('connect', () =>
      socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`),
    )
  })
}

const closedEarly = 'The connection was closed before an answer came.'

const connectionReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: closedEarly,
  EPIPE: closedEarly,
  ECONNABORTED: closedEarly,
  UND_ERR_SOCKET: closedEarly,
  ETIMEDOUT: 'The host did not answer.',
  EHOSTUNREACH: 'There is no route to the host.',
  ENETUNREACH: 'There is no route to the host.',
  EADDRNOTAVAIL: 'There is no route to the host.',
  UND_ERR_HEADERS_OVERFLOW: `The headers of the answer were longer than ${maxHeaderBytes / 1024} KiB.`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The length of the answer was not its Content-Length.',
}

const certificateReasons: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  CERT_REVOKED: 'The certificate was revoked.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is not for this host name.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed; use one of a public authority.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate is not from a public authority.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate is not from a public authority, or its chain is not complete.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate is not from a public authority, or its chain is not complete.',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'The server does not speak TLS 1.2 or later.',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'The server does not speak TLS 1.2 or later.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'The server does not speak TLS on this port.',
}

/** Failure of an error: unless the connection ended, the TLS handshake or a non-HTTP reply is at fault. */
export function failureOf(error: Error, phase: 'connecting' | 'shaking hands' | 'open'): Failure {
  const code = errorCode(error)
  const certificate = certificateReasons[code]
  if (certificate !== undefined) return new Failure('TLS_FAILED', certificate)
  const reason = connectionReasons[code]
  if (reason !== undefined) return new Failure('CONNECTION_FAILED', reason)
  if (phase === 'shaking hands' || code.startsWith('ERR_SSL_'))
    return new Failure('TLS_FAILED', 'The TLS handshake failed.')
  if (error.name === 'HTTPParserError') return new Failure('CONNECTION_FAILED', 'The answer was not HTTP/1.1.')
  return new Failure('CONNECTION_FAILED', 'The connection failed.')
}

/** Whether the other side closed the connection, perhaps while idle. */
export function isLostConnection(error: Error): boolean {
  return connectionReasons[errorCode(error)] === closedEarly
}

export function since(start: number): number {
  return Math.round(performance.now() - start)
}
