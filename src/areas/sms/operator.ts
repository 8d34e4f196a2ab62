// SPDX-License-Identifier: Apache-2.0
// What operators manage: binds (connections to message centres) and routes (which messages go over which binds). Changes
// are in force on every node a moment after they are committed; nothing is restarted.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { record } from '../../platform/audit.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, one, type Queryable, statement, type Tx } from '../../platform/db.ts'
import { IdParam, list, type Route, write } from '../../platform/route.ts'
import { At, CountryCode, EnvironmentName, Nullable, OneOf } from '../../platform/schema.ts'
import { type BindRow, isSandbox, networkOf, passwordPlace, type RouteRow } from './network.ts'
import { ownerOf } from './ownership.ts'

const maxTiers = 5
const maxMembers = 10

const Name = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,39}$',
  rule: 'must have 1 to 40 small letters, digits or -, and begin with a letter',
})
const idForms = ['exact', 'text', 'hex', 'decimal'] as const
const IdForm = (where: string) =>
  OneOf(idForms, { description: `How the message centre writes ids in ${where}; \`exact\` unless it differs` })

/** Texts as long as SMPP allows. */
const bindSettings = {
  host: Type.String({ minLength: 1, maxLength: 253, rule: 'must be a host name or address' }),
  port: Type.Integer({ minimum: 1, maximum: 65_535, rule: 'must be 1 to 65535' }),
  system_id: Type.String({ minLength: 1, maxLength: 15, rule: 'must have 1 to 15 characters' }),
  password: Type.String({ maxLength: 8, rule: 'must have at most 8 characters', sensitive: true }),
  system_type: Type.String({ maxLength: 12, rule: 'must have at most 12 characters' }),
  sessions: Type.Integer({
    minimum: 1,
    maximum: 32,
    rule: 'must be 1 to 32',
    description: 'Connections to the centre',
  }),
  window: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    rule: 'must be 1 to 1000',
    description: 'Messages without an answer, of one session',
  }),
  rate: Nullable(Type.Integer({ minimum: 1, maximum: 100_000, description: 'Messages per second; null: no limit' })),
  enquire_link_seconds: Type.Integer({ minimum: 1, maximum: 3_600, rule: 'must be 1 to 3600' }),
  response_timeout_seconds: Type.Integer({
    minimum: 1,
    maximum: 60,
    rule: 'must be 1 to 60',
    description: 'A message without an answer after so long is taken for unanswered, and goes another way',
  }),
  answer_ids: IdForm('answers'),
  receipt_ids: IdForm('receipts'),
  enabled: Type.Boolean(),
}

const BindCreate = Type.Object({
  name: Name,
  host: bindSettings.host,
  port: bindSettings.port,
  system_id: bindSettings.system_id,
  password: bindSettings.password,
  system_type: Type.Optional(bindSettings.system_type),
  sessions: Type.Optional(bindSettings.sessions),
  window: Type.Optional(bindSettings.window),
  rate: Type.Optional(bindSettings.rate),
  enquire_link_seconds: Type.Optional(bindSettings.enquire_link_seconds),
  response_timeout_seconds: Type.Optional(bindSettings.response_timeout_seconds),
  answer_ids: Type.Optional(bindSettings.answer_ids),
  receipt_ids: Type.Optional(bindSettings.receipt_ids),
  enabled: Type.Optional(bindSettings.enabled),
})

const BindChange = Type.Partial(Type.Object(bindSettings))

const BindRecord = Type.Object(
  {
    name: Type.String(),
    host: Type.String(),
    port: Type.Integer(),
    system_id: Type.String(),
    system_type: Type.String(),
    sessions: Type.Integer(),
    window: Type.Integer(),
    rate: Nullable(Type.Integer()),
    enquire_link_seconds: Type.Integer(),
    response_timeout_seconds: Type.Integer(),
    answer_ids: OneOf(idForms),
    receipt_ids: OneOf(idForms),
    enabled: Type.Boolean(),
    node: Nullable(Type.String({ description: 'Which node has it open; what follows is known there only' })),
    bound: Type.Integer({ description: 'Sessions that the answering node has open' }),
    pending: Type.Integer({ description: 'Messages that wait there for the centre or its answer' }),
    current_rate: Nullable(Type.Number({ description: 'Messages per second after what the centre complained of' })),
    last_error: Nullable(Type.String()),
    created_at: At(),
    updated_at: At(),
  },
  { title: 'SmsBind' },
)

