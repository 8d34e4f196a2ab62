// SPDX-License-Identifier: Apache-2.0
// What goes back: the envelope around a reply, and the one shape of every error.
import { AppError, errors } from '../kernel/errors.ts'
import type { App } from './app.ts'
import { isUnavailable } from './db.ts'
import { asError, type Exchange, withoutKeys } from './exchange.ts'
import type { Write } from './json.ts'
import type { Page, Route } from './route.ts'

/** `{success, data: R, ...R}`: R is written once and stands twice, for clients of either shape. */
export function envelope(route: Route, text: string, wanted: string | string[] | undefined): string {
  const fields = text === '{}' ? '' : `,${text.slice(1, -1)}`
  const ownsData = 'properties' in route.reply.schema && Object.hasOwn(Object(route.reply.schema.properties), 'data')
  if (ownsData || wanted === 'flat') return `{"success":true${fields}}`
  return wanted === 'data' ? `{"success":true,"data":${text}}` : `{"success":true,"data":${text}${fields}}`
}

export function listEnvelope({ rows, nextCursor }: Page<unknown>, write: Write): string {
  const data = rows.map(write).join(',')
  return `{"success":true,"data":[${data}],"has_more":${nextCursor !== null},"next_cursor":${JSON.stringify(nextCursor)}}`
}

export function isPage(result: unknown): result is Page<unknown> {
  return typeof result === 'object' && result !== null && 'rows' in result && 'nextCursor' in result
}

/** The error envelope: five members that are always there, and what the code adds. */
export function errorBody(
  app: Pick<App, 'clock' | 'publicUrl'>,
  exchange: { id: string },
  { code, details, extras }: AppError,
): string {
  const message = errors[code][1]
  return JSON.stringify({
    success: false,
    error: {
      code,
      message,
      details: withoutKeys(details || message),
      request_id: exchange.id,
      timestamp: new Date(app.clock.nowMs()).toISOString(),
      ...(extras.fields ? { fields: extras.fields } : {}),
      doc_url: `${app.publicUrl}/docs/errors#${code}`,
      ...extras.extra,
    },
  })
}

const frameworkErrors: Readonly<Record<string, (error: Error) => AppError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new AppError('PAYLOAD_TOO_LARGE', 'the body is over the limit of this address'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new AppError('INVALID_REQUEST', 'the body is not as long as Content-Length says'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new AppError('UNSUPPORTED_MEDIA_TYPE', 'the content type is not known'),
  FST_ERR_BAD_URL: () => new AppError('INVALID_REQUEST', 'the path is not a valid URL'),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('NOT_FOUND', 'a part of the path is too long to name anything'),
}

/** Whatever was thrown, as the customer's business: ours by name, the framework's translated, the rest our own fault. */
export function asAppError(app: App, { id, compiled }: Exchange, thrown: unknown): AppError {
  if (thrown instanceof AppError) {
    // Whoever hears "try again" should not be the only one who knows.
    if (thrown.status === 503) app.log.warn({ error: thrown, request: id }, 'a request was told to come back later')
    return thrown
  }
  const error = asError(thrown)
  const translate = 'code' in error && typeof error.code === 'string' ? frameworkErrors[error.code] : undefined
  if (translate) return translate(error)
  if (isUnavailable(error)) {
    app.log.warn({ error, request: id }, 'the database is out of reach')
    return new AppError('SERVICE_UNAVAILABLE', 'the database is out of reach', { retryAfterSeconds: 1 })
  }
  app.log.error({ error, request: id, operation: compiled?.route.operation }, 'a request failed')
  return new AppError('INTERNAL_ERROR', `give the request id ${id} when you report this`)
}
