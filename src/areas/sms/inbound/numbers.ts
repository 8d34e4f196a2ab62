// SPDX-License-Identifier: Apache-2.0
// The short codes and long numbers that handsets write to, and what their keywords do. A test number is whatever the
// customer takes; a live one is assigned by an operator, to one account or to several that share it.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { record } from '../../../platform/audit.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, statement, type Tx } from '../../../platform/db.ts'
import { pageOf, windowOf } from '../../../platform/page.ts'
import { list, type Route, read, write } from '../../../platform/route.ts'
import { At, listQuery, Nullable } from '../../../platform/schema.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import { wishOf } from '../consent/words.ts'
import { Text } from '../schema.ts'
import { announcePermission } from '../senders/permissions.ts'
import { type Keyword, keywordForm } from './keywords.ts'

/** Of one account in one environment. */
const maxNumbers = 100
const maxKeywords = 50
/** Accounts that share a number: each message to it looks at all of them. */
const maxSharing = 500

const InboundNumber = Type.String({
  pattern: '^(\\+[1-9]\\d{6,14}|\\d{3,8})$',
  rule: 'must be a short code of 3 to 8 digits, or E.164 such as +254711000001',
})

const WebhookUrl = Type.String({ rule: 'must be a text', description: 'https://; signed with your callback secret' })

const Keywords = Type.Array(
  Type.Object({
    keyword: Type.String({
      minLength: 1,
      maxLength: 30,
      rule: 'must have 1 to 30 characters',
      description: 'What the message begins with, in any case; the longest one wins',
    }),
    webhook_url: Type.Optional(Nullable(WebhookUrl)),
    auto_reply: Type.Optional(Nullable(Text, { description: 'Sent back at once; costs what a message costs' })),
  }),
  { maxItems: maxKeywords, rule: `must list at most ${maxKeywords} keywords` },
)

const rules = {
  keywords: Type.Optional(Keywords),
  default_webhook_url: Type.Optional(
    Nullable(WebhookUrl, { description: 'For messages whose keyword has no webhook_url' }),
  ),
}

const NumberCreate = Type.Object({ number: InboundNumber, ...rules })
const NumberChange = Type.Object(rules)

const NumberRecord = Type.Object(
  {
    number: Type.String(),
    shared: Type.Boolean({ description: 'Others have keywords on it too' }),
    keywords: Type.Array(
      Type.Object({
        keyword: Type.String(),
        webhook_url: Nullable(Type.String()),
        auto_reply: Nullable(Type.String()),
      }),
    ),
    default_webhook_url: Nullable(Type.String()),
    created_at: At(),
    updated_at: At(),
  },
  { title: 'SmsNumber' },
)

const NumberDeleted = Type.Object(
  { id: Type.String({ description: 'The number again' }), number: Type.String(), deleted: Type.Literal(true) },
  { title: 'SmsNumberDeleted' },
)

const NumberParam = Type.Object({ number: Type.String({ description: 'As it was taken, such as 22141' }) })

interface NumberRow {
  environment: Environment
  number: string
  account_id: string
  id: string
  shared: boolean
  keywords: Keyword[]
  default_webhook_url: string | null
  created_at: Date
  updated_at: Date
}

const columns = 'environment, number, account_id, id, shared, keywords, default_webhook_url, created_at, updated_at'

/** Whoever gives out a number or a keyword waits for whoever is doing so: two of them would not see each other. */
const lockNumbers = statement<Record<never, never>, object>(
  'sms.lock_numbers',
  'lock table sms.numbers in share row exclusive mode',
)

const selectNumbers = statement<
  { environment: Environment; account: string | null; after: string | null; descending: boolean; limit: number },
  NumberRow
