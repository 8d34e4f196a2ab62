// SPDX-License-Identifier: Apache-2.0
// Schemas of verifications: the request, the sealed parts, and the record.
import { type Static, Type } from 'typebox'
import { At, Day, Metadata, Moment, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { costFields } from '../charging.ts'
import { sources } from '../documents/judge.ts'
import { ActiveSubmission } from '../faces/frames.ts'
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
      Day({ sensitive: true, description: 'As they say it is; compared with the document' }),
    ),
    sex: personal('F or M; compared with the document', 10),
    phone: personal('In E.164; looked for on your blocklist, and judged by the check `risk_score`', 20),
    email: personal('Looked for on your blocklist, and judged by the check `risk_score`', 254),
    external_id: personal(
      'Your own id of the person: what is known of them is erased by it, duplicates are other people, and `risk_score` counts how many share a phone, device or address',
      128,
    ),
  },
  { description: 'What the person says of themselves' },
)

const Device = Type.Object(
  {
    ip: personal('Address they came from: the check `risk_score` counts how many persons share it', 45),
    user_agent: personal('Of their browser or app; kept with the verification, and not judged', 500),
    device_id: personal('By which you know the device again: looked for on your blocklist and among duplicates', 128),
    latitude: Type.Optional(
      Type.Number({
        minimum: -90,
        maximum: 90,
        description: 'Degrees, north positive; kept with the verification, and not judged',
      }),
    ),
    longitude: Type.Optional(
      Type.Number({
        minimum: -180,
        maximum: 180,
        description: 'Degrees, east positive; kept with the verification, and not judged',
      }),
    ),
  },
  { description: 'Of the person, not of your server' },
)

