// SPDX-License-Identifier: Apache-2.0
// What operators decide about sending: which sender ids are approved, what countries demand, and where an account may
// send to. In force on every node a moment after it is committed.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { bucketCount, bucketOf, idOf, uuidOf } from '../../../kernel/ids.ts'
import { networks } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { record } from '../../../platform/audit.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { pageOf, windowOf } from '../../../platform/page.ts'
import { IdParam, list, type Route, read, write } from '../../../platform/route.ts'
import { At, listQuery, Nullable, OneOf } from '../../../platform/schema.ts'
import { isCountry, usualRegistration } from './countries.ts'
import { announcePermission } from './permissions.ts'
import {
  CountryList,
  checkedCountries,
  noSuchSender,
  SenderRecord,
  type SenderRow,
  senderColumns,
  senderRecord,
  senderStatuses,
  senderUuid,
} from './senders.ts'

const buckets = Array.from({ length: bucketCount }, (_, i) => i)

// Sender ids -------------------------------------------------------------------------------------------------------

const ReviewedSender = Type.Object(
  { account_id: Type.String(), ...SenderRecord.properties },
  { title: 'OperatorSmsSenderId' },
)

const Rejection = Type.Object({
  reason: Type.String({
    minLength: 1,
    maxLength: 300,
    rule: 'must have 1 to 300 characters',
    description: 'What the customer reads',
  }),
})

const selectAll = statement<
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
)

const find = statement<{ buckets: readonly number[]; id: string }, SenderRow>(
  'sms.find_any_sender',
  `select ${senderColumns} from sms.sender_ids where bucket = any($buckets::smallint[]) and id = $id for update`,
)

const decide = statement<{ bucket: number; id: string; status: string; reason: string | null; at: Date }, SenderRow>(
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
    status: Type.Optional(OneOf(senderStatuses)),
    account_id: Type.Optional(Type.String({ maxLength: 60 })),
  }),
  row: ReviewedSender,
  examples: [{ name: 'Those that wait for you', query: { status: 'pending' } }],
  handle: async (app, { query }) => {
    const window = windowOf(query)
    const account = query.account_id === undefined ? null : uuidOf('account', query.account_id)
    if (query.account_id !== undefined && account === null) return { rows: [], nextCursor: null }
    const rows = await app.db.query(selectAll, { ...window, buckets, account, status: query.status ?? null })
    return pageOf(window, rows, reviewed)
  },
})

const approve = write({
  method: 'POST',
  path: '/v1/operator/sms/sender-ids/:id/approve',
  operation: 'operator.approveSmsSenderId',
  summary: 'Approve a sender id that waits',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: ReviewedSender },
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: (app, tx, { params }, caller) => settle(app, tx, caller, params.id, 'approved', null),
})

const reject = write({
  method: 'POST',
  path: '/v1/operator/sms/sender-ids/:id/reject',
  operation: 'operator.rejectSmsSenderId',
  summary: 'Reject a sender id, or take its approval back',
  scope: 'operator',
  params: IdParam,
  body: Rejection,
  reply: { status: 200, schema: ReviewedSender },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'CONFLICT'],
  handle: (app, tx, { params, body }, caller) => settle(app, tx, caller, params.id, 'rejected', body.reason),
})

