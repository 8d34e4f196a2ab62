// SPDX-License-Identifier: Apache-2.0
// Stored menus: each save is a version, sessions stay on theirs, and a dry run shows the screens. Fetch nodes call the
// customer's application.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../kernel/ids.ts'
import { minuteMs } from '../../kernel/time.ts'
import { record } from '../../platform/api/audit.ts'
import { isStorable } from '../../platform/api/json.ts'
import { IdParam, list, type Route, read, write } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, one, type Queryable, statement } from '../../platform/db.ts'
import { ToldCache } from '../../platform/nodes/told-cache.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import { At, Deleted, listQuery, OneOf } from '../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../platform/schema/lists.ts'
import { mine, type One, type Tenant, tenantOf } from '../../platform/tenant.ts'
import { ask } from '../webhooks/area.ts'
import type { ScreenMove } from './advance.ts'
import { dataProblem, isObject, type Said } from './application.ts'
import { announceCodes } from './known-codes.ts'
import { type Fetched, MenuDocument, type MenuState, problemsOf, type Walk, walked } from './menu.ts'
import { type Data, SessionData } from './schema.ts'
import type { Session } from './session.ts'

const maxMenus = 1_000
/** Cached menu versions: few are in use at a time, and each may be as large as a request body. */
const documentBounds = { most: 200, goodForMs: 10 * minuteMs }
/** Request name of fetch nodes. */
const fetchName = 'ussd.menu_fetch'

interface MenuRow {
  id: string
  version: number
  document: MenuDocument
  created_at: Date
  updated_at: Date
}

const columns = 'm.id, m.version, v.document, m.created_at, m.updated_at'
const versions = `ussd.menus m join ussd.menu_versions v on v.bucket = m.bucket and v.account_id = m.account_id
      and v.environment = m.environment and v.menu_id = m.id`
const own = 'm.bucket = $bucket and m.account_id = $account and m.environment = $environment'

const findMenu = statement.tenant<One, MenuRow>(
  'ussd.find_menu',
  `select ${columns} from ${versions} and v.version = m.version where ${own} and m.id = $id`,
)

const findVersion = statement.tenant<One & { version: number }, { document: MenuDocument }>(
  'ussd.find_menu_version',
  `select document from ussd.menu_versions where ${mine} and menu_id = $id and version = $version`,
)

const listMenus = statement.tenant<Tenant & { after: string | null; descending: boolean; limit: number }, MenuRow>(
  'ussd.list_menus',
  `select ${columns} from ${versions} and v.version = m.version
    where ${own} and ($after::uuid is null or (case when $descending::boolean then m.id < $after else m.id > $after end))
    order by case when $descending then m.id end desc, m.id limit $limit::int + 1`,
)

const countMenus = statement.tenant<Tenant, { count: number }>(
  'ussd.count_menus',
  `select count(*)::int as count from ussd.menus where ${mine}`,
)

const insertMenu = statement.tenant<One & { at: Date }, object>(
  'ussd.insert_menu',
  `insert into ussd.menus (bucket, account_id, environment, id, version, created_at, updated_at)
   values ($bucket, $account, $environment, $id, 1, $at, $at)`,
)

const raiseVersion = statement.tenant<One & { at: Date }, { version: number }>(
  'ussd.raise_menu_version',
  `update ussd.menus set version = version + 1, updated_at = $at where ${mine} and id = $id returning version`,
)

const insertVersion = statement.tenant<One & { version: number; document: string; at: Date }, object>(
  'ussd.insert_menu_version',
  `insert into ussd.menu_versions (bucket, account_id, environment, menu_id, version, document, created_at)
   values ($bucket, $account, $environment, $id, $version, $document::jsonb, $at)`,
)

const deleteMenu = statement.tenant<One, { id: string }>(
  'ussd.delete_menu',
  `delete from ussd.menus where ${mine} and id = $id
      and not exists (select from ussd.shortcodes c where c.bucket = $bucket and c.account_id = $account
                         and c.environment = $environment and c.menu_id = $id)
   returning id`,
)

const Menu = Type.Object(
  {
    id: Type.String({ description: 'Id of the menu, such as `usn_…`' }),
    version: Type.Integer({
      description: 'Version number from 1, one more with each change; sessions in progress keep theirs',
    }),
    ...MenuDocument.properties,
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'UssdMenu' },
)

