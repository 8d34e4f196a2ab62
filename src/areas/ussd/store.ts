// SPDX-License-Identifier: Apache-2.0
// SQL of sessions.
import { buckets } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { operation } from '../../platform/commit.ts'
import { gathered } from '../../platform/concurrency/gather.ts'
import { maybe, type Queryable, statement } from '../../platform/db.ts'
import { eventRow } from '../../platform/events.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import { mine, type One, type Tenant, tenantOf } from '../../platform/tenant.ts'
import { jobRow } from '../../platform/work.ts'
import type { Data } from './schema.ts'
import type { Session, SessionRow } from './session.ts'

export const sessionColumns = `bucket, account_id, environment, id, session_id, direction, phone, shortcode, network, language,
  gateway, dialog, status, reason, awaiting, step, input, mark, screen, page, message, first_message, timeout, setup, menu, data,
  history, metadata, cost, currency, resumed_from, request_hash, created_at, updated_at, expires_at, ended_at, shown_at,
  accounts.clock_offset_ms(account_id, environment) as clock_offset_ms`

const find = statement.tenant<One, SessionRow>(
  'ussd.find_session',
  `select ${sessionColumns} from ussd.sessions where ${mine} and id = $id`,
)

const findNamed = statement.tenant<Tenant & { name: string }, SessionRow>(
  'ussd.find_named_session',
  `select ${sessionColumns} from ussd.sessions where ${mine} and session_id = $name`,
)

const lockNamed = statement.tenant<Tenant & { name: string }, SessionRow>(
  'ussd.lock_named_session',
  `select ${sessionColumns} from ussd.sessions where ${mine} and session_id = $name for update`,
)

/** Sessions of many dialogs in one query. */
const findDialogs = statement.everywhere<
  { buckets: readonly number[]; gateways: readonly string[]; dialogs: readonly string[] },
  SessionRow & { place: number }
>(
  'ussd.find_dialogs',
  `select asked.place::int as place, ${sessionColumns.replace('gateway, dialog', 's.gateway, s.dialog')}
     from unnest($gateways::text[], $dialogs::text[]) with ordinality as asked(by_gateway, by_dialog, place)
     cross join lateral (select d.bucket as in_bucket, d.account_id as of_account, d.environment as in_environment, d.session
                           from ussd.dialogs d where d.gateway = asked.by_gateway and d.dialog = asked.by_dialog
                            and d.bucket = any($buckets::smallint[])
                          order by d.session desc limit 1) d
     join ussd.sessions s on s.bucket = d.in_bucket and s.account_id = d.of_account and s.environment = d.in_environment
      and s.id = d.session`,
)

/** Opens sessions of a phone on a code. Index: sessions_of_phone. */
const findLive = statement.tenant<Tenant & { phone: string; shortcode: string }, SessionRow>(
  'ussd.find_live_sessions',
  `select ${sessionColumns} from ussd.sessions
    where ${mine} and phone = $phone and shortcode = $shortcode and awaiting <> 'nobody' order by id limit 10`,
)

const findResumable = statement.tenant<Tenant & { phone: string; shortcode: string; since: Date }, SessionRow>(
  'ussd.find_resumable_session',
  `select ${sessionColumns} from ussd.sessions
    where ${mine} and phone = $phone and shortcode = $shortcode and status = 'expired' and ended_at >= $since
    order by id desc limit 1`,
)

/** Notes that the network took the first screen of a push; gives whether it was ended before, free of charge. */
export const noteShown = statement.tenant<One, { is_free: boolean }>(
  'ussd.note_shown',
  `update ussd.sessions set shown_at = now() where ${mine} and id = $id and shown_at is null
   returning awaiting = 'nobody' and cost = 0 and reason in ('replaced', 'completed') as is_free`,
)

export const setCost = statement.tenant<One & { cost: bigint }, object>(
  'ussd.set_cost',
  `update ussd.sessions set cost = $cost where ${mine} and id = $id`,
)

export async function openedOf(app: Pick<App, 'secrets'>, row: SessionRow): Promise<Session> {
  const { data: sealed, ...rest } = row
  if (sealed === null) return { ...rest, data: {} }
  const text = (await app.secrets.open(tenantOf(row), dataPlace(row.id), sealed)).toString()
  const data: Data = JSON.parse(text)
  return { ...rest, data }
}

/** Encrypted session data; null for none. */
export async function sealedData(app: App, tenant: Tenant, id: string, data: Data): Promise<Buffer | null> {
  return Object.keys(data).length === 0 ? null : app.secrets.seal(tenant, dataPlace(id), JSON.stringify(data))
}

