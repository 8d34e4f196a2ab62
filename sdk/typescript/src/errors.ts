// SPDX-License-Identifier: Apache-2.0
// Errors of the client: a class for each kind of refusal, all with what the server said. `code` is what a program decides by.

/** One field that breaks a rule. */
export interface FieldError {
  field: string
  code: string
  message: string
}

interface Told {
  readonly status: number
  readonly code: string
  readonly message: string
  /** Body of the answer: parsed where it is JSON, else its text; null when there was none. */
  readonly body: unknown
  readonly headers: Headers
  readonly retryAfter: number | null
  readonly idempotencyKey: string | null
  readonly cause?: unknown
}

export class PamojaError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  readonly code: string
  /** What exactly was wrong, in the server's words. */
  readonly details: string
  readonly fields: readonly FieldError[]
  readonly requestId: string
  /** Page of the documentation about the code. */
  readonly docUrl: string
  /** Seconds after which the server wants to be asked again. */
  readonly retryAfter: number | null
  readonly body: unknown
  readonly headers: Headers
  /** Key that was sent, to go on with: the same call with it does nothing twice. */
  readonly idempotencyKey: string | null
  /** The error as it came, with whatever else a code brings. */
  readonly error: Readonly<Record<string, unknown>>

  constructor(told: Told) {
    super(told.message, told.cause === undefined ? {} : { cause: told.cause })
    const error: Record<string, unknown> = Object(Object(told.body).error)
    this.name = new.target.name
    this.status = told.status
    this.code = told.code
    this.details = textOf(error.details)
    this.fields = Array.isArray(error.fields) ? error.fields : []
    this.requestId = textOf(error.request_id) || told.headers.get('x-request-id') || ''
    this.docUrl = textOf(error.doc_url)
    this.retryAfter = told.retryAfter
    this.body = told.body
    this.headers = told.headers
    this.idempotencyKey = told.idempotencyKey
    this.error = error
  }

  get retryAfterSeconds(): number | null {
    return this.retryAfter
  }
}

export class BadRequestError extends PamojaError {}
export class AuthenticationError extends PamojaError {}
export class InsufficientBalanceError extends PamojaError {}
export class PermissionDeniedError extends PamojaError {}
export class NotFoundError extends PamojaError {}
export class ConflictError extends PamojaError {}
export class ValidationError extends PamojaError {}
export class RateLimitError extends PamojaError {}
export class ServerError extends PamojaError {}
/** Nothing answered: no connection, or one that broke. */
export class ConnectionFailedError extends PamojaError {}
/** Nothing answered in time. */
export class TimedOutError extends ConnectionFailedError {}

const kinds: Readonly<Record<number, typeof PamojaError>> = {
  401: AuthenticationError,
  402: InsufficientBalanceError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: ValidationError,
  429: RateLimitError,
}

/** Error for an answer that is a refusal. What is no answer of this API, such as a proxy's page, has the code HTTP_<status>. */
export function refusalOf(status: number, headers: Headers, text: string, idempotencyKey: string | null): PamojaError {
  const body = parsed(text)
  const error = Object(Object(body).error)
  const isOurs = typeof error.code === 'string'
  const words = textOf(error.details) || textOf(error.message)
  const Kind = kinds[status] ?? (status >= 500 ? ServerError : BadRequestError)
  return new Kind({
    status,
    code: isOurs ? error.code : `HTTP_${status}`,
    message: isOurs ? words : `The server answered ${status} with something that is no answer of this API`,
    body,
    headers,
    retryAfter: secondsOf(headers.get('retry-after')),
    idempotencyKey,
  })
}

/** Error for a request that nobody answered. */
export function unanswered(cause: unknown, timeoutMs: number | null, idempotencyKey: string | null): PamojaError {
  const reason = cause instanceof Error ? reasonOf(cause) : String(cause)
  const about = { status: 0, body: null, headers: new Headers(), retryAfter: null, idempotencyKey, cause }
  return timeoutMs === null
    ? new ConnectionFailedError({
        ...about,
        code: 'UNREACHABLE',
        message: `the server could not be reached: ${reason}`,
      })
    : new TimedOutError({ ...about, code: 'TIMEOUT', message: `the server did not answer within ${timeoutMs} ms` })
}

/** `fetch` hides the reason in the cause. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message ? `${message}: ${cause.message}` : message
}

/** Seconds of a Retry-After, which is a number or a date. */
function secondsOf(text: string | null): number | null {
  if (text === null) return null
  if (/^\d+(\.\d+)?$/.test(text.trim())) return Number(text)
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : Math.max(0, (atMs - Date.now()) / 1_000)
}

function parsed(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return text
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
}
