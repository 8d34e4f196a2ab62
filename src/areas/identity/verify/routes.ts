// SPDX-License-Identifier: Apache-2.0
// Routes of verifications: create, read, audit, review, erase, uploads and policy.

import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { dayMs, momentText } from '../../../kernel/time.ts'
import { download, IdParam, list, multipart, type Route, read, write } from '../../../platform/api/route.ts'
import { allows } from '../../../platform/auth/scopes.ts'
import { one } from '../../../platform/db.ts'
import { checkCallback } from '../../../platform/outbound/callback-url.ts'
import { At, listQuery, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { downloadOf } from '../../../platform/storage/signed-files.ts'
import { AuditEntry, actorOf, appendAudit, entryOf, linksAfter, resourceOf } from '../audit-chain.ts'
import { maxPictureBytes, maxRequestBytes, mediaFile } from '../pictures.ts'
import { changePolicy, Policy, PolicyChange, policyOf } from '../policy.ts'
import { forgetSightings } from '../signals/contact.ts'
import { admit, awaitVerdict, create, indexOf } from './create.ts'
import { eraseRecord } from './erase.ts'
import { imagesOf, listedRecord, recordOf, verificationWith } from './record.ts'
import { ReviewDecision, review } from './review.ts'
import { ListedVerification, maybe, VerificationRecord, VerifyId } from './schema.ts'
import { countReviews, countVerdicts, eraseSessions, listOfPerson, listVerifications, ofSubject } from './store.ts'

const picture = { maxBytes: maxPictureBytes, optional: true }

const verifyId = write({
  method: 'POST',
  path: '/v1/identity/verify-id',
  operation: 'identity.verifyId',
  summary: 'Verify a person by their document',
  description: 'Returns the verdict if it is known within `wait` seconds, and status pending otherwise.',
  scope: 'identity:write',
  limit: 'identity',
  body: VerifyId,
  bodyLimitBytes: maxRequestBytes,
  files: { document_front: picture, document_back: picture, selfie: picture },
  reply: {
    status: 201,
    schema: VerificationRecord,
    location: ({ verification_id }) => `/v1/identity/verification/${verification_id}`,
  },
  errors: [
    'INVALID_DOCUMENT_TYPE',
    'IMAGE_QUALITY_LOW',
    'IMAGE_TOO_LARGE',
    'NO_FACE_DETECTED',
    'MULTIPLE_FACES',
    'CONSENT_REQUIRED',
    'DESTINATION_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'CHALLENGE_USED',
    'CHALLENGE_EXPIRED',
    'INVALID_URL',
    'NOT_FOUND',
    'REGISTRY_UNAVAILABLE',
    'PROVIDER_UNAVAILABLE',
  ],
  examples: [
    {
      name: 'A passport and its holder',
      body: {
        document_type: 'passport',
        country: 'KE',
        document_front: 'sandbox:passport_ke',
        selfie: 'sandbox:face_a',
        reference: 'customer-8812',
      },
    },
  ],
  prepare: async (app, { body }, caller) => {
    await checkCallback(app, caller.tenant, body.callback_url)
    return admit(app, caller, body)
  },
  handle: (app, tx, { body }, caller, accepted) => create(app, tx, caller, body, accepted),
  follow: (app, { body }, caller, { verification_id }) => awaitVerdict(app, caller, verification_id, body.wait),
})

const made = { operation: 'identity.verifyId', id: 'verification_id' } as const

/** Example that needs a review. */
const doubtful = {
  ...made,
  body: { document_type: 'national_id', country: 'KE', document_front: 'sandbox:id_za', wait: 25 },
} as const

/** Seconds for which the address of a picture can be read. */
const pictureSeconds = 60

const getVerification = read({
  method: 'GET',
  path: '/v1/identity/verification/:id',
  operation: 'identity.getVerification',
  summary: 'Get an identity verification',
  description:
    'Access to a verification is recorded in the audit. With `include=images`, which requires the scope `identity:review`, each picture has a URL that is valid for 60 seconds.',
  scope: 'identity:read',
  params: IdParam,
  query: Type.Object({
    include: Type.Optional(OneOf(['images'], { description: 'URLs of the pictures, for a reviewer' })),
  }),
  needs: made,
  reply: { status: 200, schema: VerificationRecord },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  handle: async (app, { params, query }, caller) => {
    const { tenant, receivedMs, nowMs } = caller
    const wantsImages = query.include === 'images'
    if (wantsImages && !allows(caller.principal.scopes, 'identity:review'))
      throw new AppError('FORBIDDEN', 'include=images requires a key with the scope identity:review')
    const row = await verificationWith(app.db, tenant, params.id)
    const images = wantsImages ? imagesOf(row) : {}
    const actions = [
      ...(row.findings_sealed ? ['record.read' as const] : []),
      ...(Object.keys(images).length > 0 ? ['image.viewed' as const] : []),
    ]
    const entry = { resourceId: idOf('verification', row.id), actor: actorOf(caller), receivedMs, nowMs }
    if (actions.length > 0)
      await app.db.tx(tenant, async (tx) => {
        for (const action of actions) await appendAudit(app, tx, tenant, { ...entry, action })
      })
    const record = await recordOf(app, tenant, row)
    if (!wantsImages) return record
    const addresses = Object.entries(images).map(([field, id]) => [
      field,
      app.storage.address({ ...tenant, id }, pictureSeconds),
    ])
    return { ...record, images: Object.fromEntries(addresses) }
  },
})

const getImage = download({
  path: '/v1/identity/verification/:id/image',
  operation: 'identity.getImage',
  summary: 'Get a picture of a verification',
  description:
    'For reviewers. Each access is recorded in the audit, and the picture must not be cached. `regions` of the verification locates each field.',
  scope: 'identity:review',
  params: IdParam,
  query: Type.Object({
    name: Type.Optional(
      OneOf(['document_front', 'document_back', 'portrait', 'selfie'], {
        description:
          'One of `pictures` of the verification; `portrait` is the face cut out of the document; default document_front',
      }),
    ),
  }),
  needs: made,
  types: ['image/jpeg'],
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query }, caller) => {
    const { tenant, receivedMs, nowMs } = caller
    const { name = 'document_front' } = query
    const row = await verificationWith(app.db, tenant, params.id)
    const id = imagesOf(row)[name]
    const opened = id === undefined ? null : await app.storage.open(tenant, id)
    if (!opened) throw new AppError('NOT_FOUND', `there is no ${name}, or its pictures were erased`)
    const seen = { action: 'image.viewed', actor: actorOf(caller), details: { image: name }, receivedMs, nowMs }
    const resourceId = idOf('verification', row.id)
    await app.db.tx(tenant, (tx) => appendAudit(app, tx, tenant, { resourceId, ...seen }))
    const file = downloadOf(opened)
    return { ...file, disposition: 'inline', headers: { ...file.headers, 'cache-control': 'no-store' } }
  },
})

