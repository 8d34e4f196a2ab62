// SPDX-License-Identifier: Apache-2.0
// A SIP dialog (RFC 3261 §12): tags, sequence numbers, route set and target of two sides that have met. It makes the
// requests of this side and judges those of the other; it sends nothing itself.
import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { parseAddress, parseUri, type SipUri } from './header-values.ts'
import { makeRequest, readCseq, SipHeaders, type SipMessage, type SipRequest } from './message.ts'
import type { Peer, TransportName } from './transport.ts'

export interface DialogState {
  callId: string
  localAddress: string
  remoteAddress: string
  localTag: string
  remoteTag: string | null
  localSeq: number
  remoteSeq: number | null
  /** URI that requests of this side are addressed to. */
  target: string
  routes: string[]
  peer: Peer
}

export function newTag(): string {
  return randomBytes(8).toString('hex')
}

export class Dialog {
  readonly state: DialogState
  readonly #mayReach: (host: string) => boolean

  /** `mayReach` says which other hosts than the one that writes requests may be sent to; all unless told. */
  constructor(state: DialogState, mayReach: (host: string) => boolean = () => true) {
    this.state = state
    this.#mayReach = mayReach
  }

  /** The same call with another phone that answered it. */
  with(remoteTag: string | null): Dialog {
    return new Dialog({ ...this.state, remoteTag }, this.#mayReach)
  }

  get id(): string {
    return dialogId(this.state.callId, this.state.localTag)
  }

  /** A request inside the dialog, without its Via. An ACK repeats the number of its INVITE. */
  request(method: string, contact: string, options: { body?: Buffer; type?: string; seq?: number } = {}): SipRequest {
    const { state } = this
    const seq = options.seq ?? (method === 'ACK' ? state.localSeq : ++state.localSeq)
    const headers = SipHeaders.of([
      ['max-forwards', 70],
      ['from', `${state.localAddress};tag=${state.localTag}`],
      ['to', state.remoteTag === null ? state.remoteAddress : `${state.remoteAddress};tag=${state.remoteTag}`],
      ['call-id', state.callId],
      ['cseq', `${seq} ${method}`],
      ['contact', contact],
    ])
    for (const route of state.routes) headers.add('route', route)
    if (options.body && options.type) headers.add('content-type', options.type)
    return makeRequest(method, state.target, headers, options.body)
  }

  /** The same request once more, as a new one: with the next number, without Via and credentials. */
  repeated({ method, uri, headers, body }: SipRequest): SipRequest {
    const left = ['via', 'cseq', 'authorization', 'proxy-authorization']
    const again = SipHeaders.of(headers.entries().filter(([name]) => !left.includes(name)))
    return makeRequest(method, uri, again.add('cseq', `${++this.state.localSeq} ${method}`), body)
  }

  /** Takes over what an answer or a target refresh says about the other side. */
  learn(message: SipMessage, from: Peer, isFirst: boolean): void {
    const { headers } = message
    const { state } = this
    if (isFirst) {
      const recorded = headers.all('record-route')
      state.routes = message.kind === 'response' ? recorded.reverse() : recorded
      const named = headers.get(message.kind === 'response' ? 'to' : 'from')
      state.remoteTag = named === null ? null : (parseAddress(named).parameters.get('tag') ?? null)
    }
    const contact = headers.all('contact')[0]
    if (contact && contact !== '*') state.target = parseAddress(contact).uri.text
    state.peer = this.#nextHop(from)
  }

  /**
   * The next hop: the first route, else the target. A target that names another address than the one it writes from is
   * behind a NAT, and is reached where it wrote from.
   */
  #nextHop(from: Peer): Peer {
    const [route] = this.state.routes
    if (route) {
      const hop = peerOf(parseAddress(route).uri, from.transport)
      if (hop.host !== from.host && !this.#mayReach(hop.host)) return from
      // A network names addresses of its own here, and its certificate is for the name by which it was called.
      const isUnnamed = hop.transport === 'tls' && isIP(hop.host) !== 0
      const name = from.name ?? (isIP(from.host) === 0 ? from.host : undefined)
      return isUnnamed && name !== undefined ? { ...hop, name } : hop
    }
    if (from.transport !== 'udp') return from
    const target = peerOf(parseUri(this.state.target), from.transport)
    return target.host === from.host ? target : from
  }

  /** Whether a request of the other side is new; an old number is a repeat or a forgery (§12.2.2). */
  accepts(request: SipRequest): boolean {
    const seq = readCseq(request.headers)?.number ?? 0
    const { remoteSeq } = this.state
    if (request.method === 'ACK' || request.method === 'CANCEL') return true
    if (remoteSeq !== null && seq <= remoteSeq) return false
    this.state.remoteSeq = seq
    return true
  }
}

/** Peer of a URI; names are left to the resolver of the machine. */
function peerOf(uri: SipUri, fallback: TransportName): Peer {
  const named = uri.parameters.get('transport')?.toLowerCase()
  const transport: TransportName =
    uri.scheme === 'sips' || named === 'tls' ? 'tls' : named === 'tcp' ? 'tcp' : named === 'udp' ? 'udp' : fallback
  const host = (uri.parameters.get('maddr') ?? uri.host).replace(/^\[|\]$/g, '')
  return { transport, host, port: uri.port ?? (transport === 'tls' ? 5061 : 5060) }
}

export function dialogId(callId: string, localTag: string): string {
  return `${callId} ${localTag}`
}
