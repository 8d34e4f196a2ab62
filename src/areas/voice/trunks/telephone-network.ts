// SPDX-License-Identifier: Apache-2.0
// Telephone network of this node: SIP endpoint, media workers, speech and live sessions. Test calls go to the simulated
// carrier, live ones to trunks.
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { classOfAddress, parseAddress } from '../../../kernel/addresses.ts'
import type { App } from '../../../platform/app.ts'
import { liveNodes } from '../../../platform/nodes/nodes.ts'
import type { OpenListener, Place } from '../../../platform/program/listeners.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Environment, One } from '../../../platform/tenant.ts'
import type { Codec } from '../../../protocols/audio/codec.ts'
import { hasOpus } from '../../../protocols/audio/opus.ts'
import {
  type AgreedAudio,
  type AudioTerms,
  agreedAudio,
  type SrtpPolicy,
  usualCodecs,
} from '../../../protocols/sdp/session-description.ts'
import type { SipCall } from '../../../protocols/sip/call.ts'
import type { DialogState } from '../../../protocols/sip/dialog.ts'
import { SipEndpoint } from '../../../protocols/sip/endpoint.ts'
import { parseUri, type SipUri } from '../../../protocols/sip/header-values.ts'
import type { CallHandlers, Invitation } from '../../../protocols/sip/switchboard.ts'
import type { Peer } from '../../../protocols/sip/transport.ts'
import { speakersOf } from '../engines/engines.ts'
import { MediaPool } from '../media/pool.ts'
import { soundIn } from '../media/sound-file.ts'
import { FileSpeech } from '../speech/file-speech.ts'
import { PackageEngine } from '../speech/package-engine.ts'
import { ProgramEngine } from '../speech/program-engine.ts'
import { Speaker } from '../speech/speak.ts'
import { VoiceFiles } from '../speech/voice-files.ts'
import { simulatedCarrier } from './sandbox-carrier.ts'
import { Trunks, type Way } from './trunks.ts'

/** Live call or conference on this node. */
interface LiveSession {
  readonly one: One
  clockMoved(offsetMs: number): void
  /** Whether a caller may be moved to another node, and moving one who waits. */
  readonly mayMove?: boolean
  move?(withinMs: number): Promise<void>
  /** Apologises to whoever is in the call; resolves when they have heard it. */
  sayGoodbye?(): Promise<void>
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
  /** Country of national numbers from there; null when it has none. */
  country: string | null
}

const maxLegs = 600

/**
 * Lateness of audio above which calls are refused. In development nobody listens who would mind it, and the machine is busy
 * with other things: there a call is refused only where its flow would not work.
 */
export function latenessLimitMs(config: Pick<App['config'], 'NODE_ENV' | 'PAMOJA_VOICE_LATENESS_MS'>): number {
  const { NODE_ENV, PAMOJA_VOICE_LATENESS_MS: given } = config
  if (given > 0) return given
  return NODE_ENV === 'production' ? 60 : 5_000
}
const maxCalledHosts = 1_000
const skippedNumbers = 10_000
const drainLookMs = 100
/** Every how many looks callers who wait are moved, and how many at once. */
const looksPerMove = 20
const movesAtOnce = 20
/** Time that a network has to take a caller to another node, and the least that is left of the drain for it. */
const moveMs = 15_000
const leastMoveMs = 1_000

class TelephoneNetwork {
  readonly app: App
  readonly sessions = new Map<string, LiveSession>()
  readonly speaker: Speaker
  readonly trunks: Trunks
  /** Hosts of SIP addresses called on behalf of customers: their responses are accepted. */
  readonly #calledHosts = new Set<string>()
  #pool: MediaPool | null = null
  #endpoint: SipEndpoint | null = null
  #takeIncoming: TakeIncoming = () => 503
  /** Whether this node is being stopped: it takes no new calls. */
  isDraining = false

  constructor(app: App) {
    this.app = app
    const processes = () => speakersOf(app)
    this.speaker = new Speaker(
      [new ProgramEngine(app.config.PAMOJA_SPEECH_PROGRAM, (file) => soundIn(app, file)), new PackageEngine(processes)],
      new FileSpeech(new VoiceFiles(app), processes),
    )
    this.trunks = new Trunks(app)
  }

  /** Opens the SIP listener and the media workers. */
  async open({ host, port, identity }: Place, takeIncoming: TakeIncoming): Promise<OpenListener> {
    this.#takeIncoming = takeIncoming
    const { PAMOJA_SIP_CA_FILE: caFile, PAMOJA_SIP_TLS_PORT: tlsPort } = this.app.config
    const endpoint = await SipEndpoint.open({
      host,
      publicHost: this.publicHost,
      ports: { udp: port, tcp: port, tls: port === 0 ? 0 : tlsPort },
      tls: identity,
      // A phone that holds its call sends no audio by which it could be missed.
      signOfLifeMs: this.app.config.PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS * 1_000,
      nameAt: (at) => this.trunks.nameAt(at),
      ...(caFile === '' ? {} : { trusted: await readFile(caFile, 'utf8') }),
      invited: (call) => this.#invited(call),
      admits: (from) => this.#admits(from),
      failed: (error) =>
        this.app.log.error({ error }, 'SIP message not handled: it is dropped and calls go on; report this error'),
    })
    this.#endpoint = endpoint
    this.trunks.start(endpoint)
    this.#measure()
    return {
      port: endpoint.ports.udp ?? 0,
      updateIdentity: (renewed) => endpoint.updateIdentity(renewed),
      close: () => this.#close(),
    }
  }

