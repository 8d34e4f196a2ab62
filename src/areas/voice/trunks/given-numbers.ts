// SPDX-License-Identifier: Apache-2.0
// Operator routes that give live numbers to accounts and take them back.
import { Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { bucketOf, idOf, uuidOf } from '../../../kernel/ids.ts'
import { e164, e164Rule, isE164 } from '../../../kernel/phone.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, writeAcross } from '../../../platform/api/route.ts'
import { one, statement } from '../../../platform/db.ts'
import { At, Deleted, wholeListQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import { type NumberRow, unanswered, voiceNumbers } from '../numbers/store.ts'

const maxNumbers = 100_000

const GivenNumber = Type.Object(
  {
    number: Type.String({ description: 'Phone number in E.164' }),
    account_id: Type.String({ description: 'Id of the number’s account, such as `acc_…`' }),
    assigned_at: At({ description: 'Time of the assignment' }),
  },
  { title: 'OperatorVoiceNumber' },
)

const planOf = statement.home<{ account: string }, { plan: string | null }>(
  'voice.plan_of',
  'select accounts.plan_of($account::uuid) as plan',
)

const listGiven = list({
  path: '/v1/operator/voice/numbers',
  operation: 'operator.listVoiceNumbers',
  summary: 'List live call numbers and their accounts',
  scope: 'operator',
  query: Type.Object(wholeListQuery),
  row: GivenNumber,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }) => {
    const rows = await voiceNumbers.inOrder(app.db, 'live', null, maxNumbers)
    return pageOfWhole(query, rows.map(givenRecord), ({ number }) => number)
  },
})

const give = writeAcross({
  method: 'POST',
  path: '/v1/operator/voice/numbers',
  operation: 'operator.giveVoiceNumber',
  summary: 'Assign a live call number to an account',
  description: 'The account can use it as caller number and set how calls to it are answered.',
  scope: 'operator',
  body: Type.Object({
    number: Type.String({
      pattern: e164,
      rule: e164Rule,
      description: 'Number assigned to you by the network',
    }),
    account_id: Type.String({ maxLength: 60, description: 'Id of the account that gets the number, such as `acc_…`' }),
  }),
  reply: { status: 201, schema: GivenNumber },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  handle: async (_app, tx, { body }, caller) => {
    const account = uuidOf('account', body.account_id)
    const { plan } = account === null ? { plan: null } : await one(tx.query(planOf, { account }))
    if (account === null || plan === null) throw invalid('account_id', 'is not the id of an account')
    const tenant = { bucket: bucketOf(account), account, environment: 'live' as const }
    const row = await voiceNumbers.own(tx, tenant, caller, { number: body.number, settings: unanswered })
    if (!row) throw new AppError('CONFLICT', 'the number is assigned to an account; withdraw it first')
    await record(tx, caller, 'voice.give_number', body.number, { after: { account_id: body.account_id } })
    return givenRecord(row)
  },
})

const takeBack = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/voice/numbers/:number',
  operation: 'operator.takeBackVoiceNumber',
  summary: 'Withdraw a live call number',
  scope: 'operator',
  params: Type.Object({ number: Type.String({ description: 'E.164, with the plus written %2B' }) }),
  needs: 'nothing',
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    const had = isE164(params.number) ? await voiceNumbers.release(tx, 'live', params.number, null) : []
    if (had.length === 0) throw new AppError('NOT_FOUND', 'the number is not assigned')
    await record(tx, caller, 'voice.take_back_number', params.number, { after: {} })
    return { id: params.number, deleted: true as const }
  },
})

function givenRecord({ number, account_id, updated_at }: NumberRow) {
  return { number, account_id: idOf('account', account_id), assigned_at: updated_at }
}

export const givenNumberRoutes: readonly Route[] = [listGiven, give, takeBack]
