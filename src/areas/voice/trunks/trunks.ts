// SPDX-License-Identifier: Apache-2.0
// Trunks in memory: which lead to a number, which are down, which are registered, and whose address a call comes from.
// Reloaded on a signal when an operator changes them.
import { isIP } from 'node:net'
import type { App } from '../../../platform/app.ts'
import { Followed } from '../../../platform/nodes/followed.ts'
import { hostLookup } from '../../../platform/outbound.ts'
import type { Credentials } from '../../../protocols/sip/digest.ts'
import type { SipEndpoint } from '../../../protocols/sip/endpoint.ts'
import type { Peer } from '../../../protocols/sip/transport.ts'
import { passwordOf, selectRates, selectTrunks, type TrunkRow, trunkTopic } from './store.ts'

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
}

interface Trunk {
  row: TrunkRow
  peer: Peer
  /** IP addresses its calls come from. */
  sources: ReadonlySet<string>
  credentials: Credentials | null
  /** Skipped until then, because it did not respond. */
  downUntilMs: number
  isUp: boolean
  isRegistered: boolean
  lastError: string | null
  seq: number
  isChecking: boolean
}

/** Status of a trunk on this node. */
export type TrunkState = Pick<Trunk, 'isUp' | 'isRegistered' | 'lastError'> & { calls: number }

/** Reload interval, in case a signal was lost. */
const reloadMs = 30_000
const checkEveryMs = 30_000
const downMs = 30_000
const registerSeconds = 300
const defaultPorts = { udp: 5_060, tcp: 5_060, tls: 5_061 } as const

export class Trunks {
  private readonly app: App
  private trunks: readonly Trunk[] = []
  /** Live calls by trunk name; they outlive a change of the trunk. */
  private readonly calls = new Map<string, number>()
  private rates = new Map<string, bigint>()
  private endpoint: SipEndpoint | null = null
  private checking: NodeJS.Timeout | null = null
  private readonly followed: Followed

  constructor(app: App) {
    this.app = app
    const what = 'trunks and rates'
    this.followed = new Followed(app, { topic: trunkTopic, everyMs: reloadMs, what, load: () => this.load() })
  }

  /**
   * Load trunks and rates on every node, since calls are accepted and priced on any; returns the function that stops
   * following changes.
   */
  async follow(): Promise<() => Promise<void>> {
    await this.followed.start()
    return () => this.followed.stop()
  }

  private async load(): Promise<void> {
    const rates = await this.app.db.query(selectRates, {})
    this.rates = new Map(rates.map(({ prefix, currency, minute_micros }) => [`${currency} ${prefix}`, minute_micros]))
    const rows = (await this.app.db.query(selectTrunks, {})).filter(({ enabled }) => enabled)
    const known = new Map(this.trunks.map((trunk) => [trunk.row.name, trunk]))
    this.trunks = await Promise.all(rows.map((row) => this.trunkOf(row, known.get(row.name))))
    const { endpoint } = this
    if (!endpoint) return
    for (const gone of known.values())
      if (gone.isRegistered && !this.trunks.includes(gone)) void this.register(endpoint, gone, 0)
    if (this.trunks.some((trunk) => known.get(trunk.row.name) !== trunk)) void this.check()
  }

  private async trunkOf(row: TrunkRow, known: Trunk | undefined): Promise<Trunk> {
    if (known && known.row.updated_at.getTime() === row.updated_at.getTime()) return known
    const { host, transport, username } = row
    const password = await passwordOf(this.app, row).catch(() => null)
    const addresses = isIP(host) ? [host] : (await hostLookup(host).catch(() => [])).map(({ address }) => address)
    // TLS needs the host name for the certificate; UDP needs an address.
    const where = transport === 'udp' ? (addresses[0] ?? host) : host
    return {
      row,
      peer: { transport, host: where, port: row.port || defaultPorts[transport] },
      // A connection opened to a host name is identified by that name.
      sources: new Set([host, ...addresses, ...row.sources]),
      credentials: username !== null && password !== null ? { username, password } : null,
      downUntilMs: 0,
      isUp: false,
      isRegistered: false,
      lastError: null,
      seq: known?.seq ?? 0,
      isChecking: false,
    }
  }

  /** Start registrations and health checks through this node's SIP endpoint. */
  start(endpoint: SipEndpoint): void {
    this.endpoint = endpoint
    this.checking = setInterval(() => void this.check(), checkEveryMs)
    this.checking.unref()
    void this.check()
  }

  async stop(): Promise<void> {
    if (this.checking) clearInterval(this.checking)
    const { endpoint } = this
    this.endpoint = null
    if (endpoint) await Promise.all(this.trunks.filter((t) => t.isRegistered).map((t) => this.register(endpoint, t, 0)))
  }

  /** Check all trunks, each on its own: an unresponsive one takes half a minute. */
  private async check(): Promise<void> {
    const { endpoint } = this
    if (!endpoint) return
    const checks = this.trunks
      .filter(({ isChecking }) => !isChecking)
      .map(async (trunk) => {
        trunk.isChecking = true
        try {
          await (trunk.row.registers ? this.register(endpoint, trunk, registerSeconds) : this.ping(endpoint, trunk))
        } finally {
          trunk.isChecking = false
        }
      })
    await Promise.allSettled(checks)
  }