/** Encrypted session data that replaces older data; an empty object is stored too. */
export function resealedData(app: App, tenant: Tenant, id: string, data: Data): Promise<Buffer> {
  return app.secrets.seal(tenant, dataPlace(id), JSON.stringify(data))
}

function dataPlace(id: string): string {
  return `ussd.sessions.data:${id}`
}

export async function sessionOf(app: App, tenant: Tenant, id: string): Promise<Session | null> {
  const row = await maybe(app.db.query(find, { ...tenant, id }))
  return row && openedOf(app, row)
}

export async function namedSession(
  app: App,
  queryable: Queryable,
  tenant: Tenant,
  name: string,
): Promise<Session | null> {
  const row = await maybe(queryable.query(findNamed, { ...tenant, name }))
  return row && openedOf(app, row)
}

/** Session locked until the transaction ends. */
export async function lockedSession(app: App, tx: Queryable, tenant: Tenant, name: string): Promise<Session | null> {
  const row = await maybe(tx.query(lockNamed, { ...tenant, name }))
  return row && openedOf(app, row)
}

/** Dialog lookups in batches: requests during one query share the next. */
const dialogLooks = onePerApp((app) =>
  gathered(async (asked: readonly { gateway: string; dialog: string }[]) => {
    const gateways = asked.map(({ gateway }) => gateway)
    const dialogs = asked.map(({ dialog }) => dialog)
    const { rows, failure } = await app.db.queryReached(findDialogs, { buckets, gateways, dialogs })
    const found = new Map(rows.map(({ place, ...row }) => [place, row]))
    return asked.map((_, i) => ({ row: found.get(i + 1) ?? null, failure }))
  }),
)

export async function dialogSession(app: App, gateway: string, dialog: string): Promise<Session | null> {
  const { row, failure } = await dialogLooks(app)({ gateway, dialog })
  // A cell that is away may have it.
  if (row === null && failure !== null) throw failure
  return row && openedOf(app, row)
}

export async function liveSessions(
  app: App,
  queryable: Queryable,
  tenant: Tenant,
  phone: string,
  shortcode: string,
): Promise<Session[]> {
  const rows = await queryable.query(findLive, { ...tenant, phone, shortcode })
  return Promise.all(rows.map((row) => openedOf(app, row)))
}

export async function resumableSession(
  app: App,
  tenant: Tenant,
  phone: string,
  shortcode: string,
  since: Date,
): Promise<Session | null> {
  const row = await maybe(app.db.query(findResumable, { ...tenant, phone, shortcode, since }))
  return row && openedOf(app, row)
}

const tenantColumns = { bucket: 'smallint', account: 'uuid', environment: 'text', id: 'uuid' } as const

export const beginOperation = operation.tenant(
  'ussd.begin',
  {
    ...tenantColumns,
    session_id: 'text',
    direction: 'text',
    phone: 'text',
    shortcode: 'text',
    network: 'text',
    language: 'text',
    gateway: 'text',
    dialog: 'text',
    status: 'text',
    awaiting: 'text',
    input: 'text',
    mark: 'text',
    screen: 'text',
    message: 'uuid',
    timeout: 'int',
    setup: 'jsonb',
    menu: 'jsonb',
    data: 'bytea',
    history: 'jsonb',
    metadata: 'text',
    cost: 'bigint',
    currency: 'text',
    resumed_from: 'text',
    request_hash: 'text',
    at: 'timestamptz',
    expires_at: 'timestamptz',
    is_alone: 'boolean',
    is_new: 'boolean',
    timer: jobRow,
    event: eventRow,
    told: eventRow,
  },
  { verdict: 'text', deliveries: 'text', told_to: 'text' },
)

export const advanceOperation = operation.tenant(
  'ussd.advance',
  {
    ...tenantColumns,
    step: 'int',
    awaiting: 'text',
    page: 'int',
    next_step: 'int',
    next_awaiting: 'text',
    next_page: 'int',
    status: 'text',
    reason: 'text',
    input: 'text',
    mark: 'text',
    screen: 'text',
    message: 'uuid',
    menu: 'jsonb',
    data: 'bytea',
    entry: 'jsonb',
    at: 'timestamptz',
    expires_at: 'timestamptz',
    transfer: 'uuid',
    event: eventRow,
    over: eventRow,
  },
  { stored: 'boolean', deliveries: 'text', over_to: 'text' },
)
