// SPDX-License-Identifier: Apache-2.0
// Where providers call back: an address for each thing that was asked of one, which nobody else can know. It names what it
// is about, and whoever looks after that takes what is said there. Of a collection it is a hint: that money came is believed
// when the provider says so itself, asked by us.
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
/** Bucket, account, environment and subject, id and token. Providers refuse some words in a path; in hexadecimal there are none. */
const nameBytes = 2 + 16 + 1 + 16 + tokenBytes

export function newToken(): Buffer {
  return randomBytes(tokenBytes)
}

/** What an address is about. Its number is part of the address, next to the environment. */
const subjects = { attempt: 0, payout: 1, refund: 2 } as const
export type Subject = keyof typeof subjects

/** What somebody says who called an address. Whether it may be believed is for the taker to decide, by the token first. */
export interface Call {
  readonly tenant: Tenant
  /** Of the thing that the address is about. */
  readonly id: string
  readonly token: Buffer
  /** Which of several addresses of the same thing it is, from 0 to 15. */
  readonly topic: number
  /** Null when it was no JSON. */
  readonly body: unknown
}

/** Gives what the provider wants to hear, or null when nothing like this is expected there. */
export type Taker = (app: App, call: Call) => Promise<object | null>

const takers = new Map<number, Taker>([[subjects.attempt, takeAttempt]])

export function declareTaker(subject: Subject, taker: Taker): void {
  takers.set(subjects[subject], taker)
}

export function callbackUrl(
  app: App,
  tenant: Tenant,
  { id, token }: { id: string; token: Buffer },
  subject: Subject = 'attempt',
  topic = 0,
): string {
  const bucket = Buffer.alloc(2)
  bucket.writeUInt16BE(tenant.bucket)
  // One bit for the environment, three for the subject, four for the topic.
  const kind = Buffer.from([(topic << 4) | (subjects[subject] << 1) | (tenant.environment === 'live' ? 1 : 0)])
  const name = Buffer.concat([bucket, bytesOf(tenant.account), kind, bytesOf(id), token])
  return `${app.publicUrl}/hooks/p/${name.toString('hex')}`
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
      const { taker, ...address } = addressOf(request.params.name)
      const thanks = await taker(app, { ...address, body: jsonOf(request.body) })
      if (thanks === null) throw nothingHere()
      return reply.send(thanks)
    }
    scope.route<{ Params: { name: string } }>({ method, url, config: { open: true }, handler })
  })
}

/** What is said of an attempt to collect. */
async function takeAttempt(app: App, { tenant, id, token, body }: Call): Promise<object | null> {
  const attempt = await maybe(app.db.query(findAttempt, { ...tenant, id }))
  if (!attempt || !timingSafeEqual(attempt.token, token)) return null
  const provider = gatewayOf(app).provider(attempt, tenant.environment)
  const heard = provider?.readCallback(body) ?? null
  // Whoever knows the token and not what was agreed on is not the provider.
  if (!provider || !heard || (attempt.provider_id !== null && attempt.provider_id !== heard.providerId)) return null
  await take(app, tenant, attempt, provider, heard)
  return provider.thanks
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

function addressOf(name: string): Omit<Call, 'body'> & { taker: Taker } {
  const bytes = Buffer.from(name, 'hex')
  const kind = bytes[18] ?? 0
  const taker = takers.get((kind >> 1) & 7)
  if (bytes.length !== nameBytes || bytes.readUInt16BE() >= bucketCount || !taker) throw nothingHere()
  const tenant: Tenant = {
    bucket: bytes.readUInt16BE(),
    account: uuidAt(bytes, 2),
    environment: (kind & 1) === 1 ? 'live' : 'test',
  }
  return { taker, tenant, id: uuidAt(bytes, 19), token: bytes.subarray(35), topic: kind >> 4 }
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
