// SPDX-License-Identifier: Apache-2.0
// Events of verifications and one-time codes. An event never contains an image, document number or name; those are read
// from the verification.
import { type Static, Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'

const riskLevel = OneOf(['low', 'medium', 'high', 'very_high'], { description: 'The score in a word' })
const asked = (description: string) => Nullable(Type.Boolean({ description: `${description}; null if not asked for` }))

const Verification = Type.Object(
  {
    verification_id: Type.String({ description: 'Id of the verification, such as `ver_…`' }),
    status: OneOf(['pending', 'verified', 'rejected', 'expired'], {
      description: '`pending` until the verdict is there',
    }),
    stage: OneOf(['queued', 'processing', 'awaiting_registry', 'awaiting_review', 'done'], {
      description: 'What it waits for; a person decides in `awaiting_review`',
    }),
    checks_performed: Type.Array(Type.String(), { description: 'What was looked at, such as `face_match`' }),
    results: Type.Object(
      {
        document_authentic: asked('The document holds together'),
        face_match: asked('The face is the one on the document'),
        liveness_passed: asked('A living person was before the camera'),
        overall_risk: Nullable(riskLevel),
      },
      { description: 'What was found, in short' },
    ),
    risk_assessment: Nullable(
      Type.Object(
        {
          risk_score: Type.Integer({ minimum: 0, maximum: 100, description: '0 for none to 100' }),
          risk_level: riskLevel,
          flags: Type.Array(Type.String(), { description: 'What raised the score' }),
        },
        { description: 'How risky the person is; null where that was not asked for' },
      ),
    ),
    reason: Nullable(Type.String({ description: 'The first of `failure_reasons`' })),
    failure_reasons: Type.Array(
      Type.Object({
        code: Type.String({ description: 'For programs, such as `FACE_MISMATCH`' }),
        check: Nullable(Type.String({ description: 'Which check failed; null for none of them' })),
        message: Type.String({ description: 'The same in words' }),
        retryable: Type.Boolean({ description: 'A better picture can help' }),
      }),
      { description: 'Why it was rejected; empty otherwise' },
    ),
    reference: Nullable(Type.String({ description: 'Your own id of the person or the case' })),
    metadata: Metadata,
    sandbox: Type.Boolean({ description: 'True in the test environment' }),
    created_at: At({ description: 'When it was asked for' }),
    completed_at: Nullable(At({ description: 'When the verdict came; null until then' })),
  },
  { title: 'IdentityVerificationEvent' },
)

const Otp = Type.Object(
  {
    otp_id: Type.String({ description: 'Id of the code, such as `otp_…`' }),
    phone: Type.String({ description: 'Masked' }),
    channel: OneOf(['sms', 'voice', 'messenger', 'email'], { description: 'How it went' }),
    purpose: Nullable(Type.String({ description: 'What it is for, as you said' })),
    attempts: Type.Integer({ description: 'How often a code was typed' }),
    attempts_left: Type.Integer({ description: 'How often it may be typed wrong before it is worth nothing' }),
    reason: Nullable(Type.String({ description: 'Why it failed' })),
    verification_id: Nullable(Type.String({ description: 'The verification it belongs to; null for none' })),
  },
  { title: 'IdentityOtpEvent' },
)

type Sample = Static<typeof Verification>

const verified: Sample = {
  verification_id: 'ver_01jb2c3d4e5f6g7h8j9kamnpqr',
  status: 'verified',
  stage: 'done',
  checks_performed: ['document_verification', 'face_match', 'liveness_detection'],
  results: { document_authentic: true, face_match: true, liveness_passed: true, overall_risk: 'low' },
  risk_assessment: { risk_score: 8, risk_level: 'low', flags: [] },
  reason: null,
  failure_reasons: [],
  reference: 'customer-8812',
  metadata: {},
  sandbox: true,
  created_at: new Date('2026-03-01T09:15:28.120Z'),
  completed_at: new Date('2026-03-01T09:15:30Z'),
}

const nothingYet = { document_authentic: null, face_match: null, liveness_passed: null, overall_risk: null }

const created: Sample = {
  ...verified,
  status: 'pending',
  stage: 'queued',
  checks_performed: [],
  results: nothingYet,
  risk_assessment: null,
  completed_at: null,
}

const unsure: Sample = {
  ...verified,
  status: 'pending',
  stage: 'awaiting_review',
  results: { ...verified.results, face_match: null, overall_risk: 'medium' },
  risk_assessment: { risk_score: 41, risk_level: 'medium', flags: ['face_score_in_review_band'] },
  completed_at: null,
}

const rejected: Sample = {
  ...verified,
  status: 'rejected',
  results: { ...verified.results, face_match: false, overall_risk: 'high' },
  risk_assessment: { risk_score: 74, risk_level: 'high', flags: ['face_mismatch'] },
  reason: 'FACE_MISMATCH',
  failure_reasons: [
    {
      code: 'FACE_MISMATCH',
      check: 'face_match',
      message: 'the selfie shows somebody else than the document',
      retryable: false,
    },
  ],
}

const expired: Sample = {
  ...verified,
  status: 'expired',
  reason: 'DOCUMENT_EXPIRED',
  failure_reasons: [
    {
      code: 'DOCUMENT_EXPIRED',
      check: 'document_not_expired',
      message: 'the document is past its expiry date',
      retryable: false,
    },
  ],
}

const code: Static<typeof Otp> = {
  otp_id: 'otp_01jb2c3d4e5f6g7h8j9kamnpqr',
  phone: '+2547****0001',
  channel: 'sms',
  purpose: 'login',
  attempts: 0,
  attempts_left: 5,
  reason: null,
  verification_id: null,
}

const verification = (name: string, summary: string, sample: Sample, aliases: readonly string[] = []) =>
  eventType({ name, summary, payload: Verification, sample, aliases })
const otp = (name: string, summary: string, sample: Static<typeof Otp>) =>
  eventType({ name, summary, payload: Otp, sample })

/** Subscription name for all verdicts. */
const verdict = ['identity.completed']

export const identityEvents = {
  created: verification('identity.created', 'A verification was accepted', created),
  pending: verification('identity.pending', 'A verification waits for a person’s decision', unsure),
  verified: verification('identity.verified', 'Every check of a verification passed', verified, verdict),
  rejected: verification('identity.rejected', 'A check of a verification failed', rejected, verdict),
  expired: verification('identity.expired', 'The document is past its expiry date', expired, verdict),
  otpSent: otp('identity.otp_sent', 'A one-time code was sent', code),
  otpVerified: otp('identity.otp_verified', 'The right one-time code was given', {
    ...code,
    attempts: 1,
    attempts_left: 4,
  }),
  otpFailed: otp('identity.otp_failed', 'A one-time code expired or was guessed too often', {
    ...code,
    attempts: 5,
    attempts_left: 0,
    reason: 'OTP_ATTEMPTS_EXCEEDED',
  }),
}
