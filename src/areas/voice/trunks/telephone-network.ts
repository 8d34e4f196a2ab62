// SPDX-License-Identifier: Apache-2.0
// Telephone network of this node: SIP endpoint, media workers, speech and live sessions. Test calls go to the simulated
// carrier, live ones to trunks.
import { readFile } from 'node:fs/promises'
import type { App } from '../../../platform/app.ts'
import type { OpenListener, Place } from '../../../platform/program/listeners.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Environment, One } from '../../../platform/tenant.ts'
import type { SipCall } from '../../../protocols/sip/call.ts'
import { SipEndpoint } from '../../../protocols/sip/endpoint.ts'
import { parseUri, type SipUri } from '../../../protocols/sip/header-values.ts'
import type { CallHandlers, Invitation } from '../../../protocols/sip/switchboard.ts'
import type { Peer } from '../../../protocols/sip/transport.ts'
import { MediaPool } from '../media/pool.ts'
import { Speaker } from '../speech/speak.ts'
import { simulatedCarrier } from './sandbox-carrier.ts'
import { Trunks, type Way } from './trunks.ts'

/** Live call or conference on this node. */
interface LiveSession {
  readonly one: One
  clockMoved(offsetMs: number): void
  shutDown(): Promise<void>
}

/** Admission of an incoming call: its handlers, or the SIP status that refuses it. */
type TakeIncoming = (app: App, call: SipCall, source: Source) => CallHandlers | number

/** Source of an incoming call. */
export interface Source {
  /** This node's simulator, which may state its tenant. */
  isSimulator: boolean
  /** Calls from a trunk are live; those from a local program in development are test calls. */
  environment: Environment
}

const mostLegs = 600
const mostCalledHosts = 1_000

class TelephoneNetwork {
  readonly app: App
  readonly sessions = new Map<string, LiveSession>()
  readonly speaker: Speaker
  readonly trunks: Trunks
  /** Hosts of SIP addresses called on behalf of customers: their responses are accepted. */
  private readonly calledHosts = new Set<string>()
  private pool: MediaPool | null = null
  private endpoint: SipEndpoint | null = null
  private takeIncoming: TakeIncoming = () => 503

  constructor(app: App) {
    this.app = app
    this.speaker = new Speaker(app.config.PAMOJA_SPEECH_PROGRAM)
    this.trunks = new Trunks(app)
  }

  /** Open the SIP listener and the media workers. */
  async open({ host, port, identity }: Place, takeIncoming: TakeIncoming): Promise<OpenListener> {
    this.takeIncoming = takeIncoming
    const { PAMOJA_SIP_CA_FILE: caFile, PAMOJA_SIP_TLS_PORT: tlsPort } = this.app.config
    const endpoint = await SipEndpoint.open({
      host,
      ports: { udp: port, tcp: port, tls: port === 0 ? 0 : tlsPort },
      tls: identity,
      ...(caFile === '' ? {} : { trusted: await readFile(caFile, 'utf8') }),
      invited: (call) => this.invited(call),
      admits: (from) => this.admits(from),
      failed: (error) =>
        this.app.log.error({ error }, 'SIP message not handled: it is dropped and calls go on; report this error'),
    })
    this.endpoint = endpoint
    this.trunks.start(endpoint)
    return { port: endpoint.ports.udp ?? 0, close: () => this.close() }
  }

  /** Workers start with the first call, so that an installation without calls has none. */
  get media(): MediaPool {
    this.pool ??= new MediaPool({
      ports: portsOf(this.app.config.PAMOJA_RTP_PORTS),
      silentMs: this.app.config.PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS * 1_000,
      mostLegs,
      latestMs: this.app.config.PAMOJA_VOICE_LATENESS_MS,
    })
    return this.pool
  }

  get host(): string {
    return this.app.config.PAMOJA_SIP_HOST
  }

  /** Host for RTP. */
  get mediaHost(): string {
    return this.app.config.PAMOJA_SIP_HOST
  }

  get isOpen(): boolean {
    return this.endpoint !== null
  }

  /** SIP address, and the TLS port. */
  get address(): { host: string; port: number; tlsPort: number } {
    const { udp = 0, tls = 0 } = this.endpoint?.ports ?? {}
    return { host: this.host, port: udp, tlsPort: tls }
  }

  /** Routes to a number, in order of preference. */
  waysTo(environment: Environment, number: string): Way[] {
    if (environment === 'live') return this.trunks.waysTo(number)
    const carrier = simulatedCarrier.of(this.app)
    if (!carrier) return []
    const { host, port } = carrier
    return [
      { name: 'sandbox', peer: { transport: 'udp', host, port }, uri: `sip:${number}@${host}:${port};user=phone` },
    ]
  }

