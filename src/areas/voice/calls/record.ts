// SPDX-License-Identifier: Apache-2.0
// A call under way as its node keeps it: status, money and everything that happened, written down in the order in which it
// happened. Each change is one transaction with its event and its charge; changes wait for each other.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { momentText } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { isUnavailable, type Tx } from '../../../platform/db.ts'
import type { NewEvent } from '../../../platform/events.ts'
import { type One, tenantOf } from '../../../platform/tenant.ts'
import { callEvents } from '../events.ts'
import {
  type CallQuality,
  type CallRow,
  type CallStatus,
  extendHold,
  heldFor,
  insertEvent,
  saveCall,
  settleHold,
} from '../store.ts'
import { conversationOf, costOf, isOver, mayMove, secondsBetween } from './call.ts'
import { tellSoon } from './tell.ts'

/** Seconds that are paid for ahead, and how many of them are left when more is set aside. */
export const holdSeconds = 60
const renewSeconds = 30
/** Waits between attempts to store something while the database is away: its end and its charge must not be lost. */
const storeAgainMs = [200, 1_000, 3_000, 10_000, 30_000, 60_000, 60_000, 60_000]

interface Traced {
  sequence: number | null
  kind: string
  at: Date
  /** JSON. */
  data: string
}

export interface EndOfCall {
  status: CallStatus
  cause: string
  by: 'caller' | 'callee' | 'agent' | 'api' | 'system' | null
  sipCode?: number | null
  quality?: CallQuality | null
  /** When it ended, by the account's clock; now unless told. */
  atMs?: number
}

export class CallRecord {
  readonly app: App
  readonly one: One
  row: CallRow
  clockOffsetMs: number
  private traced: Traced[] = []
  private line: Promise<void> = Promise.resolve()
  private heldSeconds: number
  /** A change could not be stored: the row is not what it should be, and somebody has to end the call again. */
  isLost = false
  private extending: Promise<boolean> = Promise.resolve(true)
  /** Called when the wallet does not cover more of the call; with the seconds that are paid for. */
  onUnpaid: (secondsLeft: number) => void = () => undefined

  constructor(app: App, row: CallRow, clockOffsetMs: number) {
    this.app = app
    this.row = row
    this.clockOffsetMs = clockOffsetMs
    this.one = { ...tenantOf(row), id: row.id }
    this.heldSeconds = row.minute_micros > 0n ? holdSeconds : Number.POSITIVE_INFINITY
  }

  get id(): string {
    return idOf('call', this.row.id)
  }

  get nowMs(): number {
    return this.app.clock.nowMs() + this.clockOffsetMs
  }

  get isOver(): boolean {
    return isOver(this.row.status)
  }

  /** Writes down something that only the trace shows; it is stored with the next change, or soon. */
  trace(kind: string, data: object): void {
    this.traced.push({ sequence: null, kind, at: new Date(this.nowMs), data: JSON.stringify(data) })
  }

  /** Tells the customer of something beside the statuses, such as a mistake in the flow. */
  tell(extra: object): void {
    this.row = { ...this.row, sequence: this.row.sequence + 1 }
    this.traced.push(this.told(extra))
  }

  private told(extra: object): Traced {
    const at = new Date(this.nowMs)
    const body = JSON.stringify({ ...this.eventBody(at), ...extra })
    // Money is written digit by digit; a number of JavaScript would round it.
    const data = `${body.slice(0, -1)},"cost":${formatMicros(this.row.cost)}}`
    return { sequence: this.row.sequence, kind: 'event', at, data }
  }