const Tiers = Type.Array(
  Type.Array(
    Type.Object({
      bind: Name,
      weight: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, rule: 'must be 1 to 1000' })),
    }),
    { minItems: 1, maxItems: maxMembers, rule: `must list 1 to ${maxMembers} binds` },
  ),
  {
    minItems: 1,
    maxItems: maxTiers,
    rule: `must list 1 to ${maxTiers} tiers`,
    description: 'Binds of a tier share the messages by weight; the next tier is for when none of them can take one',
  },
)
const OnUnknown = OneOf(['maybe_twice', 'maybe_never'], {
  description: 'What becomes of a message whose connection, or node, was lost before the answer: sent again, or failed',
})

const RerouteOnUndelivered = Type.Boolean({
  description: 'Whether a message that the network could not deliver goes over the next tier',
})

const RouteCreate = Type.Object({
  environment: Type.Optional(EnvironmentName({ description: '`live` unless given' })),
  account_id: Type.Optional(Type.String({ maxLength: 60, description: 'Only for this account' })),
  country: Type.Optional(CountryCode()),
  network: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
  tiers: Tiers,
  on_unknown: Type.Optional(OnUnknown),
  reroute_on_undelivered: Type.Optional(RerouteOnUndelivered),
})

const RouteChange = Type.Object({
  tiers: Type.Optional(Tiers),
  on_unknown: Type.Optional(OnUnknown),
  reroute_on_undelivered: Type.Optional(RerouteOnUndelivered),
})

const RouteRecord = Type.Object(
  {
    id: Type.String(),
    environment: Type.String(),
    account_id: Nullable(Type.String()),
    country: Nullable(Type.String()),
    network: Nullable(Type.String()),
    tiers: Type.Array(Type.Array(Type.Object({ bind: Type.String(), weight: Type.Integer() }))),
    on_unknown: OnUnknown,
    reroute_on_undelivered: RerouteOnUndelivered,
    in_force: Type.Boolean({ description: 'The answering node already sends by it' }),
    created_at: At(),
    updated_at: At(),
  },
  { title: 'SmsRoute' },
)

const Deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'Deleted' })

// Statements -------------------------------------------------------------------------------------------------------

const bindColumns = `name, host, port, system_id, password, sealed_bucket, sealed_account, system_type, sessions, window_size,
  rate, enquire_link_seconds, response_timeout_seconds, answer_ids, receipt_ids, enabled, created_at, updated_at`
const routeColumns = `id, environment, account_id, country, network, tiers, on_unknown, reroute_on_undelivered, created_at,
  updated_at`

const selectBinds = statement<Record<never, never>, BindRow>(
  'sms.list_binds',
  `select ${bindColumns} from sms.binds order by name`,
)

const selectBind = statement<{ name: string }, BindRow>(
  'sms.find_bind',
  `select ${bindColumns} from sms.binds where name = $name for update`,
)

interface BindParameters {
  name: string
  host: string
  port: number
  systemId: string
  password: Buffer
  sealedBucket: number
  sealedAccount: string
  systemType: string
  sessions: number
  window: number
  rate: number | null
  enquireLinkSeconds: number
  responseTimeoutSeconds: number
  answerIds: string
  receiptIds: string
  enabled: boolean
  at: Date
}

const insertBind = statement<BindParameters, BindRow>(
  'sms.insert_bind',
  `insert into sms.binds (${bindColumns})
   values ($name, $host, $port, $systemId, $password, $sealedBucket, $sealedAccount, $systemType, $sessions, $window,
     $rate, $enquireLinkSeconds, $responseTimeoutSeconds, $answerIds, $receiptIds, $enabled, $at, $at)
   on conflict do nothing
   returning ${bindColumns}`,
)

