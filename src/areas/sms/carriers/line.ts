// SPDX-License-Identifier: Apache-2.0
// Line before a carrier of any kind: the messages that wait for it, their order and pace. When the carrier leaves
// something unanswered, the line closes and its messages can take another bind; single messages then probe whether it
// answers again.
import type { OutboundMessage, SubmitOutcome } from '../carrier.ts'
import { FairQueue, type Queued } from './fair-queue.ts'
import { Pace, throttleWaitMs } from './pace.ts'

const busyMs = 1_000
/** Wait of a line whose lease has run out: either it is renewed, or the line is stopped in a moment. */
const notOursMs = 10
/** Interval of probes with one message after something was left unanswered. */
const probeMs = 1_000

const down = { kind: 'reroute', code: 'CARRIER_ERROR', carrierCode: null } as const

interface Waiting extends Queued {
  /** Number of refusals for lack of room. */
  throttled: number
  resolve(outcome: typeof down): void
}

/** The carrier's end of the line. */
interface End {
  /** Whether this node still has the bind. */
  isOurs(): boolean
  /** Whether there is a way to the other side. */
  isConnected(): boolean
  /** Number of messages sent and not answered. */
  unanswered(): number
  /** Sends what may go now. */
  pump(): void
}

export class Line<Item extends Waiting> {
  readonly #waiting: FairQueue<Item>
  readonly #pace: Pace
  readonly #end: End
  #timer: NodeJS.Timeout | null = null
  #stopped = false
  /** Since when it is not known whether the other side answers. */
  #doubtedMs: number | null = null

  /** `capacity`: how many may wait in one class. */
  constructor(capacity: number, ratePerSecond: number | null, end: End) {
    this.#waiting = new FairQueue(capacity)
    this.#pace = new Pace(ratePerSecond, performance.now())
    this.#end = end
  }

  get isUp(): boolean {
    if (!this.#end.isConnected()) return false
    return this.#doubtedMs === null || (performance.now() >= this.#doubtedMs + probeMs && this.pending === 0)
  }

  get isDoubted(): boolean {
    return this.#doubtedMs !== null
  }

  get pending(): number {
    return this.#waiting.size + this.#end.unanswered()
  }

  get ratePerSecond(): number | null {
    return Number.isFinite(this.#pace.ratePerSecond) ? this.#pace.ratePerSecond : null
  }

  /** Reason why a message of so many parts cannot wait here; null: it can. */
  refusal(message: OutboundMessage, parts: number): SubmitOutcome | null {
    if (!this.isUp || this.#stopped) return down
    if (this.#waiting.hasRoom(message, parts)) return null
    return { kind: 'retry', afterMs: busyMs, reason: 'too many messages wait for this carrier' }
  }

  add(item: Item): void {
    this.#waiting.add(item)
  }

  /** The next that may go now. When it is only too soon for it, the carrier is told to pump as soon as it is not. */
  next(): Item | undefined {
    if (this.#waiting.size === 0 || this.#timer) return undefined
    const waitMs = this.#end.isOurs() ? this.#pace.take(performance.now()) : notOursMs
    if (waitMs <= 0) return this.#waiting.take()
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#end.pump()
    }, waitMs)
    return undefined
  }

  /** Puts back a part that was not sent: it is the next of its account, at once or after a delay. */
  again(item: Item, afterMs = 0): void {
    if (!this.isUp || this.#stopped) return item.resolve(down)
    if (afterMs > 0) return void setTimeout(() => this.again(item), afterMs)
    this.#waiting.giveBack(item)
    this.#end.pump()
  }

  /** The other side has no room: everything goes slower. Gives when this one may go again; null: no longer over this carrier. */
  throttle(item: Item): number | null {
    this.#pace.slowDown(performance.now())
    return throttleWaitMs(++item.throttled)
  }

  /** The other side answered. */
  trust(): void {
    this.#doubtedMs = null
  }

  /** Notes an unanswered message. Returns whether that is new. */
  doubt(): boolean {
    const isNew = this.#doubtedMs === null
    this.#doubtedMs = performance.now()
    this.giveBack()
    return isNew
  }

  /** Gives back unsent messages, so that they can take another bind. */
  giveBack(): void {
    for (const item of this.#waiting.takeAll()) item.resolve(down)
  }

  /** Lets nothing more out or in. */
  stop(): void {
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
    this.giveBack()
  }
}
