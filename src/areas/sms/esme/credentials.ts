// SPDX-License-Identifier: Apache-2.0
// Credentials of programs that bind with SMPP. The protocol has eight characters for a password, 47 bits, so that its hash is
// a slow one.
import { randomInt } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { credentialsOf, requireRanges, withPassword } from '../../../platform/api/credentials.ts'
import { writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { hashPassword } from '../../../platform/auth/password.ts'
import { requireUnbound } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, statement } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { At, Nullable } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'

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

const credentials = credentialsOf({
  ...{ protocol: 'SMPP', kind: 'smppCredential', table: 'sms.smpp_credentials', columns },
  path: '/v1/sms/smpp-credentials',
  operations: {
    list: { operation: 'sms.listSmppCredentials' },
    remove: {
      operation: 'sms.deleteSmppCredential',
      description: 'Its sessions end within seconds. Unacknowledged receipts are no longer delivered.',
    },
    rotate: {
      operation: 'sms.rotateSmppCredential',
      description: 'Sessions that bound with the old password end within seconds.',
    },
  },
  ...{ reads: 'sms:read', writes: 'sms:write', limit: 'sms' },
  record: Credential,
  show: shown,
  newPassword,
  hashOf: hashPassword,
})

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
  reply: { status: 201, schema: withPassword(Credential), location: () => '/v1/sms/smpp-credentials' },
  examples: [{ name: 'A gateway of the shop', body: { name: 'Gateway' } }],
  handle: async (app, tx, { body }, caller) => {
    requireUnbound(caller, 'makes no SMPP user')
    const { name, allowed_ips: allowedIps = [] } = body
    requireRanges(allowedIps)
    await credentials.requireRoom(tx, caller.tenant)
    const { password, hash } = await credentials.secret()
    const row = await one(
      tx.query(insert, {
        ...caller.tenant,
        ...{ systemId: newSystemId(), id: newUuid(caller.receivedMs), name, allowedIps },
        hash,
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

export const smppCredentialRoutes = [createCredential, ...credentials.routes]
