// SPDX-License-Identifier: Apache-2.0
// The dispatcher of a node decides when deliveries go out. Each endpoint has a line of its own (lines.ts); accounts take turns,
// and the endpoints of an account take turns among themselves. A line gets no more places than are free, so that however many
// slow endpoints there are, some places are always left for the others. Deliveries come in from the commit that made them
// (`begin`) or from the database (`take`), are held (held.ts) until a place is free (`#pump`), sent, and their outcomes stored
// (storing.ts). What a node cannot hold stays in the database, under a lease that ends, until it is fetched (waking.ts).
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Courier, DeliveryOfEvent, Due, NewEvent } from '../../../platform/events.ts'
import type { Admission } from '../../../platform/limits.ts'
import { disableEndpoint } from '../endpoints/disabling.ts'
import { retryForMs } from '../retries.ts'
import { type Answers, sendAndHear } from './answers.ts'
import { type Attempt, type Delivery, judge, newDelivery } from './delivery.ts'
import { callbackKey, deliveryOf, loadDeliveries, type StoredDelivery } from './due.ts'
import { type Finished, finish, finished, givenUp, heard } from './finished.ts'
import { HeldDeliveries, startByMs } from './held.ts'
import { type Line, Lines } from './lines.ts'
import { heardAgain } from './replays.ts'
import { deliveriesOf } from './routes.ts'
import { Storing } from './storing.ts'
import { reloadMs, TargetLookup } from './target-lookup.ts'
import type { Target } from './targets.ts'
import { noteAttempt } from './trace.ts'
import { maxWaitingInLine, Waking } from './waking.ts'

/** Requests under way at once, of all endpoints. */
const maxInFlight = 512
/** Deliveries that wait in memory, of all endpoints. */
const maxWaiting = 20_000
/**
 * Delay of a delivery that found no room, or whose endpoint is paused. Long, so that very many of them do not keep the
 * database busy: they are fetched as soon as there is room.
 */
const noRoomMs = 60_000
const brokenMs = 90_000
/** Delay of a delivery behind another; that one normally wakes it, so this is a fallback. */
const behindMs = 60_000
/** A delivery is early if it is due later than this. Clocks of machines differ a little. */
const earlyMs = 2_000
/** Requests at once after the breaker closed with one success: twice that one. */
const afterBreak = 2

