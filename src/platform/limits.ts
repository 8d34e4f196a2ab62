// SPDX-License-Identifier: Apache-2.0
// Rate limits: at most N admissions of a key in any window of W milliseconds, exactly, on one node and on many.
// A slot is the right to one admission in any window. A node leases slots from the database (platform.lease_slots), many
// keys in one call and nothing per request, and counts in memory. The slots of all nodes together never exceed the limit,
// so neither do the admissions. A node that needs slots which others hold asks for them with a hint (signals.ts).
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { type Database, statement } from './db.ts'
import { Ring } from './ring.ts'
import type { Signals } from './signals.ts'

export interface Policy {
  /** What the headers call it: `key`, `plan-sms`, `address`. */
  name: string
  /** What is counted, unique in the whole installation, always with the same window: `key:<uuid>`. */
  key: string
  limit: number
  windowMs: number
  /** False counts on this node only, without the database. */
  shared: boolean
}

export interface PolicyState {
  name: string
  limit: number
  windowMs: number
  /** What this node knows to be left: its own free slots, and those that were free in the database when it last asked. */
  remaining: number
  /** From now until one more unit is free if none remains, else until the window is full again. */
  resetMs: number
}

export interface Admission {
  admitted: boolean
  refusedBy: PolicyState | null
  /** The one that refused, else the one with the smallest part of its limit left. */
  tightest: PolicyState
  states: readonly PolicyState[]
}

export interface LimitsOptions {
  db: Database
  signals: Signals
  /** A uuid made anew by each process: what a node has admitted is remembered only by the process that did it. */
  nodeId: string
  leaseMs?: number
  /** Keys remembered at a time, shared and local ones each. */
  maxKeys?: number
}

const defaultLeaseMs = 10_000
const defaultMaxKeys = 100_000
const ticksPerLease = 10
const maxKeysPerCall = 500
const maxKeysPerSweep = 5_000
const maxKeysTriedForRoom = 256
/** The pauses between the questions of one round, in all about a quarter of a second. A hint takes a few milliseconds. */
const roundPausesMs = [2, 6, 18, 54, 120]
/** The questions after which it hints: twice, since a holder may have missed the first or have had nothing to spare. */
const hintAttempts = [0, 3]
/** How many rounds a request waits: more than one only if other requests took what it waited for. */
const maxRounds = 12
/** After a round in vain a node refuses without asking for a quarter of the window, at most this long. */
const maxRestMs = 1_000
const maxHintLength = 7_000
const purgeEveryMs = 3_600_000

interface Grant {
  slot_key: string
  granted: number
  free: number
  others: number
}

const leaseSlots = statement<
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

