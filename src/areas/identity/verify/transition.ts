// SPDX-License-Identifier: Apache-2.0
// Status transition of a verification: row, audit entry and events in one transaction, guarded against concurrent
// changes.
import Value from 'typebox/value'
import { idOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { type Actor, appendAudit } from '../audit-chain.ts'
import { settle } from '../charging.ts'
import { presentCheck } from '../documents/judge.ts'
import { identityEvents } from '../events.ts'
import { Outcome } from './schema.ts'
import { moveVerification, type Stage, type Status, type VerificationRow } from './store.ts'

export interface Move {
  readonly status: Status
  readonly stage: Stage
  readonly outcome?: Outcome
  readonly findings?: Buffer
  readonly template?: Buffer | null
  readonly numberIndex?: Buffer | null
  readonly expiresOn?: string | null
  readonly registryUntil?: Date
  /** Pictures that are kept from now on, beside those before. */
  readonly images?: Readonly<Record<string, string>>
}

/** What follows a transition in its transaction, such as of the session whose pictures made the verification. */
type Follower = (app: App, tx: Tx, occasion: Occasion, row: VerificationRow, outcome: Outcome | null) => Promise<void>

const followers = new Set<Follower>()

/** Declares what follows each transition, once for the program. */
export function whenMoved(follower: Follower): void {
  followers.add(follower)
}

const reviewMs = 7 * dayMs

/** Applies a transition; false when another came first. */
export async function move(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: VerificationRow,
  to: Move,
  actor: Actor,
): Promise<boolean> {
  const { tenant, nowMs, receivedMs } = occasion
  const now = new Date(nowMs)
  const isSettled = isAtRest(to) && !isAtRest(row)
  const isFree = isSettled && isUnchecked(to.outcome)
  const moved = await maybe(
    tx.query(moveVerification, {
      ...tenant,
      id: row.id,
      fromStatus: row.status,
      fromStage: row.stage,
      status: to.status,
      stage: to.stage,
      outcome: to.outcome ? JSON.stringify(to.outcome) : null,
      findings: to.findings ?? null,
      template: to.template ?? null,
      number: to.numberIndex ?? null,
      expires: to.expiresOn ?? null,
      registryUntil: to.registryUntil ?? null,
      reviewUntil: to.stage === 'awaiting_review' ? new Date(nowMs + reviewMs) : null,
      completed: to.stage === 'done' ? now : null,
      isFree,
      images: JSON.stringify(to.images ?? {}),
    }),
  )
  if (!moved) return false
  if (isSettled) await settle(tx, tenant, row, !isFree, receivedMs)
  const details = {
    from: `${row.status}/${row.stage}`,
    to: `${to.status}/${to.stage}`,
    reasons: (to.outcome ?? outcomeOf(row))?.failure_reasons.map(({ code }) => code) ?? [],
  }
  const resourceId = idOf('verification', row.id)
  const action = to.stage === 'awaiting_review' ? 'review.requested' : 'status.changed'
  await appendAudit(app, tx, tenant, { resourceId, action, actor, details, receivedMs, nowMs })
  await tell(app, tx, occasion, moved)
  for (const follow of followers) await follow(app, tx, occasion, moved, outcomeOf(moved))
  return true
}

/** Whether nothing more happens automatically. */
function isAtRest({ stage }: Pick<Move, 'stage'>): boolean {
  return stage === 'done' || stage === 'awaiting_review'
}

const unchecked: readonly string[] = ['PROCESSING_FAILED', 'REGISTRY_UNAVAILABLE']

/** Whether no check could be made, or there was no document to check, so that nothing is charged. */
function isUnchecked(outcome: Outcome | undefined): boolean {
  return outcome?.failure_reasons.some(({ code, check }) => unchecked.includes(code) || check === presentCheck) ?? false
}

/** Emits the event of a verification's status; none while in progress. */
export async function tell(app: App, tx: Tx, occasion: Occasion, row: VerificationRow): Promise<void> {
  const type = eventFor(row)
  if (!type) return
  const payload = eventPayload(row, occasion)
  await app.outbox.emit(tx, type, occasion, payload.verification_id, payload, { callbackUrl: row.callback_url })
}

function eventFor({ status, stage }: VerificationRow) {
  if (stage === 'queued') return identityEvents.created
  if (stage === 'awaiting_review') return identityEvents.pending
  if (status === 'verified') return identityEvents.verified
  if (status === 'rejected') return identityEvents.rejected
  return status === 'expired' ? identityEvents.expired : null
}

const nothingYet = { document_authentic: null, face_match: null, liveness_passed: null, overall_risk: null }

function eventPayload(row: VerificationRow, { tenant }: Occasion) {
  const outcome = outcomeOf(row)
  const reasons = outcome?.failure_reasons ?? []
  return {
    verification_id: idOf('verification', row.id),
    status: row.status,
    stage: row.stage,
    checks_performed: outcome?.checks_performed ?? [],
    results: outcome?.results ?? nothingYet,
    risk_assessment: outcome?.risk_assessment ?? null,
    reason: reasons[0]?.code ?? null,
    failure_reasons: reasons,
    reference: row.reference,
    metadata: row.metadata,
    sandbox: tenant.environment === 'test',
    created_at: row.created_at,
    completed_at: row.completed_at,
  }
}

/** Stored outcome; null before there is one. */
export function outcomeOf({ outcome }: VerificationRow): Outcome | null {
  return Value.Check(Outcome, outcome) ? outcome : null
}
