// SPDX-License-Identifier: Apache-2.0
// Operator routes of gateways: changes apply without a restart. The password is write-only.
import { randomBytes } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, type Need, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { ownerOf } from '../../../platform/connections/ownership.ts'
import { connectionRoutes } from '../../../platform/connections/routes.ts'
import { stored } from '../../../platform/db/stored.ts'
import { maybe, one, statement, type Tx } from '../../../platform/db.ts'
import { At, ConnectionName, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { type GatewayRow, gatewayColumns, listGateways, Profile, profileOf, sealPlace } from './gateway-store.ts'
import { gatewayLeases, gatewayTopic } from './gateways.ts'

const Name = ConnectionName({ description: 'Unique name of the gateway; it cannot be changed' })
const seconds = (description: string, most: number) =>
  Type.Integer({ minimum: 1, maximum: most, rule: `must be 1 to ${most}`, description })

const needed = {
  host: Type.String({
    maxLength: 253,
    pattern: '^[A-Za-z0-9_.:-]+$',
    rule: 'must be a host name or address',
    description: 'Host of the gateway',
  }),
  port: Type.Integer({
    minimum: 1,
    maximum: 65_535,
    rule: 'must be 1 to 65535',
    description: 'TCP port of the message centre',
  }),
  system_id: Type.String({
    minLength: 1,
    maxLength: 15,
    rule: 'must have 1 to 15 characters',
    description: 'SMPP system_id, assigned by the network',
  }),
  password: Type.String({
    maxLength: 8,
    rule: 'must have at most 8 characters',
    sensitive: true,
    description: 'Password assigned by the network; stored encrypted and never shown',
  }),
}

const shownFields = {
  tls: Type.Boolean({ description: 'True to use TLS, with a certificate of a public authority' }),
  system_type: Type.String({
    maxLength: 12,
    rule: 'must have at most 12 characters',
    description: 'SMPP system_type, where the gateway requires one; mostly empty',
  }),
  bind_mode: OneOf(['transceiver', 'pair'], {
    description: 'Kind of connection: one that sends and receives, or a pair of a transmitter and a receiver',
  }),
  window: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    rule: 'must be 1 to 1000',
    description: 'Maximum number of unanswered screens; default 100',
  }),
  response_timeout_seconds: seconds('Seconds after which an unanswered screen fails; default 10', 60),
  enquire_link_seconds: seconds('Seconds of silence after which the connection is tested; default 30', 3_600),
  prefixes: Type.Array(Type.String({ pattern: '^\\+[1-9]\\d{0,14}$' }), {
    maxItems: 100,
    rule: 'must list at most 100 beginnings of numbers such as +25470',
    description: 'Prefixes of the numbers whose pushed screens use it; empty: all numbers',
  }),
  profile: Profile,
  enabled: Type.Boolean({ description: 'False closes its connections; default true' }),
}

const GatewayCreate = Type.Object(
  { name: Name, ...needed, ...Type.Partial(Type.Object(shownFields)).properties },
  { title: 'UssdSmppGatewayCreate' },
)
const GatewayChange = Type.Partial(Type.Object({ ...needed, ...shownFields }), { title: 'UssdSmppGatewayChange' })

const { password: _, ...shownNeeded } = needed
const GatewayRecord = Type.Object(
  {
    name: Type.String({ description: 'Unique name used in requests' }),
    ...shownNeeded,
    ...shownFields,
    node: Nullable(Type.String({ description: 'Node that holds the connection' })),
    is_up: Type.Boolean({
      description: 'True if screens can be sent over it, according to the last report of its node',
    }),
    last_error: Nullable(Type.String({ description: 'Last error, kept after recovery; null if there was none' })),
    created_at: At({ description: 'Time of entry' }),
    updated_at: At({ description: 'Time of the last change of its settings' }),
  },
  { title: 'UssdSmppGateway' },
)

const maxGateways = 100

const written =
  stored(`name, host, port, tls, system_id, system_type, sealed, bind_mode, window_size, response_timeout_seconds,
  enquire_link_seconds, prefixes::text[], profile::jsonb, enabled, created_at, updated_at`)

type Put = Omit<GatewayRow, 'profile' | 'is_up' | 'last_error'> & { profile: string }

const put = statement.home<Put, GatewayRow>(
  'ussd.put_smpp_gateway',
  `insert into ussd.smpp_gateways as g (${written.names}) values (${written.values})
   on conflict (name) do update set ${written.taken}, is_up = g.is_up and excluded.enabled
   returning ${gatewayColumns}`,
)

const lock = statement.home<{ name: string }, GatewayRow>(
  'ussd.lock_smpp_gateway',
  `select ${gatewayColumns} from ussd.smpp_gateways where name = $name for update`,
)

const remove = statement.home<{ name: string }, { name: string }>(
  'ussd.delete_smpp_gateway',
  'delete from ussd.smpp_gateways where name = $name returning name',
)

async function shown(app: App, row: GatewayRow): Promise<Static<typeof GatewayRecord>> {
  const { sealed: _, window_size: window, profile, ...rest } = row
  const { serviceType, opTag, sessionTag, dialogBytes, ops } = profileOf(profile)
  return {
    ...rest,
    window,
    profile: { service_type: serviceType, op_tag: opTag, session_tag: sessionTag, dialog_bytes: dialogBytes, ops },
    node: await ownerOf(app, gatewayLeases, row.name),
  }
}

