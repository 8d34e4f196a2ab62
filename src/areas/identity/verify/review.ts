// SPDX-License-Identifier: Apache-2.0
// Review: a person's decision on a verification, pending or already decided.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { momentText } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, type Tx } from '../../../platform/db.ts'
import { OneOf } from '../../../platform/schema/fields.ts'
import { actorOf, appendAudit } from '../audit-chain.ts'
import { policyOf } from '../policy.ts'
import { recordOf, verificationWith } from './record.ts'
import type { Outcome, VerificationRecord } from './schema.ts'
import { findVerification, lockVerification, type VerificationRow } from './store.ts'
import { move, outcomeOf } from './transition.ts'

export const ReviewDecision = Type.Object({
  decision: OneOf(['approve', 'reject'], { description: 'Decision that makes it `verified` or `rejected`' }),
  reason: Type.String({
    minLength: 1,
    maxLength: 500,
    rule: 'must have 1 to 500 characters',
    description: 'Reason kept in the record as `review.reason`',
  }),
  code: Type.Optional(
    Type.String({ maxLength: 40, description: 'Code of the failure reason of a rejection; default REVIEW_REJECTED' }),
  ),
})

export async function review(
  app: App,
  tx: Tx,
  caller: Caller,
  id: string,
  input: Static<typeof ReviewDecision>,
): Promise<VerificationRecord> {
  const { tenant, receivedMs, nowMs } = caller
  const found = await verificationWith(tx, tenant, id)
  const row = await one(tx.query(lockVerification, { ...tenant, id: found.id }))
  const outcome = await reviewable(tx, caller, row, input.decision)
  const status = input.decision === 'approve' ? 'verified' : 'rejected'
  const reviewed = withReview(outcome, row, caller, input)
  await appendAudit(app, tx, tenant, {
    resourceId: idOf('verification', row.id),
    action: 'review.decided',
    actor: actorOf(caller),
    details: { decision: input.decision, code: input.code ?? null },
    receivedMs,
    nowMs,
  })
  if (!(await move(app, tx, caller, row, { status, stage: 'done', outcome: reviewed }, actorOf(caller))))
    throw new AppError('INVALID_STATE', 'the verification was decided in the meantime')
  return recordOf(app, tenant, await one(tx.query(findVerification, { ...tenant, id: row.id })))
}

/** Outcome of a verification that allows the decision; throws otherwise. */
async function reviewable(tx: Tx, caller: Caller, row: VerificationRow, decision: string): Promise<Outcome> {
  const outcome = outcomeOf(row)
  const isWaiting = row.stage === 'awaiting_review'
  const isOverride =
    row.stage === 'done' && row.status === (decision === 'approve' ? 'rejected' : 'verified') && !row.erased_at
  if (!outcome || !(isWaiting || isOverride))
    throw new AppError('INVALID_STATE', `a verification that is ${row.status}/${row.stage} cannot be decided this way`)
  if (isOverride && outcome.failure_reasons.some(({ code }) => code === 'BLOCKLISTED'))
    throw new AppError('INVALID_STATE', 'a person on the blocklist cannot be approved')
  const { four_eyes } = await policyOf(tx, caller.tenant)
  if (isOverride && decision === 'approve' && four_eyes && row.created_by === caller.actor)
    throw new AppError(
      'FORBIDDEN',
      'who asked for a verification may not approve it after it was rejected; see four_eyes',
    )
  return outcome
}

function withReview(
  outcome: Outcome,
  row: VerificationRow,
  caller: Caller,
  { decision, reason, code }: Static<typeof ReviewDecision>,
): Outcome {
  const machine = outcome.review ? outcome.review.machine : row.status === 'pending' ? 'unsure' : row.status
  const made = machine === undefined ? {} : { machine }
  const review = { decision, reason, by: caller.actor, at: momentText(new Date(caller.nowMs)), ...made }
  if (decision === 'approve') return { ...outcome, review, failure_reasons: [] }
  const rejected = { code: code ?? 'REVIEW_REJECTED', check: null, message: 'a person decided so', retryable: false }
  return { ...outcome, review, failure_reasons: [...outcome.failure_reasons, rejected] }
}