export const VerifyId = Type.Object({
  document_type: Type.String({ minLength: 1, maxLength: 40, description: 'See GET /v1/identity/document-types' }),
  country: Type.String({ minLength: 2, maxLength: 3, description: 'Issuing country: ISO 3166, two or three letters' }),
  document_front: Picture('Photograph or scan of the side with the face'),
  document_back: Type.Optional(Picture('Back of the document, where it has one')),
  selfie: Type.Optional(Picture('The person')),
  liveness: Type.Optional(ActiveSubmission),
  checks: Type.Optional(
    Type.Array(OneOf(checkNames), {
      maxItems: 6,
      description:
        'Besides document_verification, which is always done; face_match and liveness_detection where there is a selfie or liveness, unless given. `risk_score` adds what phone, email, address and device tell, as POST /v1/identity/risk-score does',
    }),
  ),
  document_number: personal('As the person typed it; compared with the document, and what a registry is asked for', 40),
  subject: Type.Optional(Subject),
  reference: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Your own id of the person or the case, by which verifications are listed; it may be used again',
    }),
  ),
  previous_verification_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'The rejected try that this one repeats' }),
  ),
  consent: Type.Optional(
    Type.Object(
      {
        granted: Type.Boolean({ description: 'True: the person agreed. Without that nothing is verified' }),
        granted_at: Type.Optional(Moment({ description: 'When they agreed; the audit keeps it too' })),
        privacy_notice_url: Type.Optional(
          Type.String({ minLength: 1, maxLength: 2048, description: 'What they agreed to' }),
        ),
        language: Type.Optional(Type.String({ minLength: 1, maxLength: 20, description: 'In which they were asked' })),
      },
      {
        description:
          'That the person agreed, kept with the verification; needed where the policy of the account says so',
      },
    ),
  ),
  device: Type.Optional(Device),
  metadata: Type.Optional(Metadata),
  callback_url: Type.Optional(
    Type.String({
      maxLength: 2048,
      description: 'Told of what becomes of this verification, beside your webhooks; https://',
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
  document_number: maybe('As it was read; null if it was not'),
  first_name: maybe('Given names, as on the document'),
  last_name: maybe('Family name, as on the document'),
  date_of_birth: maybe('YYYY-MM-DD'),
  sex: maybe('F or M'),
  nationality: maybe('Three letters, such as KEN'),
  issue_date: maybe('YYYY-MM-DD'),
  expiry_date: maybe('YYYY-MM-DD'),
  personal_number: maybe('Where the document has one beside its own'),
}

const Document = Type.Object({
  document_type: Type.String({ description: 'What it is, such as `passport`' }),
  country: Type.String({ description: 'Issuing country, ISO 3166' }),
  ...fields,
  sources: Type.Optional(
    Type.Record(Type.String(), OneOf(sources), {
      description: 'Where each field was read: machine-readable lines, a barcode, or the print',
    }),
  ),
  mrz: Nullable(
    Type.Object(
      {
        format: Type.String({ description: 'Such as TD3' }),
        valid: Type.Boolean({ description: 'Whether its check digits are right' }),
        lines: Type.Array(Type.String(), { description: 'As they were read' }),
      },
      { description: 'The machine-readable lines; null if there are none' },
    ),
  ),
})

const Check = Type.Object({
  check: Type.String({ description: 'What was looked at, such as `mrz_check_digits`' }),
  result: OneOf(['pass', 'fail', 'warn', 'skipped', 'unavailable'], {
    description: '`unavailable` could not be asked, `skipped` was not wanted',
  }),
  weight: OneOf(['critical', 'major', 'minor'], { description: 'How much a failure of it counts' }),
  detail: Type.String({ description: 'What was found' }),
})

const Readings = Type.Object(
  {
    zone: Nullable(Type.Object(fields), { description: 'By the machine-readable lines; null if there are none' }),
    barcode: Type.Optional(
      Nullable(Type.Object(fields), { description: 'By a barcode; null if none was read or known' }),
    ),
    print: Type.Object(fields, { description: 'What the printed text of the document says' }),
  },
  { description: 'What was read in either place, for whoever compares them' },
)

const Region = Type.Object({
  name: Type.String({
    description:
      '`zone`, `portrait`, or the field of `document` that was read there; `glare`, `blurred`, `covered` by a finger or `cut_off` by the edge',
  }),
  image: Type.String({ description: 'The picture, such as `document_front`' }),
  box: Type.Array(Type.Number(), { description: 'Left, top, width and height, as parts of the sides of the picture' }),
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
    document_authentic: Nullable(Type.Boolean({ description: 'Null until it is judged' })),
    face_match: Nullable(
      Type.Boolean({ description: 'Whether the person is that of the document; null if it was not asked' }),
    ),
    liveness_passed: Nullable(
      Type.Boolean({ description: 'Whether a living person was seen; null if it was not asked' }),
    ),
    overall_risk: Nullable(OneOf(riskLevels, { description: 'Null until it is judged' })),
  },
  { description: 'What was found, in short' },
)

export const FailureReason = Type.Object({
  code: Type.String({ description: 'Such as DOCUMENT_EXPIRED' }),
  check: maybe('The check it comes from'),
  message: Type.String({ description: 'The same in words' }),
  retryable: Type.Boolean({ description: 'A better picture can help' }),
})
export type FailureReason = Static<typeof FailureReason>

const Review = Type.Object({
  decision: maybe('`approve` or `reject`'),
  reason: maybe('What was written'),
  by: maybe('Who decided'),
  at: maybe('When it was decided'),
  machine: Type.Optional(
    OneOf(['unsure', 'verified', 'rejected', 'expired'], {
      description: 'What the machine had said before any person',
    }),
  ),
})

/** Outcome without personal data, kept as long as the audit. */
export const Outcome = Type.Object({
  results: Results,
  checks_performed: Type.Array(Type.String(), { description: 'What was asked for' }),
  face_match: Nullable(
    Type.Object(
      {
        match: Type.Boolean({ description: 'Whether it is one person' }),
        confidence: Type.Number({ description: '0 to 100' }),
        similarity_score: Type.Number({ description: '0 to 1' }),
      },
      { description: 'How alike the faces are; null if it was not asked' },
    ),
  ),
  liveness: Nullable(
    Type.Object(
      {
        passed: Type.Boolean({ description: 'Whether a living person was seen' }),
        confidence: Type.Number({ description: '0 to 100' }),
        method: OneOf(['passive', 'active'], { description: 'One picture, or movements' }),
        light: Type.Optional(
          OneOf(['seen', 'faint', 'other'], {
            description: 'Whether the colours of the screen were seen on the face; absent where none were shone',
          }),
        ),
      },
      { description: 'Null if it was not asked' },
    ),
  ),
  risk_assessment: Nullable(
    Type.Object(
      {
        risk_score: Type.Integer({ minimum: 0, maximum: 100, description: '0 for none to 100' }),
        risk_level: OneOf(riskLevels, { description: 'The score in a word' }),
        flags: Type.Array(Type.String(), { description: 'What raised it' }),
      },
      { description: 'Null if it was not asked' },
    ),
  ),
  failure_reasons: Type.Array(FailureReason, { description: 'Why it was rejected; empty unless it was' }),
  doubt: Type.Optional(
    Nullable(FailureReason, { description: 'Why a person was asked to decide; null or absent if none was' }),
  ),
  review: Nullable(Review, { description: 'What a person decided; null if none did' }),
  engine: Type.Object(
    {
      version: Type.String({ description: 'Of the rules that decide' }),
      ocr: Type.String({ description: 'What read the document; empty if nothing did' }),
      face: Type.String({ description: 'What compared the faces; empty if nothing did' }),
      threshold: Type.Number({ description: 'Similarity from which faces are one person, 0 to 1' }),
    },
    { description: 'What judged it' },
  ),
})
export type Outcome = Static<typeof Outcome>

export const VerificationRecord = Type.Object(
  {
    verification_id: Type.String({ description: 'Id of the verification, such as `ver_…`' }),
    status: OneOf(['verified', 'pending', 'rejected', 'expired'], {
      description: '`pending` until the verdict is there',
    }),
    checks_performed: Type.Array(Type.String(), { description: 'What was asked for' }),
    results: Results,
    created_at: At({ description: 'When it was asked for' }),
    completed_at: Nullable(At({ description: 'When the verdict was there' })),
    stage: OneOf(['queued', 'processing', 'awaiting_registry', 'awaiting_review', 'done'], {
      description: 'What it waits for; a person decides in `awaiting_review`',
    }),
    reference: maybe('Your own id of the person or the case'),
    consent: Nullable(
      Type.Object({
        granted: Type.Literal(true, { description: 'Always true: the person agreed' }),
        granted_at: Nullable(At({ description: 'When the person agreed; null if that was not said' })),
        privacy_notice_url: maybe('What they agreed to'),
        language: maybe('In which they were asked'),
      }),
      {
        description: 'That the person agreed, as it was sent; null if nothing was sent, and once the record is erased',
      },
    ),
    document: Nullable(Document, {
      description: 'What was read from the document; null until then, and once the record is erased',
    }),
    checks: Type.Array(Check, { description: 'What was looked at, one by one' }),
    readings: Nullable(Readings),
    regions: Type.Array(Region, { description: 'Where on the pictures it was read' }),
    pictures: Type.Array(Type.String(), {
      description: 'Pictures that are kept, by their names for GET /v1/identity/verification/{id}/image',
    }),
    face_match: Outcome.properties.face_match,
    liveness: Outcome.properties.liveness,
    risk_assessment: Outcome.properties.risk_assessment,
    failure_reasons: Outcome.properties.failure_reasons,
    doubt: Nullable(FailureReason, { description: 'Why a person was asked to decide; null if none was' }),
    review: Outcome.properties.review,
    previous_verification_id: maybe('The rejected try that it repeats'),
    metadata: Metadata,
    retention: Type.Object(
      {
        images_erased_at: At({ description: 'Of the pictures' }),
        record_erased_at: At({ description: 'Of what was read' }),
      },
      { description: 'When what is kept of it is erased' },
    ),
    erased_at: Nullable(At({ description: 'When it was erased on request; null if it was not' })),
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

export const ListedVerification = Type.Omit(
  VerificationRecord,
  ['consent', 'document', 'checks', 'readings', 'regions', 'pictures', 'images'],
  {
    title: 'IdentityVerificationListed',
  },
)