/** Rows that nobody has used for an hour: keys come and go. Rows in use are skipped, so this never waits. */
const purgeSlots = statement<object, object>(
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
  /** Two collections, so that a flood from many addresses cannot crowd out customers. */
  readonly #shared = new Shares()
  readonly #local = new Shares()
  /** The shares of the request being decided; kept, to save an array per request. */
  readonly #deciding: Share[] = []
  /** Shares used since their last renewal. */
  readonly #used: Share[] = []
  /** Shares for the next call, and those that wait until no other does. */
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

  /** Gives all slots back. What was used within the last window stays taken until a window has passed. */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer) clearInterval(this.#timer)
    await this.#calls
    const held = [...this.#shared.values()].filter((share) => share.recorded > 0)
    for (const share of held) share.dropAll()
    for (let start = 0; start < held.length; start += maxKeysPerCall) {
      // Without a database nothing can be given back, and nothing has to be: the leases end by themselves.
      await this.#call(held.slice(start, start + maxKeysPerCall), 0).catch(() => undefined)
    }
  }

  /**
   * Admits or refuses against all policies together: a request refused by one consumes none. Answers at once while the
   * node holds slots, otherwise after asking the database; rejects if that cannot be reached.
   * Measured with Node 20 on a shared 2-core x64 server, slots held: 0.2 to 0.4 us for one policy or two of one account,
   * 0.6 us for two with 1,000 accounts in turn, 0.15 us for a refusal; 0.07 us of each is reading the clock.
   */
  admit(policies: readonly Policy[]): Admission | Promise<Admission> {
    return this.#decide(policies, performance.now(), false) ?? this.#admitLater(policies)
  }

  /** What is left of each policy, consuming nothing. */
  async peek(policies: readonly Policy[]): Promise<readonly PolicyState[]> {
    const askedAtMs = performance.now()
    const shared = policies.filter((policy) => policy.shared)
    await Promise.all(shared.map((policy) => this.#lease(this.#share(policy, askedAtMs), false)))
    const nowMs = performance.now()
    return policies.map((policy) => this.#share(policy, nowMs).state(policy.name, nowMs, false))
  }

  /** The verdict on a request; null when it hangs on slots that must be asked for, unless the answer is `final`. */
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

  /** This node's share of a policy's key, at the limit the policy now has. */
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

  /** One attempt to get slots of a key, for all requests that wait for it: asks, hints to the holders, asks again. */
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

  /** Puts the share into the next call to the database; resolves when that is answered. */
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

  /** One call at a time: what is asked for meanwhile goes into the next, together. */
  async #runCalls(): Promise<void> {
    // Not before this turn of the program is over, so that all keys of one request go together.
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

  /** Tells the holders of a key that a slot is wanted here. All keys of a turn go in one message. */
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

  /** Another node lacks slots: what this one does not need goes back at once. */
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

  /** Renews, in the second half of its lease, what was used since it began. The rest lapses. */
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

/** The response headers of an admission. `nowMs` is the time of day. */
export function rateHeaders({ tightest, states }: Admission, nowMs: number): Record<string, string> {
  let policies = ''
  let left = ''
  for (const state of states) {
    const separator = policies === '' ? '' : ', '
    policies += separator + policyText(state)
    left += `${separator}"${state.name}";r=${state.remaining};t=${Math.ceil(state.resetMs / 1000)}`
  }
  return {
    'x-ratelimit-limit': String(tightest.limit),
    'x-ratelimit-remaining': String(tightest.remaining),
    'x-ratelimit-reset': String(Math.ceil((nowMs + tightest.resetMs) / 1000)),
    'ratelimit-policy': policies,
    ratelimit: left,
  }
}

interface Question {
  limit: number
  wanted: number
  used: number
  yielding: boolean
}

/** What one node may admit of one key, and what it has admitted. */
class Share {
  readonly key: string
  readonly ring: Ring
  limit: number
  /** How many admissions may count at a time, until the lease ends. */
  slots: number
  leaseUntilMs: number
  /** Slots that nobody held, and other nodes that held some, when the database last answered. */
  free: number
  others = 0
  /** What the database takes us to hold, at most, and when it will have forgotten. */
  recorded = 0
  recordedUntilMs = 0
  /** Until then it is no use to ask for more slots. */
  restUntilMs = 0
  /** For the next call: wants more; gives back, among so many nodes. */
  growing = false
  yieldTo = 0
  touched: boolean
  queued = false
  inFlight = false
  answer: Answer | null = null
  round: Promise<void> | null = null

  constructor({ key, limit, windowMs, shared }: Policy) {
    this.key = key
    this.ring = new Ring(windowMs)
    this.limit = limit
    this.slots = shared ? 0 : limit
    this.free = shared ? limit : 0
    this.leaseUntilMs = shared ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
    // A local share is never renewed, so nobody has to be told that it was used.
    this.touched = !shared
  }

  /** What stands in the way of one more admission: that time must pass, or that slots must be asked for. */
  lack(nowMs: number): 'nothing' | 'time' | 'slots' {
    const used = this.ring.used(nowMs)
    if (nowMs < this.leaseUntilMs) {
      if (used < this.slots) return 'nothing'
      return this.slots >= this.limit || nowMs < this.restUntilMs ? 'time' : 'slots'
    }
    return this.limit > 0 ? 'slots' : 'time'
  }

  state(name: string, nowMs: number, refusing: boolean): PolicyState {
    const { limit, ring } = this
    const remaining = refusing ? 0 : Math.min(limit, Math.max(0, this.slots - ring.used(nowMs)) + this.free)
    const resetMs = remaining > 0 ? ring.emptyInMs(nowMs) : ring.freeInMs(nowMs, this.slots)
    return { name, limit, windowMs: ring.windowMs, remaining, resetMs: Math.min(ring.windowMs, Math.max(0, resetMs)) }
  }

  changeLimit(limit: number): void {
    const added = limit - this.limit
    this.limit = limit
    if (this.leaseUntilMs === Number.POSITIVE_INFINITY) {
      this.slots = limit
    } else if (added > 0) {
      this.free += added
      this.restUntilMs = 0
    } else {
      // What all nodes hold together may now be too much, so this one asks before it goes on.
      this.slots = Math.min(this.slots, limit)
      this.free = 0
      this.leaseUntilMs = Number.NEGATIVE_INFINITY
    }
  }

  /** Refuses everything, because there is no room to remember it. */
  close(): void {
    this.slots = 0
    this.free = 0
    this.leaseUntilMs = Number.MAX_VALUE
    this.restUntilMs = Number.MAX_VALUE
    this.touched = true
  }

  /**
   * How many slots to keep when another node lacks some. Only slots not used within the last window can go, since the
   * others still count. An idle node gives all; a busy one first goes down to an equal part, then by half of what it has
   * spare each time, so that no slot lies idle here while requests are refused there.
   */
  keeps(nowMs: number, sharers: number): number {
    const used = this.ring.used(nowMs)
    if (used === 0 && !this.growing) return 0
    if (used >= this.slots) return this.slots
    const equalPart = Math.ceil(this.limit / sharers)
    return this.slots > equalPart ? Math.max(used, equalPart) : used + Math.floor((this.slots - used) / 2)
  }

  /**
   * Twice what is in use, and never less than an eighth of the limit. A node that is killed keeps what it leased until
   * the lease and a window have passed, so it leases what it needs and not all there is.
   */
  #needs(used: number): number {
    return Math.min(this.limit, Math.max(this.slots, 2 * (used + 1), Math.ceil(this.limit / 8)))
  }

  /** What to ask of the database. Slots to be given back are out of use from here on, whatever becomes of the call. */
  ask(nowMs: number, leaseMs: number): Question {
    const used = this.ring.used(nowMs)
    const kept = this.yieldTo > 0 ? Math.min(this.slots, this.keeps(nowMs, this.yieldTo)) : this.slots
    const yielding = kept < this.slots
    const wanted = this.growing && !yielding ? this.#needs(used) : kept
    this.slots = kept
    this.growing = false
    this.yieldTo = 0
    this.queued = false
    this.inFlight = true
    this.recorded = Math.max(this.recorded, wanted, used)
    this.recordedUntilMs = Math.max(this.recordedUntilMs, this.#forgottenAtMs(nowMs + leaseMs))
    return { limit: this.limit, wanted, used, yielding }
  }

  /** Takes what the database granted. The lease began before the call was sent; the record may end a little later. */
  take(asked: Question, grant: Grant, leaseUntilMs: number, recordedUntilMs: number): void {
    this.slots = Math.min(grant.granted, this.limit)
    // What was just given back is free, but for another node.
    this.free = asked.yielding ? 0 : grant.free + Math.max(0, this.limit - asked.limit)
    this.others = grant.others
    this.recorded = Math.max(grant.granted, asked.used)
    this.recordedUntilMs = this.#forgottenAtMs(recordedUntilMs)
    // If the limit was lowered meanwhile, the answer to the old question does not count.
    if (this.limit >= asked.limit) this.leaseUntilMs = leaseUntilMs
  }

  takeAnswer(): Answer | null {
    const answer = this.answer
    this.answer = null
    return answer
  }

  dropAll(): void {
    this.slots = 0
    this.growing = false
    this.yieldTo = 0
  }

  /** Nothing of it counts, and nobody is about to use it. */
  isIdle(nowMs: number): boolean {
    const busy = this.queued || this.inFlight || this.round !== null
    // The touched mark of a local share means nothing.
    const waits = this.touched && this.leaseUntilMs !== Number.POSITIVE_INFINITY
    return !busy && !waits && this.ring.used(nowMs) === 0
  }

  /** Idle, and its slots need not be given back when another node hints. */
  isOver(nowMs: number): boolean {
    return this.isIdle(nowMs) && (this.recorded === 0 || nowMs >= this.recordedUntilMs)
  }

  /** The database adds a thousandth for clocks that differ; see platform.lease_slots. */
  #forgottenAtMs(leaseUntilMs: number): number {
    return leaseUntilMs + this.ring.windowMs * 1.01
  }
}

/** The shares of a node by key, swept bit by bit for those that are over. */
class Shares {
  readonly #byKey = new Map<string, Share>()
  #hand = this.#byKey.values()

  get size(): number {
    return this.#byKey.size
  }

  get(key: string): Share | undefined {
    return this.#byKey.get(key)
  }

  values(): Iterable<Share> {
    return this.#byKey.values()
  }

  add(share: Share): void {
    this.#byKey.set(share.key, share)
  }

  sweep(nowMs: number): void {
    for (let tries = Math.min(maxKeysPerSweep, this.size); tries > 0; tries--) {
      const share = this.#next()
      if (share?.isOver(nowMs)) this.#byKey.delete(share.key)
      else share?.ring.trim()
    }
  }

  /** Forgets one idle share, if it finds one soon. Slots it still holds lapse in the database. */
  makeRoom(nowMs: number): boolean {
    for (let tries = 0; tries < maxKeysTriedForRoom; tries++) {
      const share = this.#next()
      if (share?.isIdle(nowMs)) return this.#byKey.delete(share.key)
    }
    return false
  }

  #next(): Share | undefined {
    const next = this.#hand.next()
    if (!next.done) return next.value
    this.#hand = this.#byKey.values()
    return undefined
  }
}

/** A promise that somebody else settles. */
class Answer {
  readonly promise: Promise<void>
  resolve: () => void = () => undefined
  reject: (error: unknown) => void = () => undefined

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}

/** Counts the request in every share, or in none, and says what is left. */
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

/** Takes up to `count` out of a set. */
function take(shares: Set<Share>, count: number): Share[] {
  const taken: Share[] = []
  for (const share of shares) {
    if (taken.length >= count) break
    taken.push(share)
    shares.delete(share)
  }
  return taken
}

/** The item of the policy header, made once: there are few names, and few limits to a name. */
function policyText({ name, limit, windowMs }: PolicyState): string {
  const known = policyTexts.get(name) ?? []
  if (known.length === 0) policyTexts.set(name, known)
  for (const item of known) if (item.limit === limit && item.windowMs === windowMs) return item.text
  if (known.length >= maxTextsPerName) known.length = 0
  const text = `"${name}";q=${limit};w=${Math.ceil(windowMs / 1000)}`
  known.push({ limit, windowMs, text })
  return text
}

const policyTexts = new Map<string, { limit: number; windowMs: number; text: string }[]>()
const maxTextsPerName = 32
