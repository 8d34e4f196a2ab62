// SPDX-License-Identifier: Apache-2.0
// Shared components: common parameters and headers, and the error schema.
import { codesInOrder } from './route-errors.ts'

const text = { type: 'string' }
const whole = { type: 'integer' }

export const sharedParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes a retry safe: the same request with the same key is executed once and answered the same each time.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of what you have: 304 says that it is still the same.',
    schema: { type: 'string' },
  },
  LastEventID: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The last `id` that was read: the stream goes on from there.',
    schema: { type: 'string' },
  },
  PamojaEnvelope: {
    name: 'Pamoja-Envelope',
    in: 'header',
    description: '`flat` leaves out `data`, `data` leaves out the fields beside it.',
    schema: { type: 'string', enum: ['both', 'flat', 'data'], default: 'both' },
  },
  PamojaStrict: {
    name: 'Pamoja-Strict',
    in: 'header',
    description: '`true` refuses fields that are not known instead of ignoring them.',
    schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
  },
  Range: {
    name: 'Range',
    in: 'header',
    description: 'One range of bytes, such as `bytes=0-1023`, is answered with 206.',
    schema: { type: 'string' },
  },
}

export const headersOfEveryReply = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

export const sharedHeaders = {
  'X-Request-Id': { description: 'Names this request in logs and in questions to support.', schema: text },
  'X-RateLimit-Limit': { description: 'Requests that the tightest limit allows in its window.', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests that are left of it.', schema: whole },
  'X-RateLimit-Reset': { description: 'Unix time in seconds when there is room again.', schema: whole },
  'Pamoja-Environment': {
    description: 'What the credential works on.',
    schema: { type: 'string', enum: ['test', 'live'] },
  },
  'Pamoja-Warning': { description: 'Fields that were sent but are not known.', schema: text },
  'Idempotent-Replayed': { description: '`true` when this is the stored answer to an earlier request.', schema: text },
  ETag: { description: 'Changes with the content.', schema: text },
  'Content-Disposition': { description: 'How the file is shown, and what it is called.', schema: text },
  'Content-Range': { description: 'Which bytes these are, and of how many.', schema: text },
  'Accept-Ranges': { description: '`bytes`, or `none` where the length is not known.', schema: text },
  Location: { description: 'Where the new object can be read.', schema: text },
  Link: { description: 'The next page, as `rel="next"`.', schema: text },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: whole },
  'WWW-Authenticate': { description: '`Bearer`', schema: text },
}

export const errorCodeSchema = {
  type: 'string',
  title: 'ErrorCode',
  enum: codesInOrder,
  description: 'What went wrong, for programs. Always a string, numeric codes too. New codes may be added.',
}

const codeRef = { $ref: '#/components/schemas/ErrorCode' }

export const succeededSchema = {
  type: 'object',
  title: 'Succeeded',
  description: 'Part of every reply that is no error',
  required: ['success'],
  properties: {
    success: { type: 'boolean', const: true, description: 'True; an error has false, and says what in `error`' },
  },
}

export const errorSchema = {
  type: 'object',
  title: 'Error',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', const: false, description: 'False: `error` says what went wrong' },
    error: {
      type: 'object',
      required: ['code', 'message', 'details', 'request_id', 'timestamp'],
      description: 'What went wrong; some codes add members of their own.',
      properties: {
        code: codeRef,
        message: { type: 'string', description: 'What the code means and what to do' },
        details: { type: 'string', description: 'What exactly was wrong' },
        request_id: { type: 'string', description: 'As in X-Request-Id' },
        timestamp: { type: 'string', format: 'date-time', description: 'When it was answered' },
        fields: {
          type: 'array',
          description: 'Each field that breaks a rule',
          items: {
            type: 'object',
            required: ['field', 'code', 'message'],
            properties: {
              field: { type: 'string', description: 'Such as `messages[3].to`' },
              code: codeRef,
              message: { type: 'string', description: 'What its value must be' },
            },
          },
        },
        doc_url: { type: 'string', format: 'uri', description: 'The code in the documentation' },
      },
    },
  },
}
