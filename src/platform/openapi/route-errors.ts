// SPDX-License-Identifier: Apache-2.0
// Error codes of a route: declared ones, those of its body's fields, and those of the platform.
import { type ErrorCode, errors } from '../../kernel/errors.ts'
import type { Route } from '../api/route.ts'
import { limitCode } from '../limits/plan-limits.ts'
import { isJsonSchema } from '../schema/json-schema.ts'

/** Codes of the routes that were asked for: each error has a page, and each page asks for those of all routes. */
const known = new WeakMap<Route, readonly ErrorCode[]>()

/** All error codes of a route. */
export function errorCodesOf(route: Route): readonly ErrorCode[] {
  const codes = known.get(route) ?? foundIn(route)
  known.set(route, codes)
  return codes
}

function foundIn(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    'INVALID_REQUEST',
    'UNAUTHORIZED',
    'HTTPS_REQUIRED',
    'RATE_LIMITED',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
  ])
  if (route.scope !== 'any') codes.add('FORBIDDEN').add('ACCOUNT_SUSPENDED')
  if (route.method !== 'GET' && route.kind !== 'upload') {
    codes.add('DUPLICATE_REFERENCE').add('REQUEST_IN_PROGRESS')
    if (route.limit) codes.add(limitCode(route.limit))
  }
  if (route.kind === 'stream' || (route.kind === 'read' && route.messages)) codes.add('TOO_MANY_STREAMS')
  if (route.kind === 'download') codes.add('RANGE_NOT_SATISFIABLE')
  if (route.body || route.kind === 'upload' || route.kind === 'multipart')
    codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE').add('VALIDATION_ERROR')
  for (const code of ownErrorCodesOf(route)) codes.add(code)
  return codesInOrder.filter((code) => codes.has(code))
}

/** Declared error codes, and those of the body's fields. */
export function ownErrorCodesOf({ body, errors: declared = [] }: Route): ErrorCode[] {
  const codes = new Set([...declared, ...fieldCodes(body)])
  return codesInOrder.filter((code) => codes.has(code))
}

/** All codes by status, then in table order; numeric ones last, though JavaScript lists such keys first. */
export const codesInOrder: readonly ErrorCode[] = Object.keys(errors)
  .filter(isErrorCode)
  .sort((a, b) => errors[a][0] - errors[b][0] || Number(/^\d/.test(a)) - Number(/^\d/.test(b)))

function fieldCodes(schema: unknown): ErrorCode[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldCodes)
  if (!isJsonSchema(schema)) return []
  const { errorCode, refinementCodes = [] } = schema
  const own = [errorCode, refinementCodes]
    .flat()
    .filter((code) => typeof code === 'string')
    .filter(isErrorCode)
  return [...own, ...Object.values(schema).flatMap(fieldCodes)]
}

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errors, text)
}