const updateBind = statement<BindParameters, BindRow>(
  'sms.update_bind',
  `update sms.binds
      set host = $host, port = $port, system_id = $systemId, password = $password,
          sealed_bucket = $sealedBucket, sealed_account = $sealedAccount, system_type = $systemType, sessions = $sessions, window_size = $window, rate = $rate, enquire_link_seconds = $enquireLinkSeconds,
          response_timeout_seconds = $responseTimeoutSeconds,
          answer_ids = $answerIds, receipt_ids = $receiptIds, enabled = $enabled, updated_at = $at
    where name = $name
   returning ${bindColumns}`,
)

const deleteBind = statement<{ name: string }, { name: string }>(
  'sms.delete_bind',
  'delete from sms.binds where name = $name returning name',
)

const routesOver = statement<{ name: string }, { id: string }>(
  'sms.routes_over',
  `select r.id from sms.routes r
    where exists (select from jsonb_array_elements(r.tiers) t, jsonb_array_elements(t) m where m ->> 'bind' = $name)
    limit 1`,
)

const selectRoutes = statement<Record<never, never>, RouteRow>(
  'sms.list_routes',
  `select ${routeColumns} from sms.routes order by id`,
)

const insertRoute = statement<
  {
    id: string
    environment: string
    account: string | null
    country: string | null
    network: string | null
    tiers: string
    onUnknown: string
    rerouteOnUndelivered: boolean
    at: Date
  },
  RouteRow
>(
  'sms.insert_route',
  `insert into sms.routes (${routeColumns})
   values ($id, $environment, $account, $country, $network, $tiers::jsonb, $onUnknown, $rerouteOnUndelivered, $at, $at)
   on conflict do nothing
   returning ${routeColumns}`,
)

const updateRoute = statement<
  { id: string; tiers: string | null; onUnknown: string | null; rerouteOnUndelivered: boolean | null; at: Date },
  RouteRow
>(
  'sms.update_route',
  `update sms.routes
      set tiers = coalesce($tiers::jsonb, tiers), on_unknown = coalesce($onUnknown, on_unknown),
          reroute_on_undelivered = coalesce($rerouteOnUndelivered::boolean, reroute_on_undelivered), updated_at = $at
    where id = $id
   returning ${routeColumns}`,
)

const deleteRoute = statement<{ id: string }, RouteRow>(
  'sms.delete_route',
  `delete from sms.routes where id = $id returning ${routeColumns}`,
)

// Binds ------------------------------------------------------------------------------------------------------------

const listBinds = list({
  path: '/v1/operator/sms/binds',
  operation: 'operator.listSmsBinds',
  summary: 'List the connections to message centres, and how they are doing',
  scope: 'operator',
  row: BindRecord,
  examples: [{ name: 'All binds' }],
  handle: async (app) => {
    const binds = await app.db.query(selectBinds, {})
    return { rows: await Promise.all(binds.map((row) => bindRecord(app, row))), nextCursor: null }
  },
})

