// SPDX-License-Identifier: Apache-2.0
// The numbers that a customer receives on, and what their keywords do.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, read, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { addressIn, dialectNamed, urlOf } from '../../../platform/outbound/dialect-url.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { lockNumbers } from '../../numbers/area.ts'
import { commandIn, type OwnWords, ownCommandIn } from '../consent/commands.ts'
import { ownWordsOf } from '../consent/store.ts'
import { announcePermission } from '../senders/permissions.ts'
import { type Keyword, keywordForm } from './keywords.ts'
import { type Keywords, NumberChange, NumberCreate, NumberDeleted, NumberParam, NumberRecord } from './schema.ts'
import {
  isStorable,
  maxNumbers,
  type NumberRow,
  noSuchNumber,
  numberRecord,
  removeNumber,
  smsNumbers,
} from './store.ts'

const listOwn = list({
  path: '/v1/sms/numbers',
  operation: 'sms.listNumbers',
  summary: 'List inbound numbers',
  scope: 'sms:read',
  query: Type.Object(listQuery),
  row: NumberRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant: { environment, account } }) => {
    const window = windowOf(query)
    return pageOf(window, await smsNumbers.page(app.db, { environment, account, ...window }), numberRecord)
  },
})

const take = writeAcross({
  method: 'POST',
  path: '/v1/sms/numbers',
  operation: 'sms.takeNumber',
  summary: 'Add an inbound number',
  description: 'A test key may add any number. Live ones are assigned by the operator of this installation.',
  scope: 'sms:write',
  limit: 'sms',
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
    const settings = {
      keywords: keywordsOf(body.keywords ?? [], await ownWordsOf(tx, tenant.account)),
      default_webhook_url: addressOf(body.dialect, body.default_webhook_url ?? null),
    }
    const row = await smsNumbers.own(tx, tenant, caller, { number: body.number, settings, most: maxNumbers })
    if (!row) {
      const [own] = await smsNumbers.owners(tx, tenant.environment, [body.number], tenant.account)
      throw new AppError(
        'CONFLICT',
        own
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
  summary: 'Get an inbound number and its keywords',
  scope: 'sms:read',
  params: NumberParam,
  reply: { status: 200, schema: NumberRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params: { number } }, { tenant: { environment, account } }) => {
    const [row] = isStorable(number) ? await smsNumbers.owners(app.db, environment, [number], account) : []
    if (!row) throw noSuchNumber()
    return numberRecord(row)
  },
})

const change = writeAcross({
  method: 'PATCH',
  path: '/v1/sms/numbers/:number',
  operation: 'sms.changeNumber',
  summary: 'Update an inbound number and its keywords',
  scope: 'sms:write',
  limit: 'sms',
  params: NumberParam,
  body: NumberChange,
  reply: { status: 200, schema: NumberRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_URL', 'CONFLICT'],
  prepare: (app, { body }, { tenant }) => checkUrls(app, tenant, body),
  examples: [{ name: 'One keyword', body: { keywords: [{ keyword: 'JOIN', auto_reply: 'Karibu!' }] } }],
  handle: async (_app, tx, { params: { number }, body }, caller) => {
    const { environment, account } = caller.tenant
    if (environment === 'live') await lockNumbers(tx)
    const owners = isStorable(number)
      ? await smsNumbers.owners(tx, environment, [number], environment === 'live' ? null : account)
      : []
    const before = owners.find(({ account_id }) => account_id === account)
    if (!before) throw noSuchNumber()
    const keywords =
      body.keywords === undefined ? before.settings.keywords : keywordsOf(body.keywords, await ownWordsOf(tx, account))
    if (environment === 'live') requireFree(keywords, owners, account)
    const known = before.settings.default_webhook_url
    const url = body.default_webhook_url === undefined ? urlOf(known) : body.default_webhook_url
    const settings = { keywords, default_webhook_url: addressOf(body.dialect ?? dialectNamed(known), url) }
    const row = await smsNumbers.change(tx, caller.tenant, number, settings, caller.nowMs)
    if (!row) throw noSuchNumber()
    await record(tx, caller, 'sms.change_number', number, {
      before: { keywords: words(before) },
      after: { keywords: words(row) },
    })
    return numberRecord(row)
  },
})

const giveUp = writeAcross({
  method: 'DELETE',
  path: '/v1/sms/numbers/:number',
  operation: 'sms.giveUpNumber',
  summary: 'Release an inbound number',
  scope: 'sms:write',
  limit: 'sms',
  params: NumberParam,
  reply: { status: 200, schema: NumberDeleted },
  errors: ['NOT_FOUND'],
  handle: (app, tx, { params }, caller) => removeNumber(app, tx, caller, { ...caller.tenant, number: params.number }),
})

/** Checks the URLs of a number; throws INVALID_URL for one that may not be called. */
async function checkUrls(app: App, { environment }: Tenant, input: Static<typeof NumberChange>): Promise<void> {
  const urls = (input.keywords ?? []).map(({ webhook_url }, i) => [webhook_url, `keywords[${i}].webhook_url`] as const)
  await Promise.all(
    [...urls, [input.default_webhook_url, 'default_webhook_url'] as const].map(async ([url, field]) => {
      if (typeof url === 'string')
        await app.outbound.checkUrl(addressIn(null, url, field), 'callback', environment, field)
    }),
  )
}

function addressOf(dialect: Static<typeof NumberChange>['dialect'], url: string | null): string | null {
  return url === null ? null : addressIn(dialect, url, 'webhook_url')
}

/** Keywords in the form in which messages are held against them; each once. */
function keywordsOf(given: Static<typeof Keywords>, own: OwnWords): Keyword[] {
  const seen = new Set<string>()
  return given.map(({ keyword: text, webhook_url = null, dialect, auto_reply = null }, i) => {
    const keyword = keywordForm(text)
    const problem =
      keyword === null
        ? 'must be made of letters and digits'
        : commandIn(keyword) || ownCommandIn(keyword, own)
          ? `${keyword} is a word by which people opt out, opt in or ask for help`
          : seen.has(keyword) && `${keyword} is there twice`
    if (problem || keyword === null) throw new AppError('VALIDATION_ERROR', `keywords[${i}].keyword ${problem}`)
    seen.add(keyword)
    return { keyword, webhook_url: addressOf(dialect, webhook_url), auto_reply }
  })
}

function requireFree(keywords: readonly Keyword[], owners: readonly NumberRow[], account: string): void {
  const taken = new Set(owners.filter(({ account_id }) => account_id !== account).flatMap(words))
  for (const { keyword } of keywords)
    if (taken.has(keyword)) throw new AppError('CONFLICT', `another account has the keyword ${keyword} on this number`)
}

function words({ settings: { keywords } }: NumberRow): string[] {
  return keywords.map(({ keyword }) => keyword)
}

export const numberRoutes: readonly Route[] = [listOwn, take, get, change, giveUp]
