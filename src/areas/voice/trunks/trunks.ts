// SPDX-License-Identifier: Apache-2.0
// Trunks in memory: which lead to a number, which are down, which are registered, and whose address a call comes from.
// Reloaded on a signal when an operator changes them.
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { App } from '../../../platform/app.ts'
import { atMost } from '../../../platform/concurrency/at-most.ts'
import type { Probe } from '../../../platform/connections/probe.ts'
import { Followed } from '../../../platform/nodes/followed.ts'
import { secureContextOf } from '../../../platform/outbound/dial.ts'
import type { Codec } from '../../../protocols/audio/codec.ts'
import type { SrtpPolicy } from '../../../protocols/sdp/session-description.ts'
import type { Credentials } from '../../../protocols/sip/digest.ts'
import type { SipEndpoint } from '../../../protocols/sip/endpoint.ts'
import { parseAddress, parseUri, type SipUri } from '../../../protocols/sip/header-values.ts'
import type { SipHeaders, SipResponse } from '../../../protocols/sip/message.ts'
import type { Peer } from '../../../protocols/sip/transport.ts'
import { countryOfTrunk, readingsOf, writtenFor } from './number-form.ts'
import { passwordOf, selectRates, selectTrunks, type TrunkRow, trunkTopic } from './store.ts'
import { defaultPorts, peerKey, unresolved, type Whereabouts, whereaboutsOf } from './whereabouts.ts'

/** Route to a number: a trunk, the simulator, or a customer's address. */
export interface Way {
  name: string
  peer: Peer
  uri: string
  /** Our domain name at the trunk. */
  domain?: string
  credentials?: Credentials
  /** Trunk name; undefined for other routes. */
  trunk?: string
  /** Whether audio is encrypted; undefined where the peer decides. */
  srtp?: SrtpPolicy
  /** Codecs, the best first; undefined where the peer decides. */
  codecs?: readonly Codec[]
}

interface Trunk {
  row: TrunkRow
  where: Whereabouts
  /** Addresses of it that had no line or said nothing, until when they come last. */
  silentUntilMs: Map<string, number>
  credentials: Credentials | null
  /** Skipped until then, because it did not respond. */
  downUntilMs: number
  /** Numbers that it had no line for, since a call last got through. */
  failed: Set<string>
  isUp: boolean
  isRegistered: boolean
  lastError: string | null
  seq: number
  /** Registration time that the network wants. */
  registerSeconds: number
  isChecking: boolean
  /** Next registration, where the network keeps one for less time than lies between two checks. */
  again: NodeJS.Timeout | null
}

/** Status of a trunk on this node. */
export type TrunkState = Pick<Trunk, 'isUp' | 'isRegistered' | 'lastError'> & { calls: number }

/** Reloads interval, in case a signal was lost. */
const reloadMs = 30_000
const checkEveryMs = 30_000
const downMs = 30_000
const silentMs = 300_000
/** Longest wait for the DNS, and for an answer to a farewell, before a trunk that was changed is used all the same. */
const resolvedMs = 2_000
const leastRefreshMs = 1_000
/** Registration time that is asked for, and the longest that a network may ask for instead. */
const registerSeconds = 300
const maxRegisterSeconds = 86_400
const maxRedirects = 3
/**
 * Numbers in a row without a line after which a trunk counts as down. One is the business of its call alone: networks say
 * 503 and 408 of a single destination every day.
 */
const maxFailed = 5
/** Answers that may be about the called number alone, and so take nothing from the trunk. */
const ofNumber: ReadonlySet<number> = new Set([500, 502, 504])
export class Trunks {
  readonly #app: App
  #trunks: readonly Trunk[] = []
  /** Live calls by trunk name; they outlive a change of the trunk. */
  readonly #calls = new Map<string, number>()
  #rates = new Map<string, bigint>()
  #endpoint: SipEndpoint | null = null
  #checking: NodeJS.Timeout | null = null
  #isLocating = false
  readonly #followed: Followed

  constructor(app: App) {
    this.#app = app
    const what = 'trunks and rates'
    this.#followed = new Followed(app, { topic: trunkTopic, everyMs: reloadMs, what, load: () => this.#load() })
  }

  /**
   * Loads trunks and rates on every node, since calls are accepted and priced on any; returns the function that stops
   * following changes.
   */
  async follow(): Promise<() => Promise<void>> {
    await this.#followed.start()
    return () => this.#followed.stop()
  }

