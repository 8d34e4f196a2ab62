// SPDX-License-Identifier: Apache-2.0
// Operator routes of trunks: changes apply without a restart.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, type Route, read, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one } from '../../../platform/db.ts'
import { At, ConnectionName, Deleted, Nullable, OneOf, wholeListQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import {
  deleteTrunk,
  insertTrunk,
  lockTrunk,
  passwordOf,
  sealPassword,
  selectTrunks,
  type TrunkParameters,
  type TrunkRow,
  trunkTopic,
  updateTrunk,
} from './store.ts'
import { telephoneNetworkOf } from './telephone-network.ts'

const Text = (description: string) => Type.String({ minLength: 1, maxLength: 253, description })

const fields = {
  host: Type.String({
    pattern: '^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$',
    rule: 'must be a host name or an address',
    description: 'Where the network takes calls',
  }),
  port: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description: 'Port of the network; 5060, or 5061 for TLS, unless told',
    }),
  ),
  transport: Type.Optional(
    OneOf(['udp', 'tcp', 'tls'], { description: 'How SIP travels to the network; udp unless told' }),
  ),
  domain: Type.Optional(Nullable(Text('Name of the network in SIP addresses, where it is not the host'))),
  username: Type.Optional(Nullable(Text('For networks that ask for a password'))),
  password: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 256,
        sensitive: true,
        description: 'Kept encrypted and never shown; null takes it away',
      }),
    ),
  ),
  registers: Type.Optional(
    Type.Boolean({ description: 'Whether this side registers there, so that it can be called behind its address' }),
  ),
  prefixes: Type.Optional(
    Type.Array(Type.String({ pattern: '^\\+\\d{0,15}$', rule: 'must begin with a plus; + alone takes every number' }), {
      minItems: 1,
      maxItems: 500,
      description: 'Numbers that it takes, by their first digits; the longest that fits decides',
    }),
  ),
  priority: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000, description: 'Lower comes first; 100 unless told' }),
  ),
  max_calls: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, description: 'Calls at once, for each node; 100 unless told' }),
  ),
  sources: Type.Optional(
    Type.Array(Type.String({ pattern: '^[0-9a-fA-F.:]{2,45}$', rule: 'must be an address' }), {
      maxItems: 100,
      description: 'Further addresses that its calls come from',
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'False: no calls go over it, and none are taken from it' })),
}

const TrunkName = ConnectionName({ description: 'By which you tell it from other trunks; it cannot be changed' })
const TrunkCreate = Type.Object({ name: TrunkName, ...fields })
const TrunkChange = Type.Partial(Type.Object(fields))

const TrunkRecord = Type.Object(
  {
    name: Type.String({ description: 'By which requests name it' }),
    host: Type.String({ description: 'Where the network takes calls' }),
    port: Type.Integer({ description: 'Its port there; 5060, or 5061 for TLS, unless told' }),
    transport: OneOf(['udp', 'tcp', 'tls'], { description: 'How SIP travels to the network' }),
    domain: Nullable(Type.String({ description: 'Name of the network in SIP addresses; null where it is the host' })),
    username: Nullable(Type.String({ description: 'Ours there; null for a network that asks for none' })),
    has_password: Type.Boolean({ description: 'Whether a password is kept, which is never shown' }),
    registers: Type.Boolean({ description: 'Whether this side registers there' }),
    prefixes: Type.Array(Type.String(), {
      description: 'First digits of the numbers that it takes; + alone takes every number',
    }),
    priority: Type.Integer({ description: 'Of trunks that fit as well, the lower comes first' }),
    max_calls: Type.Integer({ description: 'Calls at once, for each node' }),
    sources: Type.Array(Type.String(), { description: 'Addresses that its calls come from, beside that of the host' }),
    enabled: Type.Boolean({ description: 'False: no calls go over it, and none are taken from it' }),
    is_up: Type.Boolean({ description: 'Whether it answers, as the answering node sees it' }),
    is_registered: Type.Boolean({
      description: 'Whether the network took our registration, as the answering node sees it',
    }),
    calls: Type.Integer({ description: 'Calls over it on the answering node' }),
    last_error: Nullable(
      Type.String({ description: 'Why it is down, as the answering node sees it; null while it is up' }),
    ),
    created_at: At({ description: 'When it was entered' }),
    updated_at: At({ description: 'When its settings last changed' }),
  },
  { title: 'VoiceTrunk' },
)

type Wanted = Static<typeof TrunkChange>

const listTrunks = list({
  path: '/v1/operator/voice/trunks',
  operation: 'operator.listVoiceTrunks',
  summary: 'List the connections to telephone networks, and how they are doing',
  scope: 'operator',
  query: Type.Object(wholeListQuery),
  row: TrunkRecord,
  examples: [{ name: 'All trunks' }],
  handle: async (app, { query }) => {
    const rows = (await app.db.query(selectTrunks, {})).map((row) => trunkRecord(app, row))
    return pageOfWhole(query, rows, ({ name }) => name)
  },
})

