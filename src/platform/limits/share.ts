// SPDX-License-Identifier: Apache-2.0
// A node's share of a rate limit: how many admissions of one key it may count, what it asks of the database and what it
// gives back. Nothing here waits; limits.ts does.
import { Ring } from './ring.ts'

export interface Policy {
  /** Name in the headers: `key`, `plan-sms`, `address`. */
  name: string
  /** Key counted, unique in the installation, always with the same window: `key:<uuid>`. */
  key: string
  limit: number
  windowMs: number
  /** Whether the count is shared between nodes; false counts on this node only, without the database. */
  shared: boolean
}

export interface PolicyState {
  name: string
  limit: number
  windowMs: number
  /** Units known to be left: this node's free slots, and those free in the database at the last call. */
  remaining: number
  /** Time until one more unit is free if none remains, else until the window is full again. */
  resetMs: number
}

const maxKeysPerSweep = 5_000
const maxKeysTriedForRoom = 256

/** Reply of the database: this node's slots, free slots, and how many other nodes hold some. */
export interface Grant {
  slot_key: string
  granted: number
  free: number
  others: number
}

interface Question {
  limit: number
  wanted: number
  used: number
  yielding: boolean
}

/** Share of one key on one node, with its admissions. */
export class Share {
  readonly key: string
  readonly ring: Ring
  limit: number
  /** Admissions that may count at a time, until the lease ends. */
  slots: number
  leaseUntilMs: number
  /** Free slots, and other nodes with slots, at the database's last reply. */
  free: number
  others = 0
  /** Slots the database has recorded for this node, at most, and when that record expires. */
  recorded = 0
  recordedUntilMs = 0
  /** Time until which asking for more slots is pointless. */
  restUntilMs = 0
  /** Wishes for the next call: wants more; gives back, shared among so many nodes. */
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
    // A local share is never renewed, so its use need not be tracked.
    this.touched = !shared
  }

  /** Obstacle to one more admission: time must pass, or slots must be leased. */
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
      // All nodes together may now hold too much, so ask before going on.
      this.slots = Math.min(this.slots, limit)
      this.free = 0
      this.leaseUntilMs = Number.NEGATIVE_INFINITY
    }
  }

  /** Refuses everything: there is no memory left to count it. */
  close(): void {
    this.slots = 0
    this.free = 0
    this.leaseUntilMs = Number.MAX_VALUE
    this.restUntilMs = Number.MAX_VALUE
    this.touched = true
  }

  /**
   * Slots to keep when another node lacks some. Slots used within the last window cannot go, since they still count. An
   * idle node gives all; a busy one first goes down to an equal part, then by half of its spare each time, so that no
   * slot is idle here while requests are refused there.
   */
  keeps(nowMs: number, sharers: number): number {
    const used = this.ring.used(nowMs)
    if (used === 0 && !this.growing) return 0
    if (used >= this.slots) return this.slots
    const equalPart = Math.ceil(this.limit / sharers)
    return this.slots > equalPart ? Math.max(used, equalPart) : used + Math.floor((this.slots - used) / 2)
  }

  /**
   * Slots to lease: twice the use, at least an eighth of the limit. A killed node blocks its slots until the lease and
   * a window have passed, so it leases what it needs.
   */
  #needs(used: number): number {
    return Math.min(this.limit, Math.max(this.slots, 2 * (used + 1), Math.ceil(this.limit / 8)))
  }

  /** Request to the database. Slots to be given back are out of use from here on, whatever becomes of the call. */
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

  /** Applies a grant. The lease counts from before the call was sent; the database's record may end a little later. */
  take(asked: Question, grant: Grant, leaseUntilMs: number, recordedUntilMs: number): void {
    this.slots = Math.min(grant.granted, this.limit)
    // Slots just given back are free for other nodes only.
    this.free = asked.yielding ? 0 : grant.free + Math.max(0, this.limit - asked.limit)
    this.others = grant.others
    this.recorded = Math.max(grant.granted, asked.used)
    this.recordedUntilMs = this.#forgottenAtMs(recordedUntilMs)
    // If the limit was lowered meanwhile, the grant for the old one is ignored.
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

  /** Whether nothing counts and no request is about to use it. */
  isIdle(nowMs: number): boolean {
    const busy = this.queued || this.inFlight || this.round !== null
    // The touched mark of a local share has no meaning.
    const waits = this.touched && this.leaseUntilMs !== Number.POSITIVE_INFINITY
    return !busy && !waits && this.ring.used(nowMs) === 0
  }

  /** Whether it is idle and has no slots to give back on a signal. */
  isOver(nowMs: number): boolean {
    return this.isIdle(nowMs) && (this.recorded === 0 || nowMs >= this.recordedUntilMs)
  }

  /** The database adds a thousandth for clock differences; see platform.lease_slots. */
  #forgottenAtMs(leaseUntilMs: number): number {
    return leaseUntilMs + this.ring.windowMs * 1.01
  }
}

/** Shares of a node by key, swept incrementally. */
export class Shares {
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

  /** Removes one idle share, if found soon. Its slots expire in the database. */
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

/** Deferred promise. */
export class Answer {
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
