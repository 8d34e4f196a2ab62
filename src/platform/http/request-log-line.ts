// SPDX-License-Identifier: Apache-2.0
// Log of an answered request: a metric, a log line, and an entry in the customer's request log.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { withoutApiKeys } from '../../kernel/api-keys.ts'
import { redact } from '../api/json.ts'
import type { App } from '../app.ts'
import { type CompiledRoute, type Exchange, pathOf, printable, withoutKeys } from './exchange.ts'
import { textWithoutCards } from './stray-cards.ts'

export function leave(app: App, request: FastifyRequest, reply: FastifyReply): void {
  const { exchange, method } = request
  const { principal, compiled } = exchange
  const seconds = (performance.now() - exchange.startedAt) / 1000
  const { config, url } = request.routeOptions
  const operation = compiled?.route.operation ?? config.hook?.operation ?? null
  // A public path may contain a credential: log it as declared.
  const path = exchange.doorPath ?? (config.open && url !== undefined ? url : pathOf(request))
  app.metrics.request(operation ?? 'none', reply.statusCode, seconds)
  exchange.span?.end(
    {
      'http.response.status_code': reply.statusCode,
      ...(exchange.errorCode ? { 'error.type': exchange.errorCode } : {}),
    },
    reply.statusCode >= 500,
  )
  app.log.answered({
    id: exchange.id,
    method,
    path: compiled ? path : printable(path),
    status: reply.statusCode,
    ms: Math.round(seconds * 1e4) / 10,
    errorCode: exchange.errorCode,
    accountId: principal?.accountId ?? null,
    keyId: principal?.keyId ?? null,
    warning: misspelt(exchange),
  })
  // Reads in the console are not requests of the account's programs.
  if (!principal || (principal.signedInAtMs !== null && method === 'GET')) return
  app.requestLog.add(principal.tenant, {
    id: exchange.uuid,
    key_id: principal.facts.keyUuid,
    operation,
    method,
    path: printable(path),
    status: reply.statusCode,
    error_code: exchange.errorCode,
    duration_us: Math.min(2_000_000_000, Math.round(seconds * 1e6)),
    ip: exchange.ip,
    warning: exchange.unknown.length > 0 ? withoutKeys(exchange.unknown.join(', ')) : null,
    request_body: requestBody(compiled, request.body),
    response_body: responseBody(compiled, exchange, reply.statusCode),
  })
}

/** Unknown fields that are close to a known one. Others may be anything, a text that was sent as a form even: not in the log. */
function misspelt({ unknown }: Exchange): string | null {
  if (unknown.length === 0) return null
  const close = unknown.filter((name) => name.includes('(did you mean'))
  return close.length === 0 ? null : withoutKeys(`unknown field ${close.join(', ')}`)
}

function requestBody(compiled: CompiledRoute | null, body: unknown): string | null {
  return compiled?.route.body && body !== undefined
    ? withoutApiKeys(textWithoutCards(redact(compiled.route.body, body)))
    : null
}

/** Reply for the request log: without envelope and secrets; of a list, its number of rows. */
function responseBody(
  compiled: CompiledRoute | null,
  { replyText, resultText }: Exchange,
  status: number,
): string | null {
  if (status >= 400 || compiled === null) return replyText
  if (resultText === null) return null
  if (!compiled.secretReply || compiled.route.reply.list) return withoutApiKeys(resultText)
  if (compiled.route.reply.text) return '[redacted]'
  return withoutApiKeys(JSON.stringify(redact(compiled.route.reply.schema, JSON.parse(resultText))))
}