>(
  'sms.list_numbers',
  `select ${columns} from sms.numbers
    where environment = $environment and ($account::uuid is null or account_id = $account)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

const ownersOf = statement<{ environment: Environment; number: string }, NumberRow>(
  'sms.owners_of_number',
  `select ${columns} from sms.numbers where environment = $environment and number = $number order by account_id`,
)

/** Gives nothing when the account has the number already, or has too many. */
const insertNumber = statement<
  {
    environment: Environment
    number: string
    account: string
    bucket: number
    id: string
    shared: boolean
    keywords: string
    url: string | null
    at: Date
    most: number
  },
  NumberRow
>(
  'sms.insert_number',
  `insert into sms.numbers (environment, number, account_id, bucket, id, shared, keywords, default_webhook_url, created_at, updated_at)
   select $environment::text, $number::text, $account::uuid, $bucket::smallint, $id::uuid, $shared::boolean,
          $keywords::jsonb, $url::text, $at::timestamptz, $at::timestamptz
    where (select count(*) from sms.numbers where account_id = $account and environment = $environment) < $most::int
   on conflict do nothing
   returning ${columns}`,
)

const updateNumber = statement<
  { environment: Environment; number: string; account: string; keywords: string; url: string | null; at: Date },
  NumberRow
>(
  'sms.update_number',
  `update sms.numbers set keywords = $keywords::jsonb, default_webhook_url = $url, updated_at = $at
    where environment = $environment and number = $number and account_id = $account
   returning ${columns}`,
)

const deleteNumber = statement<{ environment: Environment; number: string; account: string | null }, NumberRow>(
  'sms.delete_number',
  `delete from sms.numbers
    where environment = $environment and number = $number and ($account::uuid is null or account_id = $account)
   returning ${columns}`,
)

// Customers --------------------------------------------------------------------------------------------------------

const listOwn = list({
  path: '/v1/sms/numbers',
  operation: 'sms.listNumbers',
  summary: 'List the numbers you receive on',
  scope: 'sms:read',
  query: Type.Object(listQuery),
  row: NumberRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant: { environment, account } }) => {
    const window = windowOf(query)
    return pageOf(window, await app.db.query(selectNumbers, { environment, account, ...window }), numberRecord)
  },
})

const take = write({
  method: 'POST',
  path: '/v1/sms/numbers',
  operation: 'sms.takeNumber',
  summary: 'Take a number to receive on',
  description: 'With a test key any number will do. Live ones are assigned by the operator of this installation.',
  scope: 'sms:write',
  body: NumberCreate,
  reply: { status: 201, schema: NumberRecord, location: ({ number }) => `/v1/sms/numbers/${number}` },
  errors: ['VALIDATION_ERROR', 'INVALID_URL', 'CONFLICT'],
  examples: [
    {
      name: 'A short code with a keyword',
      body: { number: '22141', keywords: [{ keyword: 'JOIN', auto_reply: 'Welcome!' }] },
    },
  ],
  prepare: (app, { body }, { tenant }) => checkUrls(app, tenant, body),
  handle: async (app, tx, { body }, caller) => {
    const { tenant } = caller
    if (tenant.environment === 'live')
      throw new AppError('FORBIDDEN', 'live numbers are assigned by the operator of this installation')
    const row = await maybe(
      tx.query(insertNumber, {
        ...tenant,
        number: body.number,
        id: newUuid(caller.receivedMs),
        shared: false,
        keywords: JSON.stringify(keywordsOf(body.keywords ?? [])),
        url: body.default_webhook_url ?? null,
        at: new Date(caller.nowMs),
        most: maxNumbers,
      }),
    )
    if (!row) {
      const owners = await tx.query(ownersOf, { environment: tenant.environment, number: body.number })
      throw new AppError(
        'CONFLICT',
        owners.some(({ account_id }) => account_id === tenant.account)
          ? `you have ${body.number} already: change it with PATCH /v1/sms/numbers/${body.number}`
          : `you have ${maxNumbers} numbers, which is the most: give one up first`,
      )
    }
    await record(tx, caller, 'sms.take_number', row.number, { after: { keywords: words(row) } })
    await announcePermission(app, tx, tenant.account)
    return numberRecord(row)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/sms/numbers/:number',
  operation: 'sms.getNumber',
  summary: 'Read what a number and its keywords do',
  scope: 'sms:read',
  params: NumberParam,
  reply: { status: 200, schema: NumberRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params: { number } }, { tenant: { environment, account } }) => {
    const owners = isStorable(number) ? await app.db.query(ownersOf, { environment, number }) : []
    const row = owners.find(({ account_id }) => account_id === account)
    if (!row) throw noSuchNumber()
    return numberRecord(row)
  },
})

const change = write({
  method: 'PATCH',
  path: '/v1/sms/numbers/:number',
  operation: 'sms.changeNumber',
  summary: 'Change what a number and its keywords do',
  scope: 'sms:write',
  params: NumberParam,
  body: NumberChange,
  reply: { status: 200, schema: NumberRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_URL', 'CONFLICT'],
  prepare: (app, { body }, { tenant }) => checkUrls(app, tenant, body),
  examples: [{ name: 'One keyword', body: { keywords: [{ keyword: 'JOIN', auto_reply: 'Karibu!' }] } }],
  handle: async (_app, tx, { params: { number }, body }, caller) => {
    const { environment, account } = caller.tenant
    if (environment === 'live') await tx.query(lockNumbers, {})
    const owners = isStorable(number) ? await tx.query(ownersOf, { environment, number }) : []
    const before = owners.find(({ account_id }) => account_id === account)
    if (!before) throw noSuchNumber()
    const keywords = body.keywords === undefined ? before.keywords : keywordsOf(body.keywords)
    if (environment === 'live') requireFree(keywords, owners, account)
    const row = await one(
      tx.query(updateNumber, {
        environment,
        number,
        account,
        keywords: JSON.stringify(keywords),
        url: body.default_webhook_url === undefined ? before.default_webhook_url : body.default_webhook_url,
        at: new Date(caller.nowMs),
      }),
    )
    await record(tx, caller, 'sms.change_number', number, {
      before: { keywords: words(before) },
      after: { keywords: words(row) },
    })
    return numberRecord(row)
  },
})

const giveUp = write({
  method: 'DELETE',
  path: '/v1/sms/numbers/:number',
  operation: 'sms.giveUpNumber',
  summary: 'Give a number up',
  scope: 'sms:write',
  params: NumberParam,
  reply: { status: 200, schema: NumberDeleted },
  errors: ['NOT_FOUND'],
  handle: (app, tx, { params }, caller) =>
    remove(app, tx, caller, caller.tenant.environment, params.number, caller.tenant.account),
})

async function remove(
  app: App,
  tx: Tx,
  caller: Caller,
  environment: Environment,
  number: string,
  account: string | null,
): Promise<Static<typeof NumberDeleted>> {
  const rows = isStorable(number) ? await tx.query(deleteNumber, { environment, number, account }) : []
  if (rows.length === 0) throw noSuchNumber()
  for (const row of rows) {
    await record(tx, caller, 'sms.remove_number', number, { before: { account_id: idOf('account', row.account_id) } })
    await announcePermission(app, tx, row.account_id)
  }
  return { id: number, number, deleted: true }
}

/** Throws INVALID_URL for an address that may not be called. */
async function checkUrls(app: App, { environment }: Tenant, input: Static<typeof NumberChange>): Promise<void> {
  const urls = (input.keywords ?? []).map(({ webhook_url }, i) => [webhook_url, `keywords[${i}].webhook_url`] as const)
  await Promise.all(
    [...urls, [input.default_webhook_url, 'default_webhook_url'] as const].map(async ([url, field]) => {
      if (typeof url === 'string') await app.outbound.checkUrl(url, 'callback', environment, field)
    }),
  )
}

/** Keywords in the form in which messages are held against them; each once. */
function keywordsOf(given: Static<typeof Keywords>): Keyword[] {
  const seen = new Set<string>()
  return given.map(({ keyword: text, webhook_url = null, auto_reply = null }, i) => {
    const keyword = keywordForm(text)
    const problem =
      keyword === null
        ? 'must be made of letters and digits'
        : wishOf(keyword)
          ? `${keyword} is a word by which people opt out, opt in or ask for help`
          : seen.has(keyword) && `${keyword} is there twice`
    if (problem || keyword === null) throw new AppError('VALIDATION_ERROR', `keywords[${i}].keyword ${problem}`)
    seen.add(keyword)
    return { keyword, webhook_url, auto_reply }
  })
}

function requireFree(keywords: readonly Keyword[], owners: readonly NumberRow[], account: string): void {
  const taken = new Set(owners.filter(({ account_id }) => account_id !== account).flatMap(words))
  for (const { keyword } of keywords)
    if (taken.has(keyword)) throw new AppError('CONFLICT', `somebody else has the keyword ${keyword} on this number`)
}

function words({ keywords }: NumberRow): string[] {
  return keywords.map(({ keyword }) => keyword)
}

function numberRecord(row: NumberRow): Static<typeof NumberRecord> {
  const { number, shared, keywords, default_webhook_url, created_at, updated_at } = row
  return { number, shared, keywords, default_webhook_url, created_at, updated_at }
}

/** Anything may stand in a path, and a zero byte would be refused by the database. */
function isStorable(number: string): boolean {
  return /^\+?\d+$/.test(number)
}

function noSuchNumber(): AppError {
  return new AppError('NOT_FOUND', 'there is no such number')
}

// Operators --------------------------------------------------------------------------------------------------------

const Assignment = Type.Object({
  number: InboundNumber,
  account_id: Type.String({ maxLength: 60 }),
  shared: Type.Optional(
    Type.Boolean({ rule: 'must be true or false', description: 'Several accounts have it, with different keywords' }),
  ),
})

const AssignedNumber = Type.Object(
  { account_id: Type.String(), ...NumberRecord.properties },
  { title: 'OperatorSmsNumber' },
)

const accountExists = statement<{ account: string }, { plan: string | null }>(
  'sms.plan_of',
  'select accounts.plan_of($account::uuid) as plan',
)

const listAssigned = list({
  path: '/v1/operator/sms/numbers',
  operation: 'operator.listSmsNumbers',
  summary: 'List the live numbers and whose they are',
  scope: 'operator',
  query: Type.Object({ ...listQuery, account_id: Type.Optional(Type.String({ maxLength: 60 })) }),
  row: AssignedNumber,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }) => {
    const window = windowOf(query)
    const account = query.account_id === undefined ? null : uuidOf('account', query.account_id)
    if (query.account_id !== undefined && account === null) return { rows: [], nextCursor: null }
    const rows = await app.db.query(selectNumbers, { environment: 'live', account, ...window })
    return pageOf(window, rows, assignedRecord)
  },
})

const assign = write({
  method: 'POST',
  path: '/v1/operator/sms/numbers',
  operation: 'operator.assignSmsNumber',
  summary: 'Assign a live number to an account',
  description: 'It belongs to this account alone, or is shared: then each account has the messages of its keywords.',
  scope: 'operator',
  body: Assignment,
  reply: { status: 201, schema: AssignedNumber },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  handle: async (app, tx, { body }, caller) => {
    const { number, shared = false } = body
    const account = uuidOf('account', body.account_id)
    const { plan } = account === null ? { plan: null } : await one(tx.query(accountExists, { account }))
    if (account === null || plan === null)
      throw new AppError('VALIDATION_ERROR', 'account_id is not the id of an account')
    await tx.query(lockNumbers, {})
    const owners = await tx.query(ownersOf, { environment: 'live', number })
    if (owners.some((owner) => !owner.shared || !shared))
      throw new AppError('CONFLICT', 'the number has an owner, and is not shared by both')
    if (owners.length >= maxSharing)
      throw new AppError('CONFLICT', `a number is shared by at most ${maxSharing} accounts`)
    const row = await maybe(
      tx.query(insertNumber, {
        environment: 'live',
        number,
        account,
        bucket: bucketOf(account),
        id: newUuid(caller.receivedMs),
        shared,
        keywords: '[]',
        url: null,
        at: new Date(caller.receivedMs),
        most: maxNumbers,
      }),
    )
    if (!row) throw new AppError('CONFLICT', `the account has this number already, or ${maxNumbers} others`)
    await record(tx, caller, 'sms.assign_number', number, { after: { account_id: body.account_id, shared } })
    await announcePermission(app, tx, account)
    return assignedRecord(row)
  },
})

const takeBack = write({
  method: 'DELETE',
  path: '/v1/operator/sms/numbers/:number',
  operation: 'operator.takeBackSmsNumber',
  summary: 'Take a live number back, from one account or from all that share it',
  scope: 'operator',
  params: NumberParam,
  query: Type.Object({
    account_id: Type.Optional(
      Type.String({ maxLength: 60, description: 'From this account alone; from all of them unless given' }),
    ),
  }),
  reply: { status: 200, schema: NumberDeleted },
  errors: ['NOT_FOUND'],
  handle: (app, tx, { params, query }, caller) => {
    const account = query.account_id === undefined ? null : uuidOf('account', query.account_id)
    if (query.account_id !== undefined && account === null) throw noSuchNumber()
    return remove(app, tx, caller, 'live', params.number, account)
  },
})

function assignedRecord(row: NumberRow): Static<typeof AssignedNumber> {
  return { account_id: idOf('account', row.account_id), ...numberRecord(row) }
}

export const numberRoutes: readonly Route[] = [listOwn, take, get, change, giveUp, listAssigned, assign, takeBack]