function shownMenu({ id, version, document, created_at, updated_at }: MenuRow): Static<typeof Menu> {
  return { id: idOf('ussdMenu', id), version, ...document, created_at, updated_at }
}

export async function menuOf(queryable: Queryable, tenant: Tenant, id: string): Promise<MenuRow | null> {
  const uuid = uuidOf('ussdMenu', id)
  return uuid === null ? null : maybe(queryable.query(findMenu, { ...tenant, id: uuid }))
}

async function requireMenu(queryable: Queryable, tenant: Tenant, id: string): Promise<MenuRow> {
  const row = await menuOf(queryable, tenant, id)
  if (!row) throw new AppError('NOT_FOUND', 'there is no such menu; the ids of menus begin with usn_')
  return row
}

/** Refuses an invalid menu, or one whose fetch URLs are not allowed. */
async function checkMenu(app: App, document: MenuDocument, { tenant }: Caller): Promise<void> {
  const problems = problemsOf(document)
  if (problems.length > 0) throw new AppError('MENU_INVALID', problems.join('; '))
  for (const [name, { fetch }] of Object.entries(document.nodes))
    if (fetch) await app.outbound.checkUrl(fetch.url, 'callback', tenant.environment, `nodes.${name}.fetch.url`)
}

const loans: Static<typeof MenuDocument> = {
  name: 'Loans',
  languages: ['sw', 'en'],
  start: 'home',
  nodes: {
    home: {
      text: { sw: 'Karibu', en: 'Welcome' },
      options: [{ label: { sw: 'Mkopo', en: 'Loan' }, next: 'amount' }],
    },
    amount: {
      text: { sw: 'Kiasi gani?', en: 'How much?' },
      input: { save: 'amount', pattern: '^\\d+$', error: { sw: 'Nambari tu', en: 'Digits only' } },
      next: 'done',
    },
    done: { text: { sw: 'Umeomba {{data.amount}}', en: 'You asked for {{data.amount}}' }, end: true },
  },
}

const createMenu = write({
  method: 'POST',
  path: '/v1/ussd/menus',
  operation: 'ussd.createMenu',
  summary: 'Create a USSD menu',
  scope: 'ussd:write',
  body: MenuDocument,
  reply: { status: 201, schema: Menu, location: ({ id }) => `/v1/ussd/menus/${id}` },
  errors: ['MENU_INVALID', 'INVALID_URL', 'VALIDATION_ERROR'],
  examples: [{ name: 'Three screens in two languages', body: loans }],
  prepare: (app, { body }, caller) => checkMenu(app, body, caller),
  handle: async (_app, tx, { body }, caller) => {
    const { tenant, receivedMs, nowMs } = caller
    const { count } = await one(tx.query(countMenus, tenant))
    if (count >= maxMenus) throw new AppError('CONFLICT', `there are ${maxMenus} menus already: delete one first`)
    const id = newUuid(receivedMs)
    const at = new Date(nowMs)
    await tx.query(insertMenu, { ...tenant, id, at })
    await tx.query(insertVersion, { ...tenant, id, version: 1, document: JSON.stringify(body), at })
    await record(tx, caller, 'ussd.create_menu', idOf('ussdMenu', id))
    return shownMenu({ id, version: 1, document: body, created_at: at, updated_at: at })
  },
})

const replaceMenu = write({
  method: 'PUT',
  path: '/v1/ussd/menus/:id',
  operation: 'ussd.replaceMenu',
  summary: 'Create a new version of a USSD menu',
  description: 'Sessions in progress keep their version.',
  scope: 'ussd:write',
  params: IdParam,
  body: MenuDocument,
  reply: { status: 200, schema: Menu },
  errors: ['NOT_FOUND', 'MENU_INVALID', 'INVALID_URL', 'VALIDATION_ERROR'],
  examples: [{ name: 'The same menu', body: loans }],
  prepare: async (app, { params, body }, caller) => {
    await requireMenu(app.db, caller.tenant, params.id)
    await checkMenu(app, body, caller)
  },
  handle: async (app, tx, { params, body }, caller) => {
    const { tenant, nowMs } = caller
    const before = await requireMenu(tx, tenant, params.id)
    const at = new Date(nowMs)
    const { version } = await one(tx.query(raiseVersion, { ...tenant, id: before.id, at }))
    await tx.query(insertVersion, { ...tenant, id: before.id, version, document: JSON.stringify(body), at })
    await record(tx, caller, 'ussd.replace_menu', params.id, { after: { version } })
    await announceCodes(app, tx)
    return shownMenu({ ...before, version, document: body, updated_at: at })
  },
})

