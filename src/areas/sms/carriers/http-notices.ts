// SPDX-License-Identifier: Apache-2.0
// Callbacks of aggregators: /carriers/sms/<bind>/receipts and /inbound, by GET with a query or by POST with a form or
// JSON, read as the bind's profile says. The token in the address authenticates the caller; it is in the query, which
// is not logged. Answered 200 once everything is stored, so that anything else is sent again.
import { createHash, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { fieldsOf, type Hook, type HookCall, hook, text } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { bodyChecker } from '../../../platform/http/validate.ts'
import { ToldCache } from '../../../platform/nodes/told-cache.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { isGsm } from '../../../protocols/smpp/charset.ts'
import type { Intake } from '../carrier.ts'
import { bindOf, findBind } from './bind.ts'
import { callFrame, shown } from './http-frames.ts'
import { Profile } from './http-profile.ts'
import { messagesOf, receiptsOf } from './http-reading.ts'

const maxBodyBytes = 256 * 1024
/** Calls per bind and second. Refused ones are sent again by the aggregator. */
const callsPerSecond = 5_000
/** Cache time of binds. Changes are signalled; this is for lost signals. */
const rememberMs = 30_000
const maxRemembered = 1_000

const tokenHeader = 'x-carrier-token'
const checkSettings = bodyChecker(Type.Object({ profile: Profile }))

interface Caller {
  readonly name: string
  readonly token: string
  readonly profile: Profile
}

/** Aggregators send what they like as what they like. */
export function noticeHooks(intakeOf: (app: App) => Intake): Hook[] {
  return (['receipts', 'inbound'] as const).map((what) =>
    hook({
      methods: ['GET', 'POST'],
      path: `/carriers/sms/:bind/${what}`,
      operation: what === 'receipts' ? 'sms.takeReceipts' : 'sms.takeInbound',
      summary: 'Receive delivery reports and texts from an aggregator',
      maxBytes: maxBodyBytes,
      limits: [{ by: 'bind', perSecond: callsPerSecond }],
      handle: async (app, call) => {
        const { name, profile } = await callerOf(app, call.params.bind, tokenOf(call))
        const value = fieldsOf(call, 'token')
        if (what === 'receipts') await takeReceipts(app, intakeOf(app), name, profile, value)
        else await takeMessages(intakeOf(app), name, profile, value)
        return text('OK')
      },
    }),
  )
}

async function takeReceipts(app: App, intake: Intake, carrier: string, profile: Profile, value: unknown) {
  if (!profile.receipts) throw nothingHere()
  const receipts = receiptsOf(profile.receipts, value)
  await Promise.all(
    receipts.map(async ({ id, status, carrierCode }) => {
      if (status === null)
        app.log.warn(
          { carrier, status: carrierCode },
          'aggregator sent an unknown status: the receipt is ignored; add the status to the bind’s profile',
        )
      if (status === null || status === 'ignored') return
      const isDelivered = status === 'delivered'
      await intake.receipt({
        carrier,
        carrierId: id,
        status: isDelivered ? 'delivered' : 'failed',
        errorCode: isDelivered ? null : status,
        carrierCode: isDelivered ? null : carrierCode,
        frame: () => callFrame(carrier, 'Receipt', { id, status, code: carrierCode }, isDelivered),
      })
    }),
  )
}

async function takeMessages(intake: Intake, carrier: string, profile: Profile, value: unknown): Promise<void> {
  if (!profile.inbound) throw nothingHere()
  for (const message of messagesOf(profile.inbound, value)) {
    const frame = (isMasked: boolean) =>
      callFrame(carrier, 'Message', { ...message, text: shown(message.text, isMasked) }, null)
    await intake.incoming({ carrier, ...message, encoding: isGsm(message.text) ? 'gsm7' : 'ucs2', part: null, frame })
  }
}

function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'the profile of this bind does not define such calls')
}

function tokenOf({ query, headers }: Pick<HookCall, 'query' | 'headers'>): string {
  const given = query.token ?? headers[tokenHeader]
  return typeof given === 'string' ? given : ''
}

/** A wrong token and a bind that does not exist are told alike. */
async function callerOf(app: App, name: string, token: string): Promise<Caller> {
  const caller = /^[a-z][a-z0-9-]{0,39}$/.test(name) ? await knownCaller(app, name) : null
  const isRight = timingSafeEqual(digest(caller?.token ?? ''), digest(token))
  if (!caller || !isRight || token === '') throw new AppError('UNAUTHORIZED', 'the token in this URL is wrong')
  return caller
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

const remembered = onePerApp((app) => {
  const callers = new ToldCache<Caller | null>(app.signals, { most: maxRemembered, goodForMs: rememberMs })
  app.signals.on('sms', () => callers.forgetAll())
  return callers
})

async function knownCaller(app: App, name: string): Promise<Caller | null> {
  const caller = await remembered(app).of(name, () => loadCaller(app, name))
  // A bind that is not there may come, and any name may stand in an address.
  if (caller === null) remembered(app).forget(name)
  return caller
}

async function loadCaller(app: App, name: string): Promise<Caller | null> {
  const row = await maybe(app.db.query(findBind, { name }))
  if (row?.kind !== 'http') return null
  const { token, settings } = await bindOf(app, row)
  return { name, token, profile: checkSettings(settings).value.profile }
}
