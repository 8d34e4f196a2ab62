// SPDX-License-Identifier: Apache-2.0
// Operator routes of trunks: changes apply without a restart.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { connectionRoutes } from '../../../platform/connections/routes.ts'
import { maybe, one } from '../../../platform/db.ts'
import { At, ConnectionName, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { codecs } from '../../../protocols/audio/codec.ts'
import { hasOpus } from '../../../protocols/audio/opus.ts'
import { srtpPolicies, usualCodecs } from '../../../protocols/sdp/session-description.ts'
import { numberFormats } from './number-form.ts'
import {
  deleteTrunk,
  insertTrunk,
  lockTrunk,
  sealPassword,
  selectTrunks,
  type TrunkParameters,
  type TrunkRow,
  trunkTopic,
  updateTrunk,
} from './store.ts'
import { telephoneNetworkOf } from './telephone-network.ts'

const Text = (description: string) => Type.String({ minLength: 1, maxLength: 253, description })

const TrunkCost = Type.Object({
  prefix: Type.String({
    pattern: '^\\+\\d{0,15}$',
    rule: 'must begin with a plus; + alone matches every number',
    description: 'First digits of the called numbers; the longest match applies',
  }),
  minute: Type.Number({
    minimum: 0,
    maximum: 1_000_000,
    description: 'Price per minute, in the currency used to compare all trunks',
  }),
})

const fields = {
  host: Type.String({
    pattern: '^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$',
    rule: 'must be a host name or an address',
    description:
      'Address or name of the network’s SIP server. A name is looked up every 30 seconds; without `port` its SRV records are used, in their order',
  }),
  port: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description: 'Port of the network; default: that of the SRV records of `host`, otherwise 5060, or 5061 for TLS',
    }),
  ),
  transport: Type.Optional(OneOf(['udp', 'tcp', 'tls'], { description: 'SIP transport to the network; default udp' })),
  domain: Type.Optional(Nullable(Text('Domain of the network in SIP addresses; default: the host'))),
  username: Type.Optional(Nullable(Text('User name, for networks that require a password'))),
  password: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 256,
        sensitive: true,
        description: 'Password, stored encrypted and never shown; null removes it',
      }),
    ),
  ),
  registers: Type.Optional(
    Type.Boolean({
      description:
        'True registers with the network, for networks that send calls to the registered address; default false',
    }),
  ),
  prefixes: Type.Optional(
    Type.Array(
      Type.String({ pattern: '^\\+\\d{0,15}$', rule: 'must begin with a plus; + alone matches every number' }),
      {
        minItems: 1,
        maxItems: 500,
        description: 'Prefixes of the called numbers that use it; the longest match wins',
      },
    ),
  ),
  priority: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000, description: 'Order of preference, lowest first; default 100' }),
  ),
  max_calls: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Maximum number of concurrent calls per node; default 100',
    }),
  ),
  sources: Type.Optional(
    Type.Array(Type.String({ pattern: '^[0-9a-fA-F.:]{2,45}$', rule: 'must be an address' }), {
      maxItems: 100,
      description: 'Further source addresses of inbound calls',
    }),
  ),
  number_format: Type.Optional(
    OneOf(numberFormats, {
      description:
        'Form of the numbers sent to it: e164 (+254711000001, the default), digits (254711000001), international (00254711000001) or national (0711000001; numbers of other countries as international). Every form is accepted from it',
    }),
  ),
  country: Type.Optional(
    Nullable(
      Type.String({
        pattern: '^[A-Z]{2}$',
        rule: 'must be a country code of two letters, such as KE',
        description: 'Country of its national numbers, ISO 3166; default: the country of its prefixes',
      }),
    ),
  ),
  srtp: Type.Optional(
    OneOf(srtpPolicies, {
      description:
        'Encryption of audio (SRTP with SDES keys): `off`, `optional` (if the network supports it) or `required` (calls without it fail). Requires the transport tls; default `optional` with tls and `off` otherwise',
    }),
  ),
  codecs: Type.Optional(
    Type.Array(OneOf(codecs), {
      minItems: 1,
      uniqueItems: true,
      description:
        'Audio codecs in order of preference, as offered to the network; default PCMU, PCMA and G722. Of the codecs that the network offers the first of this list is used; between PCMU and PCMA the network’s order decides. opus, at 8,000 samples a second like the others, takes a third of their bandwidth and conceals lost packets; it requires the package libopus-wasm',
    }),
  ),
  weight: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: 'Share of calls among trunks with the same prefix, priority and cost; 1 by default',
    }),
  ),
  costs: Type.Optional(
    Type.Array(TrunkCost, {
      maxItems: 2_000,
      description:
        'Prices of this network. Among trunks with the same prefix and priority the cheapest is used first, and one without a price last',
    }),
  ),
  caller_ids: Type.Optional(
    Type.Array(Type.String({ pattern: '^\\+\\d{1,15}$', rule: 'must begin with a plus' }), {
      maxItems: 500,
      description: 'Prefixes of the caller numbers that the network accepts; empty accepts every number',
    }),
  ),
  caller_id: Type.Optional(
    Nullable(
      Type.String({
        pattern: '^\\+\\d{5,15}$',
        rule: 'must be a number such as +254700000000',
        description: 'Caller number that replaces one the network does not accept; null skips the trunk',
      }),
    ),
  ),
  follows_redirects: Type.Optional(
    Type.Boolean({
      description:
        'True follows a redirect (302) to an address of the trunk: its host or one of its sources; default false',
    }),
  ),
  follows_transfers: Type.Optional(
    Type.Boolean({
      description:
        'True allows a party called by `connect` over this trunk to transfer to another number (REFER), which is called and charged like one of `connect`; default false',
    }),
  ),
  transfers_to: Type.Optional(
    Type.Array(
      Type.String({ pattern: '^\\+\\d{0,15}$', rule: 'must begin with a plus; + alone matches every number' }),
      {
        maxItems: 500,
        description:
          'First digits of the numbers to which callers may be transferred by the network (REFER), which charges you and not the account; default empty, for none',
      },
    ),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'False disables calls over it, outbound and inbound' })),
}

