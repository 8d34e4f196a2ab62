// SPDX-License-Identifier: Apache-2.0
// Rate limits: at most N admissions of a key in any window of W milliseconds, exactly, on one node and on many. A slot
// is the right to one admission in any window. A node leases slots from the database (platform.lease_slots), many keys
// per call and nothing per request, and counts in memory. The slots of all nodes together never exceed the limit, so
// neither do the admissions. A node that needs slots held by others asks for them by a signal (nodes/signals.ts).
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { type Database, statement } from './db.ts'
import { Answer, type Grant, type Policy, type PolicyState, Share, Shares } from './limits/share.ts'
import type { Signals } from './nodes/signals.ts'

export interface Admission {
  admitted: boolean
  refusedBy: PolicyState | null
  /** Policy that refused, else the one with the smallest share of its limit left. */
  tightest: PolicyState
  states: readonly PolicyState[]
}

export interface LimitsOptions {
  db: Database
  signals: Signals
  /** UUID created by each process: only it knows what it has admitted. */
  nodeId: string
  leaseMs?: number
  /** Limit of keys in memory, for shared and local ones each. */
  maxKeys?: number
}

const defaultLeaseMs = 10_000
const defaultMaxKeys = 100_000
const ticksPerLease = 10
const maxKeysPerCall = 500
/** Pauses between the attempts of one round, in all about a quarter of a second. A signal takes a few milliseconds. */
const roundPausesMs = [2, 6, 18, 54, 120]
/** Attempts after which a signal is sent: twice, since a holder may have missed the first or had nothing to spare. */
const hintAttempts = [0, 3]
/** Rounds a request waits: more than one only if other requests took the slots. */
const maxRounds = 12
/** Longest time that a node refuses without asking after a failed round; usually a quarter of the window. */
const maxRestMs = 1_000
const maxHintLength = 7_000
const purgeEveryMs = 3_600_000

const leaseSlots = statement.home<
  {
    node: string
    call: number
    leaseMs: number
    keys: readonly string[]
    limits: readonly number[]
    windowsMs: readonly number[]
    wanted: readonly number[]
    used: readonly number[]
  },
  Grant
>(
  'platform.lease_slots',
  `select slot_key, granted, free, others
     from platform.lease_slots($node::uuid, $call::bigint, $leaseMs::integer, $keys::text[], $limits::integer[],
                               $windowsMs::integer[], $wanted::integer[], $used::integer[])`,
)

/** Deletes slot rows unused for an hour. Rows in use are skipped, so this never blocks. */
const purgeSlots = statement.home<object, object>(
  'platform.purge_slots',
  `delete from platform.rate_slots
    where key in (select key from platform.rate_slots where held_until < now() - interval '1 hour'
                   limit 10000 for update skip locked)`,
)

export class Limits {
  readonly #db: Database
  readonly #signals: Signals
  readonly #nodeId: string
  readonly #leaseMs: number
  readonly #maxKeys: number
  /** Two maps, so that a flood from many IP addresses cannot evict customers. */
  readonly #shared = new Shares()
  readonly #local = new Shares()
  /** Shares of the current request; reused, to save an array per request. */
  readonly #deciding: Share[] = []
  /** Shares used since their last renewal. */
  readonly #used: Share[] = []
  /** Shares for the next call, and those for a call when no others wait. */
  readonly #asking = new Set<Share>()
  readonly #renewing = new Set<Share>()
  readonly #hints = new Map<string, number>()
  #calls: Promise<void> | null = null
  #callNumber = 0
  #timer: NodeJS.Timeout | null = null
  #purgedAtMs = performance.now()
  #stopped = false

  constructor(options: LimitsOptions) {
    this.#db = options.db
    this.#signals = options.signals
    this.#nodeId = options.nodeId
    this.#leaseMs = options.leaseMs ?? defaultLeaseMs
    this.#maxKeys = options.maxKeys ?? defaultMaxKeys
  }

  start(): void {
    this.#signals.on('limits', (text) => this.#heard(text))
    this.#timer = setInterval(() => this.#tick(), this.#leaseMs / ticksPerLease).unref()
  }

