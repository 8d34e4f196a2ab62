// SPDX-License-Identifier: Apache-2.0
// Sender ids as customers see them: the names they send under. A live one is approved by an operator, once the networks
// of its countries know it; a test one is approved as it is made.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/audit.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { pageOf, windowOf } from '../../../platform/page.ts'
import { IdParam, list, type Route, read, write } from '../../../platform/route.ts'
import { At, CountryCode, Deleted, EnvironmentName, listQuery, Nullable, OneOf } from '../../../platform/schema.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { lengthRule, maxCharacters } from '../message.ts'
import { Sender } from '../schema.ts'
import { isCountry } from './countries.ts'
import { announcePermission } from './permissions.ts'

/** Of one account in one environment. */
const maxSenders = 100
const maxCountries = 250

export const senderStatuses = ['pending', 'approved', 'rejected'] as const

export const CountryList = Type.Array(CountryCode(), {
  minItems: 1,
  maxItems: maxCountries,
  rule: `must list 1 to ${maxCountries} countries`,
})

const SenderCreate = Type.Object({
  sender: Sender,
  countries: Type.Optional(Nullable(CountryList, { description: 'Where it is used; all countries unless given' })),
  purpose: Type.String({ minLength: 1, maxLength: 200, rule: 'must have 1 to 200 characters' }),
  sample: Type.String({
    minLength: 1,
    maxLength: maxCharacters,
    rule: lengthRule,
    description: 'A message as you will send it',
  }),
})

const senderFields = {
  id: Type.String(),
  sender: Type.String(),
  environment: EnvironmentName(),
  countries: Nullable(Type.Array(Type.String()), { description: 'Null: all of them' }),
  purpose: Type.String(),
  sample: Type.String(),
  status: OneOf(senderStatuses),
  reason: Nullable(Type.String({ description: 'Why it was rejected' })),
  created_at: At(),
  decided_at: Nullable(At()),
}

export const SenderRecord = Type.Object(senderFields, { title: 'SmsSenderId' })

export interface SenderRow {
  bucket: number
  account_id: string
  environment: 'test' | 'live'
  id: string
  sender: string
  countries: string[]
  purpose: string
  sample: string
  status: (typeof senderStatuses)[number]
  reason: string | null
  created_at: Date
  decided_at: Date | null
}

export const senderColumns = `bucket, account_id, environment, id, sender, countries, purpose, sample, status, reason,
  created_at, decided_at`

/** Gives nothing when the account has it already, or has too many. */
const insertSender = statement<
  Tenant & {
    id: string
    sender: string
    countries: readonly string[]
    purpose: string
    sample: string
    status: string
    at: Date
    decidedAt: Date | null
    most: number
  },
  SenderRow
>(
  'sms.insert_sender',
  `insert into sms.sender_ids (bucket, account_id, environment, id, sender, countries, purpose, sample, status, created_at, decided_at)
   select $bucket::smallint, $account::uuid, $environment::text, $id::uuid, $sender::text, $countries::text[], $purpose::text,
          $sample::text, $status::text, $at::timestamptz, $decidedAt::timestamptz
    where (select count(*) from sms.sender_ids
            where ${mine}) < $most::int
   on conflict do nothing
   returning ${senderColumns}`,
)

const selectSenders = statement<
  Tenant & { status: string | null; after: string | null; descending: boolean; limit: number },
  SenderRow
