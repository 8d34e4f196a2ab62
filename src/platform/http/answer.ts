// SPDX-License-Identifier: Apache-2.0
// Replies: a result as JSON in its envelope, a page of a list, CSV, or a reply stored under an idempotency key; and the
// format of errors.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorCode } from '../../kernel/error-code.ts'
import { AppError, errors } from '../../kernel/errors.ts'
import type { Answer } from '../api/idempotency.ts'
import type { Write } from '../api/json.ts'
import type { Input, Route } from '../api/route.ts'
import type { App } from '../app.ts'
import type { Caller, Envelope } from '../auth.ts'
import { isUnavailable, refusesWrites, temporaryFailure } from '../db.ts'
import { onePerApp } from '../program/one-per-app.ts'
import type { Page } from '../schema/lists.ts'
import { prefersCsv } from './accept.ts'
import { csv } from './csv.ts'
import { asError, type CompiledRoute, type Exchange, withoutKeys } from './exchange.ts'
import { masked, maskPersonalData } from './masking.ts'
import { envelopeOf } from './request-input.ts'

/** Ends a JSON reply, so that a shell prompt does not stand right after it. */
export const lastLine = '\n'

/** Default body size limit. */
export const maxBodyBytes = 1024 * 1024

export function send(
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
): FastifyReply {
  const answer = answerOf(compiled, request, result)
  if (compiled.route.reply.list && isPage(result) && result.nextCursor)
    reply.header('link', `<${nextLink(request, result.nextCursor)}>; rel="next"`)
  return give(reply, compiled.route, answer)
}

/** Replays a stored reply, in the envelope this request asks for. */
export function replay(
  { route }: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  stored: Answer,
): FastifyReply {
  const { exchange } = request
  const isRefusal = stored.status >= 400
  const body = isRefusal ? stored.body : envelope(route, stored.body, envelopeOf(request))
  exchange.resultText = isRefusal ? null : stored.body
  exchange.replyText = body
  exchange.errorCode = isRefusal ? JSON.parse(stored.body).error.code : null
  reply.header('idempotent-replayed', 'true')
  return give(reply, route, { ...stored, body })
}

export function give(reply: FastifyReply, route: Route, answer: Answer): FastifyReply {
  const { status, location, body } = answer
  if (location) reply.header('location', location)
  reply.code(status)
  if (status === 204) return reply.send()
  const isText = (route.reply.text === true || answer.isText === true) && status < 400
  reply.header('content-type', isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8')
  return reply.send(isText ? body : body + lastLine)
}

export function answerOf({ route, write }: CompiledRoute, request: FastifyRequest, result: unknown): Answer {
  const { exchange } = request
  const isText = route.reply.text === 'strings' && typeof result === 'string'
  if (isText) {
    exchange.resultText = result
    exchange.replyText = result
  } else if (route.reply.list && isPage(result)) {
    exchange.resultText = `{"rows":${result.rows.length}}`
    exchange.replyText = listEnvelope(result, write)
  } else {
    exchange.resultText = route.reply.text === true ? String(result) : write(result)
    exchange.replyText = envelope(route, exchange.resultText, envelopeOf(request))
  }
  if (exchange.principal?.masksPeople)
    exchange.replyText = isText ? masked : JSON.stringify(maskPersonalData(JSON.parse(exchange.replyText)))
  const location = route.reply.location ? `/api${route.reply.location(result)}` : null
  const status = route.reply.existed?.(result) ? 200 : route.reply.status
  return { status, location, body: exchange.replyText, ...(isText ? { isText } : {}) }
}

/** Part of a reply stored under an idempotency key: the result without its envelope. */
export function storable(compiled: CompiledRoute, request: FastifyRequest, result: unknown): Answer {
  const answer = answerOf(compiled, request, result)
  return { ...answer, body: request.exchange.resultText ?? '' }
}

function nextLink({ url }: FastifyRequest, cursor: string): string {
  const next = new URL(url, 'https://x')
  next.searchParams.set('cursor', cursor)
  return `/api${next.pathname}${next.search}`
}

export function wantsCsv({ headers }: FastifyRequest, { query }: Input<never, never, never>): boolean {
  return prefersCsv(headers.accept, Object(query).format)
}

/** Streams a list as CSV, page by page, while the client reads. */
export async function sendCsv(
  app: App,
  { route }: CompiledRoute,
  input: Input<never, never, never>,
  caller: Caller,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (route.kind !== 'read') throw new Error(`${route.operation} is not a list`)
  const fetch = async (cursor: string | null): Promise<Page<unknown>> => {
    const query = { ...Object(input.query), limit: 200, ...(cursor ? { cursor } : {}) }
    const page = await route.handle(app, { ...input, query }, caller)
    if (!isPage(page)) throw new Error(`${route.operation} did not give a page`)
    return caller.principal.masksPeople ? { ...page, rows: page.rows.map((row) => maskPersonalData(row)) } : page
  }
  // The first page is fetched before the headers, so that an error can still be reported.
  const first = await fetch(null)
  reply.header('content-type', 'text/csv; charset=utf-8')
  return reply.send(csv(route.reply.schema, async (cursor) => (cursor === null ? first : fetch(cursor))))
}

/** Envelope `{success, data: R, ...R}`: R is serialised once and written twice, for clients of either format. */
function envelope(route: Route, text: string, wanted: Envelope): string {
  if (route.reply.text === true) return text
  const fields = text === '{}' ? '' : `,${text.slice(1, -1)}`
  const ownsData = 'properties' in route.reply.schema && Object.hasOwn(Object(route.reply.schema.properties), 'data')
  if (ownsData || wanted === 'flat') return `{"success":true${fields}}`
  return wanted === 'data' ? `{"success":true,"data":${text}}` : `{"success":true,"data":${text}${fields}}`
}

function listEnvelope({ rows, nextCursor }: Page<unknown>, write: Write): string {
  const data = rows.map(write).join(',')
  return `{"success":true,"data":[${data}],"has_more":${nextCursor !== null},"next_cursor":${JSON.stringify(nextCursor)}}`
}

function isPage(result: unknown): result is Page<unknown> {
  return typeof result === 'object' && result !== null && 'rows' in result && 'nextCursor' in result
}

/** Error envelope: five fixed members, and those of the code. */
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
      doc_url: `${app.publicUrl}/docs/errors/${code}`,
      ...extras.extra,
    },
  })
}

