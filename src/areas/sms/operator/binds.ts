// SPDX-License-Identifier: Apache-2.0
// Binds as operators manage them: made, changed and given up without a restart. What a bind may say is what every bind has
// and the settings of all kinds of carrier; which of them belong together its kind decides.
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { redact } from '../../../platform/api/json.ts'
import { IdParam, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { ownerOf } from '../../../platform/connections/ownership.ts'
import { connectionRoutes } from '../../../platform/connections/routes.ts'
import { maybe, one, statement, type Tx } from '../../../platform/db.ts'
import { At, ConnectionName, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import {
  type BindRow,
  bindColumns,
  bindOf,
  type CarrierKind,
  newToken,
  noticeUrl,
  sealSecret,
} from '../carriers/bind.ts'
import { carrierKinds } from '../carriers/kinds.ts'
import { unmasked } from '../carriers/masking.ts'
import { bindLeases, isSandbox, networkOf } from '../network/network.ts'

const defaultWindow = 10
const defaultTimeoutSeconds = 4

const BindName = ConnectionName({ description: 'Unique name used by routes; it cannot be changed' })

const Kind = OneOf([...carrierKinds.keys()], { description: 'Protocol; default `smpp`' })

/** Settings of all kinds of carriers. */
const kindFields: TProperties = Object.assign({}, ...[...carrierKinds.values()].map(({ fields }) => fields))
const { password: _, ...shownFields } = kindFields

const common = {
  window: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      rule: 'must be 1 to 1000',
      description: 'Maximum number of unanswered messages of one session',
    }),
  ),
  rate: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: 100_000, description: 'Messages per second; null: no limit' })),
  ),
  response_timeout_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 60,
      rule: 'must be 1 to 60',
      description: 'Seconds after which an unanswered message takes another route',
    }),
  ),
  enabled: Type.Optional(
    Type.Boolean({ description: 'False closes its connections and sends no messages over it; default true' }),
  ),
}

const head = { name: BindName, kind: Type.Optional(Kind) }
const BindCreate: TObject<typeof head & typeof common> = withKinds({ ...head, ...common }, kindFields)
const BindChange: TObject<typeof common> = withKinds(common, kindFields)

const shown = {
  name: Type.String({ description: 'Unique name used by routes' }),
  kind: Type.String({ description: 'Protocol, such as `smpp`' }),
  window: Type.Integer({ description: 'Maximum number of unanswered messages of one session' }),
  rate: Nullable(Type.Integer({ description: 'Messages per second; null: no limit' })),
  response_timeout_seconds: Type.Integer({
    description: 'Seconds after which an unanswered message takes another route',
  }),
  enabled: Type.Boolean({ description: 'False closes its connections and sends no messages over it' }),
  in_force: Type.Boolean({ description: 'True if the replying node already uses these settings' }),
  node: Nullable(Type.String({ description: 'Node that holds the connection' })),
  is_up: Type.Boolean({
    description: 'True if messages can be sent over it, according to that node or its last report',
  }),
  last_error: Nullable(Type.String({ description: 'Last error, according to that node or its last report' })),
  bound: Type.Integer({
    description:
      'Open sessions of the replying node, a pair counting as one; for `http` 1 while it responds. This and the fields below are known only to the node that holds the connection',
  }),
  pending: Type.Integer({ description: 'Messages waiting for the carrier or its response' }),
  current_rate: Nullable(Type.Number({ description: 'Messages per second, after throttling by the carrier' })),
  receipts_url: Nullable(Type.String({ description: 'URL that the carrier calls with receipts', sensitive: true })),
  inbound_url: Nullable(
    Type.String({ description: 'URL that the carrier calls with inbound messages', sensitive: true }),
  ),
  created_at: At({ description: 'Time of entry' }),
  updated_at: At({ description: 'Time of the last change' }),
}

const BindRecord: TObject<typeof shown> = withKinds(shown, shownFields, 'SmsBind')

/** Schema that also allows the fields of every kind. */
function withKinds<P extends TProperties>(own: P, fields: TProperties, title?: string): TObject<P> {
  const open: Record<string, TSchema> = Type.Partial(Type.Object(fields)).properties
  return Type.Object({ ...open, ...own }, title === undefined ? {} : { title })
}

/** Bind with the status last stored by the node that has it open. */
type SeenRow = BindRow & { is_up: boolean; last_error: string | null }
const seenColumns = `${bindColumns}, is_up, last_error`

