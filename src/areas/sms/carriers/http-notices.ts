// SPDX-License-Identifier: Apache-2.0
// Where aggregators call us: /carriers/sms/<bind>/receipts and /inbound, by GET with a query or by POST with a form or JSON,
// read as the bind's profile says. The token in the address is all that shows who calls; it stands in the query, which is
// not logged. Answered 200 when everything is stored, so that whatever was not is brought again.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { parseJson } from '../../../platform/http/json.ts'
import { bodyChecker } from '../../../platform/http/validate.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import { isGsm } from '../../../protocols/smpp/charset.ts'
import type { Intake } from '../carrier.ts'
import { bindOf, findBind } from '../network/bind.ts'
import { Profile } from './http-profile.ts'
import { messagesOf, receiptsOf } from './http-reading.ts'

const maxBodyBytes = 256 * 1024
/** Changes of binds are told; this is for what was not heard. */
const rememberMs = 30_000
const maxRemembered = 1_000

const tokenHeader = 'x-carrier-token'
const checkSettings = bodyChecker(Type.Object({ profile: Profile }))

interface Caller {
  readonly name: string
  readonly token: string
  readonly profile: Profile
}

export function mountNotices(http: FastifyInstance, app: App, intake: Intake): void {
  // A context of its own: aggregators send what they like as what they like.
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    for (const what of ['receipts', 'inbound'] as const)
      scope.route<{ Params: { bind: string }; Querystring: Record<string, unknown> }>({
        method: ['GET', 'POST'],
        url: `/carriers/sms/:bind/${what}`,
        bodyLimit: maxBodyBytes,
        exposeHeadRoute: false,
        config: { open: true },
        handler: async (request, reply) => {
          const { name, profile } = await callerOf(app, request.params.bind, tokenOf(request))
          const value = contentOf(request)
          if (what === 'receipts') await takeReceipts(app, intake, name, profile, value)
          else await takeMessages(intake, name, profile, value)
          return reply.type('text/plain; charset=utf-8').send('OK')
        },
      })
  })
}

async function takeReceipts(app: App, intake: Intake, carrier: string, profile: Profile, value: unknown) {
  if (!profile.receipts) throw nothingHere()
  const receipts = receiptsOf(profile.receipts, value)
  await Promise.all(
    receipts.map(async ({ id, status, carrierCode }) => {
      if (status === null)
        app.log.warn({ carrier, status: carrierCode }, 'an aggregator told a status that its profile does not know')
      if (status === null || status === 'ignored') return
      const isDelivered = status === 'delivered'
      await intake.receipt({
        carrier,
        carrierId: id,
        status: isDelivered ? 'delivered' : 'failed',
        errorCode: isDelivered ? null : status,
        carrierCode: isDelivered ? null : carrierCode,
      })
    }),
  )
}

async function takeMessages(intake: Intake, carrier: string, profile: Profile, value: unknown): Promise<void> {
  if (!profile.inbound) throw nothingHere()
  for (const message of messagesOf(profile.inbound, value))
    await intake.incoming({ carrier, ...message, encoding: isGsm(message.text) ? 'gsm7' : 'ucs2', part: null })
}

function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'the profile of this bind does not say how such a call is read')
}

function tokenOf({ query, headers }: FastifyRequest<{ Querystring: Record<string, unknown> }>): string {
  const given = query.token ?? headers[tokenHeader]
  return typeof given === 'string' ? given : ''
}

/** A wrong token and a bind that does not exist are told alike. */
async function callerOf(app: App, name: string, token: string): Promise<Caller> {
  const caller = /^[a-z][a-z0-9-]{0,39}$/.test(name) ? await knownCaller(app, name) : null
  const isRight = timingSafeEqual(digest(caller?.token ?? ''), digest(token))
  if (!caller || !isRight || token === '') throw new AppError('UNAUTHORIZED', 'the token in this address is wrong')
  return caller
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

const remembered = onePerApp((app) => {
  const callers = new Map<string, { caller: Caller; untilMs: number }>()
  app.signals.on('sms', () => callers.clear())
  app.signals.onGap(() => callers.clear())
  return callers
})

async function knownCaller(app: App, name: string): Promise<Caller | null> {
  const callers = remembered(app)
  const known = callers.get(name)
  if (known && known.untilMs > performance.now()) return known.caller
  const row = await maybe(app.db.query(findBind, { name }))
  if (row?.kind !== 'http') return null
  const { token, settings } = await bindOf(app, row)
  const caller = { name, token, profile: checkSettings(settings).value.profile }
  if (callers.size >= maxRemembered) callers.clear()
  callers.set(name, { caller, untilMs: performance.now() + rememberMs })
  return caller
}

/** The body as JSON or as a form, else the query; the fields of both are read like the members of an object. */
function contentOf({ query, headers, body }: FastifyRequest<{ Querystring: Record<string, unknown> }>): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return lastOfEach(Object.entries(query))
  const type = headers['content-type'] ?? ''
  if (/json/i.test(type) || (!/form-urlencoded/i.test(type) && /^\s*[[{]/.test(body.toString('latin1', 0, 64))))
    return parseJson(body).value
  return lastOfEach(new URLSearchParams(body.toString()))
}

function lastOfEach(fields: Iterable<[string, unknown]>): Record<string, unknown> {
  const content: Record<string, unknown> = Object.create(null)
  for (const [name, value] of fields) {
    const last = Array.isArray(value) ? value.at(-1) : value
    if (typeof last === 'string' && last.includes('\u0000'))
      throw new AppError('INVALID_REQUEST', 'a field contains the character U+0000')
    if (name !== 'token') content[name] = last
  }
  return content
}