  async #load(): Promise<void> {
    const rates = await this.#app.db.query(selectRates, {})
    this.#rates = new Map(rates.map(({ prefix, currency, minute_micros }) => [`${currency} ${prefix}`, minute_micros]))
    const rows = (await this.#app.db.query(selectTrunks, {})).filter(({ enabled }) => enabled)
    const known = new Map(this.#trunks.map((trunk) => [trunk.row.name, trunk]))
    this.#trunks = await Promise.all(rows.map((row) => this.#trunkOf(row, known.get(row.name))))
    for (const trunk of known.values()) if (!this.#trunks.includes(trunk)) this.#registerNoMore(trunk)
    void this.#locate()
    const endpoint = this.#endpoint
    if (!endpoint) return
    const names = new Set(this.#trunks.map(({ row }) => row.name))
    for (const gone of known.values())
      if (gone.isRegistered && !names.has(gone.row.name)) void this.#register(endpoint, gone, 0)
    for (const trunk of this.#trunks) {
      const before = known.get(trunk.row.name)
      if (before !== trunk) void this.#takeOver(endpoint, trunk, before).catch(() => undefined)
    }
  }

  /**
   * Begins with a trunk as it is now. One that is registered by the same name is registered anew; otherwise the network answers
   * the farewell to the old name first, for the later of two requests counts.
   */
  async #takeOver(endpoint: SipEndpoint, trunk: Trunk, before: Trunk | undefined): Promise<void> {
    if (before?.isRegistered && !isSameName(before.row, trunk.row)) {
      trunk.isChecking = true
      await atMost(
        resolvedMs,
        this.#register(endpoint, before, 0).catch(() => undefined),
        undefined,
      )
      trunk.isChecking = false
      trunk.seq = before.seq
    }
    if (this.#trunks.includes(trunk)) await this.#checkOne(endpoint, trunk)
  }

  async #trunkOf(row: TrunkRow, known: Trunk | undefined): Promise<Trunk> {
    if (known && known.row.updated_at.getTime() === row.updated_at.getTime()) return known
    const { username } = row
    const isThere = known?.row.host === row.host && known.row.port === row.port && known.row.transport === row.transport
    const knownWhere = isThere ? known.where : null
    const password = await passwordOf(this.#app, row).catch(() => null)
    return {
      row,
      where: (await atMost(resolvedMs, this.#whereaboutsOf(row, knownWhere), knownWhere)) ?? unresolved(row),
      silentUntilMs: new Map(),
      credentials: username !== null && password !== null ? { username, password } : null,
      downUntilMs: 0,
      failed: new Set(),
      isUp: false,
      isRegistered: false,
      lastError: null,
      seq: known?.seq ?? 0,
      registerSeconds,
      isChecking: false,
      again: null,
    }
  }

  #whereaboutsOf(row: TrunkRow, known: Whereabouts | null): Promise<Whereabouts | null> {
    return whereaboutsOf(row, this.#app.config.PAMOJA_SIP_HOST, known)
  }

  /** Asks the DNS again where all trunks are, since networks move; what was known holds while it does not tell. */
  async #locate(): Promise<void> {
    if (this.#isLocating) return
    this.#isLocating = true
    try {
      for (const trunk of this.#trunks) {
        trunk.where = (await this.#whereaboutsOf(trunk.row, trunk.where)) ?? trunk.where
        const keys = new Set(trunk.where.peers.map(peerKey))
        for (const key of trunk.silentUntilMs.keys()) if (!keys.has(key)) trunk.silentUntilMs.delete(key)
      }
    } finally {
      this.#isLocating = false
    }
  }

  /** Starts registrations and health checks through this node's SIP endpoint. */
  start(endpoint: SipEndpoint): void {
    this.#endpoint = endpoint
    this.#checking = setInterval(() => void this.#check(), checkEveryMs)
    this.#checking.unref()
    void this.#check()
  }

  async stop(): Promise<void> {
    if (this.#checking) clearInterval(this.#checking)
    const endpoint = this.#endpoint
    this.#endpoint = null
    for (const trunk of this.#trunks) this.#registerNoMore(trunk)
    if (endpoint)
      await Promise.all(this.#trunks.filter((t) => t.isRegistered).map((t) => this.#register(endpoint, t, 0)))
  }

  /** Checks all trunks, each on its own: an unresponsive one takes half a minute. */
  async #check(): Promise<void> {
    const endpoint = this.#endpoint
    if (!endpoint) return
    await Promise.allSettled(this.#trunks.map((trunk) => this.#checkOne(endpoint, trunk)))
  }

  async #checkOne(endpoint: SipEndpoint, trunk: Trunk): Promise<void> {
    if (trunk.isChecking) return
    trunk.isChecking = true
    try {
      await (trunk.row.registers ? this.#register(endpoint, trunk, trunk.registerSeconds) : this.#ping(endpoint, trunk))
    } finally {
      trunk.isChecking = false
    }
  }

  /** SIP OPTIONS ping; any response but 408 (timeout) and 503 means that the trunk is up. */
  async #ping(endpoint: SipEndpoint, trunk: Trunk): Promise<void> {
    const { status } = await this.#options(endpoint, trunk)
    this.#note(trunk, !isWithoutLine(status), `OPTIONS was answered with ${status}`)
  }

  async #register(endpoint: SipEndpoint, trunk: Trunk, seconds: number): Promise<void> {
    const { domain, host, username, name } = trunk.row
    const address = `<sip:${username ?? 'pamoja'}@${domain ?? host}>`
    this.#registerNoMore(trunk)
    const peers = this.#peersOf(trunk)
    // A network that is left is told once: a node that stops does not wait for each address in turn.
    const asked: Whereabouts['peers'] = seconds === 0 ? [peers[0]] : peers
    const ask = async (peer: Peer) => {
      trunk.seq += 2
      const response = await endpoint.request('REGISTER', `sip:${domain ?? host}`, peer, {
        from: address,
        address,
        headers: [['expires', seconds]],
        callId: `${this.#app.nodeId}-${name}`,
        seq: trunk.seq,
        ...(trunk.credentials ? { credentials: trunk.credentials } : {}),
      })
      return { ...response, own: endpoint.contact(peer) }
    }
    const { status, headers, own } = await this.#askEach(trunk, ask, asked)
    const least = Number(headers.get('min-expires'))
    if (status === 423 && least > seconds && least <= maxRegisterSeconds) {
      trunk.registerSeconds = least
      return this.#register(endpoint, trunk, least)
    }
    trunk.isRegistered = seconds > 0 && status >= 200 && status < 300
    if (seconds === 0) return
    this.#note(trunk, trunk.isRegistered, `REGISTER was answered with ${status}`)
    const refreshMs = 500 * keptSeconds(headers, own)
    const isInUse = endpoint === this.#endpoint && this.#trunks.includes(trunk)
    if (!isInUse || !trunk.isRegistered || refreshMs >= checkEveryMs) return
    trunk.again = setTimeout(
      () => void this.#checkOne(endpoint, trunk).catch(() => undefined),
      Math.max(refreshMs, leastRefreshMs),
    ).unref()
  }

  #registerNoMore(trunk: Trunk): void {
    if (trunk.again) clearTimeout(trunk.again)
    trunk.again = null
  }

  /** Asks the addresses of a trunk one after the other until one has an answer. */
  async #askEach<T extends { status: number }>(
    trunk: Trunk,
    ask: (peer: Peer) => Promise<T>,
    [peer, ...rest] = this.#peersOf(trunk),
  ): Promise<T> {
    const answer = await ask(peer)
    if (!isWithoutLine(answer.status)) {
      trunk.silentUntilMs.delete(peerKey(peer))
      return answer
    }
    this.#passOver(trunk, peer)
    const [next, ...others] = rest
    return next ? this.#askEach(trunk, ask, [next, ...others]) : answer
  }

  #passOver(trunk: Trunk, peer: Peer): void {
    trunk.silentUntilMs.set(peerKey(peer), this.#app.clock.nowMs() + silentMs)
  }

  #isSilent(trunk: Trunk, peer: Peer): boolean {
    return (trunk.silentUntilMs.get(peerKey(peer)) ?? 0) > this.#app.clock.nowMs()
  }

  /** Addresses of a trunk in order of preference; those that had no line lately come last. */
  #peersOf(trunk: Trunk): Whereabouts['peers'] {
    const { peers } = trunk.where
    const [first = peers[0], ...others] = [
      ...peers.filter((peer) => !this.#isSilent(trunk, peer)),
      ...peers.filter((peer) => this.#isSilent(trunk, peer)),
    ]
    return [first, ...others]
  }

  /** Tries a trunk as it is stored: in use or not. */
  async test(row: TrunkRow, probe: Probe): Promise<void> {
    const trunk = this.#find(row.name) ?? (await this.#trunkOf(row, undefined))
    const [{ transport, host, port }] = this.#peersOf(trunk)
    await probe.name(row.host)
    if (transport === 'udp') probe.skip('connection', 'UDP has no connection')
    else await probe.connection(host, port)
    if (transport === 'tls') {
      const { PAMOJA_SIP_CA_FILE: file } = this.#app.config
      await probe.tls(host, port, secureContextOf(file === '' ? null : await readFile(file, 'utf8')), row.host)
    } else probe.skip('tls', `${transport.toUpperCase()} without encryption`)
    if (row.registers)
      await probe.step('sign_in', async () => {
        await this.#register(this.#open(), trunk, trunk.registerSeconds)
        if (trunk.lastError !== null) throw new Error(trunk.lastError)
        return `REGISTER was accepted for ${row.username}`
      })
    else probe.skip('sign_in', 'This trunk does not register: the network knows us by our address')
    await probe.step('answer', async () => {
      const { status, reason } = await this.#options(this.#open(), trunk)
      const said = `OPTIONS was answered with ${status} ${reason}`.trim()
      if (status === 408) throw new Error('OPTIONS was not answered')
      if (status === 503) throw new Error(said)
      return said
    })
  }

  #open(): SipEndpoint {
    if (this.#endpoint) return this.#endpoint
    throw new Error('this node carries no calls: PAMOJA_ROLES has no voice here')
  }

  #options(endpoint: SipEndpoint, trunk: Trunk): Promise<SipResponse> {
    return this.#askEach(trunk, (peer) =>
      endpoint.request('OPTIONS', this.#uriOf(trunk, null), peer, {
        from: `<sip:pamoja@${trunk.row.domain ?? trunk.row.host}>`,
        ...(trunk.credentials ? { credentials: trunk.credentials } : {}),
      }),
    )
  }

  #note(trunk: Trunk, isUp: boolean, problem: string): void {
    if (trunk.isUp && !isUp)
      this.#app.log.warn(
        { trunk: trunk.row.name, problem },
        'trunk is down: calls take another one or fail; check the carrier and the network',
      )
    trunk.isUp = isUp
    trunk.lastError = isUp ? null : problem
    trunk.downUntilMs = isUp ? 0 : this.#app.clock.nowMs() + downMs
    if (!isUp) trunk.failed.clear()
  }