const selectBinds = statement.home<Record<never, never>, SeenRow>(
  'sms.list_binds',
  `select ${seenColumns} from sms.binds order by name`,
)

const lockBind = statement.home<{ name: string }, BindRow>(
  'sms.lock_bind',
  `select ${bindColumns} from sms.binds where name = $name for update`,
)

interface BindParameters {
  name: string
  settings: string
  secret: Buffer
  sealedBucket: number
  sealedAccount: string
  window: number
  rate: number | null
  responseTimeoutSeconds: number
  enabled: boolean
  at: Date
}

const insertBind = statement.home<BindParameters & { kind: string }, SeenRow>(
  'sms.insert_bind',
  `insert into sms.binds (${bindColumns})
   values ($name, $kind, $settings::jsonb, $secret, $sealedBucket, $sealedAccount, $window, $rate,
     $responseTimeoutSeconds, $enabled, $at, $at)
   on conflict do nothing
   returning ${seenColumns}`,
)

const updateBind = statement.home<BindParameters, SeenRow>(
  'sms.update_bind',
  `update sms.binds
      set settings = $settings::jsonb, secret = $secret, sealed_bucket = $sealedBucket,
          sealed_account = $sealedAccount, window_size = $window, rate = $rate,
          response_timeout_seconds = $responseTimeoutSeconds, enabled = $enabled, updated_at = $at
    where name = $name
   returning ${seenColumns}`,
)

const deleteBind = statement.home<{ name: string }, { name: string }>(
  'sms.delete_bind',
  'delete from sms.binds where name = $name returning name',
)

const routesOver = statement.home<{ name: string }, { id: string }>(
  'sms.routes_over',
  `select r.id from sms.routes r
    where exists (select from jsonb_array_elements(r.tiers) t, jsonb_array_elements(t) m where m ->> 'bind' = $name)
    limit 1`,
)

