// SPDX-License-Identifier: Apache-2.0
// Sends a one-time code: reserves it, sends it, then emits the event. A code that no channel carries is removed.
import type { Static } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { hasLengthOfItsCountry } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import { actorOf, appendAudit } from '../audit-chain.ts'
import { identityEvents } from '../events.ts'
import { policyOf } from '../policy.ts'
import { type Carried, carry } from './channels.ts'
import { codeOf, cooldownMs, masked, maxAttempts, maxSends } from './code.ts'
import { guard } from './guard.ts'
import type { OtpSend, OtpSent } from './schema.ts'
import {
  addOtp,
  countSend,
  endOtp,
  knownVerification,
  lockCounted,
  type OtpRow,
  pendingOtp,
  removeOtp,
  setChannel,
  takeBackSend,
} from './store.ts'

/** Sandbox number whose codes expire at once. */
const shortLivedNumber = '+254700000003'
const usualSeconds = 600

export interface Sent extends Carried {
  readonly otp: OtpRow
  readonly isResend: boolean
}

export async function reserveAndSend(app: App, caller: Caller, input: Static<typeof OtpSend>): Promise<Sent> {
  checked(input)
  const { tenant } = caller
  const phone = phoneIndex(app, caller, input.phone)
  const purpose = input.purpose ?? ''
  const pending = await maybe(app.db.query(pendingOtp, { ...tenant, phone, purpose }))
  const alive = pending && pending.expires_at.getTime() > caller.nowMs ? pending : null
  if (pending && !alive) await app.db.query(endOtp, { ...tenant, id: pending.id, status: 'expired', at: null })
  const otp = alive ? await reserveResend(app, caller, alive) : await reserveFirst(app, caller, input, phone)
  try {
    const { channel, messageId } = await carry(app, caller, input, otp)
    if (channel !== otp.channel) await app.db.query(setChannel, { ...tenant, id: otp.id, channel })
    return { otp, channel, messageId, isResend: alive !== null }
  } catch (problem) {
    if (alive) await app.db.query(takeBackSend, { ...tenant, id: otp.id, before: alive.sent_at })
    else await app.db.query(removeOtp, { ...tenant, id: otp.id })
    throw problem
  }
}

function checked({ phone, message, channel, email }: Static<typeof OtpSend>): void {
  if (!hasLengthOfItsCountry(phone))
    throw new AppError('INVALID_PHONE', 'phone has the wrong number of digits for its country')
  if (message !== undefined && message.split('{{code}}').length !== 2)
    throw invalid('message', 'must contain {{code}} once')
  if ([channel].flat().includes('email') && email === undefined)
    throw invalid('email', 'is needed for the channel email')
}

/** Keyed hash of a phone number, different for each account. */
export function phoneIndex(app: App, { tenant }: Pick<Caller, 'tenant'>, phone: string): Buffer {
  return app.secrets.fingerprint('identity.phone', `${tenant.account} ${phone}`)
}

async function reserveResend(app: App, { tenant, nowMs }: Caller, otp: OtpRow): Promise<OtpRow> {
  if (otp.sends >= maxSends)
    throw new AppError('OTP_SEND_LIMIT', `this code was sent ${maxSends} times`, {
      retryAfterSeconds: Math.max(1, Math.ceil((otp.expires_at.getTime() - nowMs) / 1000)),
    })
  const waitMs = otp.sent_at.getTime() + cooldownMs(otp.sends) - nowMs
  if (waitMs > 0) throw inCooldown(waitMs)
  const at = new Date(nowMs)
  const counted = await maybe(app.db.query(countSend, { ...tenant, id: otp.id, sends: otp.sends, at }))
  if (!counted) throw inCooldown(cooldownMs(otp.sends))
  return { ...otp, sends: otp.sends + 1, sent_at: at }
}

function inCooldown(waitMs: number): AppError {
  return new AppError('OTP_COOLDOWN', 'a code was sent to this number recently', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  })
}

