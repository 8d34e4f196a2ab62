// SPDX-License-Identifier: Apache-2.0
// Events of verifications and one-time codes. An event never contains an image, document number or name; those are read
// from the verification.
import { type Static, Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'

const riskLevel = OneOf(['low', 'medium', 'high', 'very_high'], { description: 'Risk level derived from the score' })
const asked = (description: string) => Nullable(Type.Boolean({ description: `${description}; null if not asked for` }))

const Verification = Type.Object(
  {
    verification_id: Type.String({ description: 'Id of the verification, such as `ver_…`' }),
    status: OneOf(['pending', 'verified', 'rejected', 'expired'], {
      description: 'Status; `pending` until the verdict',
    }),
    stage: OneOf(['queued', 'processing', 'awaiting_registry', 'awaiting_review', 'done'], {
      description: 'Processing stage; `awaiting_review` needs a decision by a person',
    }),
    checks_performed: Type.Array(Type.String(), { description: 'Performed checks, such as `face_match`' }),
    results: Type.Object(
      {
        document_authentic: asked('True if the document is authentic'),
        face_match: asked('True if the face matches the document'),
        liveness_passed: asked('True if a living person was detected'),
        overall_risk: Nullable(riskLevel),
      },
      { description: 'Summary of the results' },
    ),
    risk_assessment: Nullable(
      Type.Object(
        {
          risk_score: Type.Integer({ minimum: 0, maximum: 100, description: 'Risk score from 0 (none) to 100' }),
          risk_level: riskLevel,
          flags: Type.Array(Type.String(), { description: 'Reasons that raised the score' }),
        },
        { description: 'Risk assessment; null if it was not requested' },
      ),
    ),
    reason: Nullable(Type.String({ description: 'First code of `failure_reasons`' })),
    failure_reasons: Type.Array(
      Type.Object({
        code: Type.String({ description: 'Reason code, such as `FACE_MISMATCH`' }),
        check: Nullable(Type.String({ description: 'Check that failed; null for none' })),
        message: Type.String({ description: 'Human-readable explanation' }),
        retryable: Type.Boolean({ description: 'True if a better picture may help' }),
      }),
      { description: 'Failure reasons; empty if not rejected' },
    ),
    reference: Nullable(Type.String({ description: 'Your own id for the person or the case' })),
    metadata: Metadata,
    sandbox: Type.Boolean({ description: 'True in the test environment' }),
    created_at: At({ description: 'Time of the request' }),
    completed_at: Nullable(At({ description: 'Time of the verdict; null until then' })),
  },
  { title: 'IdentityVerificationEvent' },
)

const Otp = Type.Object(
  {
    otp_id: Type.String({ description: 'Id of the code, such as `otp_…`' }),
    phone: Type.String({ description: 'Phone number, masked' }),
    channel: OneOf(['sms', 'voice', 'messenger', 'email'], { description: 'Channel of the code' }),
    purpose: Nullable(Type.String({ description: 'Purpose of the code' })),
    attempts: Type.Integer({ description: 'Number of attempts' }),
    attempts_left: Type.Integer({ description: 'Number of attempts left' }),
    reason: Nullable(Type.String({ description: 'Failure reason' })),
    verification_id: Nullable(Type.String({ description: 'Id of the verification it belongs to; null for none' })),
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
  pending: verification('identity.pending', 'A verification awaits manual review', unsure),
  verified: verification('identity.verified', 'Every check of a verification passed', verified, verdict),
  rejected: verification('identity.rejected', 'A check of a verification failed', rejected, verdict),
  expired: verification('identity.expired', 'The document is past its expiry date', expired, verdict),
  otpSent: otp('identity.otp_sent', 'A one-time code was sent', code),
  otpVerified: otp('identity.otp_verified', 'A one-time code was verified', {
    ...code,
    attempts: 1,
    attempts_left: 4,
  }),
  otpFailed: otp('identity.otp_failed', 'A one-time code expired or had too many wrong attempts', {
    ...code,
    attempts: 5,
    attempts_left: 0,
    reason: 'OTP_ATTEMPTS_EXCEEDED',
  }),
}