/** A rejected one stays rejected: the customer asks again, with what was wrong put right. */
async function settle(
  app: App,
  tx: Tx,
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

// Countries --------------------------------------------------------------------------------------------------------

const registrations = ['required', 'open'] as const

const CountryParam = Type.Object({ country: Type.String({ description: 'ISO 3166, such as KE' }) })

const CountryChange = Type.Object({
  enabled: Type.Optional(
    Nullable(Type.Boolean(), { rule: 'must be true, false or null', description: 'False: nobody may send there' }),
  ),
  sender_registration: Type.Optional(
    Nullable(OneOf(registrations), {
      rule: `must be one of ${registrations.join(', ')}, or null`,
      description: '`required`: only approved senders; null: as is usual there',
    }),
  ),
})

const CountryRecord = Type.Object(
  {
    country: Type.String(),
    enabled: Type.Boolean(),
    sender_registration: OneOf(registrations),
    is_default: Type.Boolean({ description: 'Nobody said otherwise; then tests may use any sender' }),
  },
  { title: 'SmsCountry' },
)

interface CountryRow {
  country: string
  enabled: boolean | null
  sender_registration: (typeof registrations)[number] | null
}

const selectCountries = statement<Record<never, never>, CountryRow>(
  'sms.list_countries',
  'select country, enabled, sender_registration from sms.country_rules order by country',
)

const findCountry = statement<{ country: string }, CountryRow>(
  'sms.find_country',
  'select country, enabled, sender_registration from sms.country_rules where country = $country for update',
)

const upsertCountry = statement<
  { country: string; enabled: boolean | null; registration: string | null; at: Date },
  CountryRow
>(
  'sms.set_country',
  `insert into sms.country_rules (country, enabled, sender_registration, updated_at)
   values ($country, $enabled, $registration, $at)
   on conflict (country) do update
     set enabled = excluded.enabled, sender_registration = excluded.sender_registration, updated_at = excluded.updated_at
   returning country, enabled, sender_registration`,
)

const listCountries = list({
  path: '/v1/operator/sms/countries',
  operation: 'operator.listSmsCountries',
  summary: 'List countries and what they demand of senders',
  scope: 'operator',
  row: CountryRecord,
  examples: [{ name: 'All countries' }],
  handle: async (app) => {
    const said = new Map((await app.db.query(selectCountries, {})).map((row) => [row.country, row]))
    const countries = [...new Set([...networks.map(({ country }) => country), ...said.keys()])].sort()
    return { rows: countries.map((country) => countryRecord(said.get(country) ?? unsaid(country))), nextCursor: null }
  },
})

const changeCountry = write({
  method: 'PATCH',
  path: '/v1/operator/sms/countries/:country',
  operation: 'operator.changeSmsCountry',
  summary: 'Say whether a country may be sent to, and what it demands of senders',
  description: 'What is said here holds for live and test keys; what is usual holds for live ones.',
  scope: 'operator',
  params: CountryParam,
  body: CountryChange,
  reply: { status: 200, schema: CountryRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params: { country }, body }, caller) => {
    if (!isCountry(country)) throw new AppError('NOT_FOUND', 'there is no such country; codes are such as KE')
    const before = (await maybe(tx.query(findCountry, { country }))) ?? unsaid(country)
    const wanted = {
      country,
      enabled: body.enabled === undefined ? before.enabled : body.enabled,
      sender_registration:
        body.sender_registration === undefined ? before.sender_registration : body.sender_registration,
    }
    const { enabled, sender_registration: registration } = wanted
    const row = await one(tx.query(upsertCountry, { country, enabled, registration, at: new Date(caller.receivedMs) }))
    await record(tx, caller, 'sms.change_country', country, { before, after: wanted })
    await announcePermission(app, tx)
    return countryRecord(row)
  },
})

function unsaid(country: string): CountryRow {
  return { country, enabled: null, sender_registration: null }
}

function countryRecord({ country, enabled, sender_registration }: CountryRow): Static<typeof CountryRecord> {
  return {
    country,
    enabled: enabled ?? true,
    sender_registration: sender_registration ?? usualRegistration(country),
    is_default: enabled === null && sender_registration === null,
  }
}

// Accounts ---------------------------------------------------------------------------------------------------------

const AccountCountries = Type.Object({
  countries: Nullable(CountryList, {
    rule: 'must be a list of countries, or null',
    description: 'The only ones it may send to; null: all that are enabled',
  }),
})

const AccountRecord = Type.Object(
  { account_id: Type.String(), countries: Nullable(Type.Array(Type.String())), updated_at: Nullable(At()) },
  { title: 'SmsAccountCountries' },
)

interface LimitRow {
  countries: string[] | null
  updated_at: Date | null
}

/** A row without countries for an account that is not limited; none when there is no such account. */
const findLimit = statement<{ bucket: number; account: string }, LimitRow>(
  'sms.find_account_countries',
  `select c.countries, c.updated_at
     from (select accounts.plan_of($account::uuid) as plan) a
     left join sms.account_countries c on c.bucket = $bucket and c.account_id = $account
    where a.plan is not null`,
)

const setLimit = statement<{ bucket: number; account: string; countries: readonly string[]; at: Date }, LimitRow>(
  'sms.set_account_countries',
  `insert into sms.account_countries (bucket, account_id, countries, updated_at) values ($bucket, $account, $countries, $at)
   on conflict (bucket, account_id) do update set countries = excluded.countries, updated_at = excluded.updated_at
   returning countries, updated_at`,
)

const removeLimit = statement<{ bucket: number; account: string }, object>(
  'sms.remove_account_countries',
  'delete from sms.account_countries where bucket = $bucket and account_id = $account',
)

const getAccount = read({
  method: 'GET',
  path: '/v1/operator/sms/accounts/:id',
  operation: 'operator.getSmsAccount',
  summary: 'Read where an account may send to',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: AccountRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }) => ({ account_id: params.id, ...(await limitOf(app.db, accountUuid(params.id))) }),
})

const changeAccount = write({
  method: 'PATCH',
  path: '/v1/operator/sms/accounts/:id',
  operation: 'operator.changeSmsAccount',
  summary: 'Limit the countries that an account may send to',
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

export const reviewRoutes: readonly Route[] = [
  listSenders,
  approve,
  reject,
  listCountries,
  changeCountry,
  getAccount,
  changeAccount,
]