const createBind = writeAcross({
  method: 'POST',
  path: '/v1/operator/sms/binds',
  operation: 'operator.createSmsBind',
  summary: 'Create a carrier connection',
  scope: 'operator',
  body: BindCreate,
  reply: { status: 201, schema: BindRecord, location: ({ name }) => `/v1/operator/sms/binds/${name}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    {
      name: 'One operator',
      body: {
        name: 'operator-a',
        ...{ host: 'smsc.example', port: 2775, system_id: 'pamoja', password: 'secret' },
      },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const { name, kind = 'smpp' } = body
    const settings = settingsOf(kind, body, {})
    const row = isSandbox(name)
      ? null
      : await maybe(
          tx.query(insertBind, {
            name,
            kind,
            ...(await sealed(app, caller, { name, kind }, settings, newToken())),
            window: body.window ?? defaultWindow,
            rate: body.rate ?? null,
            responseTimeoutSeconds: body.response_timeout_seconds ?? defaultTimeoutSeconds,
            enabled: body.enabled ?? true,
            at: new Date(caller.receivedMs),
          }),
        )
    if (!row) throw new AppError('CONFLICT', 'a bind of this name exists; update it instead')
    return announced(app, tx, caller, 'sms.create_bind', row)
  },
})

const changeBind = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/sms/binds/:id',
  operation: 'operator.changeSmsBind',
  summary: 'Update a carrier connection',
  scope: 'operator',
  params: IdParam,
  body: BindChange,
  reply: { status: 200, schema: BindRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params, body }, caller) => {
    const before = await maybe(tx.query(lockBind, { name: params.id }))
    if (!before) throw noSuchBind()
    // A bind whose secret can no longer be decrypted is repaired by a new one.
    const lost = { settings: before.settings, token: newToken() }
    const { settings, token } = await bindOf(app, before).catch(() => lost)
    const row = await one(
      tx.query(updateBind, {
        name: before.name,
        ...(await sealed(app, caller, before, settingsOf(before.kind, body, settings), token)),
        window: body.window ?? before.window_size,
        rate: body.rate === undefined ? before.rate : body.rate,
        responseTimeoutSeconds: body.response_timeout_seconds ?? before.response_timeout_seconds,
        enabled: body.enabled ?? before.enabled,
        at: new Date(caller.receivedMs),
      }),
    )
    return announced(app, tx, caller, 'sms.change_bind', row)
  },
})

export const bindRoutes = connectionRoutes(
  {
    path: '/v1/operator/sms/binds',
    record: BindRecord,
    rows: selectBinds,
    nameOf: ({ name }) => name,
    show: bindRecord,
    none: noSuchBind,
    list: {
      operation: 'operator.listSmsBinds',
      summary: 'List carrier connections and their health',
      example: 'All binds',
    },
    get: { operation: 'operator.getSmsBind', summary: 'Get a carrier connection and its health' },
    remove: {
      operation: 'operator.removeSmsBind',
      summary: 'Delete a carrier connection',
      errors: ['CONFLICT'],
      ...{ action: 'sms.remove_bind', topic: 'sms' },
      async run(tx, name) {
        if (!(await maybe(tx.query(lockBind, { name })))) return false
        const [used] = await tx.query(routesOver, { name })
        if (used) throw new AppError('CONFLICT', `the route ${idOf('smsRoute', used.id)} uses this bind`)
        return (await tx.query(deleteBind, { name })).length > 0
      },
    },
    test: {
      operation: 'operator.testSmsBind',
      summary: 'Test a carrier connection',
      run: async (app, row, probe) => kindOf(row.kind).test(await bindOf(app, row), probe),
    },
  },
  [createBind, changeBind],
)

/** Settings of a kind from a request, checked; those not given stay as they were. */
function settingsOf(kindName: string, said: object, before: object): object {
  const kind = kindOf(kindName)
  const given = Object.entries(said).filter(([name]) => name in kindFields)
  for (const [name] of given)
    if (!(name in kind.fields)) throw new AppError('VALIDATION_ERROR', `${name} is not a setting of ${kindName} binds`)
  return kind.check(Object(unmasked({ ...before, ...Object.fromEntries(given) }, before)))
}

function kindOf(name: string): CarrierKind {
  const kind = carrierKinds.get(name)
  if (!kind) throw new AppError('VALIDATION_ERROR', `kind ${name} is not known`)
  return kind
}

type Sealed = Pick<BindParameters, 'settings' | 'secret' | 'sealedBucket' | 'sealedAccount'>

/**
 * All settings are sealed, because any header or field of a profile may be a key; the visible ones are also stored in
 * the clear.
 */
async function sealed(
  app: App,
  { tenant }: Caller,
  { name, kind }: Pick<BindRow, 'name' | 'kind'>,
  all: object,
  token: string,
): Promise<Sealed> {
  const { bucket, account } = tenant
  const { password, ...settings }: { password?: unknown } = { ...all }
  const secret = { password: String(password ?? ''), token, settings }
  return {
    settings: JSON.stringify(kindOf(kind).shown(settings)),
    secret: await sealSecret(app, { bucket, account }, name, secret),
    sealedBucket: bucket,
    sealedAccount: account,
  }
}

async function bindRecord(app: App, row: SeenRow): Promise<Static<typeof BindRecord>> {
  const { name, kind, rate, response_timeout_seconds, enabled, created_at, updated_at } = row
  const state = networkOf(app).state(name)
  const node = await ownerOf(app, bindLeases, name)
  const called = carrierKinds.get(kind)?.isCalled ? await bindOf(app, row).catch(() => null) : null
  return {
    ...carrierKinds.get(kind)?.shown(row.settings),
    name,
    kind,
    window: row.window_size,
    rate,
    response_timeout_seconds,
    enabled,
    in_force: networkOf(app).uses(row),
    node,
    is_up: state?.isUp ?? (enabled && node !== null && row.is_up),
    last_error: state ? state.lastError : row.last_error,
    bound: state?.sessions ?? 0,
    pending: state?.pending ?? 0,
    current_rate: state?.ratePerSecond ?? null,
    receipts_url: called && noticeUrl(app.publicUrl, called, 'receipts'),
    inbound_url: called && noticeUrl(app.publicUrl, called, 'inbound'),
    created_at,
    updated_at,
  }
}

/** Notes a change, tells every node of it, and shows the bind as it is now. */
async function announced(
  app: App,
  tx: Tx,
  caller: Caller,
  action: string,
  row: SeenRow,
): Promise<Static<typeof BindRecord>> {
  const made = await bindRecord(app, row)
  await record(tx, caller, action, row.name, { after: Object(redact(BindRecord, made)) })
  await app.signals.send(tx, 'sms', row.name)
  return made
}

function noSuchBind(): AppError {
  return new AppError('NOT_FOUND', 'there is no such bind')
}