  #measure(): void {
    const { metrics } = this.app
    metrics.gauge('pamoja_voice_legs', 'Legs of calls with audio on this node.', () => this.#pool?.figures.legs ?? 0)
    metrics.gauge(
      'pamoja_voice_late_seconds',
      'Lateness of audio at one tick in a hundred, of the worker that is latest.',
      () => (this.#pool?.figures.lateMs ?? 0) / 1_000,
    )
    metrics.gauge('pamoja_voice_admits', '1 if this node accepts another call, otherwise 0.', () =>
      Number(this.#pool?.admits ?? true),
    )
  }

  /** Workers start with the first call, so that an installation without calls has none. */
  get media(): MediaPool {
    const { config, log } = this.app
    const settings = {
      ports: portsOf(config.PAMOJA_RTP_PORTS),
      silentMs: config.PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS * 1_000,
      maxLegs,
      latestMs: latenessLimitMs(config),
    }
    this.#pool ??= new MediaPool(settings, log)
    return this.#pool
  }

  /** Host that trunks are told. */
  get publicHost(): string {
    const { PAMOJA_SIP_HOST: own, PAMOJA_SIP_PUBLIC_HOST: told } = this.app.config
    return told === '' ? own : told
  }

  /** Host that audio (RTP) is bound to. */
  get mediaHost(): string {
    return this.app.config.PAMOJA_SIP_HOST
  }

  get isOpen(): boolean {
    return this.#endpoint !== null
  }

  /** SIP address, and the ports of TCP and TLS. */
  get address(): { host: string; port: number; tcpPort: number; tlsPort: number } {
    const { udp = 0, tcp = 0, tls = 0 } = this.#endpoint?.ports ?? {}
    return { host: this.mediaHost, port: udp, tcpPort: tcp, tlsPort: tls }
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
    const name = host.replace(/^\[|\]$/g, '')
    const addresses = all.filter((address) => this.trunks.at({ transport, host: address, port: 0 }) === null)
    for (const address of addresses) this.#calledHosts.add(address)
    const [oldest] = this.#calledHosts.size > maxCalledHosts ? this.#calledHosts : []
    if (oldest !== undefined) this.#calledHosts.delete(oldest)
    return addresses.slice(0, 2).map((address) => ({
      name: 'address',
      // A certificate is for the name that the customer gave.
      peer: {
        transport,
        host: address,
        port: port ?? (isTls ? 5_061 : 5_060),
        ...(isTls && !isIP(name) ? { name } : {}),
      },
      uri,
    }))
  }

  /**
   * Audio of the other side, and the addresses it is sent to and taken from. An address that a description may not name is
   * replaced by that of the peer itself, behind whose NAT the telephone is; null when nothing is in common.
   */
  audioOf(
    description: string,
    from: Peer,
    environment: Environment,
    terms: AudioTerms,
  ): (AgreedAudio & { peer?: string }) | null {
    const audio = agreedAudio(description, terms)
    if (!audio) return null
    const peer = isIP(from.host) ? plainAddress(from.host) : this.trunks.addressAt(from)
    if (audio.host === peer || this.#mayHear(audio.host, peer, from, environment))
      return peer === null ? audio : { ...audio, peer }
    return peer === null ? null : { ...audio, host: peer, peer }
  }

  /** Whether the route of a customer's call may lead to a host: to an address that they could call. Names are not looked up. */
  mayReach(host: string, environment: Environment): boolean {
    const peer = { transport: 'udp', host, port: 0 } as const
    return (
      isIP(host) !== 0 && this.app.outbound.mayReach(host, { use: 'callback', environment }) && !this.trunks.at(peer)
    )
  }

  /** Whether audio with a peer is encrypted: as its trunk says; else where it can be, if nobody can read the keys. */
  srtpAt(peer: Peer): SrtpPolicy {
    return this.trunks.srtpAt(peer) ?? (peer.transport === 'tls' ? 'optional' : 'off')
  }

  /** Codecs with a peer, the best first: those of its trunk; else the usual ones, and Opus with a phone that prefers nothing else. */
  codecsAt(
    peer: Peer,
    wanted: readonly Codec[] = this.trunks.codecsAt(peer) ?? [...usualCodecs, 'opus'],
  ): readonly Codec[] {
    const spoken = hasOpus() ? wanted : wanted.filter((codec) => codec !== 'opus')
    return spoken.length > 0 ? spoken : usualCodecs
  }

  /** Customers' addresses are checked like all others; a trunk may also name another address of the network it is in. */
  #mayHear(address: string, peer: string | null, from: Peer, environment: Environment): boolean {
    if (this.app.outbound.mayReach(address, { use: 'callback', environment })) return true
    const [named, own] = [parseAddress(address), peer === null ? null : parseAddress(peer)]
    if (!named || !own || this.trunks.at(from) === null) return false
    return classOfAddress(named) !== 'forbidden' && classOfAddress(named) === classOfAddress(own)
  }

  /** Call over a route; counted towards the trunk's limit while it lasts. */
  invite(way: Way, invitation: Invitation, handlers: CallHandlers): SipCall | null {
    if (!this.#endpoint) return null
    const over = this.trunks.count(way)
    return this.#endpoint.invite(invitation, {
      ...handlers,
      refused: (status, reason, contacts) => {
        over()
        handlers.refused?.(status, reason, contacts)
      },
      ended: (by, reason) => {
        over()
        handlers.ended?.(by, reason)
      },
    })
  }

  /** Hangs up a call of a node that died. Its number is far above those that the node may have used meanwhile. */
  hangUp(dialog: DialogState): void {
    const state = { ...dialog, localSeq: dialog.localSeq + skippedNumbers }
    this.#endpoint?.hangUp(state, this.trunks.credentialsAt(dialog.peer)).catch(() => undefined)
  }

  #admits(from: Peer): boolean {
    return (
      this.#isSimulator(from) ||
      this.#isLocal(from) ||
      this.trunks.at(from) !== null ||
      this.#calledHosts.has(from.host)
    )
  }

