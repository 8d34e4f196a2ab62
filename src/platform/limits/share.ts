// SPDX-License-Identifier: Apache-2.0
// A node's part of a rate limit: how many admissions of one key it may count at a time, what it asks of the database and
// what it gives back. Nothing here waits or asks; limits.ts does.
import { Ring } from './ring.ts'

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

const maxKeysPerSweep = 5_000
const maxKeysTriedForRoom = 256

/** What the database gives: slots of this node, slots of nobody, and how many other nodes hold some. */
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

/** What one node may admit of one key, and what it has admitted. */
export class Share {
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
