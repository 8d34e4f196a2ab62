// SPDX-License-Identifier: Apache-2.0
// What operators do to refunds: say how one went of which the provider does not tell, after a look at its statement.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { record } from '../../../platform/audit.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { type Route, write } from '../../../platform/route.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { Refund } from '../events.ts'
import type { OutgoingVerdict } from '../providers/provider.ts'
import { noSuchRefund, refundOf, refundUuid } from './refund.ts'
import { applyVerdict } from './settle.ts'
import { findRefund, type RefundOfPayment, tenantOf } from './store.ts'

const common = {
  method: 'POST',
  scope: 'operator',
  params: Type.Object({
    id: Type.String({ description: 'Of the account; begins with acc_' }),
    refund_id: Type.String({ description: 'Begins with re_' }),
  }),
  reply: { status: 200, schema: Refund },
  errors: ['NOT_FOUND', 'INVALID_STATE'],
} as const

const complete = write({
  ...common,
  path: '/v1/operator/accounts/:id/refunds/:refund_id/complete',
  operation: 'operator.completeRefund',
  summary: 'Note that a refund has happened',
  description:
    'For a refund that the provider was asked for and does not tell of. Look at its statement first: the money leaves the wallet.',
  body: Type.Object({
    provider_reference: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, rule: 'must have 1 to 100 characters' }),
    ),
  }),
  handle: (app, tx, { params, body }, caller) => {
    const receipt = body.provider_reference ?? null
    return decide(app, tx, params, caller, { kind: 'paid', receipt, micros: null })
  },
})

const fail = write({
  ...common,
  path: '/v1/operator/accounts/:id/refunds/:refund_id/fail',
  operation: 'operator.failRefund',
  summary: 'Note that a refund has not happened',
  description:
    'For a refund that the provider was asked for and does not tell of. Look at its statement first: the money is free to be spent again.',
  handle: (app, tx, { params }, caller) =>
    decide(app, tx, params, caller, { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'operator' }),
})

async function decide(
  app: App,
  tx: Tx,
  { id, refund_id }: Static<typeof common.params>,
  caller: Caller,
  verdict: OutgoingVerdict,
): Promise<Static<typeof Refund>> {
  const refund = await refundOfAccount(tx, id, refund_id)
  const { status, state } = refund
  if (state !== 'accepted' && state !== 'unknown')
    throw new AppError(
      'INVALID_STATE',
      `the refund is ${status}; only one that was asked for and is not over can be decided`,
      { extra: { status } },
    )
  await applyVerdict(app, tx, refund, verdict)
  const after = await one(tx.query(findRefund, { ...tenantOf(refund), id: refund.id }))
  await record(tx, caller, 'refund.decide', refund_id, { before: { status }, after: { status: after.status } })
  return refundOf(after, { amount: after.payment_amount, refunded: after.payment_refunded })
}

/** An operator need not know in which environment it is. */
async function refundOfAccount(tx: Tx, accountId: string, refundId: string): Promise<RefundOfPayment> {
  const account = uuidOf('account', accountId)
  if (account === null) throw noSuchRefund()
  const environments: readonly Environment[] = ['live', 'test']
  for (const environment of environments) {
    const tenant = { bucket: bucketOf(account), account, environment }
    const refund = await maybe(tx.query(findRefund, { ...tenant, id: refundUuid(refundId) }))
    if (refund) return refund
  }
  throw noSuchRefund()
}

export const refundOperatorRoutes: readonly Route[] = [complete, fail]