const moment = (text: string | undefined, name: string): Date | null => {
  if (text === undefined) return null
  const date = new Date(text)
  if (Number.isNaN(date.getTime()))
    throw new AppError('INVALID_DATE_RANGE', `${name} must be a date such as 2026-03-01, or an RFC 3339 time`)
  return date
}

const listAll = list({
  path: '/v1/identity/verifications',
  operation: 'identity.listVerifications',
  summary: 'List identity verifications',
  scope: 'identity:read',
  query: Type.Object({
    ...listQuery,
    status: Type.Optional(
      OneOf(['pending', 'verified', 'rejected', 'expired'], {
        description: 'Filter by status; see `stage` for the progress of `pending` ones',
      }),
    ),
    stage: Type.Optional(
      OneOf(['queued', 'processing', 'awaiting_registry', 'awaiting_review', 'done'], {
        description: 'Filter by processing stage; `awaiting_review` requires a decision by a person',
      }),
    ),
    person_of: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          'Id of a verification: lists the others of the same person, by your id or the document number. Other filters are ignored',
      }),
    ),
    reference: Type.Optional(
      Type.String({ maxLength: 128, description: 'Filter by your own id for the person or the case' }),
    ),
    created_from: Type.Optional(Type.String({ maxLength: 40, description: 'First day, or an RFC 3339 time' })),
    created_to: Type.Optional(
      Type.String({ maxLength: 40, description: 'End, exclusive: a day at 00:00 UTC, or an RFC 3339 time' }),
    ),
  }),
  row: ListedVerification,
  errors: ['INVALID_DATE_RANGE', 'NOT_FOUND'],
  examples: [{ name: 'Verifications awaiting review', query: { stage: 'awaiting_review' } }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    if (query.person_of !== undefined) {
      const { id } = await verificationWith(app.db, tenant, query.person_of)
      return pageOf(window, await app.db.query(listOfPerson, { ...tenant, ...window, like: id }), listedRecord)
    }
    const [from, to] = [moment(query.created_from, 'created_from'), moment(query.created_to, 'created_to')]
    if (from && to && from > to) throw new AppError('INVALID_DATE_RANGE', 'created_from is after created_to')
    const { status = null, stage = null, reference = null } = query
    const rows = await app.db.query(listVerifications, { ...tenant, ...window, status, stage, reference, from, to })
    return pageOf(window, rows, listedRecord)
  },
})

