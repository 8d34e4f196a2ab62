// SPDX-License-Identifier: Apache-2.0
// Where providers call back: an address for each attempt, which nobody else can know. What is said there is a hint. That
// money came is believed when the provider says so itself, asked by us.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { bucketCount } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { maybe } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { gatewayOf } from './gateway.ts'
import type { MobileMoney, Verdict } from './provider.ts'
import { settle } from './settle.ts'
import { type AttemptRow, findAttempt, marketOf } from './store.ts'

const tokenBytes = 16
const maxBodyBytes = 64 * 1024
/** Bucket, account, environment, attempt and token. Providers refuse some words in a path, so it has none. */
const nameBytes = 2 + 16 + 1 + 16 + tokenBytes

export function newToken(): Buffer {
  return randomBytes(tokenBytes)
}

export function callbackUrl(app: App, tenant: Tenant, { id, token }: Pick<AttemptRow, 'id' | 'token'>): string {
  const bucket = Buffer.alloc(2)
  bucket.writeUInt16BE(tenant.bucket)
  const environment = Buffer.from([tenant.environment === 'live' ? 1 : 0])
  const name = Buffer.concat([bucket, bytesOf(tenant.account), environment, bytesOf(id), token])
  return `${app.publicUrl}/hooks/p/${name.toString('base64url')}`
}

export function mountCallbacks(http: FastifyInstance, app: App): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) =>
      done(null, body),
    )
    // Some providers call with PUT.
    const method = ['POST', 'PUT']
    const url = '/hooks/p/:name'
    const handler = async (request: FastifyRequest<{ Params: { name: string } }>, reply: FastifyReply) => {
      const { tenant, attempt } = await attemptOf(app, request.params.name)
      const provider = gatewayOf(app).provider(attempt, tenant.environment)
      const heard = provider?.readCallback(jsonOf(request.body)) ?? null
      // Whoever knows the token and not what was agreed on is not the provider.
      if (!provider || !heard || (attempt.provider_id !== null && attempt.provider_id !== heard.providerId))
        throw nothingHere()
      await take(app, tenant, attempt, provider, heard)
      return reply.send(provider.thanks)
    }
    scope.route<{ Params: { name: string } }>({ method, url, config: { open: true }, handler })
  })
}

async function take(
  app: App,
  tenant: Tenant,
  attempt: AttemptRow,
  provider: MobileMoney,
  { providerId, verdict }: { providerId: string; verdict: Verdict },
): Promise<void> {
  await settle(app, tenant, attempt, { kind: 'accepted', providerId })
  // Whoever knows it by our id tells everything when asked, so that a callback is a reason to ask and nothing else.
  if (provider.knownByAttempt)
    return void (await settle(app, tenant, attempt, await provider.query(providerId, marketOf(attempt))))
  if (verdict.kind !== 'paid') return void (await settle(app, tenant, attempt, verdict))
  const confirmed = await provider.query(providerId, marketOf(attempt))
  // What cannot be confirmed now is found by the next poll.
  if (confirmed.kind === 'paid') await settle(app, tenant, attempt, verdict)
}

async function attemptOf(app: App, name: string): Promise<{ tenant: Tenant; attempt: AttemptRow }> {
  const bytes = Buffer.from(name, 'base64url')
  if (bytes.length !== nameBytes || bytes.readUInt16BE() >= bucketCount) throw nothingHere()
  const tenant: Tenant = {
    bucket: bytes.readUInt16BE(),
    account: uuidAt(bytes, 2),
    environment: bytes[18] === 1 ? 'live' : 'test',
  }
  const attempt = await maybe(app.db.query(findAttempt, { ...tenant, id: uuidAt(bytes, 19) }))
  if (!attempt || !timingSafeEqual(attempt.token, bytes.subarray(35))) throw nothingHere()
  return { tenant, attempt }
}

function jsonOf(body: unknown): unknown {
  try {
    return Buffer.isBuffer(body) ? JSON.parse(body.toString()) : null
  } catch {
    return null
  }
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

function uuidAt(bytes: Buffer, start: number): string {
  const hex = bytes.subarray(start, start + 16).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'nothing is expected under this address')
}
