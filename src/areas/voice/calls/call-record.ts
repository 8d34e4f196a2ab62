// SPDX-License-Identifier: Apache-2.0
// Record of a live call on its node: status, money and trace, stored in order. Each change is one transaction with its
// event and charge; changes are queued.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { momentText } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { surely } from '../../../platform/commit.ts'
import type { Tx } from '../../../platform/db.ts'
import type { NewEvent } from '../../../platform/events.ts'
import { type One, tenantOf } from '../../../platform/tenant.ts'
import type { DialogState } from '../../../protocols/sip/dialog.ts'
import { callEvents, enders, hangupCauses } from '../events.ts'
import {
  type CallQuality,
  type CallRow,
  type CallStatus,
  extendHold,
  heldFor,
  insertEvent,
  keepDialog,
  saveCall,
  settleHold,
} from '../store.ts'
import { conversationOf, costOf, isOver, mayMove, secondsBetween } from './call.ts'
import type { CallTimers } from './call-timers.ts'
import { deliverEventsSoon } from './event-delivery.ts'

/** Seconds held ahead, and the rest at which the hold is extended. */
export const holdSeconds = 60
/** Longest call: one that is open longer, because the sandbox clock was moved, has ended then. */
export const longestCallMs = 4 * 3_600_000
const renewSeconds = 30
/** Retry delays while the database is unavailable: the call's end and charge must not be lost. */
const storeAgainMs = [200, 1_000, 3_000, 10_000, 30_000, 60_000, 60_000, 60_000]

interface Traced {
  sequence: number | null
  kind: string
  at: Date
  /** JSON text. */
  data: string
}

export interface EndOfCall {
  status: CallStatus
  cause: string
  by: 'caller' | 'callee' | 'agent' | 'api' | 'system' | null
  sipCode?: number | null
  quality?: CallQuality | null
  /** End time by the account's clock; now by default. */
  atMs?: number
}

export class CallRecord {
  readonly app: App
  readonly one: One
  row: CallRow
  clockOffsetMs: number
  #traced: Traced[] = []
  #line: Promise<void> = Promise.resolve()
  #heldSeconds: number
  /** A change could not be stored after all retries: the row is stale, and another node must end the call again. */
  isLost = false
  #extending: Promise<boolean> = Promise.resolve(true)
  /** Has the call ended after the seconds that are still paid for. */
  #unpaid: (secondsLeft: number) => void = () => undefined

  constructor(app: App, row: CallRow, clockOffsetMs: number) {
    this.app = app
    this.row = row
    this.clockOffsetMs = clockOffsetMs
    this.one = { ...tenantOf(row), id: row.id }
    this.#heldSeconds = row.minute_micros > 0n ? holdSeconds : Number.POSITIVE_INFINITY
  }

  /** Has an answered call ended when its money is spent. The wallet is asked again then: it may have been filled meanwhile. */
  endWhenUnpaid(timers: CallTimers, end: () => void): void {
    const endUnlessPaid = async () => {
      if (!(await this.renew().catch(() => false))) end()
    }
    this.#unpaid = (secondsLeft) => timers.set('unpaid', Math.max(0, secondsLeft * 1_000), () => void endUnlessPaid())
  }

  get id(): string {
    return idOf('call', this.row.id)
  }

  get nowMs(): number {
    return this.app.clock.nowMs() + this.clockOffsetMs
  }

  get price(): { currency: string; minuteMicros: bigint } {
    return { currency: this.row.currency, minuteMicros: this.row.minute_micros }
  }

  get isOver(): boolean {
    return isOver(this.row.status)
  }

  /** Adds an entry to the trace; stored with the next change, or by the next flush. */
  trace(kind: string, data: object): void {
    this.#traced.push({ sequence: null, kind, at: new Date(this.nowMs), data: JSON.stringify(data) })
  }

  /** Emits an event other than a status change, such as an error in the flow. */
  tell(extra: object): void {
    this.row = { ...this.row, sequence: this.row.sequence + 1 }
    this.#traced.push(this.#told(extra))
  }

