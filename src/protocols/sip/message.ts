// SPDX-License-Identifier: Apache-2.0
// SIP messages as bytes (RFC 3261 §7, §25): a strict parser and its inverse. What a message says is judged only as far as
// every receiver needs it: start line, framing, and the headers that name a transaction. Nothing here waits or sends.
import { SipError } from './error.ts'
import { parseAddress, parseUri, parseVia, splitList } from './header-values.ts'

export const maximumMessageBytes = 65_535
const maximumHeaders = 256
const maximumHeadBytes = 32_768
const maximumCseq = 2 ** 31

interface Parts {
  headers: SipHeaders
  body: Buffer
}

export interface SipRequest extends Parts {
  kind: 'request'
  method: string
  uri: string
}

export interface SipResponse extends Parts {
  kind: 'response'
  status: number
  reason: string
}

export type SipMessage = SipRequest | SipResponse

/** A message that cannot be taken, with as much of it as could be read, so that its sender can be told. */
export class MessageError extends SipError {
  readonly partial: SipMessage | null

  constructor(status: number, reason: string, partial: SipMessage | null = null) {
    super(status, reason)
    this.partial = partial
  }
}

const compactNames: Readonly<Record<string, string>> = {
  a: 'accept-contact',
  b: 'referred-by',
  c: 'content-type',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  j: 'reject-contact',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
}

/** Headers whose value is a list, so that one line with commas and several lines mean the same. */
const listHeaders = new Set([
  'via',
  'route',
  'record-route',
  'contact',
  'allow',
  'supported',
  'require',
  'proxy-require',
  'unsupported',
  'path',
  'service-route',
])

const onlyOnce = ['from', 'to', 'call-id', 'cseq', 'max-forwards', 'content-length', 'content-type'] as const

/** Header fields in their order, by lower-case names; compact names are the same fields. */
export class SipHeaders {
  readonly #fields: [name: string, value: string][] = []

  static of(fields: readonly (readonly [string, string | number])[]): SipHeaders {
    const headers = new SipHeaders()
    for (const [name, value] of fields) headers.add(name, value)
    return headers
  }

  get(name: string): string | null {
    return this.#fields.find(([own]) => own === name)?.[1] ?? null
  }

  /** Every value of the field; a list on one line counts as several. */
  all(name: string): string[] {
    const values = this.#fields.filter(([own]) => own === name).map(([, value]) => value)
    return listHeaders.has(name) ? values.flatMap(splitList) : values
  }

  count(name: string): number {
    return this.#fields.filter(([own]) => own === name).length
  }

  add(name: string, value: string | number): this {
    this.#fields.push([canonical(name), oneLine(value)])
    return this
  }

  set(name: string, value: string | number): this {
    this.remove(name)
    return this.add(name, value)
  }

  /** Puts a value before the others of its field. */
  prepend(name: string, value: string): this {
    this.#fields.unshift([canonical(name), oneLine(value)])
    return this
  }