const getMenu = read({
  method: 'GET',
  path: '/v1/ussd/menus/:id',
  operation: 'ussd.getMenu',
  summary: 'Get a USSD menu',
  scope: 'ussd:read',
  params: IdParam,
  reply: { status: 200, schema: Menu },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => shownMenu(await requireMenu(app.db, tenant, params.id)),
})

const listAll = list({
  path: '/v1/ussd/menus',
  operation: 'ussd.listMenus',
  summary: 'List USSD menus',
  scope: 'ussd:read',
  query: Type.Object(listQuery),
  row: Menu,
  examples: [{ name: 'All' }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    return pageOf(window, await app.db.query(listMenus, { ...tenant, ...window }), shownMenu)
  },
})

const removeMenu = write({
  method: 'DELETE',
  path: '/v1/ussd/menus/:id',
  operation: 'ussd.deleteMenu',
  summary: 'Delete a USSD menu',
  scope: 'ussd:write',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: async (app, tx, { params }, caller) => {
    const { id } = await requireMenu(tx, caller.tenant, params.id)
    const gone = await maybe(tx.query(deleteMenu, { ...caller.tenant, id }))
    if (!gone) throw new AppError('CONFLICT', 'a short code uses this menu: assign another menu to it first')
    await record(tx, caller, 'ussd.delete_menu', params.id)
    await announceCodes(app, tx)
    return { id: params.id, deleted: true as const }
  },
})

const DryRun = Type.Object({
  inputs: Type.Array(Type.String({ minLength: 1, maxLength: 182 }), {
    maxItems: 50,
    rule: 'must list at most 50 inputs',
    description: 'Inputs of the subscriber, in order',
  }),
  language: Type.Optional(
    Type.String({ maxLength: 3, description: 'Language of the test, such as sw; default: the first of the menu' }),
  ),
  data: Type.Optional(SessionData),
})

const testMenu = read({
  method: 'POST',
  path: '/v1/ussd/menus/:id/test',
  operation: 'ussd.testMenu',
  summary: 'Test a USSD menu with a list of inputs',
  description: 'Nothing is stored, charged or sent to a handset. Fetch nodes call your application.',
  scope: 'ussd:write',
  params: IdParam,
  body: DryRun,
  reply: {
    status: 200,
    schema: Type.Object(
      {
        screens: Type.Array(
          Type.Object({
            input: Type.Union([Type.String(), Type.Null()], {
              description: 'Input before this screen; null for the first',
            }),
            message: Type.String({ description: 'Text of the screen' }),
          }),
          { description: 'Screens as the handset would show them, in order' },
        ),
        action: OneOf(['continue', 'end', 'error'], {
          description: 'State at the end; `error`: a fetch node got no usable reply',
        }),
        node: Type.Union([Type.String(), Type.Null()], { description: 'Node of the last screen; null on an error' }),
        variables: Type.Record(Type.String(), Type.Unknown(), { description: 'Data of the session at the end' }),
      },
      { title: 'UssdDryRun' },
    ),
  },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  examples: [{ name: 'A loan', body: { inputs: ['1', '500'], language: 'en' } }],
  handle: async (app, { params, body }, { tenant }) => {
    const { document } = await requireMenu(app.db, tenant, params.id)
    const language = body.language ?? null
    const fetch = fetcher(app, tenant, { session_id: null, phone: null, shortcode: null, language }, 0)
    return dryRun({ document, data: body.data ?? {}, language, fetch }, body.inputs)
  },
})

async function dryRun(walk: Walk, inputs: readonly string[]) {
  const screens: { input: string | null; message: string }[] = []
  let here = await walked(walk, null, [])
  if (here) screens.push({ input: null, message: here.text })
  for (const input of inputs) {
    if (!here || here.ends) break
    here = await walked({ ...walk, data: here.data }, here.state, [input])
    if (here) screens.push({ input, message: here.text })
  }
  const action = here === null ? ('error' as const) : here.ends ? ('end' as const) : ('continue' as const)
  return { screens, action, node: here?.state.node ?? null, variables: here?.data ?? walk.data }
}

