// SPDX-License-Identifier: Apache-2.0
// Operator limits on the countries that an account may send to.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, type Route, read, writeAcross } from '../../../platform/api/route.ts'
import { maybe, one, type Queryable, statement } from '../../../platform/db.ts'
import { At, Nullable } from '../../../platform/schema/fields.ts'
import { announcePermission } from '../senders/permissions.ts'
import { CountryList } from '../senders/schema.ts'
import { checkedCountries } from '../senders/store.ts'

const AccountCountries = Type.Object({
  countries: Nullable(CountryList, {
    rule: 'must be a list of countries, or null',
    description: 'Countries that the account may send to; null: all that are enabled',
  }),
})

const AccountRecord = Type.Object(
  {
    account_id: Type.String({ description: 'Id of the account, such as `acc_…`' }),
    countries: Nullable(Type.Array(Type.String()), {
      description: 'Countries that the account may send to; null: all that are enabled',
    }),
    updated_at: Nullable(At({ description: 'Time at which they were last set; null if never' })),
  },
  { title: 'SmsAccountCountries' },
)

interface LimitRow {
  countries: string[] | null
  updated_at: Date | null
}

/** A row without countries for an account that is not limited; none when there is no such account. */
const findLimit = statement.tenant<{ bucket: number; account: string }, LimitRow>(
  'sms.find_account_countries',
  `select c.countries, c.updated_at
     from (select accounts.plan_of($account::uuid) as plan) a
     left join sms.account_countries c on c.bucket = $bucket and c.account_id = $account
    where a.plan is not null`,
)

const setLimit = statement.tenant<
  { bucket: number; account: string; countries: readonly string[]; at: Date },
  LimitRow
>(
  'sms.set_account_countries',
  `insert into sms.account_countries (bucket, account_id, countries, updated_at) values ($bucket, $account, $countries, $at)
   on conflict (bucket, account_id) do update set countries = excluded.countries, updated_at = excluded.updated_at
   returning countries, updated_at`,
)

const removeLimit = statement.tenant<{ bucket: number; account: string }, object>(
  'sms.remove_account_countries',
  'delete from sms.account_countries where bucket = $bucket and account_id = $account',
)

const getAccount = read({
  method: 'GET',
  path: '/v1/operator/sms/accounts/:id',
  operation: 'operator.getSmsAccount',
  summary: 'Get the countries an account may send to',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: AccountRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }) => ({ account_id: params.id, ...(await limitOf(app.db, accountUuid(params.id))) }),
})

const changeAccount = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/sms/accounts/:id',
  operation: 'operator.changeSmsAccount',
  summary: 'Set the countries an account may send to',
  scope: 'operator',
  params: IdParam,
  body: AccountCountries,
  reply: { status: 200, schema: AccountRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params, body }, caller) => {
    const account = accountUuid(params.id)
    const bucket = bucketOf(account)
    const before = await limitOf(tx, account)
    let row: LimitRow = { countries: null, updated_at: null }
    if (body.countries === null) await tx.query(removeLimit, { bucket, account })
    else {
      const countries = checkedCountries(body.countries)
      row = await one(tx.query(setLimit, { bucket, account, countries, at: new Date(caller.receivedMs) }))
    }
    await record(tx, caller, 'sms.limit_account', params.id, { before, after: row })
    await announcePermission(app, tx, account)
    return { account_id: params.id, ...row }
  },
})

async function limitOf(queryable: Queryable, account: string): Promise<LimitRow> {
  const row = await maybe(queryable.query(findLimit, { bucket: bucketOf(account), account }))
  if (!row) throw noSuchAccount()
  return row
}

function accountUuid(id: string): string {
  const account = uuidOf('account', id)
  if (account === null) throw noSuchAccount()
  return account
}

function noSuchAccount(): AppError {
  return new AppError('NOT_FOUND', 'there is no such account; account ids begin with acc_')
}

export const accountRoutes: readonly Route[] = [getAccount, changeAccount]