  /**
   * Routes to a number: longest prefix first, then priority, then the lowest cost, then by lot; trunks that are down come
   * last.
   */
  waysTo(number: string): Way[] {
    const nowMs = this.#app.clock.nowMs()
    return this.#trunks
      .map((trunk) => ({
        trunk,
        length: longestOf(trunk.row.prefixes, number),
        isDown: trunk.downUntilMs > nowMs,
        cost: costOf(trunk.row, number),
        lot: -Math.log(1 - Math.random()) / trunk.row.weight,
      }))
      .filter(({ trunk, length }) => length >= 0 && this.#callsOf(trunk.row.name) < trunk.row.max_calls)
      .sort(
        (a, b) =>
          Number(a.isDown) - Number(b.isDown) ||
          b.length - a.length ||
          a.trunk.row.priority - b.trunk.row.priority ||
          (a.cost === b.cost ? a.lot - b.lot : a.cost - b.cost),
      )
      .flatMap(({ trunk }) =>
        this.#peersOf(trunk).map((peer) => ({
          name: trunk.row.name,
          trunk: trunk.row.name,
          srtp: trunk.row.srtp,
          codecs: trunk.row.codecs,
          peer,
          uri: this.#uriOf(trunk, number),
          domain: trunk.row.domain ?? trunk.row.host,
          ...(trunk.credentials ? { credentials: trunk.credentials } : {}),
        })),
      )
  }

  /** Whether a trunk not known to be down takes a number. */
  leadsTo(number: string): boolean {
    const nowMs = this.#app.clock.nowMs()
    return this.waysTo(number).some(({ name }) => (this.#find(name)?.downUntilMs ?? 0) <= nowMs)
  }

  #uriOf({ row }: Trunk, number: string | null): string {
    const host = row.host.includes(':') ? `[${row.host}]` : row.host
    const port = row.port === 0 ? '' : `:${row.port}`
    const transport = row.transport === 'udp' ? '' : `;transport=${row.transport}`
    const user = number === null ? '' : `${writtenFor(number, row.number_format, countryOfTrunk(row))}@`
    return `sip:${user}${host}${port}${number === null ? '' : ';user=phone'}${transport}`
  }

  /** Caller id on a route: the number itself, another that its trunk shows instead, or null when the route may not be taken. */
  shown({ trunk: name }: Way, number: string): string | null {
    const row = this.#find(name)?.row
    if (!row || row.caller_ids.length === 0 || longestOf(row.caller_ids, number) >= 0) return number
    return row.caller_id
  }

  /**
   * Routes that a redirect leads to: addresses of the trunk itself, by its own transport, and no number that may not be rung;
   * none where it may not be followed.
   */
  redirected(way: Way, contacts: readonly string[], mayRing: (number: string) => boolean): Way[] {
    const trunk = this.#find(way.trunk)
    if (!trunk?.row.follows_redirects) return []
    const { domain, transport } = trunk.row
    const [{ host: main }] = this.#peersOf(trunk)
    return contacts.slice(0, maxRedirects).flatMap((contact) => {
      const uri = sipUriOf(contact)
      if (!uri || (uri.parameters.get('transport')?.toLowerCase() ?? transport) !== transport) return []
      const host = uri.host === domain ? main : uri.host
      const [number] = readingsOf(uri.user ?? '', countryOfTrunk(trunk.row))
      if (!isOf(trunk, host) || (number !== undefined && !mayRing(number))) return []
      return [{ ...way, peer: { transport, host, port: uri.port ?? defaultPorts[transport] }, uri: uri.text }]
    })
  }

  /** Number that a party wants to be called in its place; null where its trunk may not say so, or names no number. */
  transferred({ trunk: name }: Way, target: string): string | null {
    const trunk = this.#find(name)
    if (!trunk?.row.follows_transfers) return null
    return readingsOf(parseUri(target).user ?? '', countryOfTrunk(trunk.row))[0] ?? null
  }

  /** Address by which a trunk is asked to connect a caller with a number; null where it may not be. */
  transferUri(name: string | null, number: string): string | null {
    const trunk = name === null ? null : this.#find(name)
    return trunk && longestOf(trunk.row.transfers_to, number) >= 0 ? this.#uriOf(trunk, number) : null
  }

  /** A number as the trunk of a route wants it. */
  written({ trunk: name }: Way, number: string): string {
    const row = this.#find(name)?.row
    return row ? writtenFor(number, row.number_format, countryOfTrunk(row)) : number
  }

  /** Country of the national numbers of a trunk; null when there is none. */
  countryOf(name: string | null): string | null {
    const row = name === null ? null : this.#find(name)?.row
    return row ? countryOfTrunk(row) : null
  }

  /** A call over a route got through: to a phone that rings, or to a refusal of the callee. */
  worked({ trunk: name, peer }: Way): void {
    const trunk = this.#find(name)
    if (!trunk) return
    trunk.failed.clear()
    trunk.silentUntilMs.delete(peerKey(peer))
    this.#note(trunk, true, '')
  }

  /** A call over a route found no line. A trunk is down that said nothing at all, or refused many numbers in a row. */
  failed({ trunk: name, peer }: Way, number: string, status: number, isSilent: boolean): void {
    const trunk = this.#find(name)
    if (!trunk) return
    if (!ofNumber.has(status)) trunk.failed.add(number)
    if (isSilent) this.#passOver(trunk, peer)
    const isNobodyLeft = trunk.where.peers.every((one) => this.#isSilent(trunk, one))
    if (isSilent && isNobodyLeft) this.#note(trunk, false, 'a call got no answer')
    else if (trunk.failed.size >= maxFailed)
      this.#note(trunk, false, `calls to ${maxFailed} numbers in a row were answered with ${status}`)
  }

  /** Counts a call on a trunk; returns the function that uncounts it. */
  count({ trunk: name }: Way): () => void {
    if (name === undefined) return () => undefined
    this.#calls.set(name, this.#callsOf(name) + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = this.#callsOf(name) - 1
      if (left > 0) this.#calls.set(name, left)
      else this.#calls.delete(name)
    }
  }

  #callsOf(name: string): number {
    return this.#calls.get(name) ?? 0
  }

  #find(name: string | undefined): Trunk | null {
    return this.#trunks.find(({ row }) => row.name === name) ?? null
  }

  /** Trunk of a message's source address; null when there is none. */
  at({ host }: Peer): string | null {
    const plain = host.replace(/^::ffff:/, '')
    return this.#trunks.find((trunk) => isOf(trunk, plain))?.row.name ?? null
  }

  /** Whether audio of a peer that is a trunk is encrypted; null when it is none. */
  srtpAt(peer: Peer): SrtpPolicy | null {
    return this.#find(this.at(peer) ?? undefined)?.row.srtp ?? null
  }

  /** Codecs of a peer that is a trunk, the best first; null when it is none. */
  codecsAt(peer: Peer): readonly Codec[] | null {
    return this.#find(this.at(peer) ?? undefined)?.row.codecs ?? null
  }

  /** Credentials for a peer that is a trunk; null when it is none, or needs none. */
  credentialsAt(peer: Peer): Credentials | null {
    return this.#find(this.at(peer) ?? undefined)?.credentials ?? null
  }

  /** Name of the trunk over TLS at an address or a name, which its certificate is for; null when there is none. */
  nameAt(host: string): string | null {
    const found = this.#trunks.find((trunk) => trunk.row.transport === 'tls' && isOf(trunk, host))
    const { host: name = '' } = found?.row ?? {}
    return name === '' || isIP(name) !== 0 ? null : name
  }

  /** IP address of the trunk that a message came from by its host name; null when there is none. */
  addressAt({ host }: Peer): string | null {
    const trunk = this.#trunks.find((one) => isOf(one, host))
    return [...(trunk?.where.hosts ?? []), ...(trunk?.row.sources ?? [])].find((one) => isIP(one) !== 0) ?? null
  }

  stateOf(name: string): TrunkState | null {
    const trunk = this.#find(name)
    return trunk && { ...trunk, calls: this.#callsOf(name) }
  }

  /** Rate per minute of the longest prefix; null when the operator set none. */
  rateOf(number: string, currency: string): bigint | null {
    for (let length = number.length; length > 0; length--) {
      const found = this.#rates.get(`${currency} ${number.slice(0, length)}`)
      if (found !== undefined) return found
    }
    return null
  }
}

