// SPDX-License-Identifier: Apache-2.0
// Routes of shortcodes: which application answers a code. Test keys take any free code; live ones are assigned by the
// operator and set up here.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { idOf, uuidOf } from '../../kernel/ids.ts'
import { record } from '../../platform/api/audit.ts'
import { list, type Route, read, write, writeAcross } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { stored } from '../../platform/db/stored.ts'
import { type AcrossTx, maybe, one, type Queryable, statement } from '../../platform/db.ts'
import { At, Nullable, OneOf, wholeListQuery } from '../../platform/schema/fields.ts'
import { pageOfWhole } from '../../platform/schema/lists.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { numbersFor } from '../numbers/area.ts'
import { announceCodes } from './known-codes.ts'
import { menuOf } from './menus.ts'
import { ScreenText, Shortcode, Timeout } from './schema.ts'
import { defaultPageWords } from './screen.ts'
import {
  defaultErrorMessage,
  defaultNetworkLimit,
  defaultTimeout,
  findShortcode,
  type ShortcodeRow,
  shortcodeColumns,
} from './shortcode-store.ts'

const maxShortcodes = 1_000

/** Ownership of codes; this area's table has their settings, found by the longest match. */
const codes = numbersFor<null>('ussd')

const Url = Type.String({ maxLength: 2_048 })
const Word = (description: string) =>
  Type.String({ minLength: 1, maxLength: 20, rule: 'must have 1 to 20 characters', description })

const settings = {
  mode: OneOf(['webhook', 'text', 'menu'], {
    description:
      'Source of the screens: `webhook` (your URL receives ussd.response), `text` (your URL replies with CON or END) or `menu` (a stored menu)',
  }),
  url: Nullable(Url, { description: 'URL called for each screen' }),
  fallback_url: Nullable(Url, { description: 'URL called if `url` does not reply and time is left' }),
  menu_id: Nullable(Type.String({ maxLength: 40, description: 'Id of the stored menu, for the mode `menu`' })),
  timeout: Timeout,
  network_limit: Type.Integer({
    minimum: 3,
    maximum: 60,
    default: defaultNetworkLimit,
    rule: 'must be 3 to 60 seconds',
    description: 'Seconds that the network waits for a screen; your reply must arrive a second earlier',
  }),
  error_message: ScreenText,
  resume_window: Type.Integer({
    minimum: 0,
    maximum: 3_600,
    default: 0,
    rule: 'must be 0 to 3600 seconds',
    description: 'Seconds after expiry in which a redial resumes the session with its data',
  }),
  language_default: Nullable(
    Type.String({
      pattern: '^[a-z]{2,3}$',
      rule: 'must be a language such as sw',
      description: 'Default language, if the network reports none',
    }),
  ),
  pages: Type.Object(
    { more: Word('Label of the line to the next page'), back: Word('Label of the line to the previous page') },
    { description: 'Labels of the lines that turn pages' },
  ),
  transliterate: Type.Boolean({
    description:
      'True replaces accented letters with plain ones of the GSM alphabet, which makes room for more text on a screen',
  }),
}