  /** Body of what goes to event_url, but for the cost. */
  private eventBody(at: Date) {
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

  /** Moves the call forward; false if it cannot. What is waiting to be stored is stored with it. */
  to(status: CallStatus, change: Partial<CallRow> = {}): boolean {
    if (!mayMove(this.row.status, status)) return false
    const at = new Date(this.nowMs)
    const moment = status === 'ringing' ? { ringing_at: at } : status === 'answered' ? { answered_at: at } : {}
    this.row = { ...this.row, ...moment, ...change, status, sequence: this.row.sequence + 1 }
    this.traced.push(this.told({}))
    this.save()
    return true
  }

  /** Changes what is not its status. */
  change(change: Partial<CallRow>): void {
    this.row = { ...this.row, ...change }
    this.save()
  }

  /** The end, once: what was spoken is paid, what is left is given back. */
  end({ status, cause, by, sipCode, quality, atMs = this.nowMs }: EndOfCall): boolean {
    const { row } = this
    if (!mayMove(row.status, status)) return false
    const ended = new Date(atMs)
    const seconds = secondsBetween(row.answered_at, ended)
    const paidFor = Math.min(seconds, this.heldSeconds)
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
    this.traced.push(this.told({}))
    this.save(async (tx) => {
      if (row.minute_micros > 0n) await settleHold(tx, this.one, this.row.cost, newUuid(this.app.clock.nowMs()))
    })
    return true
  }

  /** Resolves when everything so far is stored. */
  settled(): Promise<void> {
    return this.line
  }

  /** Stores the trace that has gathered. */
  flush(): void {
    if (this.traced.length > 0) this.save()
  }

  private save(also: (tx: Tx) => Promise<void> = async () => undefined): void {
    const { row } = this
    const traced = this.traced
    this.traced = []
    const first = row.position + 1
    this.row = { ...row, position: row.position + traced.length }
    const saved = this.row
    const events = traced.some(({ sequence }) => sequence !== null) ? this.events(saved) : []
    this.line = this.line
      .then(() => persistently(() => this.store(saved, first, traced, events, also)))
      .catch((error) => {
        this.isLost = true
        this.app.log.error(
          { error, call: this.id },
          'change of a call not stored: its record and events lag behind; check the database',
        )
      })
  }

  private async store(
    row: CallRow,
    first: number,
    traced: readonly Traced[],
    events: readonly NewEvent[],
    also: (tx: Tx) => Promise<void>,
  ): Promise<void> {
    await this.app.db.tx(this.one, async (tx) => {
      const quality = row.quality === null ? null : JSON.stringify(row.quality)
      const { status, phase, recordings, duration, position, sequence, cost } = row
      const times = { ringingAt: row.ringing_at, answeredAt: row.answered_at, endedAt: row.ended_at, duration }
      const ending = { hangupCause: row.hangup_cause, hangupBy: row.hangup_by, sipCode: row.sip_code, cost, quality }
      const now = { status, phase, recordings, position, sequence, heldSeconds: row.held_seconds }
      const within = {
        agentId: row.agent_id,
        queueId: row.queue_id,
        ivrId: row.ivr_id,
        conferenceId: row.conference_id,
      }
      const [kept] = await tx.query(saveCall, { ...this.one, ...now, ...within, ...times, ...ending })
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
    if (row.event_url !== null) tellSoon(this.app, this.one, this.clockOffsetMs)
  }

  /** What webhooks are told of the status that the call has come to. */
  private events(row: CallRow): NewEvent[] {
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
          answered_by: row.direction === 'inbound' ? 'flow' : 'callee',
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
      disposition: null,
      ended_at: row.ended_at ?? new Date(nowMs),
    })
    if (status === 'completed') return [completed]
    return [outbox.prepare(callEvents[status], occasion, this.id, { ...progress, status }), completed]
  }

  /** Sets more money aside when what is paid for runs low. Called every second or so while the call is answered. */
  async renew(): Promise<void> {
    const { answered_at } = this.row
    if (answered_at === null || this.isOver) return
    const spoken = (this.nowMs - answered_at.getTime()) / 1_000
    if (this.heldSeconds - spoken > renewSeconds) return
    // After a jump of the account's clock, enough for all of it.
    const isPaid = await this.extendTo(Math.max(this.heldSeconds, Math.ceil(spoken)) + holdSeconds)
    if (!isPaid) this.onUnpaid(this.heldSeconds - spoken)
  }

  /** Sets aside what is missing for everything that was spoken until then, so that the end charges all of it. */
  async cover(endMs: number): Promise<void> {
    const { answered_at } = this.row
    if (answered_at === null || this.isOver) return
    const covered = this.extendTo(secondsBetween(answered_at, new Date(endMs)))
    // Without it, the end charges what is set aside.
    await covered.catch((error) => this.app.log.error({ error, call: this.id }, 'the end of a call was not covered'))
  }

  /** One extension after the other; each sees what the last one set aside. False: the wallet does not cover it. */
  private extendTo(seconds: number): Promise<boolean> {
    const extended = this.extending.then(async () => {
      const more = seconds - this.heldSeconds
      if (more <= 0) return true
      const cost = costOf(this.row.minute_micros, more)
      if (!(await persistently(() => extendHold(this.app.db, this.one, cost)))) return false
      this.heldSeconds += more
      return true
    })
    this.extending = extended.catch(() => false)
    return extended
  }

  /** Learns what is set aside for a call that another node had. */
  async recall(): Promise<void> {
    const { minute_micros } = this.row
    if (minute_micros === 0n) return
    this.heldSeconds = Number(((await heldFor(this.app.db, this.one)) * 60n) / minute_micros)
  }
}

/** Does something with the database, and again for some minutes while that is away. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (const waitMs of storeAgainMs) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      await new Promise((resume) => setTimeout(resume, waitMs))
    }
  }
  return work()
}

type Cause = NonNullable<(typeof callEvents.busy.sample)['reason']>
const causes: readonly Cause[] = [
  'normal',
  'cancelled',
  'busy',
  'rejected',
  'no_answer',
  'invalid_number',
  'no_route',
  'network_error',
  'media_timeout',
  'flow_error',
  'max_duration',
  'insufficient_funds',
]

function causeOf({ hangup_cause }: CallRow): Cause | null {
  return causes.find((cause) => cause === hangup_cause) ?? null
}

const enders = ['caller', 'callee', 'agent', 'api', 'system'] as const

function byOf({ hangup_by }: CallRow): (typeof enders)[number] | null {
  return enders.find((by) => by === hangup_by) ?? null
}
