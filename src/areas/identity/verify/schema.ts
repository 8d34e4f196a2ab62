// SPDX-License-Identifier: Apache-2.0
// Schemas of verifications: the request, the sealed parts, and the record.
import { type Static, Type } from 'typebox'
import { At, Day, Metadata, Moment, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { costFields } from '../charging.ts'
import { sources } from '../documents/judge.ts'
import { ActiveSubmission } from '../faces/frames.ts'
import { Confidence, matchThreshold, reviewThreshold } from '../faces/match.ts'
import { Picture } from '../pictures.ts'
import { riskLevels } from '../signals/risk-score.ts'

export const checkNames = [
  'document_verification',
  'face_match',
  'liveness_detection',
  'registry_lookup',
  'duplicate_check',
  'risk_score',
] as const

/** Personal detail in a request, which is never logged. */
export const personal = (description: string, maxLength: number) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, sensitive: true, description }))

const Subject = Type.Object(
  {
    first_name: personal('Given names; compared with the document', 120),
    last_name: personal('Family name; compared with the document', 120),
    date_of_birth: Type.Optional(
      Day({ sensitive: true, description: 'Date of birth as stated by the person; compared with the document' }),
    ),
    sex: personal('F or M; compared with the document', 10),
    phone: personal('Phone number in E.164; compared with your blocklist, and evaluated by the check `risk_score`', 20),
    email: personal('Email address; compared with your blocklist, and evaluated by the check `risk_score`', 254),
    external_id: personal(
      'Your own id for the person: used to erase their data, to find duplicates, and by `risk_score` to count persons who share a phone, device or IP address',
      128,
    ),
  },
  { description: 'Details stated by the person' },
)

const Device = Type.Object(
  {
    ip: personal('IP address of the person; the check `risk_score` counts the persons who share it', 45),
    user_agent: personal('User agent of the browser or app; kept with the verification, and not evaluated', 500),
    device_id: personal('Your own id for the device: compared with your blocklist and with duplicates', 128),
    latitude: Type.Optional(
      Type.Number({
        minimum: -90,
        maximum: 90,
        description: 'Degrees, north positive; kept with the verification, and not evaluated',
      }),
    ),
    longitude: Type.Optional(
      Type.Number({
        minimum: -180,
        maximum: 180,
        description: 'Degrees, east positive; kept with the verification, and not evaluated',
      }),
    ),
  },
  { description: 'Device of the person, not your server' },
)

export const VerifyId = Type.Object({
  document_type: Type.String({
    minLength: 1,
    maxLength: 40,
    description: 'Document type, see GET /v1/identity/document-types',
  }),
  country: Type.String({ minLength: 2, maxLength: 3, description: 'Issuing country: ISO 3166, two or three letters' }),
  document_front: Picture('Photograph or scan of the side with the face'),
  document_back: Type.Optional(Picture('Back of the document, if it has one')),
  selfie: Type.Optional(Picture('Photograph of the person')),
  liveness: Type.Optional(ActiveSubmission),
  checks: Type.Optional(
    Type.Array(OneOf(checkNames), {
      maxItems: 6,
      description:
        'Checks besides document_verification, which is always included; default face_match and liveness_detection if a selfie or liveness is given. `risk_score` evaluates phone, email, IP address and device, as POST /v1/identity/risk-score does',
    }),
  ),
  document_number: personal(
    'Document number as typed by the person; compared with the document, and looked up in a registry',
    40,
  ),
  subject: Type.Optional(Subject),
  reference: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Your own id for the person or the case, for filtering; need not be unique',
    }),
  ),
  previous_verification_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of the rejected verification that this one repeats' }),
  ),
  consent: Type.Optional(
    Type.Object(
      {
        granted: Type.Boolean({ description: 'True if the person agreed; false refuses the verification' }),
        granted_at: Type.Optional(
          Moment({ description: 'Time of the agreement, which is also recorded in the audit' }),
        ),
        privacy_notice_url: Type.Optional(
          Type.String({ minLength: 1, maxLength: 2048, description: 'URL of the privacy notice that they agreed to' }),
        ),
        language: Type.Optional(
          Type.String({ minLength: 1, maxLength: 20, description: 'Language in which consent was requested' }),
        ),
      },
      {
        description:
          'Consent of the person, kept with the verification; required if the policy of the account requires it',
      },
    ),
  ),
  device: Type.Optional(Device),
  metadata: Type.Optional(Metadata),
  callback_url: Type.Optional(
    Type.String({
      maxLength: 2048,
      description: 'URL that receives the events of this verification, beside your webhooks; https://',
    }),
  ),
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

/** Consent as it is kept: evidence that the person agreed, when and to what. */
const KeptConsent = Type.Object({
  granted: Type.Literal(true),
  granted_at: Nullable(Type.String()),
  privacy_notice_url: Nullable(Type.String()),
  language: Nullable(Type.String()),
})
export type KeptConsent = Static<typeof KeptConsent>