const usualDays = 90

const ReviewFigures = Type.Object(
  {
    from: At({ description: 'Start of the period' }),
    to: At({ description: 'End of the period, exclusive' }),
    doubts: Type.Object(
      {
        approved: Type.Integer({ description: 'Number approved by a person' }),
        rejected: Type.Integer({ description: 'Number rejected by a person' }),
        by_check: Type.Array(
          Type.Object({
            check: maybe('Doubtful check'),
            approved: Type.Integer({ description: 'Number approved by a person' }),
            rejected: Type.Integer({ description: 'Number rejected by a person' }),
          }),
          { description: 'Counts by check' },
        ),
      },
      { description: 'Cases referred to manual review' },
    ),
    overturned: Type.Object(
      {
        approved: Type.Integer({ description: 'Number rejected automatically, then approved' }),
        rejected: Type.Integer({ description: 'Number verified automatically, then rejected' }),
      },
      { description: 'Automatic verdicts that a person overturned' },
    ),
    verdicts: Type.Integer({ description: 'Number of automatic verdicts in the period' }),
    overturned_percent: Nullable(Type.Number(), {
      description: 'Percentage of automatic verdicts that were overturned; null if there were none',
    }),
  },
  { title: 'IdentityReviewFigures' },
)

const figuresOfReviews = read({
  method: 'GET',
  path: '/v1/identity/reviews/figures',
  operation: 'identity.reviewFigures',
  summary: 'Get review statistics',
  description: 'Share of automatic verdicts that reviewers overturn, and their decisions on doubtful cases.',
  scope: 'identity:read',
  query: Type.Object({
    from: Type.Optional(
      Type.String({ maxLength: 40, description: 'First day, or an RFC 3339 time; default 90 days ago' }),
    ),
    to: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'End, exclusive: a day at 00:00 UTC, or an RFC 3339 time; default now',
      }),
    ),
  }),
  reply: { status: 200, schema: ReviewFigures },
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Last 90 days' }],
  handle: async (app, { query }, { tenant, nowMs }) => {
    const to = moment(query.to, 'to') ?? new Date(nowMs + 1)
    const from = moment(query.from, 'from') ?? new Date(to.getTime() - usualDays * dayMs)
    if (from > to) throw new AppError('INVALID_DATE_RANGE', 'from is after to')
    const rows = await app.db.query(countReviews, { ...tenant, from: momentText(from), to: momentText(to) })
    const { verdicts } = await one(app.db.query(countVerdicts, { ...tenant, from, to }))
    const sum = (machine: string, decision: 'approved' | 'rejected') =>
      rows.reduce((all, row) => (row.machine === machine ? all + Number(row[decision]) : all), 0)
    const overturned = { approved: sum('rejected', 'approved'), rejected: sum('verified', 'rejected') }
    const turned = overturned.approved + overturned.rejected
    const by_check = rows
      .filter(({ machine }) => machine === 'unsure')
      .map(({ check, approved, rejected }) => ({ check, approved: Number(approved), rejected: Number(rejected) }))
    return {
      ...{ from, to, overturned },
      doubts: { approved: sum('unsure', 'approved'), rejected: sum('unsure', 'rejected'), by_check },
      verdicts: Number(verdicts),
      overturned_percent: verdicts === 0n ? null : Math.round((turned / Number(verdicts)) * 1_000) / 10,
    }
  },
})

