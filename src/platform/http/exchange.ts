// SPDX-License-Identifier: Apache-2.0
// Exchange: state of a request in progress, from its first header to its log line, and its route.
import type { FastifyRequest } from 'fastify'
import { withoutApiKeys } from '../../kernel/api-keys.ts'
import { withoutCardNumbers } from '../../kernel/card.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Id } from '../../kernel/ids.ts'
import type { Hook } from '../api/hook.ts'
import type { Write } from '../api/json.ts'
import type { Route } from '../api/route.ts'
import type { Principal } from '../auth.ts'
import type { Admission } from '../limits.ts'
import type { Span } from '../telemetry/tracing.ts'
import type { Checked } from './validate.ts'

export interface CompiledRoute {
  route: Route
  write: Write
  checkParams(value: unknown): Checked<unknown>
  checkQuery(value: unknown): Checked<unknown>
  checkBody(value: unknown): Checked<unknown>
  /** The body is required. */
  needsBody: boolean
  /** The reply contains a secret that is shown once. */
  secretReply: boolean
}

/** State of a request. */
export interface Exchange {
  uuid: string
  id: Id<'request'>
  startedAt: number
  receivedMs: number
  ip: string
  /** Whether another node of the installation sent it on, for a client of its own. */
  isForwarded: boolean
  principal: Principal | null
  /** Result of the IP address limit, if it was checked: a key in a form is checked later. */
  asStranger: Admission | null
  compiled: CompiledRoute | null
  /** Methods the path allows instead of the one used; null when that one is allowed or the path is unknown. */
  allow: string | null
  /** Finds the operation that was probably meant, as text, or null when none is near; null when the one asked for exists. */
  meant: (() => string | null) | null
  rawBody: string
  /** Unknown fields, as reported to the client. */
  unknown: readonly string[]
  errorCode: string | null
  replyText: string | null
  /** Reply without its envelope, for the request log. */
  resultText: string | null
  span: Span | null
  /** Path of the door that it came through; null of a request to the own API. */
  doorPath: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange
  }
  interface FastifyContextConfig {
    compiled?: CompiledRoute
    /** The one entry of all operations that have none of their own: `Methods` knows which is meant. */
    isAny?: boolean
    /** Public: needs no credentials. */
    open?: boolean
    /** Health check, without a rate limit. */
    probe?: boolean
    /** Static files, with a rate limit of their own. */
    files?: boolean
    hook?: Hook
  }
}

/** Path for replies and logs: without query and without a key sent there by mistake. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return withoutKeys(url.split('?', 1)[0] ?? '')
}

/** NOT_FOUND for an unknown path. */
export function nothingAt({ method, originalUrl, exchange }: FastifyRequest): AppError {
  const path = printable(pathOf({ url: originalUrl }))
  const meant = exchange.meant?.() ?? null
  const where = /^(\/sandbox)?(\/api)?\/v1\//.test(path)
    ? 'GET /openapi.json lists what there is'
    : 'the API is below /api/v1'
  return new AppError(
    'NOT_FOUND',
    `there is no ${method} ${path}; ${meant === null ? where : `did you mean ${meant}?`}`,
  )
}

/** Removes API keys and card numbers sent in place of an id, from logs and stored replies. */
export function withoutKeys(text: string): string {
  return withoutCardNumbers(withoutApiKeys(text))
}

/** Caller's text made safe for a header, log line or reply. */
export function printable(text: string): string {
  return text.slice(0, 80).replace(/[^\x20-\x7e]/g, '?')
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
