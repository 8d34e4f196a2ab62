// SPDX-License-Identifier: Apache-2.0
// Routes as operators manage them: which messages go over which binds. Changes are in force on every node a moment after
// they are committed; nothing is restarted.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { connectionRoutes } from '../../../platform/connections/routes.ts'
import { maybe, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { At, ConnectionName, CountryCode, EnvironmentName, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { networkOf, type RouteRow } from '../network/network.ts'
import { accountNamed } from './numbers.ts'

const maxTiers = 5
const maxMembers = 10

const Tiers = Type.Array(
  Type.Array(
    Type.Object({
      bind: ConnectionName({ description: 'Name of the bind' }),
      weight: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000,
          rule: 'must be 1 to 1000',
          description: 'Share among the binds of the tier; default 1',
        }),
      ),
    }),
    { minItems: 1, maxItems: maxMembers, rule: `must list 1 to ${maxMembers} binds` },
  ),
  {
    minItems: 1,
    maxItems: maxTiers,
    rule: `must list 1 to ${maxTiers} tiers`,
    description:
      'Tiers of binds. Binds of one tier share the messages by weight; the next tier is used when none of them is available',
  },
)
const OnUnknown = OneOf(['maybe_twice', 'maybe_never'], {
  description: 'Handling of a message whose connection or node was lost before the response: sent again, or failed',
})

const RerouteOnUndelivered = Type.Boolean({
  description: 'True sends a message that the network could not deliver over the next tier',
})

const RefundUndelivered = Type.Boolean({
  description: 'True refunds a message that was sent and that the network then could not deliver',
})

const WhenDown = OneOf(['queue', 'refuse'], {
  description: 'Handling of a message while no bind is available: it waits, or is refused with PROVIDER_UNAVAILABLE',
})

const RouteCreate = Type.Object({
  environment: Type.Optional(EnvironmentName({ description: 'Environment; default `live`' })),
  account_id: Type.Optional(
    Type.String({
      maxLength: 60,
      description: 'Id of the account that it applies to, `acc_…`; default all accounts',
    }),
  ),
  country: Type.Optional(CountryCode({ description: 'Country of the numbers; default every country' })),
  network: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 60,
      description: 'Network of the numbers, such as Safaricom; default every network',
    }),
  ),
  tiers: Tiers,
  on_unknown: Type.Optional(OnUnknown),
  reroute_on_undelivered: Type.Optional(RerouteOnUndelivered),
  refund_undelivered: Type.Optional(RefundUndelivered),
  when_down: Type.Optional(WhenDown),
})

const RouteChange = Type.Object({
  tiers: Type.Optional(Tiers),
  on_unknown: Type.Optional(OnUnknown),
  reroute_on_undelivered: Type.Optional(RerouteOnUndelivered),
  refund_undelivered: Type.Optional(RefundUndelivered),
  when_down: Type.Optional(WhenDown),
})

const RouteRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the route, such as `smr_…`' }),
    environment: Type.String({ description: '`test` or `live`' }),
    account_id: Nullable(Type.String({ description: 'Id of the account that it applies to; null: all accounts' })),
    country: Nullable(Type.String({ description: 'Country of the numbers; null: every one' })),
    network: Nullable(Type.String({ description: 'Network of the numbers; null: every one' })),
    tiers: Type.Array(
      Type.Array(
        Type.Object({
          bind: Type.String({ description: 'Name of the bind' }),
          weight: Type.Integer({ description: 'Share among the binds of the tier' }),
        }),
      ),
      {
        description:
          'Tiers of binds. Binds of one tier share the messages; the next tier is used when none of them is available',
      },
    ),
    on_unknown: OnUnknown,
    reroute_on_undelivered: RerouteOnUndelivered,
    refund_undelivered: RefundUndelivered,
    when_down: WhenDown,
    in_force: Type.Boolean({ description: 'True if the replying node already uses it' }),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'SmsRoute' },
)

const routeColumns = `id, environment, account_id, country, network, tiers, on_unknown, reroute_on_undelivered,
  refund_undelivered, when_down, created_at, updated_at`

/** Locks binds against removal until the transaction ends. */
const keepBinds = statement.home<{ names: readonly string[] }, { name: string }>(
  'sms.keep_binds',
  'select name from sms.binds where name = any($names::text[]) order by name for key share',
)

