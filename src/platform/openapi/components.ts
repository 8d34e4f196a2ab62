// SPDX-License-Identifier: Apache-2.0
// Shared components: common parameters and headers, and the error schema.
import { codesInOrder } from './route-errors.ts'

const text = { type: 'string' }
const whole = { type: 'integer' }

export const sharedParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes a retry safe: a request is executed once per key, and repeats get the same reply.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: '`ETag` of your copy; the reply is 304 if it is unchanged.',
    schema: { type: 'string' },
  },
  LastEventID: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'Last `id` that you received; the stream resumes after it.',
    schema: { type: 'string' },
  },
  PamojaEnvelope: {
    name: 'Pamoja-Envelope',
    in: 'header',
    description: '`flat` omits `data`; `data` omits the fields at the top level.',
    schema: { type: 'string', enum: ['both', 'flat', 'data'], default: 'both' },
  },
  PamojaStrict: {
    name: 'Pamoja-Strict',
    in: 'header',
    description: '`true` refuses unknown fields instead of ignoring them.',
    schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
  },
  Range: {
    name: 'Range',
    in: 'header',
    description: 'Range of bytes, such as `bytes=0-1023`; the reply is 206.',
    schema: { type: 'string' },
  },
}

export const headersOfEveryReply = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

export const sharedHeaders = {
  'X-Request-Id': { description: 'Id of this request, for logs and questions to support.', schema: text },
  'X-RateLimit-Limit': { description: 'Requests allowed in the window of the strictest limit.', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests left in that window.', schema: whole },
  'X-RateLimit-Reset': { description: 'Unix time in seconds at which requests are allowed again.', schema: whole },
  'Pamoja-Environment': {
    description: 'Environment of the credential.',
    schema: { type: 'string', enum: ['test', 'live'] },
  },
  'Pamoja-Warning': { description: 'Unknown fields of the request, which were ignored.', schema: text },
  'Idempotent-Replayed': {
    description: '`true` if the reply is the stored one of an earlier request with the same key.',
    schema: text,
  },
  ETag: { description: 'Version of the content.', schema: text },
  'Content-Disposition': { description: 'Disposition and name of the file.', schema: text },
  'Content-Range': { description: 'Range of the bytes returned, and the total size.', schema: text },
  'Accept-Ranges': { description: '`bytes`, or `none` if the length is not known.', schema: text },
  Location: { description: 'URL of the new object.', schema: text },
  Link: { description: 'The next page, as `rel="next"`.', schema: text },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: whole },
  'WWW-Authenticate': { description: '`Bearer`', schema: text },
}

export const errorCodeSchema = {
  type: 'string',
  title: 'ErrorCode',
  enum: codesInOrder,
  description: 'Error code for programs. Always a string, numeric codes too. New codes may be added.',
}

const codeRef = { $ref: '#/components/schemas/ErrorCode' }

export const succeededSchema = {
  type: 'object',
  title: 'Succeeded',
  description: 'Fields of every successful reply',
  required: ['success'],
  properties: {
    success: { type: 'boolean', const: true, description: 'True on success; false on an error, described in `error`' },
  },
}

export const errorSchema = {
  type: 'object',
  title: 'Error',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', const: false, description: 'Always false; see `error`' },
    error: {
      type: 'object',
      required: ['code', 'message', 'details', 'request_id', 'timestamp'],
      description: 'Error; some codes add members of their own.',
      properties: {
        code: codeRef,
        message: { type: 'string', description: 'Meaning of the code, with advice' },
        details: { type: 'string', description: 'Details of the error' },
        request_id: { type: 'string', description: 'Id of the request, as in X-Request-Id' },
        timestamp: { type: 'string', format: 'date-time', description: 'Time of the reply' },
        fields: {
          type: 'array',
          description: 'Fields that break a rule',
          items: {
            type: 'object',
            required: ['field', 'code', 'message'],
            properties: {
              field: { type: 'string', description: 'Path of the field, such as `messages[3].to`' },
              code: codeRef,
              message: { type: 'string', description: 'Rule that the value breaks' },
            },
          },
        },
        doc_url: { type: 'string', format: 'uri', description: 'URL of the code in the documentation' },
      },
    },
  },
}