  #told(extra: object): Traced {
    const at = new Date(this.nowMs)
    const { currency, ...body } = this.#eventBody(at)
    // Money is written as exact digits; a JavaScript number would round it.
    const cost = `"cost":${formatMicros(this.row.cost)}`
    const data = `${JSON.stringify(body).slice(0, -1)},${cost},${JSON.stringify({ currency, ...extra }).slice(1)}`
    return { sequence: this.row.sequence, kind: 'event', at, data }
  }

  /** Body of the event_url request in the order of its fields; the cost stands before the currency. */
  #eventBody(at: Date) {
    const { row } = this
    return {
      status: row.status,
      duration: row.duration,
      from: row.from_number,
      to: row.to_number,
      call_id: this.id,
      uuid: this.id,
      conversation_uuid: conversationOf(row),
      direction: row.direction,
      sequence: row.sequence,
      timestamp: momentText(at),
      reason: row.hangup_cause,
      sip_code: row.sip_code,
      currency: row.currency,
    }
  }

  /** Moves the call to a status, together with pending changes; false when the transition is not allowed. */
  to(status: CallStatus, change: Partial<CallRow> = {}): boolean {
    if (!mayMove(this.row.status, status)) return false
    const at = new Date(this.nowMs)
    const moment = status === 'ringing' ? { ringing_at: at } : status === 'answered' ? { answered_at: at } : {}
    this.row = { ...this.row, ...moment, ...change, status, sequence: this.row.sequence + 1 }
    this.#traced.push(this.#told({}))
    this.#save()
    return true
  }

  /** Changes fields other than the status. */
  change(change: Partial<CallRow>): void {
    this.row = { ...this.row, ...change }
    this.#save()
  }

  /** Ends the call once: charges what was spoken and releases the rest of the hold. */
  end({ status, cause, by, sipCode, quality, atMs = this.nowMs }: EndOfCall): boolean {
    const { row } = this
    if (!mayMove(row.status, status)) return false
    const ended = this.#atTheLatest(atMs)
    const seconds = secondsBetween(row.answered_at, ended)
    const paidFor = Math.min(seconds, this.#heldSeconds)
    this.row = {
      ...row,
      status,
      phase: null,
      ended_at: ended,
      duration: seconds,
      hangup_cause: cause,
      hangup_by: by,
      sip_code: sipCode ?? row.sip_code,
      cost: costOf(row.minute_micros, paidFor),
      quality: quality ?? null,
      sequence: row.sequence + 1,
    }
    this.#traced.push(this.#told({}))
    this.#save(async (tx) => {
      if (row.minute_micros > 0n) await settleHold(tx, this.one, this.row.cost, newUuid(this.app.clock.nowMs()))
    })
    return true
  }

  /** End of a call that is ended at that time: no later than the longest call allows. */
  #atTheLatest(endMs: number): Date {
    return new Date(Math.min(endMs, (this.row.answered_at?.getTime() ?? endMs) + longestCallMs))
  }

  /** Keeps the SIP dialog of an answered call: should this node die, another tells the other side that it is over. */
  keepDialog(dialog: DialogState | null): void {
    if (!dialog) return
    this.app.db
      .query(keepDialog, { ...this.one, dialog: JSON.stringify(dialog) })
      .catch((error) =>
        this.app.log.warn(
          { error, call: this.id },
          'dialog of a call not stored: the other side is not notified if this node dies; check the database',
        ),
      )
  }

  /** Resolves when all changes so far are stored. */
  settled(): Promise<void> {
    return this.#line
  }

  /** Stores the pending trace. */
  flush(): void {
    if (this.#traced.length > 0) this.#save()
  }

  #save(also: (tx: Tx) => Promise<void> = async () => undefined): void {
    const { row } = this
    const traced = this.#traced
    this.#traced = []
    const first = row.position + 1
    this.row = { ...row, position: row.position + traced.length }
    const saved = this.row
    const events = traced.some(({ sequence }) => sequence !== null) ? this.#events(saved) : []
    this.#line = this.#line
      .then(() => surely(() => this.#store(saved, first, traced, events, also), storeAgainMs))
      .catch((error) => {
        this.isLost = true
        this.app.log.error(
          { error, call: this.id },
          'change of a call not stored: its record and events lag behind; check the database',
        )
      })
  }

  async #store(
    row: CallRow,
    first: number,
    traced: readonly Traced[],
    events: readonly NewEvent[],
    also: (tx: Tx) => Promise<void>,
  ): Promise<void> {
    await this.app.db.tx(this.one, async (tx) => {
      const quality = row.quality && JSON.stringify(row.quality)
      const [kept] = await tx.query(saveCall, { ...row, ...this.one, quality })
      if (!kept) return
      for (const [i, { sequence, kind, at, data }] of traced.entries())
        await tx.query(insertEvent, {
          ...this.one,
          position: first + i,
          sequence,
          kind,
          at,
          data,
        })
      await also(tx)
      await this.app.outbox.emitAll(tx, events)
    })
    if (row.event_url !== null) deliverEventsSoon(this.app, this.one, this.clockOffsetMs)
  }

  /** Webhook events of the call's new status. */
  #events(row: CallRow): NewEvent[] {
    const about = {
      account_id: idOf('account', row.account_id),
      call_id: this.id,
      conversation_uuid: conversationOf(row),
      direction: row.direction,
      from: row.from_number,
      to: row.to_number,
      agent_id: row.agent_id,
      queue_id: row.queue_id,
      custom_data: JSON.parse(row.custom_data),
      sequence: row.sequence,
    }
    const nowMs = this.nowMs
    const occasion = { tenant: tenantOf(row), receivedMs: this.app.clock.nowMs(), nowMs, requestId: null }
    const { outbox } = this.app
    const waited = row.answered_at ? Math.round((row.answered_at.getTime() - row.started_at.getTime()) / 1_000) : 0
    const { status } = row
    if (status === 'initiated') return []
    if (status === 'answered')
      return [
        outbox.prepare(callEvents.answered, occasion, this.id, {
          ...about,
          status,
          duration: row.duration,
          answered_at: row.answered_at ?? new Date(nowMs),
          wait_seconds: waited,
          answered_by: row.direction === 'inbound' ? 'flow' : row.agent_id === null ? 'callee' : 'agent',
        }),
      ]
    const progress = { ...about, duration: row.duration, reason: causeOf(row), sip_code: row.sip_code }
    if (status === 'started' || status === 'ringing')
      return [outbox.prepare(callEvents[status], occasion, this.id, { ...progress, status })]
    const completed = outbox.prepare(callEvents.completed, occasion, this.id, {
      ...about,
      status,
      duration: row.duration,
      hangup_cause: causeOf(row) ?? 'normal',
      hangup_by: byOf(row),
      talk_seconds: row.duration - row.held_seconds,
      hold_seconds: row.held_seconds,
      wait_seconds: waited,
      recording_ids: row.recordings.map((id) => idOf('recording', id)),
      cost: row.cost,
      currency: row.currency,
      quality: row.quality,
      disposition: row.disposition,
      ended_at: row.ended_at ?? new Date(nowMs),
    })
    if (status === 'completed') return [completed]
    return [outbox.prepare(callEvents[status], occasion, this.id, { ...progress, status }), completed]
  }

  /** Extends the hold when it runs low; false where the wallet does not cover it. Called every two seconds of an answered call. */
  async renew(): Promise<boolean> {
    const { answered_at } = this.row
    if (answered_at === null || this.isOver) return true
    const spoken = (this.#atTheLatest(this.nowMs).getTime() - answered_at.getTime()) / 1_000
    if (this.#heldSeconds - spoken > renewSeconds) return true
    // A jump of the sandbox clock may need more than one extension.
    const isPaid = await this.#extendTo(Math.max(this.#heldSeconds, Math.ceil(spoken)) + holdSeconds)
    if (!isPaid) this.#unpaid(this.#heldSeconds - spoken)
    return isPaid
  }

  /** Holds the money for everything spoken until then, so that the end can charge it all. */
  async cover(endMs: number): Promise<void> {
    const { answered_at } = this.row
    if (answered_at === null || this.isOver) return
    const covered = this.#extendTo(secondsBetween(answered_at, this.#atTheLatest(endMs)))
    // On failure the end charges what is held.
    await covered.catch((error) =>
      this.app.log.error(
        { error, call: this.id },
        'hold for the end of a call not extended: only what is held is charged; check the database',
      ),
    )
  }

  /** Extends the hold, one extension at a time. False: the wallet does not cover it. */
  #extendTo(seconds: number): Promise<boolean> {
    const extended = this.#extending.then(async () => {
      const more = seconds - this.#heldSeconds
      if (more <= 0) return true
      const cost = costOf(this.row.minute_micros, more)
      if (!(await surely(() => extendHold(this.app.db, this.one, cost), storeAgainMs))) return false
      this.#heldSeconds += more
      return true
    })
    this.#extending = extended.catch(() => false)
    return extended
  }

  /** Reads the hold of a call taken over from another node. */
  async recall(): Promise<void> {
    const { minute_micros } = this.row
    if (minute_micros === 0n) return
    this.#heldSeconds = Number(((await heldFor(this.app.db, this.one)) * 60n) / minute_micros)
  }
}

function causeOf({ hangup_cause }: CallRow): (typeof hangupCauses)[number] | null {
  return hangupCauses.find((cause) => cause === hangup_cause) ?? null
}

function byOf({ hangup_by }: CallRow): (typeof enders)[number] | null {
  return enders.find((by) => by === hangup_by) ?? null
}