const selectRoutes = statement.home<Record<never, never>, RouteRow>(
  'sms.list_routes',
  `select ${routeColumns} from sms.routes order by id`,
)

const insertRoute = statement.home<
  {
    id: string
    environment: string
    account: string | null
    country: string | null
    network: string | null
    tiers: string
    onUnknown: string
    rerouteOnUndelivered: boolean
    refundUndelivered: boolean
    whenDown: string
    at: Date
  },
  RouteRow
>(
  'sms.insert_route',
  `insert into sms.routes (${routeColumns})
   values ($id, $environment, $account, $country, $network, $tiers::jsonb, $onUnknown, $rerouteOnUndelivered,
     $refundUndelivered, $whenDown, $at, $at)
   on conflict do nothing
   returning ${routeColumns}`,
)

const updateRoute = statement.home<
  {
    id: string
    tiers: string | null
    onUnknown: string | null
    rerouteOnUndelivered: boolean | null
    refundUndelivered: boolean | null
    whenDown: string | null
    at: Date
  },
  RouteRow
>(
  'sms.update_route',
  `update sms.routes
      set tiers = coalesce($tiers::jsonb, tiers), on_unknown = coalesce($onUnknown, on_unknown),
          reroute_on_undelivered = coalesce($rerouteOnUndelivered::boolean, reroute_on_undelivered),
          refund_undelivered = coalesce($refundUndelivered::boolean, refund_undelivered),
          when_down = coalesce($whenDown, when_down), updated_at = $at
    where id = $id
   returning ${routeColumns}`,
)

const deleteRoute = statement.home<{ id: string }, RouteRow>(
  'sms.delete_route',
  `delete from sms.routes where id = $id returning ${routeColumns}`,
)

const createRoute = writeAcross({
  method: 'POST',
  path: '/v1/operator/sms/routes',
  operation: 'operator.createSmsRoute',
  summary: 'Create a message route',
  description: 'The most specific route applies: for the account, then the network, then the country.',
  scope: 'operator',
  body: RouteCreate,
  reply: { status: 201, schema: RouteRecord, location: ({ id }) => `/v1/operator/sms/routes/${id}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  handle: async (app, tx, { body }, caller) => {
    const account = body.account_id === undefined ? null : await accountNamed(tx, body.account_id)
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
        refundUndelivered: body.refund_undelivered ?? false,
        whenDown: body.when_down ?? 'queue',
        at: new Date(caller.receivedMs),
      }),
    )
    if (!row) throw new AppError('CONFLICT', 'a route for exactly these messages exists; update it instead')
    const made = routeRecord(app, row)
    await announce(app, tx, caller, 'sms.create_route', made.id, made)
    return made
  },
})

const changeRoute = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/sms/routes/:id',
  operation: 'operator.changeSmsRoute',
  summary: 'Update a message route',
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
        refundUndelivered: body.refund_undelivered ?? null,
        whenDown: body.when_down ?? null,
        at: new Date(caller.receivedMs),
      }),
    )
    if (!row) throw noSuchRoute()
    const changed = routeRecord(app, row)
    await announce(app, tx, caller, 'sms.change_route', changed.id, changed)
    return changed
  },
})

export const carrierRoutes = connectionRoutes(
  {
    path: '/v1/operator/sms/routes',
    record: RouteRecord,
    rows: selectRoutes,
    nameOf: ({ id }) => idOf('smsRoute', id),
    show: routeRecord,
    none: noSuchRoute,
    list: { operation: 'operator.listSmsRoutes', summary: 'List message routes', example: 'All routes' },
    get: { operation: 'operator.getSmsRoute', summary: 'Get a message route' },
    remove: {
      operation: 'operator.removeSmsRoute',
      summary: 'Delete a message route',
      ...{ action: 'sms.remove_route', topic: 'sms' },
      run: async (tx, id) => (await tx.query(deleteRoute, { id: routeUuid(id) })).length > 0,
    },
  },
  [createRoute, changeRoute],
)

/** Tiers as stored; every bind must exist, and is locked against removal. */
async function tiersOf(tx: Queryable, tiers: Static<typeof Tiers>): Promise<string> {
  const names = tiers.flat().map(({ bind }) => bind)
  const known = new Set((await tx.query(keepBinds, { names })).map(({ name }) => name))
  for (const { bind } of tiers.flat())
    if (!known.has(bind)) throw new AppError('VALIDATION_ERROR', `tiers: there is no bind ${bind}`)
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