/** Caller's claims about the person; sealed. */
export const Claims = Type.Object({
  subject: Subject,
  device: Device,
  document_number: Type.Optional(Type.String()),
  /** Consent of the person; absent where none was given. */
  consent: Type.Optional(KeptConsent),
  selfie: Nullable(Type.Object({ descriptor: Type.Array(Type.Number()), engine: Type.String() })),
  liveness: Nullable(
    Type.Object({
      passed: Type.Boolean(),
      confidence: Type.Number(),
      method: OneOf(['passive', 'active']),
      light: Type.Optional(OneOf(['seen', 'faint', 'other'])),
    }),
  ),
})
export type Claims = Static<typeof Claims>

export const maybe = (description: string) => Nullable(Type.String({ description }))

const fields = {
  document_number: maybe('Value read from the document; null if not read'),
  first_name: maybe('Given names, as on the document'),
  last_name: maybe('Family name, as on the document'),
  date_of_birth: maybe('YYYY-MM-DD'),
  sex: maybe('F or M'),
  nationality: maybe('Three letters, such as KEN'),
  issue_date: maybe('YYYY-MM-DD'),
  expiry_date: maybe('YYYY-MM-DD'),
  personal_number: maybe('Personal number, if the document has one in addition to the document number'),
}

const Document = Type.Object({
  document_type: Type.String({ description: 'Document type, such as `passport`' }),
  country: Type.String({ description: 'Issuing country, ISO 3166' }),
  ...fields,
  sources: Type.Optional(
    Type.Record(Type.String(), OneOf(sources), {
      description: 'Source of each field: machine-readable zone, barcode or printed text',
    }),
  ),
  mrz: Nullable(
    Type.Object(
      {
        format: Type.String({ description: 'MRZ format, such as TD3' }),
        valid: Type.Boolean({ description: 'True if its check digits are valid' }),
        lines: Type.Array(Type.String(), { description: 'Extracted lines' }),
      },
      { description: 'Machine-readable zone; null if there is none' },
    ),
  ),
})

const Check = Type.Object({
  check: Type.String({ description: 'Name of the check, such as `mrz_check_digits`' }),
  result: OneOf(['pass', 'fail', 'warn', 'skipped', 'unavailable'], {
    description: 'Result; `unavailable`: could not be made, `skipped`: not requested',
  }),
  weight: OneOf(['critical', 'major', 'minor'], { description: 'Weight of a failure' }),
  detail: Type.String({ description: 'Explanation of the result' }),
})

const Readings = Type.Object(
  {
    zone: Nullable(Type.Object(fields), {
      description: 'Values of the machine-readable zone; null if there is none',
    }),
    barcode: Type.Optional(
      Nullable(Type.Object(fields), { description: 'Values of a barcode; null if none was read or known' }),
    ),
    print: Type.Object(fields, { description: 'Values of the printed text' }),
  },
  { description: 'Values by source, for comparison' },
)

const Region = Type.Object({
  name: Type.String({
    description:
      '`zone`, `portrait`, or the field of `document` that was read there; `glare`, `blurred`, `covered` by a finger or `cut_off` by the edge',
  }),
  image: Type.String({ description: 'The picture, such as `document_front`' }),
  box: Type.Array(Type.Number(), {
    description: 'Left, top, width and height, as fractions of the sides of the picture',
  }),
})

/** Findings on the document; sealed. Those of earlier releases have neither readings nor regions. */
export const Findings = Type.Object({
  document: Document,
  checks: Type.Array(Check),
  readings: Type.Optional(Readings),
  regions: Type.Optional(Type.Array(Region)),
})
export type Findings = Static<typeof Findings>

const Results = Type.Object(
  {
    document_authentic: Nullable(Type.Boolean({ description: 'Verdict; null until it is known' })),
    face_match: Nullable(Type.Boolean({ description: 'True if the face matches the document; null if not requested' })),
    liveness_passed: Nullable(
      Type.Boolean({ description: 'True if a living person was detected; null if not requested' }),
    ),
    overall_risk: Nullable(OneOf(riskLevels, { description: 'Verdict; null until it is known' })),
  },
  { description: 'Summary of the results' },
)

export const FailureReason = Type.Object({
  code: Type.String({ description: 'Reason code such as DOCUMENT_EXPIRED' }),
  check: maybe('Check that failed'),
  message: Type.String({ description: 'Human-readable explanation' }),
  retryable: Type.Boolean({ description: 'True if a better picture may help' }),
})
export type FailureReason = Static<typeof FailureReason>

const Review = Type.Object({
  decision: maybe('`approve` or `reject`'),
  reason: maybe('Reason given by the reviewer'),
  by: maybe('Reviewer'),
  at: maybe('Time of the decision'),
  machine: Type.Optional(
    OneOf(['unsure', 'verified', 'rejected', 'expired'], {
      description: 'Automatic verdict before any review',
    }),
  ),
})

