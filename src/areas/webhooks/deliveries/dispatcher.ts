// SPDX-License-Identifier: Apache-2.0
// When deliveries go out. Each endpoint has a line of its own; accounts take turns, and the endpoints of an account take
// turns among themselves. A line gets no more places than are free, so that however many slow endpoints there are, some
// places are always left for the others. What a node cannot keep in memory stays in the database, under a lease that ends.
import { firstUuidAt } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { RowOf } from '../../../platform/commit.ts'
import { one } from '../../../platform/db.ts'
import type { Courier, DeliveryOfEvent, Due, NewEvent } from '../../../platform/events.ts'
import type { Admission } from '../../../platform/limits.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { settle } from '../../../platform/work.ts'
import { disableEndpoint } from '../endpoints/disabling.ts'
import { noteProbe } from '../endpoints/health.ts'
import { retryForMs } from '../retries.ts'
import { type Answers, sendAndHear } from './answers.ts'
import { probeEveryMs } from './breaker.ts'
import { type Attempt, type Delivery, judge, newDelivery } from './delivery.ts'
import { callbackKey, deliveryOf, loadDeliveries, type StoredDelivery, wake } from './due.ts'
import { type Finished, finish, finished, givenUp, putBack } from './finished.ts'
import { adopt, type Line, Lines } from './lines.ts'
import { heardAgain } from './replays.ts'
import { deliveriesOf } from './routes.ts'
import { loadCallbackTarget, loadTargets, type Target } from './targets.ts'
import { noteAttempt } from './trace.ts'

/** Requests under way at once, of all endpoints. */
const maxInFlight = 512
/** Deliveries that wait in memory, of one endpoint and of all. */
const maxWaitingInLine = 2_000
const maxWaiting = 20_000
/** What an attempt may take, its storing included: a delivery begins only while so much of its lease is left. */
const attemptMs = 7_000
/** How often the leases of what waits are looked at, and how long before its time one is extended. */
const extendMs = 1_000
const extendEarlyMs = 2_000
/** How long a target is used without looking again. Changes are told, so this is for what was not heard. */
const targetForMs = 30_000
const reloadMs = 500
/**
 * How much later a delivery comes back that found no room, or whose endpoint is not called. Long, so that a great many of
 * them do not keep the database busy: they are fetched as soon as there is room.
 */
const noRoomMs = 60_000
const brokenMs = 90_000
/** The one before it lets a delivery go on, so this is for what nobody foresaw. */
const behindMs = 60_000
/**
 * What goes back gathers for so long, or until it is so much. Nobody waits for it, and an endpoint that is not called would
 * otherwise cost a commit for each event, at the very moment when the others are told of it.
 */
const gatherMs = 50
const mostGathered = 1_000
/** A delivery is early if it is due later than this. Clocks of machines differ a little. */
const earlyMs = 2_000
/** How far back deliveries are looked for that an endpoint has yet to hear. */
const wakeDays = 3

/** A delivery that is left to later; `attempt` is that of its job. */
interface Waiting {
  readonly tenant: Tenant
  readonly id: string
  readonly endpoint: string
  readonly attempt: number
  readonly delayMs: number
  readonly resource: string | null
}

export class Dispatcher implements Courier {
  readonly #roles: readonly string[]
  readonly #answers: Answers
  #app: App | null = null
  readonly #lines = new Lines()
  /** Deliveries this node has, waiting or under way. */
  readonly #held = new Map<string, Delivery>()
  readonly #sending = new Set<string>()
  #toLoad: Due[] = []
  #toPutBack: RowOf<(typeof settle)['takes']>[] = []
  #putBackTimer: NodeJS.Timeout | undefined
  #extendTimer: NodeJS.Timeout | undefined
  #isExtending = false
  readonly #toResolve = new Set<Line>()
  #loading = 0
  #inFlight = 0
  #storing = 0
  #stopped = false
  readonly outcomes = { delivered: 0, retry: 0, failed: 0, cancelled: 0 }

  constructor(roles: readonly string[], answers: Answers) {
    this.#roles = roles
    this.#answers = answers
  }

