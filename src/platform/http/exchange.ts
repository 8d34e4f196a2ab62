// SPDX-License-Identifier: Apache-2.0
// A request in progress, from its first header to the line that is logged about it, and the route it was made for.
import type { FastifyRequest } from 'fastify'
import { withoutApiKeys } from '../../kernel/api-keys.ts'
import { withoutCardNumbers } from '../../kernel/card.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Id } from '../../kernel/ids.ts'
import type { Principal } from '../auth.ts'
import type { Hook } from '../hook.ts'
import type { Admission } from '../limits.ts'
import type { Route } from '../route.ts'
import type { Span } from '../tracing.ts'
import type { Write } from './json.ts'
import type { Checked } from './validate.ts'

/** A route, compiled: what its declaration says, ready to be asked on every request. */
export interface CompiledRoute {
  route: Route
  write: Write
  checkParams(value: unknown): Checked<unknown>
  checkQuery(value: unknown): Checked<unknown>
  checkBody(value: unknown): Checked<unknown>
  /** The body must not be missing. */
  needsBody: boolean
  /** The reply holds something that is shown once. */
  secretReply: boolean
}

/** What is known about a request in progress. */
export interface Exchange {
  uuid: string
  id: Id<'request'>
  startedAt: number
  receivedMs: number
  ip: string
  principal: Principal | null
  /** What the limit of the address said, if it was asked: a key in a form is looked at later. */
  asStranger: Admission | null
  compiled: CompiledRoute | null
  /** What the path takes instead of the method that was used; null when that is taken, or there is nothing there. */
  allow: string | null
  rawBody: string
  /** Fields that nobody knows, as they are told. */
  unknown: readonly string[]
  errorCode: string | null
  replyText: string | null
  /** The reply without its envelope, as the request log keeps it. */
  resultText: string | null
  span: Span | null
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange
  }
  interface FastifyContextConfig {
    compiled?: CompiledRoute
    /** Set on the methods that a path does not take, where another path would be taken for it. */
    allow?: string
    /** Needs no credentials. */
    open?: boolean
    /** Health, which is told however often it is asked. */
    probe?: boolean
    hook?: Hook
  }
}

/** The path as it may be repeated and kept: without the query, and without a key that was put there by mistake. */
export function pathOf({ url }: FastifyRequest): string {
  return withoutKeys(url.split('?', 1)[0] ?? '')
}

/** Refusal of a path at which there is nothing. */
export function nothingAt(request: FastifyRequest): AppError {
  const path = printable(pathOf(request))
  const where = path.startsWith('/v1/') ? 'GET /openapi.json lists what there is' : 'the API is below /api/v1'
  return new AppError('NOT_FOUND', `there is no ${request.method} ${path}; ${where}`)
}

/** Whoever puts a key or a card number where an id belongs does not find it in logs and stored replies afterwards. */
export function withoutKeys(text: string): string {
  return withoutCardNumbers(withoutApiKeys(text))
}

/** A text of the caller's as it may stand in a header, a log line or a reply. */
export function printable(text: string): string {
  return text.slice(0, 80).replace(/[^\x20-\x7e]/g, '?')
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