const AuditTrail = Type.Object(
  {
    id: Type.String({ description: 'Id of the check' }),
    data: Type.Array(AuditEntry, { description: 'The entries, oldest first' }),
    next_cursor: Nullable(Type.String({ description: '`cursor` of the next page; null on the last' })),
    chain_valid: Type.Boolean({
      description: 'True if the entries form an unbroken chain, with none missing at the end',
    }),
  },
  { title: 'IdentityAudit' },
)

const getAudit = read({
  method: 'GET',
  path: '/v1/identity/audit/:id',
  operation: 'identity.getAudit',
  summary: 'Get the audit trail of a check',
  description: 'Accepts the id of a verification, scan, face match, liveness check, risk score or one-time code.',
  scope: 'identity:audit',
  params: IdParam,
  query: Type.Object({
    limit: listQuery.limit,
    cursor: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,8}$',
        rule: 'must be the next_cursor of a previous page',
        description: '`next_cursor` of the previous page',
      }),
    ),
  }),
  needs: { operation: 'identity.scoreRisk', id: 'risk_id' },
  reply: { status: 200, schema: AuditTrail },
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query }, { tenant }) => {
    const resource = resourceOf(params.id)
    const after = Number(query.cursor ?? 0)
    const page = resource && (await linksAfter(app, tenant, resource, after, query.limit ?? 50))
    if (!page || page.links.length === 0 || page.links[0]?.resource_id !== params.id)
      throw new AppError('NOT_FOUND', 'there is no check with this id')
    const next_cursor = page.next === null ? null : `${page.next}`
    return { id: params.id, data: page.links.map(entryOf), next_cursor, chain_valid: page.fault === null }
  },
})

const decideReview = write({
  method: 'POST',
  path: '/v1/identity/verification/:id/review',
  operation: 'identity.review',
  summary: 'Review a verification',
  scope: 'identity:review',
  limit: 'identity',
  params: IdParam,
  needs: doubtful,
  body: ReviewDecision,
  reply: { status: 200, schema: VerificationRecord },
  errors: ['NOT_FOUND', 'INVALID_STATE', 'FORBIDDEN'],
  handle: (app, tx, { params, body }, caller) => review(app, tx, caller, params.id, body),
})

const Erasure = Type.Object(
  {
    verification_id: Type.String({ description: 'Id of the verification, such as `ver_…`' }),
    status: Type.String({ description: 'Status of the verification, which is kept' }),
    erased_at: At({ description: 'Time of the erasure' }),
    legal_hold: Type.Literal(false, { description: 'Always false: a record under legal hold is not erased' }),
  },
  { title: 'IdentityErasure' },
)

const erase = write({
  method: 'DELETE',
  path: '/v1/identity/verification/:id',
  operation: 'identity.erase',
  summary: 'Erase the personal data of a verification',
  scope: 'identity:erase',
  limit: 'identity',
  params: IdParam,
  needs: made,
  reply: { status: 200, schema: Erasure },
  errors: ['NOT_FOUND', 'LEGAL_HOLD'],
  handle: async (app, tx, { params }, caller) => {
    const row = await verificationWith(tx, caller.tenant, params.id)
    const erased = await eraseRecord(app, tx, caller, row.id, actorOf(caller), 'request')
    if (!erased) throw new AppError('NOT_FOUND', 'there is no such verification')
    return erased
  },
})