const TrunkName = ConnectionName({ description: 'Unique name of the trunk; it cannot be changed' })
const TrunkCreate = Type.Object({ name: TrunkName, ...fields })
const TrunkChange = Type.Partial(Type.Object(fields))

const TrunkRecord = Type.Object(
  {
    name: Type.String({ description: 'Unique name used in requests' }),
    host: Type.String({ description: 'Address or name of the network’s SIP server' }),
    port: Type.Integer({
      description: 'Port of the network; 0: that of the SRV records of `host`, otherwise 5060, or 5061 for TLS',
    }),
    transport: OneOf(['udp', 'tcp', 'tls'], { description: 'SIP transport to the network' }),
    domain: Nullable(Type.String({ description: 'Domain of the network in SIP addresses; null: the host' })),
    username: Nullable(Type.String({ description: 'User name at the network; null if it requires none' })),
    has_password: Type.Boolean({ description: 'True if a password is stored; the password is never shown' }),
    registers: Type.Boolean({ description: 'True if this side registers with the network' }),
    prefixes: Type.Array(Type.String(), {
      description: 'First digits of the called numbers that use it; `+` alone matches every number',
    }),
    priority: Type.Integer({ description: 'Order of preference among matching trunks, lowest first' }),
    max_calls: Type.Integer({ description: 'Maximum number of concurrent calls per node' }),
    sources: Type.Array(Type.String(), { description: 'Source addresses of its calls, besides that of the host' }),
    number_format: OneOf(numberFormats, { description: 'Form of the numbers sent to it' }),
    country: Nullable(
      Type.String({ description: 'Country of its national numbers; null: the country of its prefixes' }),
    ),
    srtp: OneOf(srtpPolicies, { description: 'Encryption of audio: off, optional or required' }),
    codecs: Type.Array(OneOf(codecs), { description: 'Audio codecs, the best first' }),
    weight: Type.Integer({ description: 'Share of calls among trunks with the same prefix, priority and cost' }),
    costs: Type.Array(TrunkCost, { description: 'Prices of this network, used to choose the cheapest trunk' }),
    caller_ids: Type.Array(Type.String(), {
      description: 'Prefixes of the caller numbers that the network accepts; empty accepts every number',
    }),
    caller_id: Nullable(
      Type.String({
        description: 'Caller number that replaces one the network does not accept; null skips the trunk',
      }),
    ),
    follows_redirects: Type.Boolean({ description: 'True if a redirect to an address of the trunk is followed' }),
    follows_transfers: Type.Boolean({
      description: 'True if a party called by `connect` may transfer to another number (REFER)',
    }),
    transfers_to: Type.Array(Type.String(), {
      description: 'First digits of the numbers to which callers may be transferred by the network (REFER)',
    }),
    enabled: Type.Boolean({ description: 'False disables calls over it, outbound and inbound' }),
    is_up: Type.Boolean({ description: 'True if it responds, according to the replying node' }),
    is_registered: Type.Boolean({
      description: 'True if the network accepted the registration, according to the replying node',
    }),
    calls: Type.Integer({ description: 'Number of its calls on the replying node' }),
    last_error: Nullable(
      Type.String({ description: 'Reason why it is down, according to the replying node; null while it is up' }),
    ),
    created_at: At({ description: 'Time of entry' }),
    updated_at: At({ description: 'Time of the last change of its settings' }),
  },
  { title: 'VoiceTrunk' },
)