  remove(name: string): this {
    const own = canonical(name)
    for (let i = this.#fields.length - 1; i >= 0; i--) if (this.#fields[i]?.[0] === own) this.#fields.splice(i, 1)
    return this
  }

  removeFirst(name: string): this {
    const rest = this.all(name).slice(1)
    this.remove(name)
    for (const value of rest.reverse()) this.prepend(name, value)
    return this
  }

  has(name: string, token: string): boolean {
    return this.all(name).some((value) => value.toLowerCase() === token)
  }

  entries(): readonly (readonly [string, string])[] {
    return this.#fields
  }
}

function canonical(name: string): string {
  const lower = name.toLowerCase()
  return compactNames[lower] ?? lower
}

/** A value can never begin another header, wherever it came from. */
function oneLine(value: string | number): string {
  return String(value).replace(/[\r\n]+/g, ' ')
}

/** Message of one datagram; what follows the stated length is not part of it. */
export function parseMessage(bytes: Buffer): SipMessage {
  if (bytes.length > maximumMessageBytes) throw new MessageError(513, 'Message Too Large')
  const end = endOfHead(bytes)
  if (end === null) throw new MessageError(400, 'No end of headers')
  const message = parseHead(bytes.subarray(0, end.head))
  const rest = bytes.subarray(end.body)
  const length = contentLength(message) ?? rest.length
  if (length > rest.length) throw new MessageError(400, 'Content-Length beyond the datagram', message)
  message.body = Buffer.from(rest.subarray(0, length))
  return message
}

export interface HeadEnd {
  head: number
  body: number
}

/** End of the headers; null while they have not ended. */
export function endOfHead(bytes: Buffer): HeadEnd | null {
  const at = bytes.indexOf('\r\n\r\n')
  if (at > maximumHeadBytes || (at < 0 && bytes.length > maximumHeadBytes))
    throw new MessageError(513, 'Message Too Large')
  return at < 0 ? null : { head: at, body: at + 4 }
}

/** Starts line and headers, without a body yet. */
export function parseHead(bytes: Buffer): SipMessage {
  const lines = unfold(bytes.toString('utf8'))
  const [start = ''] = lines
  const headers = new SipHeaders()
  if (lines.length > maximumHeaders) throw new MessageError(400, 'Too many headers')
  let malformed: string | null = null
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trimEnd()
    if (colon < 1 || !/^[A-Za-z0-9\-.!%*_+`'~]+$/.test(name)) malformed ??= 'Malformed header'
    else headers.add(name, line.slice(colon + 1).trim())
  }
  const message = parseStart(start, headers)
  if (malformed) throw new MessageError(400, malformed, message)
  check(message)
  return message
}

function unfold(text: string): string[] {
  const lines: string[] = []
  for (const line of text.split('\r\n')) {
    const last = lines.length - 1
    if (last > 0 && /^[ \t]/.test(line)) lines[last] += ` ${line.trim()}`
    else lines.push(line)
  }
  return lines
}

function parseStart(start: string, headers: SipHeaders): SipMessage {
  if (/^SIP\//i.test(start)) return parseStatusLine(start, headers)
  const request = (uri: string, method: string): SipRequest => ({
    kind: 'request',
    method,
    uri,
    headers,
    body: Buffer.alloc(0),
  })
  const found = /^([A-Za-z0-9\-.!%*_+`'~]+) ([^ ]+) SIP\/([0-9]+\.[0-9]+)$/.exec(start)
  if (!found) {
    const method = /^([A-Za-z0-9\-.!%*_+`'~]+) /.exec(start)?.[1]
    throw new MessageError(400, 'Malformed request line', method ? request('', method) : null)
  }
  const [, method = '', uri = '', version] = found
  const message = request(uri, method)
  if (version !== '2.0') throw new MessageError(505, 'Version Not Supported', message)
  return message
}

function parseStatusLine(start: string, headers: SipHeaders): SipResponse {
  const found = /^SIP\/2\.0 ([1-6][0-9]{2})(?: (.*))?$/i.exec(start)
  if (!found) throw new MessageError(400, 'Malformed status line')
  return { kind: 'response', status: Number(found[1]), reason: found[2] ?? '', headers, body: Buffer.alloc(0) }
}

/** Headers without which a message belongs to nothing (RFC 3261 §8.1.1, §16.3). */
function check(message: SipMessage): void {
  const { headers } = message
  const refuse = (reason: string): never => {
    throw new MessageError(400, reason, message)
  }
  for (const name of onlyOnce) if (headers.count(name) > 1) refuse(`Several ${name} headers`)
  for (const name of ['via', 'from', 'to', 'call-id', 'cseq'] as const)
    if (!headers.get(name)) refuse(`Missing ${name} header`)
  const cseq = readCseq(headers) ?? refuse('Malformed CSeq')
  if (message.kind === 'request') {
    if (cseq.method !== message.method) refuse('CSeq names another method')
    const forwards = headers.get('max-forwards')
    if (forwards !== null && !(/^\d{1,9}$/.test(forwards) && Number(forwards) <= 255)) refuse('Malformed Max-Forwards')
    attempt(message, () => parseUri(message.uri))
    if (parseUri(message.uri).headers) refuse('Request-URI with headers')
  }
  attempt(message, () => {
    for (const via of headers.all('via')) parseVia(via)
    for (const name of ['from', 'to', 'refer-to', 'referred-by'] as const) {
      const value = headers.get(name)
      if (value !== null) parseAddress(value)
    }
    for (const value of headers.all('contact')) if (value !== '*') parseAddress(value)
    for (const name of ['route', 'record-route'] as const) for (const value of headers.all(name)) parseAddress(value)
  })
  contentLength(message)
}

function attempt(message: SipMessage, read: () => void): void {
  try {
    read()
  } catch (error) {
    throw error instanceof SipError ? new MessageError(error.status, error.message, message) : error
  }
}

export function readCseq(headers: SipHeaders): { number: number; method: string } | null {
  const found = /^(\d{1,10})\s+(\S+)$/.exec(headers.get('cseq') ?? '')
  const number = Number(found?.[1])
  return found && number < maximumCseq ? { number, method: found[2] ?? '' } : null
}

export function contentLength(message: SipMessage): number | null {
  const value = message.headers.get('content-length')
  if (value === null) return null
  if (!/^\d{1,9}$/.test(value)) throw new MessageError(400, 'Malformed Content-Length', message)
  return Number(value)
}

/** The bytes of a message; the length is always stated. */
export function serialise(message: SipMessage): Buffer {
  const { headers, body } = message
  const start =
    message.kind === 'request'
      ? `${message.method} ${message.uri} SIP/2.0`
      : `SIP/2.0 ${message.status} ${oneLine(message.reason)}`
  const lines = headers
    .entries()
    .filter(([name]) => name !== 'content-length')
    .map(([name, value]) => `${spelled(name)}: ${value}`)
  const head = [start, ...lines, `Content-Length: ${body.length}`, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(head), body])
}

const spellings: Readonly<Record<string, string>> = {
  'call-id': 'Call-ID',
  cseq: 'CSeq',
  'www-authenticate': 'WWW-Authenticate',
  rseq: 'RSeq',
  rack: 'RAck',
  'min-se': 'Min-SE',
}

/** Names as they are printed in the RFCs; some old equipment compares them letter by letter. */
function spelled(name: string): string {
  return spellings[name] ?? name.replace(/(^|-)([a-z])/g, (letters) => letters.toUpperCase())
}

const noBody = Buffer.alloc(0)

export function makeRequest(method: string, uri: string, headers: SipHeaders, body: Buffer = noBody): SipRequest {
  return { kind: 'request', method, uri, headers, body }
}

/** The answer to a request, with the headers that must be repeated (RFC 3261 §8.2.6). */
export function makeResponse(request: SipRequest, status: number, toTag: string | null, reason?: string): SipResponse {
  const headers = new SipHeaders()
  for (const via of request.headers.all('via')) headers.add('via', via)
  for (const name of ['from', 'to', 'call-id', 'cseq'] as const) {
    const value = request.headers.get(name)
    if (value === null) continue
    const needsTag = name === 'to' && toTag !== null && status > 100 && !/;\s*tag\s*=/i.test(value)
    headers.add(name, needsTag ? `${value};tag=${toTag}` : value)
  }
  return { kind: 'response', status, reason: reason ?? reasonOf(status), headers, body: noBody }
}

const reasons: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  183: 'Session Progress',
  200: 'OK',
  202: 'Accepted',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  415: 'Unsupported Media Type',
  416: 'Unsupported URI Scheme',
  420: 'Bad Extension',
  422: 'Session Interval Too Small',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  482: 'Loop Detected',
  483: 'Too Many Hops',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  491: 'Request Pending',
  500: 'Server Internal Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'Version Not Supported',
  513: 'Message Too Large',
  600: 'Busy Everywhere',
  603: 'Decline',
}

function reasonOf(status: number): string {
  return reasons[status] ?? 'Unknown'
}

/** A request that belongs to an INVITE and goes its way: the ACK of a refusal (RFC 3261 §17.1.1.3), and CANCEL (§9.1). */
export function sameHop(method: 'ACK' | 'CANCEL', { uri, headers }: SipRequest, to: string): SipRequest {
  const own = new SipHeaders().add('via', headers.all('via')[0] ?? '').add('max-forwards', 70)
  for (const name of ['from', 'call-id'] as const) own.add(name, headers.get(name) ?? '')
  own.add('to', to).add('cseq', `${readCseq(headers)?.number ?? 1} ${method}`)
  for (const route of headers.all('route')) own.add('route', route)
  return makeRequest(method, uri, own)
}
