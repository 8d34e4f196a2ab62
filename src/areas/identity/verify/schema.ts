// SPDX-License-Identifier: Apache-2.0
// Schemas of verifications: the request, the sealed parts, and the record.
import { type Static, Type } from 'typebox'
import { At, Day, Metadata, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { costFields } from '../charging.ts'
import { ActiveSubmission } from '../faces/frames.ts'
import { Picture } from '../pictures.ts'

const checkNames = [
  'document_verification',
  'face_match',
  'liveness_detection',
  'registry_lookup',
  'duplicate_check',
  'risk_score',
] as const

const personal = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength, sensitive: true }))

const Subject = Type.Object({
  first_name: personal(120),
  last_name: personal(120),
  date_of_birth: Type.Optional(Day({ sensitive: true })),
  sex: personal(10),
  phone: personal(20),
  email: personal(254),
  external_id: personal(128),
})

const Device = Type.Object({
  ip: personal(45),
  user_agent: personal(500),
  device_id: personal(128),
  latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
  longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
})

export const VerifyId = Type.Object({
  document_type: Type.String({ minLength: 1, maxLength: 40, description: 'See GET /v1/identity/document-types' }),
  country: Type.String({ minLength: 2, maxLength: 3, description: 'Issuing country: ISO 3166, two or three letters' }),
  document_front: Picture('Front of the document'),
  document_back: Type.Optional(Picture('Back of the document, where it has one')),
  selfie: Type.Optional(Picture('The person')),
  liveness: Type.Optional(ActiveSubmission),
  checks: Type.Optional(Type.Array(OneOf(checkNames), { maxItems: 6 })),
  document_number: personal(40),
  subject: Type.Optional(Subject),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  previous_verification_id: Type.Optional(Type.String({ maxLength: 40 })),
  consent: Type.Optional(
    Type.Object({
      granted: Type.Boolean(),
      granted_at: Type.Optional(Type.String({ maxLength: 40 })),
      privacy_notice_url: Type.Optional(Type.String({ maxLength: 2048 })),
      language: Type.Optional(Type.String({ maxLength: 20 })),
    }),
  ),
  device: Type.Optional(Device),
  metadata: Type.Optional(Metadata),
  callback_url: Type.Optional(Type.String({ maxLength: 2048 })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 25,
      rule: 'must be 0 to 25 seconds',
      description: 'Seconds to wait for the verdict',
    }),
  ),
})
export type VerifyId = Static<typeof VerifyId>

/** Caller's claims about the person; sealed. */
export const Claims = Type.Object({
  subject: Subject,
  device: Device,
  document_number: Type.Optional(Type.String()),
  selfie: Nullable(Type.Object({ descriptor: Type.Array(Type.Number()), engine: Type.String() })),
  liveness: Nullable(
    Type.Object({ passed: Type.Boolean(), confidence: Type.Number(), method: OneOf(['passive', 'active']) }),
  ),
})
export type Claims = Static<typeof Claims>

const maybeText = Nullable(Type.String())

const Document = Type.Object({
  document_type: Type.String(),
  country: Type.String(),
  document_number: maybeText,
  first_name: maybeText,
  last_name: maybeText,
  date_of_birth: maybeText,
  sex: maybeText,
  nationality: maybeText,
  issue_date: maybeText,
  expiry_date: maybeText,
  personal_number: maybeText,
  mrz: Nullable(Type.Object({ format: Type.String(), valid: Type.Boolean(), lines: Type.Array(Type.String()) })),
})

const Check = Type.Object({
  check: Type.String(),
  result: OneOf(['pass', 'fail', 'warn', 'skipped', 'unavailable']),
  weight: OneOf(['critical', 'major', 'minor']),
  detail: Type.String(),
})

/** Findings on the document; sealed. */
export const Findings = Type.Object({ document: Document, checks: Type.Array(Check) })
export type Findings = Static<typeof Findings>

export const riskLevels = ['low', 'medium', 'high', 'very_high'] as const

const Results = Type.Object({
  document_authentic: Nullable(Type.Boolean()),
  face_match: Nullable(Type.Boolean()),
  liveness_passed: Nullable(Type.Boolean()),
  overall_risk: Nullable(OneOf(riskLevels)),
})

const FailureReason = Type.Object({
  code: Type.String(),
  check: maybeText,
  message: Type.String(),
  retryable: Type.Boolean({ description: 'A better picture can help' }),
})
export type FailureReason = Static<typeof FailureReason>

const Review = Type.Object({ decision: maybeText, reason: maybeText, by: maybeText, at: maybeText })

/** Outcome without personal data, kept as long as the audit. */
export const Outcome = Type.Object({
  results: Results,
  checks_performed: Type.Array(Type.String()),
  face_match: Nullable(
    Type.Object({ match: Type.Boolean(), confidence: Type.Number(), similarity_score: Type.Number() }),
  ),
  liveness: Nullable(
    Type.Object({ passed: Type.Boolean(), confidence: Type.Number(), method: OneOf(['passive', 'active']) }),
  ),
  risk_assessment: Nullable(
    Type.Object({
      risk_score: Type.Integer({ minimum: 0, maximum: 100 }),
      risk_level: OneOf(riskLevels),
      flags: Type.Array(Type.String()),
    }),
  ),
  failure_reasons: Type.Array(FailureReason),
  review: Nullable(Review),
  engine: Type.Object({ version: Type.String(), ocr: Type.String(), face: Type.String(), threshold: Type.Number() }),
})
export type Outcome = Static<typeof Outcome>

export const VerificationRecord = Type.Object(
  {
    verification_id: Type.String(),
    status: OneOf(['verified', 'pending', 'rejected', 'expired']),
    checks_performed: Type.Array(Type.String()),
    results: Results,
    created_at: At(),
    completed_at: Nullable(At()),
    stage: OneOf(['queued', 'processing', 'awaiting_registry', 'awaiting_review', 'done']),
    reference: maybeText,
    document: Nullable(Document),
    checks: Type.Array(Check),
    face_match: Outcome.properties.face_match,
    liveness: Outcome.properties.liveness,
    risk_assessment: Outcome.properties.risk_assessment,
    failure_reasons: Outcome.properties.failure_reasons,
    review: Outcome.properties.review,
    previous_verification_id: maybeText,
    metadata: Metadata,
    retention: Type.Object({ images_erased_at: At(), record_erased_at: At() }),
    erased_at: Nullable(At()),
    engine: Nullable(Outcome.properties.engine),
    ...costFields,
    images: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'With `include=images`: the address of each picture by its field, for 60 seconds',
      }),
    ),
  },
  { title: 'IdentityVerification' },
)
export type VerificationRecord = Static<typeof VerificationRecord>

export const ListedVerification = Type.Omit(VerificationRecord, ['document', 'checks', 'images'], {
  title: 'IdentityVerificationListed',
})
