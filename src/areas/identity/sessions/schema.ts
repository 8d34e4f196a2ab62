// SPDX-License-Identifier: Apache-2.0
// Schemas of capture sessions: the request, the record, and what is told of them.
import { type Static, Type } from 'typebox'
import { eventType } from '../../../platform/events.ts'
import { At, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'
import { languages } from '../../../platform/web/language.ts'
import { documentTypes } from '../catalogue.ts'
import { checkNames, FailureReason, personal } from '../verify/schema.ts'

const statuses = [
  ...(['created', 'opened', 'capturing', 'submitted', 'verified', 'rejected'] as const),
  ...(['review', 'expired', 'cancelled'] as const),
] as const
export type SessionStatus = (typeof statuses)[number]

export const sessionStatus = OneOf(statuses, {
  description:
    'Filter by status; `capturing`: the person has agreed, `submitted`: in processing, `review`: in manual review',
})

export const SessionCreate = Type.Object({
  document_types: Type.Optional(
    Type.Array(OneOf(documentTypes), {
      minItems: 1,
      maxItems: documentTypes.length,
      description: 'Accepted document types; default: all of the country',
    }),
  ),
  country: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 3,
      description: 'Issuing country: ISO 3166, two or three letters; default: chosen by the person',
    }),
  ),
  checks: Type.Optional(
    Type.Array(OneOf(checkNames), {
      maxItems: checkNames.length,
      description:
        'Checks besides document_verification, which is always included; default face_match and liveness_detection. Without these two and duplicate_check no face is requested',
    }),
  ),
  external_id: personal('Your own id for the person, as `subject.external_id` of a verification', 128),
  redirect_url: Type.Optional(
    Type.String({
      maxLength: 2_048,
      rule: 'must have at most 2048 characters',
      description:
        'URL the page leads to at the end, with `session_id` and no results. Pages of its origin may show the page in a frame',
    }),
  ),
  language: Type.Optional(OneOf(languages, { description: 'Language of the page; default: that of the browser' })),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 604_800,
      rule: 'must be 60 to 604800 seconds',
      description: 'Validity of the link in seconds; default one day, at most seven',
    }),
  ),
  phone: Type.Optional(Phone({ sensitive: true, description: 'Phone number to send the link to, in E.164' })),
  email: Type.Optional(
    Type.String({ format: 'email', maxLength: 254, sensitive: true, description: 'Email address to send the link to' }),
  ),
})
export type SessionCreate = Static<typeof SessionCreate>

const told = {
  session_id: Type.String({ description: 'Id of the session, such as `ids_…`' }),
  status: sessionStatus,
  verification_id: Nullable(
    Type.String({ description: 'Id of the verification of the last attempt; null until pictures are submitted' }),
  ),
  external_id: Nullable(Type.String({ sensitive: true, description: 'Your own id for the person' })),
  checks: Type.Array(Type.String(), { description: 'Requested checks' }),
  tries_left: Type.Integer({ description: 'Number of submissions left, of `capture_tries` of the policy' }),
  failure_reasons: Type.Array(FailureReason, {
    description: 'Failure reasons of the last attempt; empty if it did not fail',
  }),
  created_at: At({ description: 'Time of creation' }),
  expires_at: At({ description: 'Expiry time of the link' }),
  opened_at: Nullable(At({ description: 'Time the page was first opened' })),
  submitted_at: Nullable(At({ description: 'Time of the last submission' })),
  completed_at: Nullable(At({ description: 'Time of completion; null until then' })),
}

export const Session = Type.Object(
  {
    ...told,
    url: Nullable(
      Type.String({
        description: 'URL of the page, bound to the first browser that opens it; null once the session has ended',
      }),
    ),
    token: Nullable(Type.String({ description: 'Last part of `url`, for apps that open the page themselves' })),
    qr: Nullable(Type.String({ description: '`url` as a QR code: a data URL of an SVG picture' })),
    document_types: Nullable(Type.Array(Type.String()), { description: 'Accepted document types; null for all' }),
    country: Nullable(Type.String({ description: 'Issuing country; null if chosen by the person' })),
    redirect_url: Nullable(Type.String({ description: 'URL that the page leads to at the end' })),
    language: Nullable(Type.String({ description: 'Language of the page; null for that of the browser' })),
  },
  { title: 'IdentitySession' },
)
export type Session = Static<typeof Session>

const SessionEvent = Type.Object(told, { title: 'IdentitySessionEvent' })
export type SessionEvent = Static<typeof SessionEvent>

const completed: SessionEvent = {
  session_id: 'ids_01jb2c3d4e5f6g7h8j9kamnpqr',
  status: 'verified',
  verification_id: 'ver_01jb2c3d4e5f6g7h8j9kamnpqr',
  external_id: 'customer-8812',
  checks: ['document_verification', 'face_match', 'liveness_detection'],
  tries_left: 2,
  failure_reasons: [],
  created_at: new Date('2026-03-01T09:10:00Z'),
  expires_at: new Date('2026-03-02T09:10:00Z'),
  opened_at: new Date('2026-03-01T09:12:00Z'),
  submitted_at: new Date('2026-03-01T09:15:28Z'),
  completed_at: new Date('2026-03-01T09:15:30Z'),
}
const opened: SessionEvent = {
  ...completed,
  status: 'opened',
  verification_id: null,
  tries_left: 3,
  submitted_at: null,
  completed_at: null,
}

const event = (name: string, summary: string, sample: SessionEvent) =>
  eventType({ name, summary, payload: SessionEvent, sample })

export const sessionEvents = {
  opened: event('identity.session.opened', 'The page of a capture session was opened', opened),
  submitted: event('identity.session.submitted', 'Pictures of a capture session were submitted', {
    ...completed,
    status: 'submitted',
    completed_at: null,
  }),
  completed: event('identity.session.completed', 'A capture session was completed', completed),
  expired: event('identity.session.expired', 'A capture session expired before it was completed', {
    ...opened,
    status: 'expired',
  }),
}