  /** Gives all slots back. Those used within the last window stay taken until it has passed. */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer) clearInterval(this.#timer)
    await this.#calls
    const held = [...this.#shared.values()].filter((share) => share.recorded > 0)
    for (const share of held) share.dropAll()
    for (let start = 0; start < held.length; start += maxKeysPerCall) {
      // Without a database nothing can be given back; the leases expire by themselves.
      await this.#call(held.slice(start, start + maxKeysPerCall), 0).catch(() => undefined)
    }
  }

  /**
   * Admits or refuse against all policies together: a refused request consumes none. Synchronous while the node holds
   * slots, otherwise after asking the database; rejects if that is unreachable. Measured with Node 20 on a shared
   * 2-core x64 server, slots held: 0.2 to 0.4 us for one policy or two of one account, 0.6 us for two with 1,000
   * accounts in turn, 0.15 us for a refusal; 0.07 us of each is reading the clock.
   */
  admit(policies: readonly Policy[]): Admission | Promise<Admission> {
    return this.#decide(policies, performance.now(), false) ?? this.#admitLater(policies)
  }

  /** State of each policy, without consuming any. */
  async peek(policies: readonly Policy[]): Promise<readonly PolicyState[]> {
    const askedAtMs = performance.now()
    const shared = policies.filter((policy) => policy.shared)
    await Promise.all(shared.map((policy) => this.#lease(this.#share(policy, askedAtMs), false)))
    const nowMs = performance.now()
    return policies.map((policy) => this.#share(policy, nowMs).state(policy.name, nowMs, false))
  }

  /** Decision on a request; null when slots must be leased first, unless `final`. */
  #decide(policies: readonly Policy[], nowMs: number, final: boolean): Admission | null {
    const shares = this.#deciding
    let refusing = -1
    let asking = -1
    let index = 0
    for (const policy of policies) {
      const share = this.#share(policy, nowMs)
      shares[index] = share
      if (!share.touched) this.#touch(share)
      const lack = share.lack(nowMs)
      if (lack === 'time' && refusing < 0) refusing = index
      if (lack === 'slots' && asking < 0) asking = index
      index++
    }
    if (refusing < 0 && asking >= 0) {
      if (!final) return null
      refusing = asking
    }
    return verdict(policies, shares, nowMs, refusing)
  }

  /** Share of this node in a policy's key, at the current limit. */
  #share(policy: Policy, nowMs: number): Share {
    const shares = policy.shared ? this.#shared : this.#local
    const share = shares.get(policy.key)
    if (share === undefined) return this.#newShare(shares, policy, nowMs)
    if (share.limit !== policy.limit) share.changeLimit(policy.limit)
    return share
  }

  #newShare(shares: Shares, policy: Policy, nowMs: number): Share {
    const share = new Share(policy)
    const full = shares.size >= this.#maxKeys && !shares.makeRoom(nowMs)
    if (full) share.close()
    else shares.add(share)
    return share
  }

  #touch(share: Share): void {
    share.touched = true
    this.#used.push(share)
  }

  async #admitLater(policies: readonly Policy[]): Promise<Admission> {
    for (let round = 1; ; round++) {
      await Promise.all(policies.map((policy) => this.#getSlots(policy)))
      const decided = this.#decide(policies, performance.now(), round === maxRounds)
      if (decided) return decided
    }
  }

  async #getSlots(policy: Policy): Promise<void> {
    const nowMs = performance.now()
    const share = this.#share(policy, nowMs)
    if (share.lack(nowMs) !== 'slots') return
    share.round ??= this.#round(share).finally(() => {
      share.round = null
    })
    await share.round
  }

  /** Lease slots of a key for all waiting requests, in one round: ask, signal the holders, ask again. */
  async #round(share: Share): Promise<void> {
    for (const [attempt, pauseMs] of roundPausesMs.entries()) {
      await this.#lease(share, true)
      if (share.lack(performance.now()) !== 'slots') return
      if (hintAttempts.includes(attempt)) this.#hint(share)
      await pause(pauseMs)
    }
    await this.#lease(share, true)
    const nowMs = performance.now()
    if (share.lack(nowMs) === 'slots') share.restUntilMs = nowMs + Math.min(maxRestMs, share.ring.windowMs / 4)
  }

  /** Adds the share to the next call; resolves with its reply. */
  #lease(share: Share, growing: boolean): Promise<void> {
    if (this.#stopped) return Promise.reject(new Error('The rate limits have been stopped.'))
    if (growing) share.growing = true
    share.answer ??= new Answer()
    const { promise } = share.answer
    this.#ask(share)
    return promise
  }

  #ask(share: Share): void {
    share.queued = true
    this.#renewing.delete(share)
    this.#asking.add(share)
    this.#calls ??= this.#runCalls()
  }

  /** Makes calls one at a time; further requests share the next. */
  async #runCalls(): Promise<void> {
    // Wait for the end of this turn, so that all keys of one request share a call.
    await undefined
    while (this.#asking.size + this.#renewing.size > 0) {
      const batch = take(this.#asking, maxKeysPerCall)
      batch.push(...take(this.#renewing, maxKeysPerCall - batch.length))
      const answers = batch.map((share) => share.takeAnswer())
      try {
        await this.#call(batch, this.#leaseMs)
        for (const answer of answers) answer?.resolve()
      } catch (error) {
        for (const answer of answers) answer?.reject(error)
      }
    }
    this.#calls = null
  }

  async #call(batch: readonly Share[], leaseMs: number): Promise<void> {
    const sentAtMs = performance.now()
    const asked = batch.map((share) => share.ask(sentAtMs, leaseMs))
    try {
      const rows = await this.#db.query(leaseSlots, {
        node: this.#nodeId,
        call: ++this.#callNumber,
        leaseMs,
        keys: batch.map((share) => share.key),
        limits: asked.map(({ limit }) => limit),
        windowsMs: batch.map((share) => share.ring.windowMs),
        wanted: asked.map(({ wanted }) => wanted),
        used: asked.map(({ used }) => used),
      })
      const grants = new Map(rows.map((row) => [row.slot_key, row]))
      const heardAtMs = performance.now()
      for (const [index, share] of batch.entries()) {
        const grant = grants.get(share.key)
        const question = asked[index]
        if (grant && question) share.take(question, grant, sentAtMs + leaseMs, heardAtMs + leaseMs)
      }
    } finally {
      for (const share of batch) share.inFlight = false
    }
  }

  /** Signal the holders of a key that a slot is wanted here. All keys of a turn share a message. */
  #hint(share: Share): void {
    if (share.others === 0) return
    if (this.#hints.size === 0) setImmediate(() => this.#sendHints())
    this.#hints.set(share.key, share.others + 1)
  }

  #sendHints(): void {
    let text = this.#nodeId
    const send = (): void => void this.#signals.send(this.#db, 'limits', text).catch(() => undefined)
    for (const [key, sharers] of this.#hints) {
      const line = `\n${sharers} ${key}`
      if (text.length + line.length > maxHintLength) {
        send()
        text = this.#nodeId
      }
      text += line
    }
    send()
    this.#hints.clear()
  }

  /** Another node lacks slots: give spare ones back at once. */
  #heard(text: string): void {
    const [from, ...lines] = text.split('\n')
    if (this.#stopped || from === this.#nodeId) return
    const nowMs = performance.now()
    for (const line of lines) {
      const space = line.indexOf(' ')
      const share = this.#shared.get(line.slice(space + 1))
      const sharers = Number(line.slice(0, space))
      if (!share || !(sharers >= 2) || share.keeps(nowMs, sharers) >= share.recorded) continue
      share.yieldTo = sharers
      this.#ask(share)
    }
  }

  #tick(): void {
    const nowMs = performance.now()
    this.#renewUsed(nowMs)
    this.#shared.sweep(nowMs)
    this.#local.sweep(nowMs)
    if (nowMs - this.#purgedAtMs < purgeEveryMs) return
    this.#purgedAtMs = nowMs
    this.#db.query(purgeSlots, {}).catch(() => undefined)
  }

  /** Renews shares used since their lease began, in its second half. Others expire. */
  #renewUsed(nowMs: number): void {
    let kept = 0
    for (const share of this.#used) {
      if (share.leaseUntilMs - nowMs > this.#leaseMs / 2) {
        this.#used[kept++] = share
        continue
      }
      share.touched = false
      if (share.queued || share.slots === 0) continue
      share.queued = true
      this.#renewing.add(share)
    }
    this.#used.length = kept
    if (this.#renewing.size > 0) this.#calls ??= this.#runCalls()
  }
}

/** Counts the request in every share, or in none, and returns what is left. */
function verdict(policies: readonly Policy[], shares: readonly Share[], nowMs: number, refusing: number): Admission {
  const states: PolicyState[] = []
  let refusedBy: PolicyState | null = null
  let tightest: PolicyState | undefined
  for (const { name } of policies) {
    const index = states.length
    const share = shares[index]
    assert(share)
    if (refusing < 0) share.ring.add(nowMs)
    const state = share.state(name, nowMs, index === refusing)
    states.push(state)
    if (index === refusing) refusedBy = state
    if (!tightest || state.remaining * tightest.limit < tightest.remaining * state.limit) tightest = state
  }
  assert(tightest, 'a request has at least one rate limit')
  return { admitted: refusing < 0, refusedBy, tightest: refusedBy ?? tightest, states }
}

/** Removes up to `count` from a set. */
function take(shares: Set<Share>, count: number): Share[] {
  const taken: Share[] = []
  for (const share of shares) {
    if (taken.length >= count) break
    taken.push(share)
    shares.delete(share)
  }
  return taken
}