  #isSimulator(from: Peer): boolean {
    const carrier = simulatedCarrier.of(this.app)
    return carrier !== null && from.host === carrier.host && from.port === carrier.port
  }

  #isLocal({ host }: Peer): boolean {
    return this.app.config.NODE_ENV !== 'production' && /^(127\.|::1$|::ffff:127\.)/.test(host)
  }

  #invited(call: SipCall): CallHandlers | null {
    if (this.isDraining) return null
    const { refusal } = this.media
    if (refusal !== null) {
      this.app.log.warn(
        { refusal },
        'incoming call refused, no room for its audio: add nodes, or take load off this one',
      )
      return null
    }
    const isSimulator = this.#isSimulator(call.source)
    const trunk = isSimulator ? null : this.trunks.at(call.source)
    if (!isSimulator && trunk === null && !this.#isLocal(call.source)) return null
    const environment = trunk === null ? ('test' as const) : ('live' as const)
    const source = { isSimulator, environment, country: this.trunks.countryOf(trunk) }
    const taken = this.#takeIncoming(this.app, call, source)
    if (typeof taken !== 'number') return taken
    queueMicrotask(() => call.reject(taken))
    return {}
  }

  /** Applies an account's moved sandbox clock to its calls. */
  async clockMoved(account: string, offsetMs: () => Promise<number>): Promise<void> {
    const theirs = [...this.sessions.values()].filter(({ one }) => one.account === account)
    if (theirs.length === 0) return
    const ms = await offsetMs()
    for (const session of theirs) if (session.one.environment === 'test') session.clockMoved(ms)
  }

  /**
   * Takes no new calls, has callers who wait moved to another node where their networks do that, lets the others end within a
   * time, and apologises to those who are left.
   */
  async drain(seconds: number): Promise<void> {
    if (seconds === 0) return
    this.isDraining = true
    const untilMs = this.app.clock.nowMs() + 1_000 * seconds
    // Networks that were told where this node is bring their calls elsewhere from now on.
    await this.trunks.stop()
    for (let i = 0; this.sessions.size > 0 && this.app.clock.nowMs() < untilMs; i++) {
      if (i % looksPerMove === 0) await this.#moveCallers(untilMs)
      await sleep(drainLookMs)
    }
    await Promise.all([...this.sessions.values()].map((session) => session.sayGoodbye?.().catch(() => undefined)))
  }

  /** Callers who wait go to another node, if there is one: whoever comes to wait later follows with the next look. */
  async #moveCallers(untilMs: number): Promise<void> {
    const movable = [...this.sessions.values()].filter(({ mayMove }) => mayMove)
    if (movable.length === 0) return
    try {
      const nodes = await liveNodes(this.app.db)
      if (!nodes.some(({ id, roles }) => id !== this.app.nodeId && roles.includes('carriers'))) return
      for (let first = 0; first < movable.length; first += movesAtOnce) {
        const leftMs = Math.min(moveMs, untilMs - this.app.clock.nowMs())
        if (leftMs < leastMoveMs) return
        await Promise.all(movable.slice(first, first + movesAtOnce).map((session) => session.move?.(leftMs)))
      }
    } catch (error) {
      this.app.log.warn(
        { error },
        'waiting callers not moved to another node: they keep waiting here while it stops; check the database',
      )
    }
  }

  async #close(): Promise<void> {
    await this.drain(this.app.config.PAMOJA_VOICE_DRAIN_SECONDS)
    await Promise.all([...this.sessions.values()].map((session) => session.shutDown()))
    await this.trunks.stop()
    await this.#endpoint?.close()
    await this.#pool?.close()
    this.#endpoint = null
  }
}

/** Address without the IPv6 clothes of an IPv4 one. */
function plainAddress(host: string): string {
  return host.replace(/^::ffff:/, '')
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
