// SPDX-License-Identifier: Apache-2.0
// This node's side of the telephone network: its SIP endpoint, its media workers, its speech, and the calls that are under way on
// it. Calls go to the simulated carrier for test keys and to trunks for live ones.
import { readFile } from 'node:fs/promises'
import type { App } from '../../../platform/app.ts'
import type { OpenListener, Place } from '../../../platform/listeners.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
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

/** A call or conference under way on this node, as far as its network cares. */
interface LiveSession {
  readonly one: One
  clockMoved(offsetMs: number): void
  shutDown(): Promise<void>
}

/** What decides about a call that comes in: who takes it, or the status that refuses it. */
type TakeIncoming = (app: App, call: SipCall, source: Source) => CallHandlers | number

/** Who a call comes from. */
export interface Source {
  /** The simulator of this node, which may say for whom it calls. */
  isSimulator: boolean
  /** Calls of a trunk are live; those of a program on this machine, in development, are test calls. */
  environment: Environment
}

const mostLegs = 600
const mostCalledHosts = 1_000

class TelephoneNetwork {
  readonly app: App
  readonly sessions = new Map<string, LiveSession>()
  readonly speaker: Speaker
  readonly trunks: Trunks
  /** Hosts of SIP addresses that customers had called: they may answer. */
  private readonly calledHosts = new Set<string>()
  private pool: MediaPool | null = null
  private endpoint: SipEndpoint | null = null
  private takeIncoming: TakeIncoming = () => 503

  constructor(app: App) {
    this.app = app
    this.speaker = new Speaker(app.config.PAMOJA_SPEECH_PROGRAM)
    this.trunks = new Trunks(app)
  }

  /** The listener of SIP; the media workers start with it. */
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

  /** Workers are started by the first call, so that an installation without calls has none. */
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

  /** Where audio arrives. */
  get mediaHost(): string {
    return this.app.config.PAMOJA_SIP_HOST
  }

  get isOpen(): boolean {
    return this.endpoint !== null
  }

  /** Where calls come in, and the port of those over TLS. */
  get address(): { host: string; port: number; tlsPort: number } {
    const { udp = 0, tls = 0 } = this.endpoint?.ports ?? {}
    return { host: this.host, port: udp, tlsPort: tls }
  }

  /** Ways to a number, in the order in which they are tried. */
  waysTo(environment: Environment, number: string): Way[] {
    if (environment === 'live') return this.trunks.waysTo(number)
    const carrier = simulatedCarrier.of(this.app)
    if (!carrier) return []
    const { host, port } = carrier
    return [
      { name: 'sandbox', peer: { transport: 'udp', host, port }, uri: `sip:${number}@${host}:${port};user=phone` },
    ]
  }

  /** Whether a call to a number has any prospect. */
  leadsTo(environment: Environment, number: string): boolean {
    return environment === 'live' ? this.trunks.leadsTo(number) : simulatedCarrier.of(this.app) !== null
  }

  /** Ways to a SIP address of a customer's: one that may be reached on behalf of its key. */
  async waysToAddress(environment: Environment, uri: string): Promise<Way[]> {
    const { scheme, host, port, parameters } = uriOf(uri)
    const isTls = scheme === 'sips' || parameters.get('transport')?.toLowerCase() === 'tls'
    const transport = isTls ? 'tls' : parameters.get('transport')?.toLowerCase() === 'tcp' ? 'tcp' : 'udp'
    const all = host === '' ? [] : await this.app.outbound.addressesOf(host, { use: 'callback', environment })
    // A network that knows this machine by its address would carry, at the operator's cost, whatever it is asked for.
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

  /** Calls over a way; while the call lasts it counts as one of the trunk's. */
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

  /** The clock of an account was moved: its calls look at theirs. */
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

/** Parts of an address; an empty host for what is none. */
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