const Changes = Type.Partial(Type.Object(settings), { title: 'UssdShortcodeChange' })
const New = Type.Object({ shortcode: Shortcode, ...Changes.properties }, { title: 'UssdShortcodeCreate' })
const Shown = Type.Object(
  {
    shortcode: Type.String({ description: 'Code to dial, such as `*384*1#`' }),
    ...settings,
    created_at: At({ description: 'Time of the assignment' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'UssdShortcode' },
)

type Settings = Static<typeof Changes>

const CodeParam = Type.Object({ code: Type.String({ description: 'The short code; # is written %23 in a path' }) })

const find = statement.tenant<Tenant & { code: string }, ShortcodeRow>(
  'ussd.find_own_shortcode',
  `select ${shortcodeColumns} from ussd.shortcodes where ${mine} and code = $code`,
)

const findAll = statement.tenant<Tenant, ShortcodeRow>(
  'ussd.list_shortcodes',
  `select ${shortcodeColumns} from ussd.shortcodes where ${mine} order by code`,
)

const count = statement.tenant<Tenant, { count: number }>(
  'ussd.count_shortcodes',
  `select count(*)::int as count from ussd.shortcodes where ${mine}`,
)

type Stored = Omit<ShortcodeRow, 'account_id' | 'created_at' | 'updated_at' | keyof Tenant>

const written =
  stored(`mode, url, fallback_url, menu_id, timeout, network_limit, error_message, resume_window, language_default,
  more_word, back_word, transliterate`)

const insert = statement.tenant<Tenant & Stored & { at: Date }, ShortcodeRow>(
  'ussd.insert_shortcode',
  `insert into ussd.shortcodes (code, environment, bucket, account_id, ${written.names}, created_at, updated_at)
   values ($code, $environment, $bucket, $account, ${written.values}, $at, $at)
   on conflict do nothing returning ${shortcodeColumns}`,
)

const update = statement.tenant<Tenant & Stored & { at: Date }, ShortcodeRow>(
  'ussd.update_shortcode',
  `update ussd.shortcodes set ${written.set}, updated_at = $at where ${mine} and code = $code returning ${shortcodeColumns}`,
)

const remove = statement.tenant<Tenant & { code: string }, { code: string }>(
  'ussd.delete_shortcode',
  `delete from ussd.shortcodes where ${mine} and code = $code returning code`,
)

const fresh: Omit<Stored, 'code'> = {
  mode: 'webhook',
  url: null,
  fallback_url: null,
  menu_id: null,
  timeout: defaultTimeout,
  network_limit: defaultNetworkLimit,
  error_message: defaultErrorMessage,
  resume_window: 0,
  language_default: null,
  more_word: defaultPageWords.more,
  back_word: defaultPageWords.back,
  transliterate: false,
}

/** Registers a code with default settings; null when it is taken. */
export function assignShortcode(
  tx: AcrossTx,
  tenant: Tenant,
  moment: Moment,
  code: string,
): Promise<ShortcodeRow | null> {
  return take(tx, tenant, moment, { ...fresh, code })
}

type Moment = Pick<Caller, 'receivedMs' | 'nowMs'>

async function take(tx: AcrossTx, tenant: Tenant, moment: Moment, wanted: Stored): Promise<ShortcodeRow | null> {
  const owned = await codes.own(tx, tenant, moment, { number: wanted.code, settings: null })
  return owned && maybe(tx.query(insert, { ...tenant, ...wanted, at: new Date(moment.nowMs) }))
}

function shown(row: ShortcodeRow): Static<typeof Shown> {
  return {
    shortcode: row.code,
    mode: row.mode,
    url: row.url,
    fallback_url: row.fallback_url,
    menu_id: row.menu_id === null ? null : idOf('ussdMenu', row.menu_id),
    timeout: row.timeout,
    network_limit: row.network_limit,
    error_message: row.error_message,
    resume_window: row.resume_window,
    language_default: row.language_default,
    pages: { more: row.more_word, back: row.back_word },
    transliterate: row.transliterate,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

/** Row with the settings of a request. */
function changed(before: Stored, body: Settings): Stored {
  const { pages, menu_id: menu, ...given } = body
  return {
    code: before.code,
    mode: given.mode ?? before.mode,
    url: given.url === undefined ? before.url : given.url,
    fallback_url: given.fallback_url === undefined ? before.fallback_url : given.fallback_url,
    menu_id: menu === undefined ? before.menu_id : menu === null ? null : uuidOf('ussdMenu', menu),
    timeout: given.timeout ?? before.timeout,
    network_limit: given.network_limit ?? before.network_limit,
    error_message: given.error_message ?? before.error_message,
    resume_window: given.resume_window ?? before.resume_window,
    language_default: given.language_default === undefined ? before.language_default : given.language_default,
    more_word: pages?.more ?? before.more_word,
    back_word: pages?.back ?? before.back_word,
    transliterate: given.transliterate ?? before.transliterate,
  }
}

async function checkUrls(app: App, body: Settings, { tenant }: Caller): Promise<void> {
  for (const name of ['url', 'fallback_url'] as const) {
    const url = body[name]
    if (url) await app.outbound.checkUrl(url, 'callback', tenant.environment, name)
  }
}

/** Requires the setting that a mode answers with. */
async function checkMode(tx: Queryable, tenant: Tenant, { mode, url, menu_id: menu }: Stored): Promise<void> {
  if (mode === 'text' && url === null) throw invalid('url', 'is required for the mode text')
  if (mode !== 'menu') return
  if (menu === null) throw invalid('menu_id', 'is required for the mode menu; create one with POST /v1/ussd/menus')
  if (!(await menuOf(tx, tenant, idOf('ussdMenu', menu))))
    throw invalid('menu_id', 'is not the id of one of your menus')
}

const create = writeAcross({
  method: 'POST',
  path: '/v1/ussd/shortcodes',
  operation: 'ussd.createShortcode',
  summary: 'Create a short code',
  description: 'With a live key, the operator must have assigned the short code to you.',
  scope: 'ussd:write',
  body: New,
  reply: {
    status: 201,
    schema: Shown,
    location: ({ shortcode }) => `/v1/ussd/shortcodes/${encodeURIComponent(shortcode)}`,
  },
  errors: ['INVALID_SHORTCODE', 'INVALID_URL', 'SHORTCODE_NOT_ALLOWED', 'CONFLICT', 'VALIDATION_ERROR'],
  examples: [
    { name: 'A CON/END application', body: { shortcode: '*384*77#', mode: 'text', url: 'https://example.com/ussd' } },
  ],
  prepare: async (app, { body }, caller) => {
    await checkUrls(app, body, caller)
    const { environment } = caller.tenant
    return maybe(app.db.query(findShortcode, { environment, codes: [body.shortcode] }))
  },
  handle: async (app, tx, { body }, caller, taken) => {
    const { tenant } = caller
    const { shortcode: code, ...given } = body
    if (tenant.environment === 'live' && taken?.account_id !== tenant.account)
      throw new AppError('SHORTCODE_NOT_ALLOWED', `${code} is not assigned to you`)
    if (tenant.environment === 'test' && taken) throw inUse(code)
    const { count: many } = await one(tx.query(count, tenant))
    if (many >= maxShortcodes) throw new AppError('CONFLICT', `there are ${maxShortcodes} shortcodes: delete one first`)
    const wanted = changed({ ...fresh, code }, given)
    await checkMode(tx, tenant, wanted)
    const row = taken
      ? await maybe(tx.query(update, { ...tenant, ...wanted, at: new Date(caller.nowMs) }))
      : await take(tx, tenant, caller, wanted)
    if (!row) throw inUse(code)
    await record(tx, caller, 'ussd.create_shortcode', code)
    await announceCodes(app, tx)
    return shown(row)
  },
})

function inUse(code: string): AppError {
  return new AppError('CONFLICT', `${code} is already registered: update or delete it, or use another code`)
}

async function requireCode(queryable: Queryable, tenant: Tenant, code: string): Promise<ShortcodeRow> {
  const row = await maybe(queryable.query(find, { ...tenant, code: code.replaceAll('\u0000', '') }))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such short code among yours; # is written %23 in a path')
  return row
}

/** Distinct codes for the examples of the documentation. */
const oneOfMany = {
  operation: 'ussd.createShortcode',
  id: 'shortcode',
  body: (nowMs: number) => ({ shortcode: `*384*${String(nowMs).slice(-9)}#`, mode: 'webhook' }),
}

const get = read({
  method: 'GET',
  path: '/v1/ussd/shortcodes/:code',
  operation: 'ussd.getShortcode',
  summary: 'Get a short code',
  scope: 'ussd:read',
  params: CodeParam,
  reply: { status: 200, schema: Shown },
  errors: ['NOT_FOUND'],
  needs: oneOfMany,
  examples: [{ name: 'One' }],
  handle: async (app, { params }, { tenant }) => shown(await requireCode(app.db, tenant, params.code)),
})

const all = list({
  path: '/v1/ussd/shortcodes',
  operation: 'ussd.listShortcodes',
  summary: 'List short codes',
  scope: 'ussd:read',
  query: Type.Object(wholeListQuery),
  row: Shown,
  examples: [{ name: 'All' }],
  handle: async (app, { query }, { tenant }) =>
    pageOfWhole(query, (await app.db.query(findAll, tenant)).map(shown), ({ shortcode }) => shortcode),
})

const change = write({
  method: 'PATCH',
  path: '/v1/ussd/shortcodes/:code',
  operation: 'ussd.changeShortcode',
  summary: 'Update a short code',
  description: 'Sessions in progress keep the previous settings.',
  scope: 'ussd:write',
  params: CodeParam,
  body: Changes,
  reply: { status: 200, schema: Shown },
  errors: ['NOT_FOUND', 'INVALID_URL', 'VALIDATION_ERROR'],
  needs: oneOfMany,
  examples: [{ name: 'Longer sessions', body: { timeout: 180 } }],
  prepare: (app, { body }, caller) => checkUrls(app, body, caller),
  handle: async (app, tx, { params, body }, caller) => {
    const { tenant } = caller
    const before = await requireCode(tx, tenant, params.code)
    const wanted = changed(before, body)
    await checkMode(tx, tenant, wanted)
    const row = await one(tx.query(update, { ...tenant, ...wanted, at: new Date(caller.nowMs) }))
    await record(tx, caller, 'ussd.change_shortcode', before.code)
    await announceCodes(app, tx)
    return shown(row)
  },
})

const erase = writeAcross({
  method: 'DELETE',
  path: '/v1/ussd/shortcodes/:code',
  operation: 'ussd.deleteShortcode',
  summary: 'Release a short code',
  scope: 'ussd:write',
  params: CodeParam,
  reply: {
    status: 200,
    schema: Type.Object(
      {
        shortcode: Type.String({ description: 'Short code that was released' }),
        deleted: Type.Literal(true, { description: 'Always true' }),
      },
      { title: 'UssdShortcodeDeleted' },
    ),
  },
  errors: ['NOT_FOUND'],
  needs: oneOfMany,
  examples: [{ name: 'One' }],
  handle: async (app, tx, { params }, caller) => {
    const { code } = await requireCode(tx, caller.tenant, params.code)
    await one(tx.query(remove, { ...caller.tenant, code }))
    await codes.release(tx, caller.tenant.environment, code, caller.tenant.account)
    await record(tx, caller, 'ussd.delete_shortcode', code)
    await announceCodes(app, tx)
    return { shortcode: code, deleted: true as const }
  },
})

export const shortcodeRoutes: readonly Route[] = [create, all, get, change, erase]
