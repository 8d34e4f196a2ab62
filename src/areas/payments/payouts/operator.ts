// SPDX-License-Identifier: Apache-2.0
// Payouts as operators settle them: those whose outcome is unknown, or that the provider reports in two ways: ask it
// themselves, and say so here. Until then the money stays where it is.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { buckets, idOf, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, writeAcross } from '../../../platform/api/route.ts'
import { maybe } from '../../../platform/db.ts'
import { listQuery, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { overdueFields, shownOverdue } from '../records/overdue.ts'
import { payoutStatus } from '../records/payout-events.ts'
import { decide } from './settle.ts'
import { findOverdue, listOverdue, type PayoutRow } from './store.ts'

const Overdue = Type.Object(
  {
    payout_id: Type.String({ description: 'Id of the payout, such as `po_…`' }),
    status: payoutStatus,
    ...overdueFields,
  },
  { title: 'OverduePayout' },
)

const listRoute = list({
  path: '/v1/operator/payments/payouts',
  operation: 'operator.listOverduePayouts',
  summary: 'List payouts with an unknown outcome',
  scope: 'operator',
  query: Type.Object({ limit: listQuery.limit, cursor: listQuery.cursor }),
  row: Overdue,
  examples: [{ name: 'The oldest' }],
  handle: async (app, { query }) => {
    const { limit, after } = windowOf(query)
    const rows = await app.db.query(listOverdue, { buckets, limit, after })
    return pageOf({ limit, after, descending: false }, rows, (row) => shown(row, row.overdue_at))
  },
})

const settleRoute = writeAcross({
  method: 'POST',
  path: '/v1/operator/payments/payouts/:payout_id/settle',
  operation: 'operator.settlePayout',
  summary: 'Settle a payout with an unknown outcome',
  description:
    'Check with the provider first: a payout settled as failed is refunded to the wallet, and can no longer be paid. A failed or reversed payout that was paid after all is debited from the wallet, which must have the amount.',
  scope: 'operator',
  params: Type.Object({ payout_id: Type.String({ description: 'Id of the payout, such as `po_…`' }) }),
  body: Type.Object({
    outcome: OneOf(['paid', 'failed'], { description: 'Outcome according to the provider' }),
    provider_reference: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        rule: 'must have 1 to 100 characters',
        description: 'Transaction id on the provider’s statement, if it was paid',
      }),
    ),
  }),
  reply: { status: 200, schema: Overdue },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_STATE', 'INSUFFICIENT_WALLET_BALANCE'],
  handle: async (app, tx, { params, body }, caller) => {
    const id = uuidOf('payout', params.payout_id)
    const found = id === null ? null : await maybe(tx.query(findOverdue, { buckets, id }))
    if (!found) throw new AppError('NOT_FOUND', 'no payout with this id waits for a person')
    const after = await decide(
      app,
      tx,
      tenantOf(found),
      found.id,
      body.outcome === 'paid'
        ? { kind: 'paid', receipt: body.provider_reference ?? null, micros: null }
        : { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'operator' },
    )
    await record(tx, caller, 'payout.settle', params.payout_id, { after: { status: after.status } })
    return shown(after, null)
  },
})

function shown(row: PayoutRow, overdueAt: Date | null): Static<typeof Overdue> {
  return { payout_id: idOf('payout', row.id), status: row.status, ...shownOverdue(row, row.id, overdueAt) }
}

export const payoutOperatorRoutes: readonly Route[] = [listRoute, settleRoute]