  /** Whether there is a route to a number. */
  leadsTo(environment: Environment, number: string): boolean {
    return environment === 'live' ? this.trunks.leadsTo(number) : simulatedCarrier.of(this.app) !== null
  }

  /** Routes to a customer's SIP address, checked like other outbound addresses. */
  async waysToAddress(environment: Environment, uri: string): Promise<Way[]> {
    const { scheme, host, port, parameters } = uriOf(uri)
    const isTls = scheme === 'sips' || parameters.get('transport')?.toLowerCase() === 'tls'
    const transport = isTls ? 'tls' : parameters.get('transport')?.toLowerCase() === 'tcp' ? 'tcp' : 'udp'
    const all = host === '' ? [] : await this.app.outbound.addressesOf(host, { use: 'callback', environment })
    // Exclude trunk addresses: a trunk that authenticates by IP would carry the call at the operator's cost.
    const addresses = all.filter((address) => this.trunks.at({ transport, host: address, port: 0 }) === null)
    for (const address of addresses) this.calledHosts.add(address)
    const [oldest] = this.calledHosts.size > mostCalledHosts ? this.calledHosts : []
    if (oldest !== undefined) this.calledHosts.delete(oldest)
    return addresses.slice(0, 2).map((address) => ({
      name: 'address',
      peer: { transport, host: address, port: port ?? (isTls ? 5_061 : 5_060) },
      uri,
    }))
  }

  /** Call over a route; counted towards the trunk's limit while it lasts. */
  invite(way: Way, invitation: Invitation, handlers: CallHandlers): SipCall | null {
    if (!this.endpoint) return null
    const over = this.trunks.count(way)
    return this.endpoint.invite(invitation, {
      ...handlers,
      refused: (status, reason) => {
        over()
        handlers.refused?.(status, reason)
      },
      ended: (by, reason) => {
        over()
        handlers.ended?.(by, reason)
      },
    })
  }

  private admits(from: Peer): boolean {
    return (
      this.isSimulator(from) || this.isLocal(from) || this.trunks.at(from) !== null || this.calledHosts.has(from.host)
    )
  }

  private isSimulator(from: Peer): boolean {
    const carrier = simulatedCarrier.of(this.app)
    return carrier !== null && from.host === carrier.host && from.port === carrier.port
  }

  private isLocal({ host }: Peer): boolean {
    return this.app.config.NODE_ENV !== 'production' && /^(127\.|::1$|::ffff:127\.)/.test(host)
  }

  private invited(call: SipCall): CallHandlers | null {
    if (!this.media.admits) return null
    const isSimulator = this.isSimulator(call.source)
    const trunk = isSimulator ? null : this.trunks.at(call.source)
    if (!isSimulator && trunk === null && !this.isLocal(call.source)) return null
    const source = { isSimulator, environment: trunk === null ? ('test' as const) : ('live' as const) }
    const taken = this.takeIncoming(this.app, call, source)
    if (typeof taken !== 'number') return taken
    queueMicrotask(() => call.reject(taken))
    return {}
  }

  /** Apply an account's moved sandbox clock to its calls. */
  async clockMoved(account: string, offsetMs: () => Promise<number>): Promise<void> {
    const theirs = [...this.sessions.values()].filter(({ one }) => one.account === account)
    if (theirs.length === 0) return
    const ms = await offsetMs()
    for (const session of theirs) if (session.one.environment === 'test') session.clockMoved(ms)
  }

  private async close(): Promise<void> {
    await Promise.all([...this.sessions.values()].map((session) => session.shutDown()))
    await this.trunks.stop()
    await this.endpoint?.close()
    await this.pool?.close()
    this.endpoint = null
  }
}

/** Parts of a SIP URI; an empty host when invalid. */
function uriOf(text: string): Pick<SipUri, 'scheme' | 'host' | 'port' | 'parameters'> {
  try {
    return parseUri(text)
  } catch {
    return { scheme: '', host: '', port: null, parameters: new Map() }
  }
}

function portsOf(text: string): readonly [number, number] | null {
  const found = /^(\d{4,5})-(\d{4,5})$/.exec(text)
  return found ? [Number(found[1]), Number(found[2])] : null
}

export type { TelephoneNetwork, Way }

export const telephoneNetworkOf = onePerApp((app) => new TelephoneNetwork(app))
