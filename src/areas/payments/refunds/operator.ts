// SPDX-License-Identifier: Apache-2.0
// Refunds as operators settle them: one whose outcome the provider does not tell, or tells in two ways, after a look at
// its statement. Until then the money stays where it is.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, buckets, idOf, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { type Environment, tenantOf } from '../../../platform/tenant.ts'
import type { OutgoingVerdict } from '../providers/provider.ts'
import { Refund } from '../records/events.ts'
import { overdueFields, shownOverdue } from '../records/overdue.ts'
import { lockPayment } from '../records/store.ts'
import { noSuchRefund, refundOf, refundUuid } from './refund.ts'
import { applyVerdict, completeAfterAll, takenBack } from './settle.ts'
import { clearRefundOverdue, findRefund, listOverdueRefunds, type RefundOfPayment, type RefundRow } from './store.ts'

const Overdue = Type.Object(
  {
    refund_id: Type.String({ description: 'Id of the refund, such as `re_…`' }),
    payment_id: Type.String({ description: 'Id of the refunded payment, such as `pay_…`' }),
    status: Refund.properties.status,
    ...overdueFields,
  },
  { title: 'OverdueRefund' },
)

const listRoute = list({
  path: '/v1/operator/payments/refunds',
  operation: 'operator.listOverdueRefunds',
  summary: 'List refunds with an unknown outcome',
  description:
    'A `failed` refund was paid after all, according to the provider: both payer and wallet have the money. A `completed` refund has failed since, according to the provider. The outcome of any other is unknown, and its amount is reserved. Complete or fail each according to the provider’s statement.',
  scope: 'operator',
  query: Type.Object({ limit: listQuery.limit, cursor: listQuery.cursor }),
  row: Overdue,
  examples: [{ name: 'The oldest' }],
  handle: async (app, { query }) => {
    const { limit, after } = windowOf(query)
    const rows = await app.db.query(listOverdueRefunds, { buckets, limit, after })
    return pageOf({ limit, after, descending: false }, rows, shown)
  },
})

function shown(row: RefundRow): Static<typeof Overdue> {
  const { id, payment_id, status, provider_id, overdue_at } = row
  return {
    refund_id: idOf('refund', id),
    payment_id: idOf('payment', payment_id),
    status,
    ...shownOverdue(row, provider_id ?? id, overdue_at),
  }
}

const common = {
  method: 'POST',
  scope: 'operator',
  params: Type.Object({
    id: Type.String({ description: 'Id of the account, such as `acc_…`' }),
    refund_id: Type.String({ description: 'Id of the refund, such as `re_…`' }),
  }),
  reply: { status: 200, schema: Refund },
} as const

const complete = writeAcross({
  ...common,
  path: '/v1/operator/accounts/:id/refunds/:refund_id/complete',
  operation: 'operator.completeRefund',
  summary: 'Mark a refund as completed',
  description:
    'For a refund without an outcome from the provider. Check the statement first: the amount is debited from the wallet. A failed refund that the provider reports as paid is debited too, and the wallet must have the amount.',
  errors: ['NOT_FOUND', 'INVALID_STATE', 'INSUFFICIENT_WALLET_BALANCE', 'REFUND_EXCEEDS_PAYMENT'],
  body: Type.Object({
    provider_reference: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        rule: 'must have 1 to 100 characters',
        description: 'Transaction id on the provider’s statement',
      }),
    ),
  }),
  handle: (app, tx, { params, body }, caller) => {
    const receipt = body.provider_reference ?? null
    return decide(app, tx, params, caller, { kind: 'paid', receipt, micros: null })
  },
})

const fail = writeAcross({
  ...common,
  path: '/v1/operator/accounts/:id/refunds/:refund_id/fail',
  operation: 'operator.failRefund',
  summary: 'Mark a refund as failed',
  description:
    'For a refund without an outcome from the provider. Check the statement first: the amount is released to the wallet. A completed refund that the provider has reversed since is credited to the wallet (refund.failed). A refund that had failed already is only taken off the list.',
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  handle: (app, tx, { params }, caller) =>
    decide(app, tx, params, caller, { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'operator' }),
})

async function decide(
  app: App,
  tx: Tx,
  { id, refund_id }: Static<typeof common.params>,
  caller: Caller,
  verdict: Extract<OutgoingVerdict, { kind: 'paid' | 'refused' }>,
): Promise<Static<typeof Refund>> {
  const found = await refundOfAccount(tx, id, refund_id)
  // Another settler waits for this lock, and finds the decision.
  const payment = await one(tx.query(lockPayment, { ...tenantOf(found), id: found.payment_id }))
  const refund = await one(tx.query(findRefund, { ...tenantOf(found), id: found.id }))
  const { status, state, overdue_at } = refund
  const isListed = overdue_at !== null
  if (state === 'accepted' || state === 'unknown') {
    await tx.query(clearRefundOverdue, { ...tenantOf(refund), id: refund.id })
    await applyVerdict(app, tx, refund, verdict)
  } else if (status === 'completed' && verdict.kind === 'refused') await takenBack(app, tx, payment, refund)
  else if (status === 'failed' && isListed && verdict.kind === 'paid')
    await completeAfterAll(app, tx, refund, verdict.receipt)
  // A result that confirms the ledger needs no review any more.
  else if ((status === 'failed' || status === 'completed') && isListed)
    await tx.query(clearRefundOverdue, { ...tenantOf(refund), id: refund.id })
  else
    throw new AppError(
      'INVALID_STATE',
      `the refund is ${status}; only one that was asked for and is not over can be decided, or one that is on the list`,
      { extra: { status } },
    )
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

export const refundOperatorRoutes: readonly Route[] = [listRoute, complete, fail]