const eraseSubject = write({
  method: 'DELETE',
  path: '/v1/identity/subjects/:external_id',
  operation: 'identity.eraseSubject',
  summary: 'Erase the personal data of a person',
  scope: 'identity:erase',
  limit: 'identity',
  params: Type.Object({
    external_id: Type.String({ description: 'Your own id for the person, as in subject.external_id' }),
  }),
  needs: {
    operation: 'identity.verifyId',
    id: 'reference',
    body: {
      document_type: 'passport',
      country: 'KE',
      document_front: 'sandbox:passport_ke',
      subject: { external_id: 'customer-8812' },
      reference: 'customer-8812',
      wait: 0,
    },
  },
  reply: {
    status: 200,
    schema: Type.Object(
      {
        external_id: Type.String({ description: 'Your own id for the person' }),
        erased: Type.Array(Erasure, { description: 'Ids of the erased verifications' }),
      },
      { title: 'IdentitySubjectErasure' },
    ),
  },
  errors: ['NOT_FOUND', 'LEGAL_HOLD'],
  handle: async (app, tx, { params }, caller) => {
    const subject = indexOf(app, caller, 'subject', params.external_id)
    const rows = subject ? await tx.query(ofSubject, { ...caller.tenant, subject }) : []
    const sessions = subject ? await tx.query(eraseSessions, { ...caller.tenant, subject }) : []
    if (rows.length === 0 && sessions.length === 0) throw new AppError('NOT_FOUND', 'no data of this person is stored')
    const erased = []
    for (const { id } of rows) {
      const one = await eraseRecord(app, tx, caller, id, actorOf(caller), 'request')
      if (one) erased.push(one)
    }
    await forgetSightings(app, tx, caller.tenant, params.external_id)
    return { external_id: params.external_id, erased }
  },
})

const sendMedia = multipart({
  path: '/v1/identity/media',
  operation: 'identity.sendMedia',
  summary: 'Upload a picture for a later check',
  description: 'Stored encrypted for 24 hours. Use its `media_id` where a picture is expected.',
  scope: 'identity:write',
  limit: 'identity',
  body: Type.Object({ type: Type.Optional(Type.String({ maxLength: 40, description: 'Intended use' })) }),
  files: { file: { maxBytes: maxPictureBytes, description: 'JPEG, PNG or WebP' } },
  bodyLimitBytes: maxPictureBytes + 100_000,
  reply: {
    status: 201,
    schema: Type.Object(
      {
        media_id: Type.String({ description: 'Id of the picture, such as `imd_…`' }),
        type: Nullable(Type.String({ description: 'Intended use; null if not given' })),
        expires_at: Nullable(At({ description: 'Expiry time of the picture' })),
      },
      { title: 'IdentityMedia' },
    ),
  },
  errors: ['IMAGE_TOO_LARGE'],
  receive: (app, { bytes, type, name }, _input, { tenant, nowMs }) =>
    app.storage.put(mediaFile, { tenant, type, name, bytes, nowMs }),
  discard: (app, kept) => app.storage.discard(kept),
  handle: async (app, tx, { body }, _caller, [file]) => {
    if (!file) throw new Error('a file was declared and none came')
    await app.storage.keep(tx, file.kept)
    return { media_id: idOf('identityMedia', file.kept.id), type: body.type ?? null, expires_at: file.kept.expiresAt }
  },
})

const PolicyRecord = Type.Object(
  { ...Policy.properties, version: Type.Integer({ description: 'Version number, one more with each change' }) },
  { title: 'IdentityPolicyRecord' },
)

const getPolicy = read({
  method: 'GET',
  path: '/v1/identity/policy',
  operation: 'identity.getPolicy',
  summary: 'Get the identity policy',
  scope: 'identity:read',
  reply: { status: 200, schema: PolicyRecord },
  examples: [{ name: 'As it is' }],
  handle: (app, _input, { tenant }) => policyOf(app.db, tenant),
})

const patchPolicy = write({
  method: 'PATCH',
  path: '/v1/identity/policy',
  operation: 'identity.changePolicy',
  summary: 'Update the identity policy',
  scope: 'identity:write',
  limit: 'identity',
  body: PolicyChange,
  reply: { status: 200, schema: PolicyRecord },
  examples: [{ name: 'No manual review', body: { manual_review: false } }],
  handle: (_app, tx, { body }, { tenant }) => changePolicy(tx, tenant, body),
})

export const verificationRoutes: readonly Route[] = [
  verifyId,
  getVerification,
  getImage,
  listAll,
  figuresOfReviews,
  getAudit,
  decideReview,
  erase,
  eraseSubject,
  sendMedia,
  getPolicy,
  patchPolicy,
]