/** Whether a network knows both by one registration. */
function isSameName(one: TrunkRow, other: TrunkRow): boolean {
  const parts = ['registers', 'host', 'port', 'transport', 'domain', 'username'] as const
  return parts.every((part) => one[part] === other[part])
}

/** Whether a host is one of a trunk's. */
function isOf({ row, where }: Trunk, host: string): boolean {
  return where.hosts.has(host) || row.sources.includes(host)
}

/** Whether a network that answers so has no line, or says nothing at all. */
function isWithoutLine(status: number): boolean {
  return status === 408 || status === 503
}

/** Seconds that a network keeps a registration of this side, of which it may show others beside it. */
function keptSeconds(headers: SipHeaders, own: string): number {
  const mine = sipUriOf(own)
  const kept = headers.all('contact').flatMap((contact) => {
    const uri = sipUriOf(contact)
    const isMine = uri !== null && uri.host === mine?.host && uri.port === mine.port
    return isMine ? [Number(parseAddress(contact).parameters.get('expires'))] : []
  })
  const [seconds = maxRegisterSeconds] = [...kept, Number(headers.get('expires'))].filter((one) => one > 0)
  return seconds
}

/** Price of a minute by the longest matching prefix; without one, more than any. */
function costOf({ costs }: TrunkRow, number: string): number {
  const length = longestOf(
    costs.map(({ prefix }) => prefix),
    number,
  )
  return costs.find(({ prefix }) => prefix.length === length && number.startsWith(prefix))?.minute ?? Infinity
}

/** SIP URI of a Contact; null for anything else. */
function sipUriOf(contact: string): SipUri | null {
  try {
    const { uri } = parseAddress(contact)
    return uri.scheme === 'sip' && uri.headers === null ? uri : null
  } catch {
    return null
  }
}

/** Length of the longest matching prefix; -1 when none matches. */
function longestOf(prefixes: readonly string[], number: string): number {
  return Math.max(-1, ...prefixes.filter((prefix) => number.startsWith(prefix)).map(({ length }) => length))
}