async function reserveFirst(app: App, caller: Caller, input: Static<typeof OtpSend>, phone: Buffer): Promise<OtpRow> {
  const { tenant, nowMs, receivedMs } = caller
  const prefix = app.secrets.fingerprint('identity.prefix', `${tenant.account} ${input.phone.slice(0, -4)}`)
  const ip = input.ip ? app.secrets.fingerprint('identity.ip', `${tenant.account} ${input.ip}`) : null
  const channel = [input.channel ?? 'sms'].flat()[0] ?? 'sms'
  const judged = { tenant, phone: input.phone, phoneIndex: phone, prefixIndex: prefix, ipIndex: ip, channel, nowMs }
  const policy = await policyOf(app.db, tenant)
  const id = newUuid(receivedMs)
  const isShort = tenant.environment === 'test' && input.phone === shortLivedNumber
  const at = new Date(nowMs)
  const otp: OtpRow = {
    id,
    phone_sealed: await app.secrets.seal(tenant, phonePlace(id), input.phone),
    purpose: input.purpose ?? '',
    channel,
    code_length: input.code_length ?? 6,
    status: 'pending',
    attempts: 0,
    sends: 1,
    verification: await verificationOf(app, caller, input.verification_id),
    sent_at: at,
    expires_at: new Date(nowMs + (isShort ? 0 : (input.expires_in ?? usualSeconds) * 1000)),
    verified_at: null,
  }
  const { purpose, code_length: length, verification, expires_at: expires, phone_sealed: sealed } = otp
  const row = { ...tenant, id, phone, prefix, ip, sealed, purpose, channel, length, verification, at, expires }
  const keys = [prefix, ...(ip ? [ip] : [])].map((index) => index.readBigInt64BE(0).toString())
  await app.db.tx(tenant, async (tx) => {
    await tx.query(lockCounted, { ...tenant, keys })
    await guard(app, tx, policy, judged)
    if (!(await maybe(tx.query(addOtp, row)))) throw inCooldown(cooldownMs(1))
  })
  return otp
}

async function verificationOf(app: App, { tenant }: Caller, given: string | undefined): Promise<string | null> {
  if (given === undefined) return null
  const id = uuidOf('verification', given)
  if (!id || !(await maybe(app.db.query(knownVerification, { ...tenant, id }))))
    throw invalid('verification_id', 'is not the id of a verification')
  return id
}

export function phonePlace(id: string): string {
  return `identity.otps.phone_sealed:${id}`
}

/** Emits the event of a sent code. */
export async function tellSent(
  app: App,
  tx: Tx,
  caller: Caller,
  phone: string,
  { otp, channel, messageId, isResend }: Sent,
): Promise<Static<typeof OtpSent>> {
  const { tenant, nowMs, receivedMs, requestId } = caller
  const otpId = idOf('otp', otp.id)
  await appendAudit(app, tx, tenant, {
    resourceId: otpId,
    action: isResend ? 'otp.resent' : 'otp.sent',
    actor: actorOf(caller),
    details: { channel, sends: otp.sends, message_id: messageId },
    receivedMs,
    nowMs,
  })
  await app.outbox.emit(tx, identityEvents.otpSent, { tenant, receivedMs, nowMs, requestId }, otpId, {
    otp_id: otpId,
    phone: masked(phone),
    channel,
    purpose: otp.purpose || null,
    attempts: otp.attempts,
    attempts_left: maxAttempts - otp.attempts,
    reason: null,
    verification_id: otp.verification && idOf('verification', otp.verification),
  })
  return {
    otp_id: otpId,
    phone,
    channel,
    status: 'pending',
    code_length: otp.code_length,
    expires_at: otp.expires_at,
    resend_after: new Date(nowMs + cooldownMs(otp.sends)),
    sends_remaining: maxSends - otp.sends,
    message_id: messageId,
    ...(tenant.environment === 'test' ? { sandbox_code: codeOf(app.secrets, 'test', otp) } : {}),
  }
}