>(
  'sms.list_senders',
  `select ${senderColumns} from sms.sender_ids
    where ${mine} and ($status::text is null or status = $status)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

const findSender = statement<Tenant & { id: string }, SenderRow>(
  'sms.find_sender',
  `select ${senderColumns} from sms.sender_ids
    where ${mine} and id = $id`,
)

const deleteSender = statement<Tenant & { id: string }, SenderRow>(
  'sms.delete_sender',
  `delete from sms.sender_ids
    where ${mine} and id = $id
   returning ${senderColumns}`,
)

const create = write({
  method: 'POST',
  path: '/v1/sms/sender-ids',
  operation: 'sms.createSenderId',
  summary: 'Register a name to send under',
  description: 'Live ones wait for the operator; in the test environment they are approved at once.',
  scope: 'sms:write',
  limit: 'sms',
  body: SenderCreate,
  reply: { status: 201, schema: SenderRecord, location: ({ id }) => `/v1/sms/sender-ids/${id}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    {
      name: 'A shop',
      body: { sender: 'DUKA', countries: ['KE'], purpose: 'Order updates', sample: 'Your order 77 is on its way.' },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const isTest = caller.tenant.environment === 'test'
    const at = new Date(caller.nowMs)
    const row = await maybe(
      tx.query(insertSender, {
        ...caller.tenant,
        id: newUuid(caller.receivedMs),
        sender: body.sender,
        countries: checkedCountries(body.countries ?? []),
        purpose: body.purpose,
        sample: body.sample,
        status: isTest ? 'approved' : 'pending',
        at,
        decidedAt: isTest ? at : null,
        most: maxSenders,
      }),
    )
    if (!row) {
      const all = { status: null, after: null, descending: true, limit: maxSenders }
      const known = await tx.query(selectSenders, { ...caller.tenant, ...all })
      throw new AppError(
        'CONFLICT',
        known.length < maxSenders
          ? `${body.sender} is registered for these countries already: see GET /v1/sms/sender-ids`
          : `you have ${maxSenders} sender ids, which is the most: give one up first`,
      )
    }
    await record(tx, caller, 'sms.create_sender', idOf('smsSender', row.id), { after: { sender: row.sender } })
    if (isTest) await announcePermission(app, tx, caller.tenant.account)
    return senderRecord(row)
  },
})

const listAll = list({
  path: '/v1/sms/sender-ids',
  operation: 'sms.listSenderIds',
  summary: 'List the names you send under',
  scope: 'sms:read',
  query: Type.Object({ ...listQuery, status: Type.Optional(OneOf(senderStatuses)) }),
  row: SenderRecord,
  examples: [{ name: 'Those that wait', query: { status: 'pending' } }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    const rows = await app.db.query(selectSenders, { ...tenant, ...window, status: query.status ?? null })
    return pageOf(window, rows, senderRecord)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/sms/sender-ids/:id',
  operation: 'sms.getSenderId',
  summary: 'Read what became of a name you registered',
  scope: 'sms:read',
  params: IdParam,
  reply: { status: 200, schema: SenderRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const row = await maybe(app.db.query(findSender, { ...tenant, id: senderUuid(params.id) }))
    if (!row) throw noSuchSender()
    return senderRecord(row)
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/sms/sender-ids/:id',
  operation: 'sms.deleteSenderId',
  summary: 'Give up a name you registered',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    const row = await maybe(tx.query(deleteSender, { ...caller.tenant, id: senderUuid(params.id) }))
    if (!row) throw noSuchSender()
    await record(tx, caller, 'sms.delete_sender', params.id, { before: { sender: row.sender, status: row.status } })
    await announcePermission(app, tx, caller.tenant.account)
    return { id: params.id, deleted: true as const }
  },
})

/** In one order, so that the same list is always the same; refuses codes of no country. */
export function checkedCountries(countries: readonly string[]): string[] {
  for (const country of countries)
    if (!isCountry(country)) throw new AppError('VALIDATION_ERROR', `countries name ${country}, which is no country`)
  return [...new Set(countries)].sort()
}

export function senderRecord(row: SenderRow): Static<typeof SenderRecord> {
  const { id, countries, bucket: _, account_id: __, ...rest } = row
  return { ...rest, id: idOf('smsSender', id), countries: countries.length === 0 ? null : countries }
}

export function senderUuid(id: string): string {
  const uuid = uuidOf('smsSender', id)
  if (uuid === null) throw noSuchSender()
  return uuid
}

export function noSuchSender(): AppError {
  return new AppError('NOT_FOUND', 'there is no such sender id; they begin with snd_')
}

export const senderRoutes: readonly Route[] = [create, listAll, get, remove]