type Wanted = Static<typeof TrunkChange>

const createTrunk = writeAcross({
  method: 'POST',
  path: '/v1/operator/voice/trunks',
  operation: 'operator.createVoiceTrunk',
  summary: 'Create a SIP trunk',
  description: 'Calls with live keys go over the trunk with the longest prefix, then over the others in turn.',
  scope: 'operator',
  body: TrunkCreate,
  reply: { status: 201, schema: TrunkRecord, location: ({ name }) => `/v1/operator/voice/trunks/${name}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT', 'PROVIDER_UNAVAILABLE'],
  examples: [
    {
      name: 'A trunk with a password',
      body: { name: 'network-a', host: 'sip.example', username: 'pamoja', password: 'secret', prefixes: ['+254'] },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const { name, ...wanted } = body
    const row = await maybe(tx.query(insertTrunk, await parametersOf(app, caller, name, wanted, null)))
    if (!row) throw new AppError('CONFLICT', 'a trunk of this name exists; update it instead')
    await record(tx, caller, 'voice.create_trunk', name, { after: shown(row) })
    await app.signals.send(tx, trunkTopic, name)
    return trunkRecord(app, row)
  },
})

const changeTrunk = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/voice/trunks/:id',
  operation: 'operator.changeVoiceTrunk',
  summary: 'Update a SIP trunk',
  scope: 'operator',
  params: IdParam,
  body: TrunkChange,
  needs: 'nothing',
  reply: { status: 200, schema: TrunkRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'PROVIDER_UNAVAILABLE'],
  handle: async (app, tx, { params, body }, caller) => {
    const before = await maybe(tx.query(lockTrunk, { name: params.id }))
    if (!before) throw noSuchTrunk()
    const row = await one(tx.query(updateTrunk, await parametersOf(app, caller, before.name, body, before)))
    await record(tx, caller, 'voice.change_trunk', row.name, { before: shown(before), after: shown(row) })
    await app.signals.send(tx, trunkTopic, row.name)
    return trunkRecord(app, row)
  },
})

export const trunkRoutes = connectionRoutes(
  {
    path: '/v1/operator/voice/trunks',
    record: TrunkRecord,
    needs: 'nothing',
    rows: selectTrunks,
    nameOf: ({ name }) => name,
    show: trunkRecord,
    none: noSuchTrunk,
    list: {
      operation: 'operator.listVoiceTrunks',
      summary: 'List SIP trunks and their health',
      example: 'All trunks',
    },
    get: { operation: 'operator.getVoiceTrunk', summary: 'Get a SIP trunk and its health' },
    remove: {
      operation: 'operator.removeVoiceTrunk',
      summary: 'Delete a SIP trunk',
      ...{ action: 'voice.remove_trunk', topic: trunkTopic },
      run: async (tx, name) => (await tx.query(deleteTrunk, { name })).length > 0,
    },
    test: {
      operation: 'operator.testVoiceTrunk',
      summary: 'Test a SIP trunk',
      run: (app, row, probe) => telephoneNetworkOf(app).trunks.test(row, probe),
    },
  },
  [createTrunk, changeTrunk],
)

/** Sealed password of a request; as it is stored where the request has none. */
async function sealedOf(
  app: App,
  { tenant: { bucket, account } }: Caller,
  name: string,
  password: string | null | undefined,
  before: TrunkRow | null,
): Promise<Pick<TrunkParameters, 'secret' | 'sealed_bucket' | 'sealed_account'>> {
  const none = { secret: null, sealed_bucket: null, sealed_account: null }
  if (password === undefined) return before ?? none
  if (password === null) return none
  const secret = await sealPassword(app, { bucket, account }, name, password)
  return { secret, sealed_bucket: bucket, sealed_account: account }
}

/** Settings of a trunk that was made without them. */
const usual = {
  port: 0,
  domain: null,
  prefixes: ['+'],
  priority: 100,
  max_calls: 100,
  sources: [],
  number_format: 'e164' as const,
  country: null,
  codecs: [...usualCodecs],
  weight: 1,
  caller_ids: [],
  caller_id: null,
  follows_redirects: false,
  follows_transfers: false,
  transfers_to: [],
  enabled: true,
}

/** Trunk of a request merged with its stored row. */
async function parametersOf(
  app: App,
  caller: Caller,
  name: string,
  wanted: Wanted,
  before: TrunkRow | null,
): Promise<TrunkParameters> {
  const host = wanted.host ?? before?.host
  if (host === undefined) throw invalid('host', 'is needed: the name or address of the network’s SIP server')
  const sealed = await sealedOf(app, caller, name, wanted.password, before)
  const username = wanted.username === undefined ? (before?.username ?? null) : wanted.username
  const registers = wanted.registers ?? before?.registers ?? false
  if (registers && (username === null || sealed.secret === null))
    throw invalid('username', 'and password are needed by a trunk that registers')
  const transport = wanted.transport ?? before?.transport ?? 'udp'
  const srtp = wanted.srtp ?? before?.srtp ?? (transport === 'tls' ? 'optional' : 'off')
  if (srtp !== 'off' && transport !== 'tls')
    throw invalid(
      'srtp',
      `must be off with transport ${transport}: SIP would carry the audio keys unencrypted; use tls`,
    )
  if (wanted.codecs?.includes('opus') && !hasOpus())
    throw new AppError(
      'PROVIDER_UNAVAILABLE',
      'opus needs the package libopus-wasm, which is not installed (npm install libopus-wasm)',
      { retryAfterSeconds: 3_600 },
    )
  const { costs, password: _, ...given } = wanted
  return {
    ...usual,
    ...before,
    ...sealed,
    ...given,
    ...{ name, host, username, registers, transport, srtp },
    costs: JSON.stringify(costs ?? before?.costs ?? []),
    at: new Date(caller.receivedMs),
  }
}

function noSuchTrunk(): AppError {
  return new AppError('NOT_FOUND', 'there is no trunk of this name')
}

/** Trunk for the audit log, without its password. */
function shown(row: TrunkRow) {
  const {
    secret: _secret,
    sealed_bucket: _bucket,
    sealed_account: _account,
    created_at: _at,
    updated_at: _changed,
    ...shown
  } = row
  return shown
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
