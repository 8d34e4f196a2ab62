// SPDX-License-Identifier: Apache-2.0
// Routes of one-time codes.
import { type Route, write } from '../../../platform/api/route.ts'
import { OtpSend, OtpSent } from './schema.ts'
import { reserveAndSend, tellSent } from './send.ts'
import { confirmCode, judgeCode, OtpVerified, OtpVerify } from './verify.ts'

const send = write({
  method: 'POST',
  path: '/v1/identity/phone/send-otp',
  operation: 'identity.sendOtp',
  summary: 'Send a one-time code to a phone',
  description:
    'A repeat for the same phone and purpose while a code is pending resends the same code, after a wait that doubles each time.',
  scope: 'identity:otp',
  limit: 'identity',
  body: OtpSend,
  reply: { status: 200, schema: OtpSent },
  errors: [
    'INVALID_PHONE',
    'OTP_BLOCKED',
    'OTP_COOLDOWN',
    'OTP_SEND_LIMIT',
    'DESTINATION_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'PROVIDER_UNAVAILABLE',
  ],
  examples: [{ name: 'A code for a login', body: { phone: '+254711000001', purpose: 'login' } }],
  prepare: (app, { body }, caller) => reserveAndSend(app, caller, body),
  handle: (app, tx, { body }, caller, sent) => tellSent(app, tx, caller, body.phone, sent),
})

const verify = write({
  method: 'POST',
  path: '/v1/identity/phone/verify-otp',
  operation: 'identity.verifyOtp',
  summary: 'Verify a one-time code',
  description: 'Returns 200 only for the right code. Identify the code by `otp_id`, or by `phone` and `purpose`.',
  scope: 'identity:otp',
  limit: 'identity',
  body: OtpVerify,
  reply: { status: 200, schema: OtpVerified },
  errors: ['INVALID_PHONE', 'NOT_FOUND', 'OTP_INVALID', 'OTP_EXPIRED', 'OTP_ALREADY_USED', 'OTP_ATTEMPTS_EXCEEDED'],
  prepare: (app, { body }, caller) => judgeCode(app, caller, body),
  handle: (app, tx, _, caller, code) => confirmCode(app, tx, caller, code),
})

export const otpRoutes: readonly Route[] = [send, verify]
