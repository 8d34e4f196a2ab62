// SPDX-License-Identifier: Apache-2.0
// The noun: status transitions, endings and cost of a call. Pure.
import { idOf } from '../../../kernel/ids.ts'
import type { Quality } from '../../../protocols/rtp/reception.ts'
import type { CallQuality, CallRow, CallStatus } from '../store.ts'

const order: readonly CallStatus[] = ['initiated', 'started', 'ringing', 'answered']

export function isOver(status: CallStatus): boolean {
  return !order.includes(status)
}

/** Whether a status may follow another: never backwards; steps may be skipped. */
export function mayMove(from: CallStatus, to: CallStatus): boolean {
  if (isOver(from)) return false
  if (to === 'completed') return from === 'answered'
  if (to === 'busy' || to === 'rejected' || to === 'timeout') return from !== 'answered'
  return isOver(to) || order.indexOf(to) > order.indexOf(from)
}

export interface Ending {
  status: CallStatus
  cause: string
}

/** Ending of an unanswered call for a SIP response code. */
export function endingOf(sipCode: number): Ending {
  if (sipCode === 486 || sipCode === 600) return { status: 'busy', cause: 'busy' }
  if ([403, 603, 607, 608].includes(sipCode)) return { status: 'rejected', cause: 'rejected' }
  if (sipCode === 408 || sipCode === 480) return { status: 'timeout', cause: 'no_answer' }
  if (sipCode === 404 || sipCode === 410 || sipCode === 484) return { status: 'failed', cause: 'invalid_number' }
  if (sipCode === 487) return { status: 'failed', cause: 'cancelled' }
  if (sipCode === 503 || sipCode === 500) return { status: 'failed', cause: 'network_error' }
  return { status: 'failed', cause: 'network_error' }
}

/** Cost by the second: started seconds count whole, at least one. */
export function costOf(minuteMicros: bigint, seconds: number): bigint {
  return seconds <= 0 ? 0n : (minuteMicros * BigInt(seconds) + 59n) / 60n
}

/** Whole seconds from answer to end; at least one for an answered call. */
export function secondsBetween(answered: Date | null, ended: Date): number {
  return answered === null ? 0 : Math.max(1, Math.ceil((ended.getTime() - answered.getTime()) / 1_000))
}

export function conversationOf({ conversation }: Pick<CallRow, 'conversation'>): string {
  return `CON-${idOf('call', conversation).slice(5)}`
}

/** Call quality of a leg for the API. */
export function qualityOf(measured: Quality | null): CallQuality | null {
  if (measured === null) return null
  const rounded = (value: number) => Math.round(value * 100) / 100
  const { mos, jitterMs, lossPercent, rttMs } = measured
  return { mos, jitter_ms: rounded(jitterMs), packet_loss_pct: rounded(lossPercent), rtt_ms: rounded(rttMs) }
}

/** Call object of the API. */
export function resourceOf(row: CallRow) {
  return {
    call_id: idOf('call', row.id),
    conversation_uuid: conversationOf(row),
    status: row.status,
    phase: row.status === 'answered' ? row.phase : null,
    direction: row.direction,
    from: row.from_number,
    to: row.to_number,
    agent_id: row.agent_id,
    queue_id: row.queue_id,
    ivr_id: row.ivr_id,
    conference_id: row.conference_id,
    parent_call_id: row.parent === null ? null : idOf('call', row.parent),
    custom_data: JSON.parse(row.custom_data),
    record: row.record,
    recording_ids: row.recordings.map((id) => idOf('recording', id)),
    started_at: row.started_at,
    ringing_at: row.ringing_at,
    answered_at: row.answered_at,
    ended_at: row.ended_at,
    duration: row.duration,
    hangup_cause: row.hangup_cause,
    hangup_by: row.hangup_by,
    sip_code: row.sip_code,
    cost: row.cost,
    currency: row.currency,
    quality: row.quality,
  }
}