export class Dispatcher implements Courier {
  readonly #roles: readonly string[]
  readonly #answers: Answers
  #app: App | null = null
  readonly #lines = new Lines()
  readonly #held = new HeldDeliveries()
  readonly #storing = new Storing(() => this.#running(), this.#held)
  readonly #waking = new Waking(() => this.#running(), this.#storing)
  readonly #targets = new TargetLookup(
    () => this.#running(),
    (lines) => {
      for (const line of lines) this.#offer(line)
      this.#pump()
    },
  )
  #toLoad: Due[] = []
  #loading = 0
  #inFlight = 0
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
    this.#held.keepLeased(app)
    app.metrics.gauge('pamoja_webhooks_in_flight', 'Webhook requests in progress.', () => this.#inFlight)
    app.metrics.gauge('pamoja_webhooks_waiting', 'Deliveries waiting in memory.', () => this.#held.waiting)
    app.metrics.totals('pamoja_webhooks_attempts_total', 'Attempts by outcome.', ['outcome'], () =>
      Object.entries(this.outcomes).map(([outcome, value]) => ({ labels: { outcome }, value })),
    )
  }

  /** Begins nothing more and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#held.stop()
    this.#waking.stop()
    for (const line of this.#lines.values()) {
      if (line.probeTimer) clearTimeout(line.probeTimer)
      line.waiting.clear()
    }
    void this.#storing.flush()
    while (this.#inFlight > 0 || this.#storing.isBusy) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async deliveriesOf(caller: Caller, event: string): Promise<readonly DeliveryOfEvent[]> {
    return this.#app === null ? [] : deliveriesOf(this.#app, caller, event)
  }

  owner(): string | null {
    return this.#app !== null && this.#delivers() && this.#held.waiting < maxWaiting ? this.#app.nodeId : null
  }

  begin(event: NewEvent, deliveries: string): void {
    const { tenant, row } = event
    const told = { id: event.id, name: row.type, body: event.body, bytes: null }
    const startBy = startByMs(this.#running())
    for (const begun of deliveries.split(',')) {
      const [id = '', endpoint = '', version = ''] = begun.split('/')
      const isCallback = endpoint === callbackKey
      const url = isCallback ? row.callback_url : null
      const line = this.#lines.of(tenant, isCallback ? null : endpoint, url)
      if (line.target && line.target.version < Number(version)) line.targetUntilMs = 0
      // An endpoint that is not loaded, or changed since, counts as ordered: its next delivery may wait for this one.
      const isKnown = line.target?.version === Number(version)
      const ordered = !isCallback && (!isKnown || line.target?.ordered === true)
      const delivery = newDelivery(event, told, { id, endpoint: line.endpoint, url, ordered, startByMs: startBy })
      // A delivery that finds no room stays leased, and falls due when its lease ends.
      this.#enqueue(line, delivery)
    }
    this.#pump()
  }

  room(): number {
    return this.#delivers() ? Math.max(0, maxWaiting - this.#held.waiting - this.#toLoad.length - this.#loading) : 0
  }

  take(job: Due): void {
    const held = this.#held.get(job.id)
    // A delivery whose lease ran out while this node still held it: the node has the lease again.
    if (held) {
      held.jobAttempt = job.attempt
      held.startByMs = startByMs(this.#running())
      return
    }
    this.#toLoad.push(job)
    if (this.#toLoad.length === 1) setImmediate(() => void this.#load())
  }

  sending(): ReadonlySet<string> {
    return this.#held.sending()
  }

  #delivers(): boolean {
    return !this.#stopped && this.#roles.includes('webhooks')
  }

  #running(): App {
    if (this.#app === null) throw new Error('a delivery began before the program was started')
    return this.#app
  }

  #enqueue(line: Line, delivery: Delivery): boolean {
    if (this.#stopped || line.waiting.length >= maxWaitingInLine || this.#held.waiting >= maxWaiting) return false
    this.#held.add(delivery)
    line.waiting.push(delivery)
    this.#offer(line)
    return true
  }

  /** Gives a line its turn when it has something that may go out. */
  #offer(line: Line): void {
    if (line.isQueued || line.isPaused || line.waiting.length === 0) return
    if (line.target === undefined || line.targetUntilMs < performance.now()) return this.#targets.request(line)
    if (line.inFlight >= line.pace.within(line.target?.limit ?? 1)) return
    this.#lines.giveTurn(line)
  }

  async #load(): Promise<void> {
    const jobs = this.#toLoad
    this.#toLoad = []
    // Those of one database that is away keep none of the others waiting.
    await Promise.all(
      this.#running()
        .db.separate(jobs, ({ tenant }) => tenant.bucket)
        .map((part) => this.#loadPart(part)),
    )
  }

  async #loadPart(jobs: readonly Due[]): Promise<void> {
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
    if (this.#stopped || this.#held.get(id)) return
    const delivery = row ? deliveryOf(this.#running(), job, row, startByMs(this.#running())) : null
    if (!row || !delivery) return this.#storing.putBack(tenant, id, attempt, null)
    if (row.behind) {
      const delayMs = behindMs * (1 + Math.random())
      return this.#storing.wait({ tenant, id, endpoint: row.endpoint_id, attempt, delayMs, resource: row.resource_id })
    }
    const line = this.#lines.of(tenant, delivery.endpoint, delivery.url)
    if (this.#enqueue(line, delivery)) return
    line.hasMore = true
    this.#storing.putBack(tenant, id, attempt, noRoomMs * (1 + Math.random()))
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
      if (!delivery) return this.#waking.refill(line)
      if (target === undefined) return
      line.clockOffsetMs = delivery.clockOffsetMs
      if (performance.now() > delivery.startByMs) {
        // Lease nearly over and not extended: the next node to claim the delivery sends it.
        line.waiting.shift()
        this.#held.drop(delivery.id)
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
        if (verdict === 'wait') this.#waking.probeLater(line)
        if (verdict === 'wait' && nowMs > delivery.createdMs + retryForMs) {
          this.#expire(line, delivery, nowMs)
          continue
        }
        const { tenant, id, jobAttempt } = delivery
        this.#storing.putBack(tenant, id, jobAttempt, isEarly ? delivery.dueMs - nowMs : brokenMs * (1 + Math.random()))
        continue
      }
      line.isAdmitted = false
      line.waiting.shift()
      const noted = verdict === 'probe' ? this.#waking.noteProbe(line, 'failing', 'degraded') : null
      return this.#send(line, target, delivery, isEarly, noted)
    }
  }

  /** Holds back or cancels a delivery whose endpoint is deleted or disabled; a disabled one may be enabled again. */
  #refuse(delivery: Delivery, nowMs: number, isDeleted: boolean): void {
    const { tenant, id, endpoint, jobAttempt, createdMs } = delivery
    const leftMs = createdMs + retryForMs - nowMs
    if (!isDeleted && leftMs > 0 && endpoint !== null)
      return this.#storing.wait({ tenant, id, endpoint, attempt: jobAttempt, delayMs: leftMs, resource: null })
    this.#held.drop(id)
    this.outcomes.cancelled++
    void this.#storing.store(this.#running().commit(finish, givenUp(delivery, 'cancelled', nowMs)))
  }

  /** Fails a delivery whose endpoint was paused for as long as retries last. */
  #expire(line: Line, delivery: Delivery, nowMs: number): void {
    this.#held.drop(delivery.id)
    this.outcomes.failed++
    const item = givenUp(delivery, 'failed', nowMs)
    void this.#storing.store(
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

  /** Sends a delivery. `noted` is set for a probe: its outcome is stored after its beginning is. */
  #send(line: Line, target: Target, delivery: Delivery, isEarly: boolean, noted: Promise<void> | null): void {
    const app = this.#running()
    const span = app.tracer?.job('deliver webhook', delivery.trace, {
      'pamoja.event': delivery.told.name,
      'pamoja.attempt': delivery.attempts + 1,
    })
    line.inFlight++
    this.#inFlight++
    this.#held.sendingBegins(delivery.id)
    const over = (): void => {
      line.inFlight--
      this.#inFlight--
      this.#held.sendingEnds(delivery.id)
    }
    sendAndHear(app, this.#answers, target, delivery, span?.trace ?? delivery.trace).then(
      (attempt) => {
        over()
        this.#settle(line, target, delivery, attempt, isEarly, noted)
        if (line.waiting.length === 0) this.#waking.refill(line)
        const { kind } = judge(attempt)
        span?.end({ 'pamoja.outcome': kind }, kind !== 'delivered')
        this.#offer(line)
        this.#pump()
      },
      (error) => {
        over()
        this.#held.drop(delivery.id)
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
    else if (outcome.kind === 'failed') line.pace.failed()
    // A receiver that gives one delivery up works; only this one is not for it.
    const change = line.endpoint === null || judgement.error === 'ABORTED' ? null : line.breaker.record(isSuccess, atMs)
    if (change === 'closed') line.pace.restart(afterBreak)
    if (line.breaker.state === 'open') this.#waking.probeLater(line)
    const isStillBroken = noted !== null && line.breaker.state !== 'closed'
    const ready = isStillBroken ? noted.then(() => this.#waking.noteProbe(line, 'degraded', 'failing')) : noted
    // A delivery that was tried before its time, to see whether the endpoint works, has lost nothing by it.
    if (isEarly && judgement.kind === 'retry') {
      const { tenant, id, jobAttempt, dueMs } = delivery
      return this.#storing.putBack(tenant, id, jobAttempt, dueMs - atMs)
    }
    if (isSuccess && delivery.endpoint === null) {
      const { tenant, id } = delivery
      const over = app.commit(heard, { bucket: tenant.bucket, id }).finally(() => this.#held.drop(id))
      return void this.#storing.store(over)
    }
    const state = change === 'opened' ? 'failing' : change === 'closed' ? 'healthy' : null
    const item = finished(delivery, attempt, judgement, { atMs, nowMs, random: Math.random(), state })
    const stored = ready === null ? app.commit(finish, item) : ready.then(() => app.commit(finish, item))
    void this.#storing.store(
      stored.then(
        ({ failing }) => {
          this.#held.drop(delivery.id)
          if (state !== null) line.isKnownToFail = state === 'failing'
          if (delivery.isReplay && isSuccess) void this.#storing.store(heardAgain(app, delivery, atMs))
          return this.#afterwards(line, delivery, item, change, failing === true, attempt.sentTo)
        },
        (error: unknown) => {
          this.#held.drop(delivery.id)
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

  /** Signal a breaker's change to other nodes; once closed, deliveries that waited for the endpoint go out. */
  async #tellOfBreaker(line: Line, endpoint: string, change: 'opened' | 'closed', at: Date): Promise<void> {
    const app = this.#running()
    if (change === 'closed') await this.#waking.release(line, endpoint, at)
    await app.signals.send(app.db, 'webhooks', endpoint)
  }
}
