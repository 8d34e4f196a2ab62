// SPDX-License-Identifier: Apache-2.0
// SMTP submission credentials. A password is 256 random bits, so a plain hash is as safe as a slow one; it is compared
// in constant time.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { parseDomain } from '../../../kernel/email-address.ts'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { credentialsOf, requireRanges, withPassword } from '../../../platform/api/credentials.ts'
import { writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { requireUnbound } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { At, Nullable } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { openPorts } from '../listening.ts'

export interface CredentialRow {
  username: string
  id: string
  bucket: number
  account_id: string
  environment: 'test' | 'live'
  name: string
  hash: Buffer
  domains: string[]
  allowed_ips: string[]
  created_at: Date
  last_used_at: Date | null
}

const columns =
  'username, id, bucket, account_id, environment, name, hash, domains, allowed_ips, created_at, last_used_at'

const byName = statement.home<{ username: string }, CredentialRow>(
  'email.find_smtp_user',
  `select ${columns} from email.smtp_credentials where username = $username`,
)

const insert = statement.home<
  Tenant & {
    username: string
    id: string
    name: string
    hash: Buffer
    domains: readonly string[]
    allowedIps: readonly string[]
    at: Date
  },
  CredentialRow
>(
  'email.insert_smtp_credential',
  `insert into email.smtp_credentials (username, id, bucket, account_id, environment, name, hash, domains, allowed_ips, created_at)
   values ($username, $id, $bucket, $account, $environment, $name, $hash, $domains::text[], $allowedIps::text[], $at)
   returning ${columns}`,
)

const markUsed = statement.home<{ username: string }, object>(
  'email.mark_smtp_credential_used',
  `update email.smtp_credentials set last_used_at = now()
    where username = $username and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
)

/** Records the use of a credential, at most once a minute. */
export async function recordUse(queryable: Queryable, { username }: CredentialRow): Promise<void> {
  await queryable.query(markUsed, { username })
}

const newPassword = (): string => randomBytes(32).toString('base64url')

function hashOf(password: string): Buffer {
  return createHash('sha256').update(password).digest()
}

/** Credential of a client; null when unknown or the password is wrong. */
export async function credentialOf(
  queryable: Queryable,
  username: string,
  password: string,
): Promise<CredentialRow | null> {
  const row = await maybe(queryable.query(byName, { username }))
  return row && timingSafeEqual(row.hash, hashOf(password)) ? row : null
}

export async function newCredential(
  tx: Tx,
  tenant: Tenant,
  atMs: number,
  wanted: { name: string; domains: readonly string[]; allowedIps: readonly string[] },
) {
  const password = newPassword()
  const id = newUuid(atMs)
  const username = idOf('smtpCredential', id)
  const row = await one(
    tx.query(insert, { ...tenant, ...wanted, username, id, hash: hashOf(password), at: new Date(atMs) }),
  )
  return { row, password }
}

const Credential = Type.Object(
  {
    id: Type.String({ description: 'Id of the credential, such as `smtp_…`' }),
    name: Type.String({ description: 'Label' }),
    username: Type.String({ description: 'User name to sign in with' }),
    host: Type.String({ description: 'Host to connect to' }),
    port: Type.Integer({ description: 'Port of that host' }),
    domains: Type.Array(Type.String(), { description: 'Sending domains that are allowed; empty: all of yours' }),
    allowed_ips: Type.Array(Type.String(), { description: 'IP addresses that may connect; empty: all' }),
    created_at: At({ description: 'Time of creation' }),
    last_used_at: Nullable(At({ description: 'Time of the last sign-in, to a minute; null if never' })),
  },
  { title: 'SmtpCredential' },
)
const CredentialCreate = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, description: 'Label' }),
  domains: Type.Optional(
    Type.Array(Type.String({ maxLength: 253 }), { maxItems: 50, description: 'Sending domains that are allowed' }),
  ),
  allowed_ips: Type.Optional(
    Type.Array(Type.String({ maxLength: 50 }), { maxItems: 50, description: 'IP addresses that may connect' }),
  ),
})

function shown(app: App, row: CredentialRow): Static<typeof Credential> {
  const at = openPorts(app).get('submission')
  return {
    id: row.username,
    name: row.name,
    username: row.username,
    host: smtpHost(app),
    port: at?.port ?? app.config.PAMOJA_SMTP_PORT,
    domains: row.domains,
    allowed_ips: row.allowed_ips,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
  }
}

/** Public host name of SMTP submission. */
export function smtpHost(app: App): string {
  const { PAMOJA_MAIL_HOST: mailHost, PAMOJA_SMTP_HOST: listening } = app.config
  return mailHost.endsWith('.test') ? listening : mailHost
}

const credentials = credentialsOf({
  ...{ protocol: 'SMTP', kind: 'smtpCredential', table: 'email.smtp_credentials', columns },
  ...{ path: '/v1/email/smtp-credentials', aliases: ['/v1/smtp-credentials'] },
  operations: {
    list: { operation: 'email.listSmtpCredentials' },
    remove: { operation: 'email.deleteSmtpCredential' },
    rotate: { operation: 'email.rotateSmtpCredential' },
  },
  ...{ reads: 'email:manage', writes: 'email:manage', limit: 'email' },
  record: Credential,
  show: shown,
  newPassword,
  hashOf,
})

const createCredential = writeAcross({
  method: 'POST',
  path: '/v1/email/smtp-credentials',
  aliases: ['/v1/smtp-credentials'],
  operation: 'email.createSmtpCredential',
  summary: 'Create an SMTP credential',
  scope: 'email:manage',
  limit: 'email',
  body: CredentialCreate,
  reply: { status: 201, schema: withPassword(Credential), location: () => '/v1/email/smtp-credentials' },
  examples: [{ name: 'A credential for the shop', body: { name: 'shop' } }],
  handle: async (app, tx, { body }, caller) => {
    requireUnbound(caller, 'makes no SMTP user')
    const domains = (body.domains ?? []).map((domain, i) => requireDomain(domain, `domains[${i}]`))
    requireRanges(body.allowed_ips ?? [])
    await credentials.requireRoom(tx, caller.tenant)
    const { row, password } = await newCredential(tx, caller.tenant, caller.receivedMs, {
      name: body.name,
      domains,
      allowedIps: body.allowed_ips ?? [],
    })
    await record(tx, caller, 'smtp_credential.create', row.username, { after: { name: row.name } })
    return { ...shown(app, row), password }
  },
})

function requireDomain(text: string, field: string): string {
  const domain = parseDomain(text)
  if (!domain) throw new AppError('VALIDATION_ERROR', `${field} must be a domain such as shop.example`)
  return domain
}

export const credentialRoutes = [createCredential, ...credentials.routes]
