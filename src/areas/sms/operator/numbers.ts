// SPDX-License-Identifier: Apache-2.0
// Live numbers as operators assign them to accounts and take them back.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { bucketOf, idOf, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, writeAcross } from '../../../platform/api/route.ts'
import { one, type Queryable, statement } from '../../../platform/db.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { lockNumbers } from '../../numbers/area.ts'
import { InboundNumber, NumberDeleted, NumberParam, NumberRecord } from '../numbers/schema.ts'
import { maxNumbers, type NumberRow, noSuchNumber, numberRecord, removeNumber, smsNumbers } from '../numbers/store.ts'
import { announcePermission } from '../senders/permissions.ts'

/** Accounts that share a number: each message to it looks at all of them. */
const maxSharing = 500

const Assignment = Type.Object({
  number: InboundNumber,
  account_id: Type.String({ maxLength: 60, description: 'Id of the receiving account, such as `acc_…`' }),
  shared: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'True shares it among several accounts, with different keywords',
    }),
  ),
})

const AssignedNumber = Type.Object(
  {
    account_id: Type.String({ description: 'Id of the receiving account, such as `acc_…`' }),
    ...NumberRecord.properties,
  },
  { title: 'OperatorSmsNumber' },
)

const planOf = statement.home<{ account: string }, { plan: string | null }>(
  'sms.plan_of',
  'select accounts.plan_of($account::uuid) as plan',
)

/** The account that a request names; refuses one that does not exist. */
export async function accountNamed(queryable: Queryable, id: string): Promise<string> {
  const account = uuidOf('account', id)
  const { plan } = account === null ? { plan: null } : await one(queryable.query(planOf, { account }))
  if (account === null || plan === null) throw invalid('account_id', 'is not the id of an account')
  return account
}

const listAssigned = list({
  path: '/v1/operator/sms/numbers',
  operation: 'operator.listSmsNumbers',
  summary: 'List live numbers and their accounts',
  scope: 'operator',
  query: Type.Object({
    ...listQuery,
    account_id: Type.Optional(
      Type.String({
        maxLength: 60,
        description: 'Filter by account, such as `acc_…`; includes shared numbers',
      }),
    ),
  }),
  row: AssignedNumber,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }) => {
    const window = windowOf(query)
    const account = query.account_id === undefined ? null : uuidOf('account', query.account_id)
    if (query.account_id !== undefined && account === null) return { rows: [], nextCursor: null }
    const rows = await smsNumbers.page(app.db, { environment: 'live', account, ...window })
    return pageOf(window, rows, assignedRecord)
  },
})

const assign = writeAcross({
  method: 'POST',
  path: '/v1/operator/sms/numbers',
  operation: 'operator.assignSmsNumber',
  summary: 'Assign a live number to an account',
  description:
    'The number is exclusive to the account, or shared: each account then receives the messages with its keywords.',
  scope: 'operator',
  body: Assignment,
  reply: { status: 201, schema: AssignedNumber },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  handle: async (app, tx, { body }, caller) => {
    const { number, shared = false } = body
    const account = await accountNamed(tx, body.account_id)
    await lockNumbers(tx)
    const owners = await smsNumbers.owners(tx, 'live', [number])
    if (owners.some((owner) => !owner.shared || !shared))
      throw new AppError('CONFLICT', 'the number is assigned to another account, and is not shared by both')
    if (owners.length >= maxSharing)
      throw new AppError('CONFLICT', `a number is shared by at most ${maxSharing} accounts`)
    const tenant = { bucket: bucketOf(account), account, environment: 'live' as const }
    const settings = { keywords: [], default_webhook_url: null }
    const row = await smsNumbers.own(tx, tenant, caller, { number, shared, settings, most: maxNumbers })
    if (!row) throw new AppError('CONFLICT', `the account has this number already, or ${maxNumbers} others`)
    await record(tx, caller, 'sms.assign_number', number, { after: { account_id: body.account_id, shared } })
    await announcePermission(app, tx, account)
    return assignedRecord(row)
  },
})

const takeBack = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/sms/numbers/:number',
  operation: 'operator.takeBackSmsNumber',
  summary: 'Withdraw a live number from one account or all',
  scope: 'operator',
  params: NumberParam,
  query: Type.Object({
    account_id: Type.Optional(
      Type.String({ maxLength: 60, description: 'Id of the account to withdraw it from; default all' }),
    ),
  }),
  reply: { status: 200, schema: NumberDeleted },
  errors: ['NOT_FOUND'],
  handle: (app, tx, { params, query }, caller) => {
    const account = query.account_id === undefined ? null : uuidOf('account', query.account_id)
    if (query.account_id !== undefined && account === null) throw noSuchNumber()
    return removeNumber(app, tx, caller, { environment: 'live', number: params.number, account })
  },
})

function assignedRecord(row: NumberRow): Static<typeof AssignedNumber> {
  return { account_id: idOf('account', row.account_id), ...numberRecord(row) }
}

export const assignedNumberRoutes: readonly Route[] = [listAssigned, assign, takeBack]