const frameworkErrors: Readonly<Record<string, (error: Error, bodyLimit: number) => AppError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (_error, bodyLimit) =>
    new AppError('PAYLOAD_TOO_LARGE', `the body exceeds ${bodyLimit} bytes`),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new AppError('INVALID_REQUEST', 'the length of the body differs from Content-Length'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new AppError('UNSUPPORTED_MEDIA_TYPE', 'the content type is not known'),
  FST_ERR_BAD_URL: () => new AppError('INVALID_REQUEST', 'the path is not a valid URL'),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('NOT_FOUND', 'a segment of the path is too long'),
}

/** Time of the last write the database refused although it is up: disk full or read-only. */
export const writeRefusals = onePerApp(() => ({ lastMs: Number.NEGATIVE_INFINITY }))

/** Converts any exception into an AppError: ours unchanged, Fastify's translated, others INTERNAL_ERROR. */
export function asAppError(
  app: App,
  { id, compiled }: Pick<Exchange, 'id' | 'compiled'>,
  thrown: unknown,
  bodyLimit = compiled?.route.bodyLimitBytes ?? maxBodyBytes,
): AppError {
  if (refusesWrites(thrown)) {
    writeRefusals(app).lastMs = app.clock.nowMs()
    app.log.error(
      { error: thrown, request: id },
      'database takes no writes: requests get 503; check its disk space and whether it is a standby',
    )
  }
  if (thrown instanceof AppError) {
    // Log 503 replies, so that the operator knows as well.
    if (thrown.status === 503)
      app.log.warn(
        { error: thrown, request: id },
        'request refused with 503, to be retried: the error says which part is busy; add capacity if this repeats',
      )
    return thrown
  }
  const error = asError(thrown)
  const translate = frameworkErrors[errorCode(error)]
  if (translate) return translate(error, bodyLimit)
  if (refusesWrites(error))
    return new AppError('SERVICE_UNAVAILABLE', 'the database is read-only at the moment', { retryAfterSeconds: 5 })
  if (isUnavailable(error)) {
    app.log.warn(
      { error, request: id },
      'database out of reach: requests get 503; check that it runs and that DATABASE_URL is right',
    )
    return new AppError('SERVICE_UNAVAILABLE', 'the database is unreachable', { retryAfterSeconds: 1 })
  }
  app.log.error(
    { error, request: id, operation: compiled?.route.operation },
    'request failed inside this program with 500: report the error',
  )
  const trouble = temporaryFailure(error)
  if (trouble !== null) return new AppError('SERVICE_UNAVAILABLE', trouble, { retryAfterSeconds: 1 })
  return new AppError('INTERNAL_ERROR', `include the request id ${id} when you report this`)
}
