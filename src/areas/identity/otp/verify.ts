// SPDX-License-Identifier: Apache-2.0
// Verifies a one-time code. The attempt is counted and committed before the check, also when refused, so that at most
// five guesses are possible however many requests run at once.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import { At, OneOf, Phone } from '../../../platform/schema/fields.ts'
import { actorOf, appendAudit } from '../audit-chain.ts'
import { identityEvents } from '../events.ts'
import { codeOf, isSameCode, masked, maxAttempts } from './code.ts'
import { phoneIndex, phonePlace } from './send.ts'
import { countAttempt, endOtp, findOtp, latestOtp, type OtpRow } from './store.ts'

export const OtpVerify = Type.Object({
  otp_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id returned when the code was sent; alternative to `phone`' }),
  ),
  phone: Type.Optional(Phone({ description: 'Phone number that received the code; alternative to `otp_id`' })),
  purpose: Type.Optional(Type.String({ maxLength: 60, description: 'Purpose of the code, as it was sent' })),
  code: Type.String({
    minLength: 1,
    maxLength: 20,
    sensitive: true,
    rule: 'must be the code as it was typed',
    description: 'Code as typed by the person; invalid after five wrong attempts',
  }),
})

export const OtpVerified = Type.Object(
  {
    otp_id: Type.String({ description: 'Id of the code' }),
    phone: Type.String({ description: 'Verified phone number' }),
    verified: Type.Literal(true, { description: 'Always true: a wrong code is refused' }),
    status: Type.Literal('verified', { description: 'Always `verified`' }),
    verified_at: At({ description: 'Time of the verification' }),
    channel: Type.String({ description: 'Channel of the code' }),
  },
  { title: 'IdentityOtpVerified' },
)

/** Corrects code with its phone. */
export interface RightCode {
  readonly otp: OtpRow
  readonly phone: string
  readonly attempts: number
}

export async function judgeCode(app: App, caller: Caller, input: Static<typeof OtpVerify>): Promise<RightCode> {
  const { tenant, nowMs } = caller
  const otp = await find(app, caller, input)
  const phone = (await app.secrets.open(tenant, phonePlace(otp.id), otp.phone_sealed)).toString('utf8')
  refuseEnded(otp)
  if (otp.expires_at.getTime() <= nowMs) {
    await end(app, caller, { otp, phone, attempts: otp.attempts }, 'expired', 'OTP_EXPIRED')
    throw new AppError('OTP_EXPIRED', 'the code has expired')
  }
  const counted = await maybe(app.db.query(countAttempt, { ...tenant, id: otp.id, most: maxAttempts }))
  if (!counted) throw exceeded()
  const { attempts } = counted
  if (isSameCode(input.code, codeOf(app.secrets, tenant.environment, otp))) return { otp, phone, attempts }
  if (attempts < maxAttempts) {
    await app.db.tx(tenant, (tx) => note(app, tx, caller, otp, 'otp.attempt_failed', attempts))
    throw new AppError('OTP_INVALID', 'the code is wrong', { extra: { attempts_remaining: maxAttempts - attempts } })
  }
  await end(app, caller, { otp, phone, attempts }, 'failed', 'OTP_ATTEMPTS_EXCEEDED')
  throw exceeded()
}

async function find(app: App, caller: Caller, input: Static<typeof OtpVerify>): Promise<OtpRow> {
  const { tenant } = caller
  if (input.otp_id !== undefined) {
    const id = uuidOf('otp', input.otp_id)
    const otp = id && (await maybe(app.db.query(findOtp, { ...tenant, id })))
    if (!otp || otp.purpose !== (input.purpose ?? otp.purpose)) throw new AppError('NOT_FOUND', 'there is no such code')
    return otp
  }
  if (input.phone === undefined) throw invalid('otp_id', 'or phone must be given')
  const phone = phoneIndex(app, caller, input.phone)
  const otp = await maybe(app.db.query(latestOtp, { ...tenant, phone, purpose: input.purpose ?? '' }))
  if (!otp) throw new AppError('NOT_FOUND', 'no code was sent to this phone for this purpose')
  return otp
}

function refuseEnded({ status }: OtpRow): void {
  if (status === 'verified') throw new AppError('OTP_ALREADY_USED', 'this code was verified before')
  if (status === 'failed') throw exceeded()
  if (status !== 'pending') throw new AppError('OTP_EXPIRED', 'the code has expired')
}

function exceeded(): AppError {
  return new AppError('OTP_ATTEMPTS_EXCEEDED', 'a wrong code was given 5 times; send a new one', {
    retryAfterSeconds: 1,
  })
}

/** Ends an unverified code and emits its event, once. */
async function end(app: App, caller: Caller, code: RightCode, status: 'expired' | 'failed', reason: string) {
  await app.db.tx(caller.tenant, async (tx) => {
    const ended = await maybe(tx.query(endOtp, { ...caller.tenant, id: code.otp.id, status, at: null }))
    if (!ended) return
    const action = status === 'expired' ? 'otp.expired' : 'otp.attempt_failed'
    await note(app, tx, caller, code.otp, action, code.attempts)
    await tell(app, tx, caller, identityEvents.otpFailed, code, reason)
  })
}

/** Marks a correct code as used and emits its event; of two concurrent requests the second fails. */
export async function confirmCode(
  app: App,
  tx: Tx,
  caller: Caller,
  code: RightCode,
): Promise<Static<typeof OtpVerified>> {
  const { otp, phone, attempts } = code
  const at = new Date(caller.nowMs)
  const ended = await maybe(tx.query(endOtp, { ...caller.tenant, id: otp.id, status: 'verified', at }))
  if (!ended) throw new AppError('OTP_ALREADY_USED', 'this code was verified before')
  await note(app, tx, caller, otp, 'otp.verified', attempts)
  await tell(app, tx, caller, identityEvents.otpVerified, code, null)
  return {
    otp_id: idOf('otp', otp.id),
    phone,
    verified: true,
    status: 'verified',
    verified_at: at,
    channel: otp.channel,
  }
}

function note(app: App, tx: Tx, caller: Caller, otp: OtpRow, action: string, attempts: number): Promise<void> {
  const { tenant, receivedMs, nowMs } = caller
  const resourceId = idOf('otp', otp.id)
  return appendAudit(app, tx, tenant, {
    resourceId,
    action,
    actor: actorOf(caller),
    details: { attempts },
    receivedMs,
    nowMs,
  })
}

const Channel = OneOf(['sms', 'voice', 'messenger', 'email'])
type Channel = Static<typeof Channel>
const channelOf = (text: string): Channel =>
  text === 'voice' || text === 'messenger' || text === 'email' ? text : 'sms'

async function tell(
  app: App,
  tx: Tx,
  caller: Caller,
  type: typeof identityEvents.otpFailed,
  { otp, phone, attempts }: RightCode,
  reason: string | null,
): Promise<void> {
  const { tenant, receivedMs, nowMs, requestId } = caller
  await app.outbox.emit(tx, type, { tenant, receivedMs, nowMs, requestId }, idOf('otp', otp.id), {
    otp_id: idOf('otp', otp.id),
    phone: masked(phone),
    channel: channelOf(otp.channel),
    purpose: otp.purpose || null,
    attempts,
    attempts_left: Math.max(0, maxAttempts - attempts),
    reason,
    verification_id: otp.verification && idOf('verification', otp.verification),
  })
}