const createBind = write({
  method: 'POST',
  path: '/v1/operator/sms/binds',
  operation: 'operator.createSmsBind',
  summary: 'Connect to a message centre',
  scope: 'operator',
  body: BindCreate,
  reply: { status: 201, schema: BindRecord, location: ({ name }) => `/v1/operator/sms/binds/${name}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    {
      name: 'One operator',
      body: { name: 'operator-a', host: 'smsc.example', port: 2775, system_id: 'pamoja', password: 'secret' },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const { name } = body
    const row = isSandbox(name)
      ? null
      : await maybe(
          tx.query(insertBind, {
            name,
            host: body.host,
            port: body.port,
            systemId: body.system_id,
            ...(await sealed(app, caller, name, body.password)),
            systemType: body.system_type ?? '',
            sessions: body.sessions ?? 1,
            window: body.window ?? 10,
            rate: body.rate ?? null,
            enquireLinkSeconds: body.enquire_link_seconds ?? 30,
            responseTimeoutSeconds: body.response_timeout_seconds ?? 4,
            answerIds: body.answer_ids ?? 'exact',
            receiptIds: body.receipt_ids ?? 'exact',
            enabled: body.enabled ?? true,
            at: new Date(caller.receivedMs),
          }),
        )
    if (!row) throw new AppError('CONFLICT', 'a bind of that name exists; change it instead')
    await announce(app, tx, caller, 'sms.create_bind', name, auditableBind(row))
    return bindRecord(app, row)
  },
})

const changeBind = write({
  method: 'PATCH',
  path: '/v1/operator/sms/binds/:id',
  operation: 'operator.changeSmsBind',
  summary: 'Change a connection to a message centre; it is opened anew',
  scope: 'operator',
  params: IdParam,
  body: BindChange,
  reply: { status: 200, schema: BindRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params, body }, caller) => {
    const before = await maybe(tx.query(selectBind, { name: params.id }))
    if (!before) throw noSuchBind()
    const row = await one(
      tx.query(updateBind, {
        name: before.name,
        host: body.host ?? before.host,
        port: body.port ?? before.port,
        systemId: body.system_id ?? before.system_id,
        ...(body.password === undefined ? sealedBefore(before) : await sealed(app, caller, before.name, body.password)),
        systemType: body.system_type ?? before.system_type,
        sessions: body.sessions ?? before.sessions,
        window: body.window ?? before.window_size,
        rate: body.rate === undefined ? before.rate : body.rate,
        enquireLinkSeconds: body.enquire_link_seconds ?? before.enquire_link_seconds,
        responseTimeoutSeconds: body.response_timeout_seconds ?? before.response_timeout_seconds,
        answerIds: body.answer_ids ?? before.answer_ids,
        receiptIds: body.receipt_ids ?? before.receipt_ids,
        enabled: body.enabled ?? before.enabled,
        at: new Date(caller.receivedMs),
      }),
    )
    await announce(app, tx, caller, 'sms.change_bind', row.name, auditableBind(row))
    return bindRecord(app, row)
  },
})

const removeBind = write({
  method: 'DELETE',
  path: '/v1/operator/sms/binds/:id',
  operation: 'operator.removeSmsBind',
  summary: 'Give up a connection to a message centre that no route uses',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: async (app, tx, { params }, caller) => {
    if (!(await maybe(tx.query(selectBind, { name: params.id })))) throw noSuchBind()
    const [used] = await tx.query(routesOver, { name: params.id })
    if (used) throw new AppError('CONFLICT', `the route ${idOf('smsRoute', used.id)} uses this bind`)
    await tx.query(deleteBind, { name: params.id })
    await announce(app, tx, caller, 'sms.remove_bind', params.id, {})
    return { id: params.id, deleted: true as const }
  },
})

type Sealed = Pick<BindParameters, 'password' | 'sealedBucket' | 'sealedAccount'>

async function sealed(app: App, { tenant }: Caller, name: string, password: string): Promise<Sealed> {
  const { bucket, account } = tenant
  return {
    password: await app.secrets.seal({ bucket, account }, passwordPlace(name), password),
    sealedBucket: bucket,
    sealedAccount: account,
  }
}

function sealedBefore({ password, sealed_bucket: sealedBucket, sealed_account: sealedAccount }: BindRow): Sealed {
  return { password, sealedBucket, sealedAccount }
}

async function bindRecord(app: App, row: BindRow): Promise<Static<typeof BindRecord>> {
  const { password: _, sealed_bucket: _b, sealed_account: _a, window_size: window, ...settings } = row
  const state = networkOf(app).state(row.name)
  return {
    ...settings,
    window,
    node: await ownerOf(app, row.name),
    bound: state?.sessions ?? 0,
    pending: state?.pending ?? 0,
    current_rate: state?.ratePerSecond ?? null,
    last_error: state?.lastError ?? null,
  }
}

function auditableBind({ password: _, sealed_bucket: _b, sealed_account: _a, ...settings }: BindRow): object {
  return settings
}

function noSuchBind(): AppError {
  return new AppError('NOT_FOUND', 'there is no such bind')
}

// Routes -----------------------------------------------------------------------------------------------------------

const listRoutes = list({
  path: '/v1/operator/sms/routes',
  operation: 'operator.listSmsRoutes',
  summary: 'List which messages go over which binds',
  scope: 'operator',
  row: RouteRecord,
  examples: [{ name: 'All routes' }],
  handle: async (app) => ({
    rows: (await app.db.query(selectRoutes, {})).map((row) => routeRecord(app, row)),
    nextCursor: null,
  }),
})

const createRoute = write({
  method: 'POST',
  path: '/v1/operator/sms/routes',
  operation: 'operator.createSmsRoute',
  summary: 'Send messages over binds',
  description: 'The most exact route wins: of the account, then of the network, then of the country.',
  scope: 'operator',
  body: RouteCreate,
  reply: { status: 201, schema: RouteRecord },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  handle: async (app, tx, { body }, caller) => {
    const account = body.account_id === undefined ? null : uuidOf('account', body.account_id)
    if (body.account_id !== undefined && account === null)
      throw new AppError('VALIDATION_ERROR', 'account_id is not the id of an account')
    const row = await maybe(
      tx.query(insertRoute, {
        id: newUuid(caller.receivedMs),
        environment: body.environment ?? 'live',
        account,
        country: body.country ?? null,
        network: body.network ?? null,
        tiers: await tiersOf(tx, body.tiers),
        onUnknown: body.on_unknown ?? 'maybe_twice',
        rerouteOnUndelivered: body.reroute_on_undelivered ?? false,
        at: new Date(caller.receivedMs),
      }),
    )
    if (!row) throw new AppError('CONFLICT', 'a route for exactly these messages exists; change it instead')
    const made = routeRecord(app, row)
    await announce(app, tx, caller, 'sms.create_route', made.id, made)
    return made
  },
})

const changeRoute = write({
  method: 'PATCH',
  path: '/v1/operator/sms/routes/:id',
  operation: 'operator.changeSmsRoute',
  summary: 'Change the binds of a route',
  scope: 'operator',
  params: IdParam,
  body: RouteChange,
  reply: { status: 200, schema: RouteRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params, body }, caller) => {
    const row = await maybe(
      tx.query(updateRoute, {
        id: routeUuid(params.id),
        tiers: body.tiers === undefined ? null : await tiersOf(tx, body.tiers),
        onUnknown: body.on_unknown ?? null,
        rerouteOnUndelivered: body.reroute_on_undelivered ?? null,
        at: new Date(caller.receivedMs),
      }),
    )
    if (!row) throw noSuchRoute()
    const changed = routeRecord(app, row)
    await announce(app, tx, caller, 'sms.change_route', changed.id, changed)
    return changed
  },
})

const removeRoute = write({
  method: 'DELETE',
  path: '/v1/operator/sms/routes/:id',
  operation: 'operator.removeSmsRoute',
  summary: 'Remove a route',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    const row = await maybe(tx.query(deleteRoute, { id: routeUuid(params.id) }))
    if (!row) throw noSuchRoute()
    await announce(app, tx, caller, 'sms.remove_route', params.id, {})
    return { id: params.id, deleted: true as const }
  },
})

/** As they are stored; every bind must be there. */
async function tiersOf(tx: Queryable, tiers: Static<typeof Tiers>): Promise<string> {
  const known = new Set((await tx.query(selectBinds, {})).map(({ name }) => name))
  for (const { bind } of tiers.flat())
    if (!known.has(bind)) throw new AppError('VALIDATION_ERROR', `tiers name ${bind}, and there is no such bind`)
  return JSON.stringify(tiers.map((tier) => tier.map(({ bind, weight = 1 }) => ({ bind, weight }))))
}

function routeRecord(app: App, row: RouteRow): Static<typeof RouteRecord> {
  const { id, account_id, tiers, ...rest } = row
  return {
    ...rest,
    id: idOf('smsRoute', id),
    account_id: account_id && idOf('account', account_id),
    tiers,
    in_force: networkOf(app).isInForce(row),
  }
}

function routeUuid(id: string): string {
  const uuid = uuidOf('smsRoute', id)
  if (uuid === null) throw noSuchRoute()
  return uuid
}

function noSuchRoute(): AppError {
  return new AppError('NOT_FOUND', 'there is no such route; route ids begin with smr_')
}

/** Notes a change and tells every node of it. */
async function announce(
  app: App,
  tx: Tx,
  caller: Caller,
  action: string,
  target: string,
  after: object,
): Promise<void> {
  await record(tx, caller, action, target, { after })
  await app.signals.send(tx, 'sms', target)
}

export const operatorRoutes: readonly Route[] = [
  listBinds,
  createBind,
  changeBind,
  removeBind,
  listRoutes,
  createRoute,
  changeRoute,
  removeRoute,
]