/** Menu version of a session. */
export async function menuVersion(app: App, session: Session): Promise<MenuDocument | null> {
  const { menu_id: id, menu_version: version } = session.setup
  if (id === null || version === null) return null
  const { account_id: account, environment } = session
  return documents(app).of(`${environment} ${account} ${id} ${version}`, async () => {
    const row = await maybe(app.db.query(findVersion, { ...tenantOf(session), id, version }))
    return row?.document ?? null
  })
}

/** Cache of menu versions, which never change. */
const documents = onePerApp((app) => new ToldCache<MenuDocument | null>(app.signals, documentBounds))

/** Answer of a stored menu. */
interface MenuAnswer {
  readonly said: Said
  readonly tookMs: number
  readonly menu?: MenuState | undefined
  readonly doing?: readonly string[]
}

interface KnownScreen {
  readonly move: ScreenMove
  readonly doing: readonly string[]
}

/** Next screen of a session, where its menu needs no fetch; null otherwise. */
export async function knownScreen(app: App, session: Session): Promise<KnownScreen | null> {
  if (session.setup.mode !== 'menu') return null
  const { said, tookMs, menu, doing = [] } = await runStoredMenu(app, session, async () => null)
  return said.kind === 'screen' ? { move: { ...said, menu, appMs: tookMs }, doing } : null
}

/** Next screen of a session with a stored menu. */
export async function runStoredMenu(app: App, session: Session, asks?: Walk['fetch']): Promise<MenuAnswer> {
  const beganMs = performance.now()
  const tenant = tenantOf(session)
  const document = await menuVersion(app, session)
  if (!document)
    return { said: { kind: 'nothing', isLate: false, why: 'the menu of the short code is gone' }, tookMs: 0 }
  const { session_id, phone, shortcode, language } = session
  const offsetMs = Number(session.clock_offset_ms)
  const fetch = asks ?? fetcher(app, tenant, { session_id, phone, shortcode, language }, offsetMs)
  const inputs = session.input === null ? [] : session.menu === null ? session.input.split('*') : [session.input]
  const here = await walked({ document, data: session.data, language, fetch }, session.menu, inputs)
  const tookMs = Math.round(performance.now() - beganMs)
  // The text may contain data from a fetch reply.
  const isKept = here?.data === session.data
  const why = here ? menuProblem(here.text, isKept ? {} : here.data) : 'a fetch node got no answer that it can use'
  if (!here || why !== null) return { said: { kind: 'nothing', isLate: false, why: why ?? '' }, tookMs }
  const said = { kind: 'screen', text: here.text, ends: here.ends, data: isKept ? undefined : here.data } as const
  return { said, tookMs, menu: here.state, doing: here.doing }
}

/** Reason for which the screen of a menu cannot be shown. */
function menuProblem(text: string, data: Data): string | null {
  return isStorable(text) ? dataProblem(data) : 'the screen has U+0000 or half of a surrogate pair'
}

interface Asker {
  readonly session_id: string | null
  readonly phone: string | null
  readonly shortcode: string | null
  readonly language: string | null
}

/** Calls a fetch node's URL: the application replies `{data?, next?, message?}`. */
function fetcher(app: App, tenant: Tenant, asker: Asker, clockOffsetMs: number): Walk['fetch'] {
  return async (node, url, timeoutMs, data): Promise<Fetched | null> => {
    const answer = await ask(app, {
      ...{ tenant, name: fetchName, url, withinMs: timeoutMs, clockOffsetMs, contentType: 'application/json' },
      resource: asker.session_id,
      body: JSON.stringify({ ...asker, node, data }),
    })
    return answer.kind === 'said' ? fetchedOf(answer.text) : null
  }
}

function fetchedOf(text: string): Fetched | null {
  if (text.trim() === '') return {}
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(said)) return null
  const { data, next, message } = said
  const known: Data | undefined = isObject(data) ? data : undefined
  return {
    ...(known ? { data: known } : {}),
    ...(typeof next === 'string' ? { next } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  }
}

export const menuRoutes: readonly Route[] = [createMenu, listAll, getMenu, replaceMenu, removeMenu, testMenu]
