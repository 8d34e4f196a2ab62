// SPDX-License-Identifier: Apache-2.0
// The trunks of this node while it runs: which of them lead to a number, which are down, who is registered, whose address a call
// comes from. What operators change is read again when another node says so.
import { isIP } from 'node:net'
import type { App } from '../../../platform/app.ts'
import { Followed } from '../../../platform/nodes/followed.ts'
import { hostLookup } from '../../../platform/outbound.ts'
import type { Credentials } from '../../../protocols/sip/digest.ts'
import type { SipEndpoint } from '../../../protocols/sip/endpoint.ts'
import type { Peer } from '../../../protocols/sip/transport.ts'
import { passwordOf, selectRates, selectTrunks, type TrunkRow, trunkTopic } from './store.ts'

/** A way to a number: a trunk, the simulator, or an address of a customer's. */
export interface Way {
  name: string
  peer: Peer
  uri: string
  /** Name that this side has there. */
  domain?: string
  credentials?: Credentials
  /** Name of the trunk, where it is one. */
  trunk?: string
}

interface Trunk {
  row: TrunkRow
  peer: Peer
  /** Addresses that its calls come from. */
  sources: ReadonlySet<string>
  credentials: Credentials | null
  /** Until when it is passed over, because it did not answer. */
  downUntilMs: number
  isUp: boolean
  isRegistered: boolean
  lastError: string | null
  seq: number
  isChecking: boolean
}

/** How a trunk does, as this node sees it. */
export type TrunkState = Pick<Trunk, 'isUp' | 'isRegistered' | 'lastError'> & { calls: number }

/** Changes are told; this is for what was not heard. */
const reloadMs = 30_000
const checkEveryMs = 30_000
const downMs = 30_000
const registerSeconds = 300
const defaultPorts = { udp: 5_060, tcp: 5_060, tls: 5_061 } as const

export class Trunks {
  private readonly app: App
  private trunks: readonly Trunk[] = []
  /** Calls under way by the name of their trunk: they outlast a change of it. */
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

  /** Every node knows the trunks and the rates, since calls are accepted and priced on any. Gives the way to stop. */
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
    // A certificate is for a name; a datagram goes to an address.
    const where = transport === 'udp' ? (addresses[0] ?? host) : host
    return {
      row,
      peer: { transport, host: where, port: row.port || defaultPorts[transport] },
      // A connection that this side opened to a name is known by that name.
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

  /** Begins to register and to look after trunks, through the endpoint of this node. */
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

  /** Looks after every trunk, each at its own pace: one that does not answer takes half a minute. */
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

  /** Asks whether somebody is there; any answer but a refusal to serve says so. */
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

  /** Ways to a number: those with the longest prefix first, then by priority; those that are down come last. */
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

  /** Whether a trunk that is not known to be down takes a number. */
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

  /** Counts a call over a trunk; gives the way to count it out again. */
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

  /** The trunk that a message comes from; null for somebody else. */
  at({ host }: Peer): string | null {
    const plain = host.replace(/^::ffff:/, '')
    return this.trunks.find(({ sources }) => sources.has(plain))?.row.name ?? null
  }

  stateOf(name: string): TrunkState | null {
    const trunk = this.find(name)
    return trunk && { ...trunk, calls: this.callsOf(name) }
  }

  /** Price of a minute by the longest prefix; null where the operator named none. */
  rateOf(number: string, currency: string): bigint | null {
    for (let length = number.length; length > 0; length--) {
      const found = this.rates.get(`${currency} ${number.slice(0, length)}`)
      if (found !== undefined) return found
    }
    return null
  }
}

/** Digits of the longest prefix that a number begins with; -1 if it begins with none. */
function longestOf(prefixes: readonly string[], number: string): number {
  return Math.max(-1, ...prefixes.filter((prefix) => number.startsWith(prefix)).map(({ length }) => length))
}