const createTrunk = writeAcross({
  method: 'POST',
  path: '/v1/operator/voice/trunks',
  operation: 'operator.createVoiceTrunk',
  summary: 'Connect to a telephone network over SIP',
  description:
    'Calls with live keys go over trunks: over the one with the longest prefix, then over the others in turn.',
  scope: 'operator',
  body: TrunkCreate,
  reply: { status: 201, schema: TrunkRecord, location: ({ name }) => `/v1/operator/voice/trunks/${name}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    {
      name: 'A network that asks for a password',
      body: { name: 'network-a', host: 'sip.example', username: 'pamoja', password: 'secret', prefixes: ['+254'] },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const { name, ...wanted } = body
    const row = await maybe(tx.query(insertTrunk, await parametersOf(app, caller, name, wanted, null)))
    if (!row) throw new AppError('CONFLICT', 'a trunk of that name exists; change it instead')
    await record(tx, caller, 'voice.create_trunk', name, { after: shown(row) })
    await app.signals.send(tx, trunkTopic, name)
    return trunkRecord(app, row)
  },
})

const changeTrunk = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/voice/trunks/:id',
  operation: 'operator.changeVoiceTrunk',
  summary: 'Change a connection to a telephone network',
  scope: 'operator',
  params: IdParam,
  body: TrunkChange,
  needs: 'nothing',
  reply: { status: 200, schema: TrunkRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params, body }, caller) => {
    const before = await maybe(tx.query(lockTrunk, { name: params.id }))
    if (!before) throw noSuchTrunk()
    const row = await one(tx.query(updateTrunk, await parametersOf(app, caller, before.name, body, before)))
    await record(tx, caller, 'voice.change_trunk', row.name, { before: shown(before), after: shown(row) })
    await app.signals.send(tx, trunkTopic, row.name)
    return trunkRecord(app, row)
  },
})

const getTrunk = read({
  method: 'GET',
  path: '/v1/operator/voice/trunks/:id',
  operation: 'operator.getVoiceTrunk',
  summary: 'Read a connection to a telephone network, and how it is doing',
  scope: 'operator',
  params: IdParam,
  needs: 'nothing',
  reply: { status: 200, schema: TrunkRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }) => {
    const row = (await app.db.query(selectTrunks, {})).find(({ name }) => name === params.id)
    if (!row) throw noSuchTrunk()
    return trunkRecord(app, row)
  },
})

const removeTrunk = writeAcross({
  method: 'DELETE',
  path: '/v1/operator/voice/trunks/:id',
  operation: 'operator.removeVoiceTrunk',
  summary: 'Give up a connection to a telephone network; calls over it go on',
  scope: 'operator',
  params: IdParam,
  needs: 'nothing',
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    if (!(await maybe(tx.query(deleteTrunk, { name: params.id })))) throw noSuchTrunk()
    await record(tx, caller, 'voice.remove_trunk', params.id, { after: {} })
    await app.signals.send(tx, trunkTopic, params.id)
    return { id: params.id, deleted: true as const }
  },
})

/** Trunk of a request merged with its stored row. A new password is sealed; otherwise the old one is kept. */
async function parametersOf(
  app: App,
  caller: Caller,
  name: string,
  wanted: Wanted,
  before: TrunkRow | null,
): Promise<TrunkParameters> {
  const { bucket, account } = caller.tenant
  const host = wanted.host ?? before?.host
  if (host === undefined) throw invalid('host', 'is needed: the name or address of the network’s SIP server')
  const known = before && wanted.password === undefined ? await passwordOf(app, before).catch(() => null) : null
  const password = wanted.password ?? known
  const username = wanted.username === undefined ? (before?.username ?? null) : wanted.username
  const registers = wanted.registers ?? before?.registers ?? false
  if (registers && (username === null || password === null))
    throw invalid('username', 'and password are needed by a trunk that registers')
  return {
    name,
    host,
    port: wanted.port ?? before?.port ?? 0,
    transport: wanted.transport ?? before?.transport ?? 'udp',
    domain: wanted.domain === undefined ? (before?.domain ?? null) : wanted.domain,
    username,
    secret: password === null ? null : await sealPassword(app, { bucket, account }, name, password),
    sealedBucket: password === null ? null : bucket,
    sealedAccount: password === null ? null : account,
    registers,
    prefixes: wanted.prefixes ?? before?.prefixes ?? ['+'],
    priority: wanted.priority ?? before?.priority ?? 100,
    maxCalls: wanted.max_calls ?? before?.max_calls ?? 100,
    sources: wanted.sources ?? before?.sources ?? [],
    enabled: wanted.enabled ?? before?.enabled ?? true,
    at: new Date(caller.receivedMs),
  }
}

function noSuchTrunk(): AppError {
  return new AppError('NOT_FOUND', 'there is no trunk of this name')
}

/** Trunk for the audit log, without its password. */
function shown({ host, port, transport, username, registers, prefixes, priority, enabled }: TrunkRow) {
  return { host, port, transport, username, registers, prefixes, priority, enabled }
}

function trunkRecord(app: App, row: TrunkRow): Static<typeof TrunkRecord> {
  const state = telephoneNetworkOf(app).trunks.stateOf(row.name)
  const { secret, sealed_bucket: _bucket, sealed_account: _account, ...open } = row
  return {
    ...open,
    has_password: secret !== null,
    is_up: state?.isUp ?? false,
    is_registered: state?.isRegistered ?? false,
    calls: state?.calls ?? 0,
    last_error: state?.lastError ?? null,
  }
}

export const trunkRoutes: readonly Route[] = [listTrunks, createTrunk, getTrunk, changeTrunk, removeTrunk]
