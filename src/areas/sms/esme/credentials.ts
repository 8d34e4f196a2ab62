// SPDX-License-Identifier: Apache-2.0
// Credentials of programs that bind with SMPP. The protocol has eight characters for a password, 47 bits, so that its hash is
// a slow one.
import { randomInt } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { isAddressRange } from '../../../config/setting.ts'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { hashPassword } from '../../../platform/auth/password.ts'
import { requireUnbound } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, statement } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { At, Deleted, listQuery, Nullable } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

const maxCredentials = 50
const maxRate = 1_000
const maxSessions = 50
const maxWindow = 1_000
const usual = { rate: 100, sessions: 10, window: 100 } as const

export interface SmppCredential {
  system_id: string
  id: string
  bucket: number
  account_id: string
  environment: 'test' | 'live'
  name: string
  hash: string
  allowed_ips: string[]
  rate: number
  sessions: number
  window: number
  created_at: Date
  last_used_at: Date | null
}

const columns =
  'system_id, id, bucket, account_id, environment, name, hash, allowed_ips, rate, sessions, "window", created_at, last_used_at'

const bySystemId = statement.home<{ systemId: string }, SmppCredential>(
  'sms.find_smpp_credential',
  `select ${columns} from sms.smpp_credentials where system_id = $systemId`,
)

const insert = statement.home<
  Tenant & {
    systemId: string
    id: string
    name: string
    hash: string
    allowedIps: readonly string[]
    rate: number
    sessions: number
    window: number
    at: Date
  },
  SmppCredential
>(
  'sms.insert_smpp_credential',
  `insert into sms.smpp_credentials (system_id, id, bucket, account_id, environment, name, hash, allowed_ips, rate, sessions, "window", created_at)
   values ($systemId, $id, $bucket, $account, $environment, $name, $hash, $allowedIps::text[], $rate, $sessions, $window, $at)
   returning ${columns}`,
)

const count = statement.home<Tenant, { count: number }>(
  'sms.count_smpp_credentials',
  `select count(*)::int as count from sms.smpp_credentials where ${mine}`,
)

const listAll = statement.home<Tenant & { after: string | null; descending: boolean; limit: number }, SmppCredential>(
  'sms.list_smpp_credentials',
  `select ${columns} from sms.smpp_credentials
    where ${mine} and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

const remove = statement.home<One, SmppCredential>(
  'sms.delete_smpp_credential',
  `delete from sms.smpp_credentials where ${mine} and id = $id returning ${columns}`,
)

const rotate = statement.home<One & { hash: string }, SmppCredential>(
  'sms.rotate_smpp_credential',
  `update sms.smpp_credentials set hash = $hash where ${mine} and id = $id returning ${columns}`,
)

const markUsed = statement.home<{ systemId: string }, object>(
  'sms.mark_smpp_credential_used',
  `update sms.smpp_credentials set last_used_at = now()
    where system_id = $systemId and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
)

export async function findCredential(queryable: Queryable, systemId: string): Promise<SmppCredential | null> {
  return maybe(queryable.query(bySystemId, { systemId }))
}

/** Records a bind, at most once a minute. */
export async function recordBind(queryable: Queryable, { system_id }: SmppCredential): Promise<void> {
  await queryable.query(markUsed, { systemId: system_id })
}

/** Ports that are open on this node, by the name of the listener. */
export const openPorts = onePerApp(() => new Map<'esme' | 'esme_tls', number>())

const characters = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'

function randomText(length: number, among = characters): string {
  return Array.from({ length }, () => among[randomInt(among.length)]).join('')
}

const newPassword = (): string => randomText(8)
const newSystemId = (): string => `pmj${randomText(12, 'abcdefghijkmnpqrstuvwxyz23456789')}`

const Rate = Type.Integer({
  minimum: 1,
  maximum: maxRate,
  rule: `must be a whole number from 1 to ${maxRate}`,
  description: `Messages per second over all its sessions; default ${usual.rate}`,
})
const Sessions = Type.Integer({
  minimum: 1,
  maximum: maxSessions,
  rule: `must be a whole number from 1 to ${maxSessions}`,
  description: `Maximum number of bound sessions; default ${usual.sessions}`,
})
const Window = Type.Integer({
  minimum: 1,
  maximum: maxWindow,
  rule: `must be a whole number from 1 to ${maxWindow}`,
  description: `Maximum number of unanswered requests per session; default ${usual.window}`,
})
const AllowedIps = Type.Array(Type.String({ maxLength: 50 }), {
  maxItems: 50,
  description: 'IP addresses that may bind; empty: all',
})

const Credential = Type.Object(
  {
    id: Type.String({ description: 'Id of the credential, such as `smpp_…`' }),
    name: Type.String({ description: 'Label' }),
    system_id: Type.String({ description: 'SMPP system_id to bind with' }),
    host: Type.String({ description: 'Host to connect to' }),
    port: Nullable(Type.Integer({ description: 'Port without TLS; null if it is closed' })),
    tls_port: Nullable(Type.Integer({ description: 'Port with TLS; null if it is closed' })),
    allowed_ips: AllowedIps,
    rate: Rate,
    sessions: Sessions,
    window: Window,
    created_at: At({ description: 'Time of creation' }),
    last_used_at: Nullable(At({ description: 'Time of the last bind, to a minute; null if never' })),
  },
  { title: 'SmppCredential' },
)