/** Outcome without personal data, kept as long as the audit. */
export const Outcome = Type.Object({
  results: Results,
  checks_performed: Type.Array(Type.String(), { description: 'Requested checks' }),
  face_match: Nullable(
    Type.Object(
      {
        match: Type.Boolean({
          description: `True if the similarity is ${matchThreshold} or more; from ${reviewThreshold} a person decides`,
        }),
        confidence: Confidence,
        similarity_score: Type.Number({ description: 'Similarity of the faces, 0 to 1, which decides' }),
      },
      { description: 'Similarity of the faces; null if it was not requested' },
    ),
  ),
  liveness: Nullable(
    Type.Object(
      {
        passed: Type.Boolean({ description: 'True if a living person was detected' }),
        confidence: Type.Number({ description: 'Confidence from 0 to 100' }),
        method: OneOf(['passive', 'active'], {
          description: 'Method: one picture (`passive`), or movements (`active`)',
        }),
        light: Type.Optional(
          OneOf(['seen', 'faint', 'other'], {
            description: 'True if the screen colours were detected on the face; absent if none were shown',
          }),
        ),
      },
      { description: 'Result of the check; null if it was not requested' },
    ),
  ),
  risk_assessment: Nullable(
    Type.Object(
      {
        risk_score: Type.Integer({ minimum: 0, maximum: 100, description: 'Risk score from 0 (none) to 100' }),
        risk_level: OneOf(riskLevels, { description: 'Risk level derived from the score' }),
        flags: Type.Array(Type.String(), { description: 'Reasons that raised the score' }),
      },
      { description: 'Result of the check; null if it was not requested' },
    ),
  ),
  failure_reasons: Type.Array(FailureReason, { description: 'Failure reasons; empty if not rejected' }),
  doubt: Type.Optional(
    Nullable(FailureReason, { description: 'Reason for the manual review; null or absent if there was none' }),
  ),
  review: Nullable(Review, { description: 'Manual review; null if there was none' }),
  engine: Type.Object(
    {
      version: Type.String({ description: 'Version of the rules that decide' }),
      ocr: Type.String({ description: 'Engine that read the document; empty if none did' }),
      face: Type.String({ description: 'Engine that compared the faces; empty if none did' }),
      threshold: Type.Number({ description: 'Similarity from which faces are one person, 0 to 1' }),
    },
    { description: 'Engine of the verdict' },
  ),
})
export type Outcome = Static<typeof Outcome>

export const VerificationRecord = Type.Object(
  {
    verification_id: Type.String({ description: 'Id of the verification, such as `ver_…`' }),
    status: OneOf(['verified', 'pending', 'rejected', 'expired'], {
      description: 'Status; `pending` until the verdict',
    }),
    checks_performed: Type.Array(Type.String(), { description: 'Requested checks' }),
    results: Results,
    created_at: At({ description: 'Time of the request' }),
    completed_at: Nullable(At({ description: 'Time of the verdict' })),
    stage: OneOf(['queued', 'processing', 'awaiting_registry', 'awaiting_review', 'done'], {
      description: 'Processing stage; `awaiting_review` needs a decision by a person',
    }),
    reference: maybe('Your own id for the person or the case'),
    consent: Nullable(
      Type.Object({
        granted: Type.Literal(true, { description: 'Always true: the person agreed' }),
        granted_at: Nullable(At({ description: 'Time of the agreement; null if it was not given' })),
        privacy_notice_url: maybe('URL of the privacy notice that they agreed to'),
        language: maybe('Language in which consent was requested'),
      }),
      {
        description: 'Consent as submitted; null if none, and once the record is erased',
      },
    ),
    document: Nullable(Document, {
      description: 'Data read from the document; null before processing, and once the record is erased',
    }),
    checks: Type.Array(Check, { description: 'Checks with their results' }),
    readings: Nullable(Readings),
    regions: Type.Array(Region, { description: 'Places of the fields on the pictures' }),
    pictures: Type.Array(Type.String(), {
      description: 'Names of the stored pictures, for GET /v1/identity/verification/{id}/image',
    }),
    face_match: Outcome.properties.face_match,
    liveness: Outcome.properties.liveness,
    risk_assessment: Outcome.properties.risk_assessment,
    failure_reasons: Outcome.properties.failure_reasons,
    doubt: Nullable(FailureReason, { description: 'Reason for a manual review; null if there was none' }),
    review: Outcome.properties.review,
    previous_verification_id: maybe('Id of the rejected verification that it repeats'),
    metadata: Metadata,
    retention: Type.Object(
      {
        images_erased_at: At({ description: 'Time at which the pictures are erased' }),
        record_erased_at: At({ description: 'Time at which the data read are erased' }),
      },
      { description: 'Times of erasure' },
    ),
    erased_at: Nullable(At({ description: 'Time of erasure on request; null if there was none' })),
    engine: Nullable(Outcome.properties.engine),
    ...costFields,
    images: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'URL of each picture by its field, valid for 60 seconds; only with `include=images`',
      }),
    ),
  },
  { title: 'IdentityVerification' },
)
export type VerificationRecord = Static<typeof VerificationRecord>

export const ListedVerification = Type.Omit(
  VerificationRecord,
  ['consent', 'document', 'checks', 'readings', 'regions', 'pictures', 'images'],
  {
    title: 'IdentityVerificationListed',
  },
)