type Change = Static<typeof GatewayChange>

/** Checks a profile: operations must differ from one another, and so must tags. */
function checkProfile(given: unknown): void {
  const { ops, opTag, sessionTag } = profileOf(given)
  if (new Set(Object.values(ops)).size < Object.keys(ops).length)
    throw invalid('profile.ops', 'must have a different octet for each operation')
  if (opTag === sessionTag) throw invalid('profile.session_tag', 'must differ from op_tag')
}

function rowOf(app: App, name: string, before: GatewayRow | null, change: Change, now: Date): Put {
  const { password, profile } = change
  const sealed = password === undefined ? before?.sealed : app.secrets.sealForInstallation(sealPlace(name), password)
  const { host, port, system_id } = { ...before, ...change }
  if (host === undefined || port === undefined || system_id === undefined || !sealed)
    throw new Error('a gateway was made without its place')
  return {
    ...{ name, host, port, system_id, sealed },
    tls: change.tls ?? before?.tls ?? false,
    system_type: change.system_type ?? before?.system_type ?? '',
    bind_mode: change.bind_mode ?? before?.bind_mode ?? 'transceiver',
    window_size: change.window ?? before?.window_size ?? 100,
    response_timeout_seconds: change.response_timeout_seconds ?? before?.response_timeout_seconds ?? 10,
    enquire_link_seconds: change.enquire_link_seconds ?? before?.enquire_link_seconds ?? 30,
    prefixes: change.prefixes ?? before?.prefixes ?? [],
    profile: JSON.stringify(profile ?? before?.profile ?? {}),
    enabled: change.enabled ?? before?.enabled ?? true,
    created_at: before?.created_at ?? now,
    updated_at: now,
  }
}

async function kept(app: App, tx: Tx, name: string, before: GatewayRow | null, change: Change, now: Date) {
  checkProfile(change.profile ?? before?.profile)
  const row = await one(tx.query(put, rowOf(app, name, before, change, now)))
  await app.signals.send(tx, gatewayTopic, name)
  return row
}

/** Gateway names are unique in the installation, so each example needs its own. */
const aGateway: Need = {
  operation: 'operator.createUssdSmppGateway',
  id: 'name',
  body: () => ({
    name: `network-${randomBytes(4).toString('hex')}`,
    host: 'ussd.example',
    port: 2775,
    system_id: 'pamoja',
    password: 'secret',
  }),
}

const create = writeAcross({
  method: 'POST',
  path: '/v1/operator/ussd/smpp-gateways',
  operation: 'operator.createUssdSmppGateway',
  summary: 'Create a USSD gateway over SMPP',
  scope: 'operator',
  body: GatewayCreate,
  reply: { status: 201, schema: GatewayRecord, location: ({ name }) => `/v1/operator/ussd/smpp-gateways/${name}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    {
      name: 'One network',
      body: { name: 'network-a', host: 'ussd.example', port: 2775, system_id: 'pamoja', password: 'secret' },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const { name, ...change } = body
    const rows = await tx.query(listGateways, {})
    if (rows.some((row) => row.name === name)) throw new AppError('CONFLICT', `there is a gateway ${name} already`)
    if (rows.length >= maxGateways)
      throw new AppError('CONFLICT', `there are ${maxGateways} gateways already: delete one first`)
    const row = await kept(app, tx, name, null, change, new Date(caller.receivedMs))
    const { host, port } = row
    await record(tx, caller, 'ussd.create_smpp_gateway', name, { after: { host, port } })
    return shown(app, row)
  },
})

const change = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/ussd/smpp-gateways/:id',
  operation: 'operator.changeUssdSmppGateway',
  summary: 'Update a USSD gateway over SMPP',
  scope: 'operator',
  params: IdParam,
  body: GatewayChange,
  needs: aGateway,
  reply: { status: 200, schema: GatewayRecord },
  errors: ['VALIDATION_ERROR', 'NOT_FOUND'],
  examples: [{ name: 'Disable the gateway', body: { enabled: false } }],
  handle: async (app, tx, { params, body }, caller) => {
    const before = await maybe(tx.query(lock, { name: params.id }))
    if (!before) throw noSuchGateway()
    const row = await kept(app, tx, params.id, before, body, new Date(caller.receivedMs))
    await record(tx, caller, 'ussd.change_smpp_gateway', params.id, { after: { enabled: row.enabled } })
    return shown(app, row)
  },
})

export const smppGatewayRoutes = connectionRoutes(
  {
    path: '/v1/operator/ussd/smpp-gateways',
    record: GatewayRecord,
    needs: aGateway,
    rows: listGateways,
    nameOf: ({ name }) => name,
    show: shown,
    none: noSuchGateway,
    list: {
      operation: 'operator.listUssdSmppGateways',
      summary: 'List USSD gateways over SMPP and their health',
      example: 'All',
    },
    get: { operation: 'operator.getUssdSmppGateway', summary: 'Get a USSD gateway over SMPP and its health' },
    remove: {
      operation: 'operator.deleteUssdSmppGateway',
      summary: 'Delete a USSD gateway over SMPP',
      ...{ action: 'ussd.delete_smpp_gateway', topic: gatewayTopic },
      run: async (tx, name) => (await tx.query(remove, { name })).length > 0,
    },
  },
  [create, change],
)

function noSuchGateway(): AppError {
  return new AppError('NOT_FOUND', 'there is no gateway of this name')
}