  /** SIP OPTIONS ping; any response but 408 (timeout) and 503 means that the trunk is up. */
  private async ping(endpoint: SipEndpoint, trunk: Trunk): Promise<void> {
    const { status } = await endpoint.request('OPTIONS', this.uriOf(trunk, null), trunk.peer, {
      from: `<sip:pamoja@${trunk.row.domain ?? trunk.row.host}>`,
    })
    this.note(trunk, status !== 408 && status !== 503, `OPTIONS was answered with ${status}`)
  }

  private async register(endpoint: SipEndpoint, trunk: Trunk, seconds: number): Promise<void> {
    const { domain, host, username, name } = trunk.row
    const address = `<sip:${username ?? 'pamoja'}@${domain ?? host}>`
    trunk.seq += 2
    const { status } = await endpoint.request('REGISTER', `sip:${domain ?? host}`, trunk.peer, {
      from: address,
      address,
      headers: [['expires', seconds]],
      callId: `${this.app.nodeId}-${name}`,
      seq: trunk.seq,
      ...(trunk.credentials ? { credentials: trunk.credentials } : {}),
    })
    trunk.isRegistered = seconds > 0 && status >= 200 && status < 300
    if (seconds > 0) this.note(trunk, trunk.isRegistered, `REGISTER was answered with ${status}`)
  }

  private note(trunk: Trunk, isUp: boolean, problem: string): void {
    if (trunk.isUp && !isUp)
      this.app.log.warn(
        { trunk: trunk.row.name, problem },
        'trunk is down: calls take another one or fail; check the carrier and the network',
      )
    trunk.isUp = isUp
    trunk.lastError = isUp ? null : problem
    trunk.downUntilMs = isUp ? 0 : this.app.clock.nowMs() + downMs
  }

  /** Routes to a number: longest prefix first, then priority; trunks that are down come last. */
  waysTo(number: string): Way[] {
    const nowMs = this.app.clock.nowMs()
    return this.trunks
      .map((trunk) => ({ trunk, length: longestOf(trunk.row.prefixes, number), isDown: trunk.downUntilMs > nowMs }))
      .filter(({ trunk, length }) => length >= 0 && this.callsOf(trunk.row.name) < trunk.row.max_calls)
      .sort(
        (a, b) =>
          Number(a.isDown) - Number(b.isDown) || b.length - a.length || a.trunk.row.priority - b.trunk.row.priority,
      )
      .map(({ trunk }) => ({
        name: trunk.row.name,
        trunk: trunk.row.name,
        peer: trunk.peer,
        uri: this.uriOf(trunk, number),
        domain: trunk.row.domain ?? trunk.row.host,
        ...(trunk.credentials ? { credentials: trunk.credentials } : {}),
      }))
  }

  /** Whether a trunk not known to be down takes a number. */
  leadsTo(number: string): boolean {
    const nowMs = this.app.clock.nowMs()
    return this.waysTo(number).some(({ name }) => (this.find(name)?.downUntilMs ?? 0) <= nowMs)
  }

  private uriOf({ row, peer }: Trunk, number: string | null): string {
    const host = row.host.includes(':') ? `[${row.host}]` : row.host
    const transport = peer.transport === 'udp' ? '' : `;transport=${peer.transport}`
    const user = number === null ? '' : `${number}@`
    return `sip:${user}${host}:${peer.port}${number === null ? '' : ';user=phone'}${transport}`
  }

  worked({ trunk: name }: Way): void {
    const trunk = this.find(name)
    if (trunk) this.note(trunk, true, '')
  }

  failed({ trunk: name }: Way, status: number): void {
    const trunk = this.find(name)
    if (trunk) this.note(trunk, false, `a call was answered with ${status}`)
  }

  /** Count a call on a trunk; returns the function that uncounts it. */
  count({ trunk: name }: Way): () => void {
    if (name === undefined) return () => undefined
    this.calls.set(name, this.callsOf(name) + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = this.callsOf(name) - 1
      if (left > 0) this.calls.set(name, left)
      else this.calls.delete(name)
    }
  }

  private callsOf(name: string): number {
    return this.calls.get(name) ?? 0
  }

  private find(name: string | undefined): Trunk | null {
    return this.trunks.find(({ row }) => row.name === name) ?? null
  }

  /** Trunk of a message's source address; null when there is none. */
  at({ host }: Peer): string | null {
    const plain = host.replace(/^::ffff:/, '')
    return this.trunks.find(({ sources }) => sources.has(plain))?.row.name ?? null
  }

  stateOf(name: string): TrunkState | null {
    const trunk = this.find(name)
    return trunk && { ...trunk, calls: this.callsOf(name) }
  }

  /** Rate per minute of the longest prefix; null when the operator set none. */
  rateOf(number: string, currency: string): bigint | null {
    for (let length = number.length; length > 0; length--) {
      const found = this.rates.get(`${currency} ${number.slice(0, length)}`)
      if (found !== undefined) return found
    }
    return null
  }
}

/** Length of the longest matching prefix; -1 when none matches. */
function longestOf(prefixes: readonly string[], number: string): number {
  return Math.max(-1, ...prefixes.filter((prefix) => number.startsWith(prefix)).map(({ length }) => length))
}
