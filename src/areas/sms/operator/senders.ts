// SPDX-License-Identifier: Apache-2.0
// Sender ids as operators approve and reject them; in force on every node a moment after it is committed.

import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { buckets, idOf, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, type Route, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { pageById } from '../../../platform/db/merging.ts'
import { type AcrossTx, maybe, one, statement } from '../../../platform/db.ts'
import { listQuery, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { announcePermission } from '../senders/permissions.ts'
import { SenderRecord, senderStatuses } from '../senders/schema.ts'
import { noSuchSender, type SenderRow, senderColumns, senderRecord, senderUuid } from '../senders/store.ts'

const ReviewedSender = Type.Object(
  {
    account_id: Type.String({ description: 'Id of the sender’s account, such as `acc_…`' }),
    ...SenderRecord.properties,
  },
  { title: 'OperatorSmsSenderId' },
)

const Rejection = Type.Object({
  reason: Type.String({
    minLength: 1,
    maxLength: 300,
    rule: 'must have 1 to 300 characters',
    description: 'Reason shown to the customer',
  }),
})

const selectAll = statement.everywhere<
  {
    buckets: readonly number[]
    status: string | null
    account: string | null
    after: string | null
    descending: boolean
    limit: number
  },
  SenderRow
>(
  'sms.list_all_senders',
  `select ${senderColumns} from sms.sender_ids
    where bucket = any($buckets::smallint[]) and ($status::text is null or status = $status)
      and ($account::uuid is null or account_id = $account)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
  { merge: pageById(({ id }) => id) },
)

const find = statement.everywhere<{ buckets: readonly number[]; id: string }, SenderRow>(
  'sms.find_any_sender',
  `select ${senderColumns} from sms.sender_ids where bucket = any($buckets::smallint[]) and id = $id for update`,
)

const decide = statement.tenant<
  { bucket: number; id: string; status: string; reason: string | null; at: Date },
  SenderRow
>(
  'sms.decide_sender',
  `update sms.sender_ids set status = $status, reason = $reason, decided_at = $at where bucket = $bucket and id = $id
   returning ${senderColumns}`,
)

const listSenders = list({
  path: '/v1/operator/sms/sender-ids',
  operation: 'operator.listSmsSenderIds',
  summary: 'List the sender ids of all accounts',
  scope: 'operator',
  query: Type.Object({
    ...listQuery,
    status: Type.Optional(
      OneOf(senderStatuses, { description: 'Filter by status; `pending` ones await your decision' }),
    ),
    account_id: Type.Optional(Type.String({ maxLength: 60, description: 'Filter by account, such as `acc_…`' })),
  }),
  row: ReviewedSender,
  examples: [{ name: 'Pending sender ids', query: { status: 'pending' } }],
  handle: async (app, { query }) => {
    const window = windowOf(query)
    const account = query.account_id === undefined ? null : uuidOf('account', query.account_id)
    if (query.account_id !== undefined && account === null) return { rows: [], nextCursor: null }
    const rows = await app.db.query(selectAll, { ...window, buckets, account, status: query.status ?? null })
    return pageOf(window, rows, reviewed)
  },
})

const approve = writeAcross({
  method: 'POST',
  path: '/v1/operator/sms/sender-ids/:id/approve',
  operation: 'operator.approveSmsSenderId',
  summary: 'Approve a sender id',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: ReviewedSender },
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: (app, tx, { params }, caller) => decideSender(app, tx, caller, params.id, 'approved', null),
})

const reject = writeAcross({
  method: 'POST',
  path: '/v1/operator/sms/sender-ids/:id/reject',
  operation: 'operator.rejectSmsSenderId',
  summary: 'Reject a sender id',
  scope: 'operator',
  params: IdParam,
  body: Rejection,
  reply: { status: 200, schema: ReviewedSender },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'CONFLICT'],
  handle: (app, tx, { params, body }, caller) => decideSender(app, tx, caller, params.id, 'rejected', body.reason),
})

/** A rejected one stays rejected: the customer asks again, with what was wrong put right. */
async function decideSender(
  app: App,
  tx: AcrossTx,
  caller: Caller,
  id: string,
  status: 'approved' | 'rejected',
  reason: string | null,
): Promise<Static<typeof ReviewedSender>> {
  const before = await maybe(tx.query(find, { buckets, id: senderUuid(id) }))
  if (!before) throw noSuchSender()
  if (before.status === 'rejected' || before.status === status)
    throw new AppError('CONFLICT', `the sender id is ${before.status}`, { extra: { current_status: before.status } })
  const { bucket } = before
  const row = await one(tx.query(decide, { bucket, id: before.id, status, reason, at: new Date(caller.receivedMs) }))
  await record(tx, caller, `sms.sender_${status}`, id, { before: { status: before.status }, after: { status, reason } })
  await announcePermission(app, tx, row.account_id)
  return reviewed(row)
}

function reviewed(row: SenderRow): Static<typeof ReviewedSender> {
  return { account_id: idOf('account', row.account_id), ...senderRecord(row) }
}

export const reviewRoutes: readonly Route[] = [listSenders, approve, reject]