const WithPassword = Type.Object(
  { ...Credential.properties, password: Type.String({ sensitive: true, description: 'Password, shown only once' }) },
  { title: 'SmppCredentialWithPassword' },
)

function shown(app: App, row: SmppCredential): Static<typeof Credential> {
  const ports = openPorts(app)
  return {
    id: idOf('smppCredential', row.id),
    name: row.name,
    system_id: row.system_id,
    host: new URL(app.publicUrl).hostname,
    port: ports.get('esme') ?? null,
    tls_port: ports.get('esme_tls') ?? null,
    allowed_ips: row.allowed_ips,
    rate: row.rate,
    sessions: row.sessions,
    window: row.window,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
  }
}

const createCredential = writeAcross({
  method: 'POST',
  path: '/v1/sms/smpp-credentials',
  operation: 'sms.createSmppCredential',
  summary: 'Create an SMPP credential',
  scope: 'sms:write',
  limit: 'sms',
  body: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 100, description: 'Label' }),
    allowed_ips: Type.Optional(AllowedIps),
    rate: Type.Optional(Rate),
    sessions: Type.Optional(Sessions),
    window: Type.Optional(Window),
  }),
  reply: { status: 201, schema: WithPassword, location: () => '/v1/sms/smpp-credentials' },
  examples: [{ name: 'A gateway of the shop', body: { name: 'Gateway' } }],
  handle: async (app, tx, { body }, caller) => {
    requireUnbound(caller, 'makes no SMPP user')
    const { name, allowed_ips: allowedIps = [] } = body
    const bad = allowedIps.findIndex((range) => !isAddressRange(range))
    if (bad >= 0) throw new AppError('VALIDATION_ERROR', `allowed_ips[${bad}] must be an address or a CIDR range`)
    const { count: many } = await one(tx.query(count, { ...caller.tenant }))
    if (many >= maxCredentials)
      throw new AppError('VALIDATION_ERROR', `an account has at most ${maxCredentials} SMPP credentials`)
    const password = newPassword()
    const row = await one(
      tx.query(insert, {
        ...caller.tenant,
        ...{ systemId: newSystemId(), id: newUuid(caller.receivedMs), name, allowedIps },
        hash: await hashPassword(password),
        rate: body.rate ?? usual.rate,
        sessions: body.sessions ?? usual.sessions,
        window: body.window ?? usual.window,
        at: new Date(caller.nowMs),
      }),
    )
    await record(tx, caller, 'smpp_credential.create', idOf('smppCredential', row.id), { after: { name } })
    return { ...shown(app, row), password }
  },
})

const listCredentials = list({
  path: '/v1/sms/smpp-credentials',
  operation: 'sms.listSmppCredentials',
  summary: 'List SMPP credentials',
  scope: 'sms:read',
  query: Type.Object(listQuery),
  row: Credential,
  handle: async (app, { query }, caller) => {
    const window = windowOf(query)
    const rows = await app.db.query(listAll, { ...caller.tenant, ...window })
    return pageOf(window, rows, (row) => shown(app, row))
  },
})

function uuidOfCredential(id: string): string {
  const uuid = uuidOf('smppCredential', id)
  if (!uuid) throw noSuchCredential()
  return uuid
}

function noSuchCredential(): AppError {
  return new AppError('NOT_FOUND', 'there is no such SMPP credential; ids begin with smpp_')
}

const deleteCredential = writeAcross({
  method: 'DELETE',
  path: '/v1/sms/smpp-credentials/:id',
  operation: 'sms.deleteSmppCredential',
  summary: 'Delete an SMPP credential',
  description: 'Its sessions end within seconds. Unacknowledged receipts are no longer delivered.',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    const row = await maybe(tx.query(remove, { ...caller.tenant, id: uuidOfCredential(params.id) }))
    if (!row) throw noSuchCredential()
    const id = idOf('smppCredential', row.id)
    await record(tx, caller, 'smpp_credential.delete', id, { before: { name: row.name } })
    return { id, deleted: true as const }
  },
})

const rotateCredential = writeAcross({
  method: 'POST',
  path: '/v1/sms/smpp-credentials/:id/rotate',
  operation: 'sms.rotateSmppCredential',
  summary: 'Rotate the password of an SMPP credential',
  description: 'Sessions that bound with the old password end within seconds.',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  reply: { status: 200, schema: WithPassword },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    requireUnbound(caller, 'rotates no SMPP user')
    const password = newPassword()
    const id = uuidOfCredential(params.id)
    const row = await maybe(tx.query(rotate, { ...caller.tenant, id, hash: await hashPassword(password) }))
    if (!row) throw noSuchCredential()
    await record(tx, caller, 'smpp_credential.rotate', idOf('smppCredential', row.id), {})
    return { ...shown(app, row), password }
  },
})

export const smppCredentialRoutes = [createCredential, listCredentials, deleteCredential, rotateCredential]