  start(app: App): void {
    this.#app = app
    app.signals.on('webhooks', (text) => this.#lines.forget(text))
    app.signals.onGap(() => this.#lines.forgetAll())
    this.#extendTimer = setInterval(() => void this.#extend(), extendMs)
    this.#extendTimer.unref()
    app.metrics.gauge('pamoja_webhooks_in_flight', 'Webhook requests under way.', () => this.#inFlight)
    app.metrics.gauge('pamoja_webhooks_waiting', 'Deliveries waiting in memory.', () => this.#waiting())
    app.metrics.totals('pamoja_webhooks_attempts_total', 'Attempts by what came of them.', ['outcome'], () =>
      Object.entries(this.outcomes).map(([outcome, value]) => ({ labels: { outcome }, value })),
    )
  }

  /** Begins nothing more and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#extendTimer)
    for (const line of this.#lines.values()) {
      if (line.probeTimer) clearTimeout(line.probeTimer)
      line.waiting.clear()
    }
    if (this.#toPutBack.length > 0) void this.#putBackAll()
    while (this.#inFlight > 0 || this.#storing > 0 || this.#toPutBack.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async deliveriesOf(caller: Caller, event: string): Promise<readonly DeliveryOfEvent[]> {
    return this.#app === null ? [] : deliveriesOf(this.#app, caller, event)
  }

  owner(): string | null {
    return this.#app !== null && this.#delivers() && this.#waiting() < maxWaiting ? this.#app.nodeId : null
  }

  begin(event: NewEvent, deliveries: string): void {
    const { tenant, row } = event
    const told = { id: event.id, name: row.type, body: row.body, bytes: null }
    const startBy = startByMs(this.#running())
    for (const begun of deliveries.split(',')) {
      const [id = '', endpoint = '', version = ''] = begun.split('/')
      const isCallback = endpoint === callbackKey
      const url = isCallback ? row.callback_url : null
      const line = this.#lines.of(tenant, isCallback ? null : endpoint, url)
      if (line.target && line.target.version < Number(version)) line.targetUntilMs = 0
      // Not known yet, or changed since: then it is asked whether something waits behind it.
      const isKnown = line.target?.version === Number(version)
      const ordered = !isCallback && (!isKnown || line.target?.ordered === true)
      const delivery = newDelivery(event, told, { id, endpoint: line.endpoint, url, ordered, startByMs: startBy })
      // One that finds no room stays leased, and falls due by itself.
      this.#enqueue(line, delivery)
    }
    this.#pump()
  }

  room(): number {
    return this.#delivers() ? Math.max(0, maxWaiting - this.#waiting() - this.#toLoad.length - this.#loading) : 0
  }

  take(job: Due): void {
    const held = this.#held.get(job.id)
    // This node has it still, although its lease had run out: it has the lease again.
    if (held) {
      held.jobAttempt = job.attempt
      held.startByMs = startByMs(this.#running())
      return
    }
    this.#toLoad.push(job)
    if (this.#toLoad.length === 1) setImmediate(() => void this.#load())
  }

  /** Keeps what waits for its turn leased, however long that takes; what is under way has lease enough. */
  async #extend(): Promise<void> {
    if (this.#isExtending) return
    this.#isExtending = true
    const soon = performance.now() + extendEarlyMs
    const waiting = [...this.#held.values()].filter(({ id, startByMs }) => startByMs < soon && !this.#sending.has(id))
    const startBy = startByMs(this.#running())
    try {
      await this.#running().work.extend(
        waiting.map(({ tenant, id, jobAttempt }) => ({ bucket: tenant.bucket, id, attempt: jobAttempt })),
      )
      for (const delivery of waiting) delivery.startByMs = startBy
    } catch (error) {
      this.#running().log.warn(
        { error },
        'leases of deliveries not extended: another node may send some of them again; check the database if this repeats',
      )
    } finally {
      this.#isExtending = false
    }
  }

  sending(): ReadonlySet<string> {
    return new Set(this.#sending)
  }

  #delivers(): boolean {
    return !this.#stopped && this.#roles.includes('webhooks')
  }

  /** What it has beyond what is under way. */
  #waiting(): number {
    return this.#held.size - this.#sending.size
  }

  #running(): App {
    if (this.#app === null) throw new Error('a delivery began before the program was started')
    return this.#app
  }

  #enqueue(line: Line, delivery: Delivery): boolean {
    if (this.#stopped || line.waiting.length >= maxWaitingInLine || this.#waiting() >= maxWaiting) return false
    this.#held.set(delivery.id, delivery)
    line.waiting.push(delivery)
    this.#offer(line)
    return true
  }

  /** Gives a line its turn when it has something that may go out. */
  #offer(line: Line): void {
    if (line.isQueued || line.isPaused || line.waiting.length === 0) return
    if (line.target === undefined || line.targetUntilMs < performance.now()) return this.#resolve(line)
    if (line.inFlight >= line.pace.within(line.target?.limit ?? 1)) return
    this.#lines.giveTurn(line)
  }

  /** Looks targets up, those of one turn of the event loop together. */
  #resolve(line: Line): void {
    if (line.isLoading) return
    line.isLoading = true
    this.#toResolve.add(line)
    if (this.#toResolve.size === 1) setImmediate(() => void this.#resolveAll())
  }

  async #resolveAll(): Promise<void> {
    const lines = [...this.#toResolve]
    this.#toResolve.clear()
    const app = this.#running()
    // What changes while it is looked up is looked up again.
    for (const line of lines) line.targetUntilMs = performance.now() + targetForMs
    try {
      const wanted = lines.flatMap(({ tenant, endpoint }) => (endpoint === null ? [] : [{ tenant, endpoint }]))
      const [targets] = await Promise.all([
        wanted.length > 0 ? loadTargets(app, wanted) : new Map<string, Target>(),
        ...lines
          .filter(({ endpoint }) => endpoint === null)
          .map(async (line) => {
            line.target = await loadCallbackTarget(app, line.tenant)
          }),
      ])
      for (const line of lines) if (line.endpoint !== null) adopt(line, targets.get(line.endpoint) ?? null)
    } catch (error) {
      app.log.warn({ error }, 'endpoints of deliveries not read: tried again; check the database if this repeats')
      await new Promise((resolve) => setTimeout(resolve, reloadMs))
      for (const line of lines) line.targetUntilMs = 0
    }
    for (const line of lines) {
      line.isLoading = false
      this.#offer(line)
    }
    this.#pump()
  }

  async #load(): Promise<void> {
    const jobs = this.#toLoad
    this.#toLoad = []
    this.#loading += jobs.length
    const app = this.#running()
    try {
      const rows = new Map((await loadDeliveries(app, jobs)).map((row) => [row.id, row]))
      for (const job of jobs) this.#begun(job, rows.get(job.id))
    } catch (error) {
      app.log.warn(
        { error },
        'due deliveries not read: they fall due again when their leases run out; check the database if this repeats',
      )
    } finally {
      this.#loading -= jobs.length
    }
    this.#pump()
  }

  #begun(job: Due, row: StoredDelivery | undefined): void {
    const { tenant, id, attempt } = job
    if (this.#stopped || this.#held.has(id)) return
    const delivery = row ? deliveryOf(this.#running(), job, row, startByMs(this.#running())) : null
    if (!row || !delivery) return this.#putBack(tenant, id, attempt, null)
    if (row.behind) {
      const delayMs = behindMs * (1 + Math.random())
      return this.#wait({ tenant, id, endpoint: row.endpoint_id, attempt, delayMs, resource: row.resource_id })
    }
    const line = this.#lines.of(tenant, delivery.endpoint, delivery.url)
    if (this.#enqueue(line, delivery)) return
    line.hasMore = true
    this.#putBack(tenant, id, attempt, noRoomMs * (1 + Math.random()))
  }

  /** Leaves a delivery to later, without an attempt; null removes its job. */
  #putBack(tenant: Tenant, id: string, attempt: number, delayMs: number | null): void {
    this.#held.delete(id)
    const delay_ms = delayMs === null ? null : BigInt(Math.max(0, Math.round(delayMs)))
    this.#toPutBack.push({ bucket: tenant.bucket, id, attempt, delay_ms, error: null })
    if (this.#toPutBack.length >= mostGathered) void this.#putBackAll()
    else this.#putBackTimer ??= setTimeout(() => void this.#putBackAll(), gatherMs)
  }

  #putBackAll(): Promise<void> {
    clearTimeout(this.#putBackTimer)
    this.#putBackTimer = undefined
    const items = this.#toPutBack
    this.#toPutBack = []
    const app = this.#running()
    return this.#store(Promise.all(items.map((item) => app.commit(settle, item))))
  }

  /**
   * Leaves a delivery to later because it is behind another about the same resource, or, without one, because its
   * endpoint is disabled. If that is over by now it is fetched again.
   */
  #wait({ tenant, delayMs, ...rest }: Waiting): void {
    this.#held.delete(rest.id)
    const app = this.#running()
    const delay_ms = BigInt(Math.round(delayMs))
    this.#store(
      app.commit(putBack, { ...tenant, ...rest, delay_ms }).then(({ waits }) => {
        if (!waits) app.work.poke()
      }),
    )
  }

  #store(commit: Promise<unknown>): Promise<void> {
    this.#storing++
    return commit
      .then(() => undefined)
      .catch((error) =>
        this.#app?.log.warn(
          { error },
          'outcomes of deliveries not stored: the deliveries are sent again when their leases run out; check the database',
        ),
      )
      .finally(() => {
        this.#storing--
      })
  }

  /** Gives places to lines in turn until none is left that may have one. */
  #pump(): void {
    let refused = 0
    while (!this.#stopped && this.#inFlight < maxInFlight && this.#lines.accountsInTurn > refused) {
      const isServed = this.#lines.nextTurn((line) => {
        // As many places as are free, and no more: with k lines that want them all, each has one part of k + 1.
        if (line.inFlight >= maxInFlight - this.#inFlight) return false
        this.#next(line)
        this.#offer(line)
        return true
      })
      refused = isServed ? 0 : refused + 1
    }
  }

  /** Begins the oldest delivery of a line that may begin. */
  #next(line: Line): void {
    const { target } = line
    const app = this.#running()
    for (;;) {
      const delivery = line.waiting.first()
      if (!delivery) return this.#refill(line)
      if (target === undefined) return
      line.clockOffsetMs = delivery.clockOffsetMs
      if (performance.now() > delivery.startByMs) {
        // Its lease is nearly over and could not be extended: whoever takes it next begins it.
        line.waiting.shift()
        this.#held.delete(delivery.id)
        continue
      }
      const nowMs = app.clock.nowMs() + delivery.clockOffsetMs
      if (target === null || !target.enabled) {
        line.waiting.shift()
        this.#refuse(delivery, nowMs, target === null)
        continue
      }
      if (target.rate && !line.isAdmitted) {
        this.#admit(line, app.limits.admit(target.rate))
        if (!line.isAdmitted) return
      }
      const verdict = line.endpoint === null ? 'send' : line.breaker.admit(nowMs, delivery.isAskedFor)
      const isEarly = delivery.dueMs > nowMs + earlyMs
      if (verdict === 'wait' || (isEarly && verdict === 'send')) {
        line.waiting.shift()
        if (verdict === 'wait') this.#probeLater(line)
        if (verdict === 'wait' && nowMs > delivery.createdMs + retryForMs) {
          this.#expire(line, delivery, nowMs)
          continue
        }
        const { tenant, id, jobAttempt } = delivery
        this.#putBack(tenant, id, jobAttempt, isEarly ? delivery.dueMs - nowMs : brokenMs * (1 + Math.random()))
        continue
      }
      line.isAdmitted = false
      line.waiting.shift()
      const noted = verdict === 'probe' ? this.#noteProbe(line, 'failing', 'degraded') : null
      return this.#send(line, target, delivery, isEarly, noted)
    }
  }

  /** A probe begins, or is over and the endpoint does not work. */
  #noteProbe({ tenant, endpoint }: Line, from: string, to: string): Promise<void> {
    if (endpoint === null) return Promise.resolve()
    return this.#store(this.#running().db.query(noteProbe, { ...tenant, endpoint, from, to }))
  }

  /** The endpoint is gone or takes nothing. A disabled one may be enabled again, for as long as retries last. */
  #refuse(delivery: Delivery, nowMs: number, isDeleted: boolean): void {
    const { tenant, id, endpoint, jobAttempt, createdMs } = delivery
    const leftMs = createdMs + retryForMs - nowMs
    if (!isDeleted && leftMs > 0 && endpoint !== null)
      return this.#wait({ tenant, id, endpoint, attempt: jobAttempt, delayMs: leftMs, resource: null })
    this.#held.delete(id)
    this.outcomes.cancelled++
    this.#store(this.#running().commit(finish, givenUp(delivery, 'cancelled', nowMs)))
  }

  /** Its endpoint is not called, and was not for as long as retries last. */
  #expire(line: Line, delivery: Delivery, nowMs: number): void {
    this.#held.delete(delivery.id)
    this.outcomes.failed++
    const item = givenUp(delivery, 'failed', nowMs)
    this.#store(
      this.#running()
        .commit(finish, item)
        .then(({ failing }) => this.#afterwards(line, delivery, item, null, failing === true, null)),
    )
  }

  #admit(line: Line, admission: Admission | Promise<Admission>): void {
    if (!('then' in admission)) {
      if (admission.admitted) line.isAdmitted = true
      else this.#pause(line, admission.tightest.resetMs)
      return
    }
    line.isPaused = true
    admission.then(
      ({ admitted, tightest }) => {
        line.isAdmitted = admitted
        this.#pause(line, admitted ? 0 : tightest.resetMs)
      },
      () => this.#pause(line, reloadMs),
    )
  }

  #pause(line: Line, ms: number): void {
    line.isPaused = true
    setTimeout(() => {
      line.isPaused = false
      this.#offer(line)
      this.#pump()
    }, Math.ceil(ms))
  }

  /** `noted` is there for a probe: what becomes of it is stored after that it began. */
  #send(line: Line, target: Target, delivery: Delivery, isEarly: boolean, noted: Promise<void> | null): void {
    const app = this.#running()
    const span = app.tracer?.job('deliver webhook', delivery.trace, {
      'pamoja.event': delivery.told.name,
      'pamoja.attempt': delivery.attempts + 1,
    })
    line.inFlight++
    this.#inFlight++
    this.#sending.add(delivery.id)
    const over = (): void => {
      line.inFlight--
      this.#inFlight--
      this.#sending.delete(delivery.id)
    }
    sendAndHear(app, this.#answers, target, delivery, span?.trace ?? delivery.trace).then(
      (attempt) => {
        over()
        this.#settle(line, target, delivery, attempt, isEarly, noted)
        if (line.waiting.length === 0) this.#refill(line)
        const { kind } = judge(attempt)
        span?.end({ 'pamoja.outcome': kind }, kind !== 'delivered')
        this.#offer(line)
        this.#pump()
      },
      (error) => {
        over()
        this.#held.delete(delivery.id)
        app.log.error(
          { error, delivery: delivery.id },
          'delivery failed inside this program: it is sent again when its lease runs out; report the error',
        )
        this.#offer(line)
        this.#pump()
      },
    )
  }

  /** Notes how the endpoint did, and stores what became of the delivery. */
  #settle(
    line: Line,
    target: Target,
    delivery: Delivery,
    attempt: Attempt,
    isEarly: boolean,
    noted: Promise<void> | null,
  ): void {
    const app = this.#running()
    const { outcome } = attempt
    const nowMs = app.clock.nowMs()
    const atMs = nowMs + delivery.clockOffsetMs
    const judgement = judge(attempt)
    noteAttempt(app, delivery, attempt, nowMs)
    this.outcomes[judgement.kind]++
    const isSuccess = judgement.kind === 'delivered'
    if (isSuccess) line.pace.succeeded(target.limit)
    else if (outcome.kind === 'failed') line.pace.unanswered()
    // A receiver that gives one delivery up works; only this one is not for it.
    const change = line.endpoint === null || judgement.error === 'ABORTED' ? null : line.breaker.record(isSuccess, atMs)
    if (change === 'closed') line.pace.restart()
    if (line.breaker.state === 'open') this.#probeLater(line)
    const isStillBroken = noted !== null && line.breaker.state !== 'closed'
    const ready = isStillBroken ? noted.then(() => this.#noteProbe(line, 'degraded', 'failing')) : noted
    // A delivery that was tried before its time, to see whether the endpoint works, has lost nothing by it.
    if (isEarly && judgement.kind === 'retry') {
      const { tenant, id, jobAttempt, dueMs } = delivery
      return this.#putBack(tenant, id, jobAttempt, dueMs - atMs)
    }
    const state = change === 'opened' ? 'failing' : change === 'closed' ? 'healthy' : null
    const item = finished(delivery, attempt, judgement, { atMs, nowMs, random: Math.random(), state })
    const stored = ready === null ? app.commit(finish, item) : ready.then(() => app.commit(finish, item))
    this.#store(
      stored.then(
        ({ failing }) => {
          this.#held.delete(delivery.id)
          if (state !== null) line.isKnownToFail = state === 'failing'
          if (delivery.isReplay && isSuccess) this.#store(heardAgain(app, delivery, atMs))
          return this.#afterwards(line, delivery, item, change, failing === true, attempt.sentTo)
        },
        (error: unknown) => {
          this.#held.delete(delivery.id)
          throw error
        },
      ),
    )
  }

  #afterwards(
    line: Line,
    { tenant, endpoint, clockOffsetMs, ordered }: Delivery,
    { status, error, at }: Finished,
    change: 'opened' | 'closed' | null,
    isFailing: boolean,
    sentTo: string | null,
  ): Promise<void> | undefined {
    const app = this.#running()
    if (ordered && status !== 'pending') app.work.poke()
    if (endpoint === null) return
    if (error === 'GONE' || isFailing)
      return disableEndpoint(app, tenant, endpoint, error === 'GONE' ? sentTo : null, clockOffsetMs)
    if (change === null) return
    return this.#tellOfBreaker(line, endpoint, change, at ?? new Date(0))
  }

  /** Other nodes hear of it; what had to wait for the endpoint goes out. */
  async #tellOfBreaker(line: Line, endpoint: string, change: 'opened' | 'closed', at: Date): Promise<void> {
    const app = this.#running()
    if (change === 'closed') line.hasMore = (await this.#wake(line, endpoint, at, false)) >= maxWaitingInLine
    await app.signals.send(app.db, 'webhooks', endpoint)
  }

  /** Fetches what did not fit, once everything that did has gone out. */
  #refill(line: Line): void {
    const { endpoint } = line
    if (!line.hasMore || endpoint === null || line.breaker.state !== 'closed') return
    line.hasMore = false
    const at = new Date(this.#running().clock.nowMs() + line.clockOffsetMs)
    this.#store(
      this.#wake(line, endpoint, at, false).then((woken) => {
        line.hasMore ||= woken >= maxWaitingInLine
      }),
    )
  }

  async #wake(line: Line, endpoint: string, at: Date, onlyOldest: boolean): Promise<number> {
    const app = this.#running()
    // What is on its way back can be woken too.
    if (this.#toPutBack.length > 0) await this.#putBackAll()
    const since = firstUuidAt(app.clock.nowMs() - wakeDays * dayMs)
    const { woken } = await one(
      app.db.query(wake, { ...line.tenant, endpoint, at, since, onlyOldest, most: maxWaitingInLine }),
    )
    app.work.poke()
    return woken
  }

  /** While the breaker is open, the oldest delivery is fetched every half minute to try with. */
  #probeLater(line: Line): void {
    const { endpoint } = line
    if (line.probeTimer || endpoint === null || this.#stopped) return
    line.probeTimer = setTimeout(() => {
      line.probeTimer = null
      if (line.breaker.state === 'closed' || this.#stopped) return
      this.#store(
        this.#wake(line, endpoint, new Date(0), true).then((woken) => {
          // With nothing to try there is nothing to do until something comes.
          if (woken > 0) this.#probeLater(line)
        }),
      )
    }, probeEveryMs)
    line.probeTimer.unref()
  }
}

/** Until when a delivery that is leased now may begin; in the first quarter of a lease that is too short for an attempt. */
function startByMs({ work }: App): number {
  const leaseMs = work.leaseSeconds * 1_000
  return performance.now() + Math.max(leaseMs - attemptMs, leaseMs / 4)
}
