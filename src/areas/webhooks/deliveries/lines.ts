// SPDX-License-Identifier: Apache-2.0
// Lines of endpoints, and their turns: accounts take turns, and so do the lines of an account. Health and pace of an
// endpoint are kept with its line.
import { AdaptiveLimit } from '../../../platform/concurrency/adaptive-limit.ts'
import type { Breaker } from '../../../platform/connections/breaker.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { endpointBreaker } from './breaker.ts'
import type { Delivery } from './delivery.ts'
import { Queue } from './queue.ts'
import type { Target } from './targets.ts'

/** Requests at once to an endpoint of which nothing is known yet. */
const atFirst = 4
/** Lines that are remembered while nothing waits in them. */
const maxLines = 10_000

/** The deliveries to one endpoint, or to the callbacks of an account on one host, and how that host has been doing. */
export interface Line {
  readonly key: string
  readonly group: Group
  readonly tenant: Tenant
  readonly endpoint: string | null
  readonly waiting: Queue<Delivery>
  readonly breaker: Breaker
  /** Limit of requests in flight, which adapts to the endpoint. */
  readonly pace: AdaptiveLimit
  inFlight: number
  /** Undefined: not looked up yet. Null: there is no such endpoint any more. */
  target: Target | null | undefined
  targetUntilMs: number
  isLoading: boolean
  /** Whether the line waits for its turn. */
  isQueued: boolean
  /** Waits for the rate limit. */
  isPaused: boolean
  /** The rate limit has admitted the next one. */
  isAdmitted: boolean
  /** More than fits was put back; it is fetched when the line is empty. */
  hasMore: boolean
  /** Clock offset of the latest delivery. */
  clockOffsetMs: number
  /** The database says so too: when it no longer does, another node has seen it work. */
  isKnownToFail: boolean
  probeTimer: NodeJS.Timeout | null
}

/** The lines of one account that have something to send, in turn. */
interface Group {
  readonly lines: Queue<Line>
  /** Number of lines, with or without something to send. */
  members: number
  isQueued: boolean
}

export class Lines {
  readonly #byKey = new Map<string, Line>()
  readonly #groups = new Map<string, Group>()
  readonly #turns = new Queue<Group>()

  values(): Iterable<Line> {
    return this.#byKey.values()
  }

  /** The line of an endpoint, or, without one, of the host that a callback goes to. */
  of(tenant: Tenant, endpoint: string | null, url: string | null): Line {
    const key = endpoint ?? `callback:${tenant.account}:${tenant.environment}:${originOf(url ?? '')}`
    const known = this.#byKey.get(key)
    if (known) return known
    if (this.#byKey.size >= maxLines) this.#forgetIdleLine()
    let group = this.#groups.get(tenant.account)
    if (!group) {
      group = { lines: new Queue(), members: 0, isQueued: false }
      this.#groups.set(tenant.account, group)
    }
    group.members++
    const line: Line = {
      key,
      group,
      tenant,
      endpoint,
      waiting: new Queue(),
      breaker: endpointBreaker(),
      pace: new AdaptiveLimit(atFirst),
      inFlight: 0,
      target: undefined,
      targetUntilMs: 0,
      isLoading: false,
      isQueued: false,
      isPaused: false,
      isAdmitted: false,
      hasMore: false,
      clockOffsetMs: 0,
      isKnownToFail: false,
      probeTimer: null,
    }
    this.#byKey.set(key, line)
    return line
  }

  /** Drops the targets that a signal names: an endpoint, or the callbacks of an account. */
  forget(text: string): void {
    const line = this.#byKey.get(text)
    if (line) line.targetUntilMs = 0
    if (!text.startsWith('callback:')) return
    for (const [key, callback] of this.#byKey) if (key.startsWith(`${text}:`)) callback.targetUntilMs = 0
  }

  /** Something was not heard: every target is looked up again before it is used. */
  forgetAll(): void {
    for (const line of this.#byKey.values()) line.targetUntilMs = 0
  }

  /** The line has something that may go out. */
  giveTurn(line: Line): void {
    line.isQueued = true
    line.group.lines.push(line)
    if (line.group.isQueued) return
    line.group.isQueued = true
    this.#turns.push(line.group)
  }

  get accountsInTurn(): number {
    return this.#turns.length
  }

  /** Serves the line whose turn it is, and gives whether it could be: one that could not has its turn after the others. */
  nextTurn(serve: (line: Line) => boolean): boolean {
    const group = this.#turns.shift()
    const line = group?.lines.shift()
    if (!group || !line) return true
    line.isQueued = false
    const isServed = serve(line)
    if (!isServed) {
      line.isQueued = true
      group.lines.push(line)
    }
    if (group.lines.length > 0) this.#turns.push(group)
    else group.isQueued = false
    return isServed
  }

  /** The first that has nothing to do; one whose breaker is open is worth remembering. */
  #forgetIdleLine(): void {
    for (const [key, line] of this.#byKey) {
      if (line.waiting.length > 0 || line.inFlight > 0 || line.isQueued || line.breaker.state !== 'closed') continue
      this.#byKey.delete(key)
      line.group.members--
      if (line.group.members === 0) this.#groups.delete(line.tenant.account)
      return
    }
  }
}

/** Takes what was looked up; what others found out about an endpoint counts here too. */
export function adopt(line: Line, target: Target | null): void {
  line.target = target
  if (target?.isFailing && line.breaker.state === 'closed') line.breaker.open(0)
  if (target && !target.isFailing && line.isKnownToFail) line.breaker.close()
  line.isKnownToFail = target?.isFailing ?? false
}

function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2)
  return end < 0 ? url : url.slice(0, end)
}
