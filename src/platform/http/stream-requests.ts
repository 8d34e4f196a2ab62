// SPDX-License-Identifier: Apache-2.0
// Streaming requests (server-sent events): checks before and during the stream.
import { once } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import type { Messages, Route, StreamMessage } from '../api/route.ts'
import type { App } from '../app.ts'
import { principalOf, scopeRefusal } from './admission.ts'
import type { CompiledRoute, Exchange } from './exchange.ts'
import { callerOf, checked } from './request-input.ts'
import { leave } from './request-log-line.ts'
import type { Streams } from './streams.ts'

/** Whether a stream is requested of a route that also replies once. */
export function wantsMessages(route: Route, { headers, query }: FastifyRequest): boolean {
  if (route.kind !== 'read' || !route.messages) return false
  const { stream } = Object(query)
  return (stream === '1' || stream === 'true') && /\btext\/event-stream\b/.test(headers.accept ?? '')
}

function messagesOf(route: Route): Messages {
  if (route.kind === 'stream') return route.handle.bind(route)
  if (route.kind === 'read' && route.messages) return route.messages
  throw new Error(`${route.operation} is not a stream`)
}

/** Streams messages until one side ends it; all errors come before the first message. */
export async function handleStream(
  app: App,
  streams: Streams,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = compiled
  const { exchange, headers } = request
  const messagesFor = messagesOf(route)
  const caller = callerOf(exchange)
  const input = checked(compiled, request, reply)
  reply.headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
  if (request.method === 'HEAD') return reply.send()
  const stream = streams.open(caller.tenant.account, () => stillAdmitted(app, route, request))
  let closed: Promise<unknown> | null = null
  try {
    const given = headers['last-event-id']
    const lastEventId = typeof given === 'string' && given !== '' ? given : null
    const messages = await messagesFor(app, input, caller, { lastEventId, signal: stream.signal })
    reply.hijack()
    reply.raw.writeHead(route.reply.status, definite(reply.getHeaders()))
    reply.raw.flushHeaders()
    closed = reply.raw.destroyed ? null : once(reply.raw, 'close').catch(() => undefined)
    await stream.run(reply.raw, counted(exchange, messages))
  } catch (error) {
    if (!reply.sent) throw error
    app.log.error(
      { error, request: exchange.id, operation: route.operation },
      'stream broke off inside this program: the client connects again; report the error',
    )
  } finally {
    stream.release()
    await closed
    // A reply the client did not wait for emits no `finish`, so log it here.
    if (reply.sent && !reply.raw.writableFinished) leave(app, request, reply)
  }
  return reply
}

/** Counts messages for the request log, which is written when the stream ends. */
async function* counted(exchange: Exchange, messages: AsyncIterable<StreamMessage>): AsyncGenerator<StreamMessage> {
  let count = 0
  for await (const message of messages) {
    if (message.data !== null) count++
    exchange.resultText = `{"messages":${count}}`
    // Members who may not see personal data get events without data.
    yield exchange.principal?.masksPeople && message.data !== null ? { ...message, data: '{}' } : message
  }
}

/** Rechecks the credential of a stream: why it is no longer valid, or null, also when it cannot be looked up. */
async function stillAdmitted(app: App, route: Route, request: FastifyRequest): Promise<string | null> {
  try {
    return scopeRefusal(route, await principalOf(app, request, request.exchange.ip))?.details ?? null
  } catch (error) {
    return error instanceof AppError ? error.details : null
  }
}

type Headers = ReturnType<FastifyReply['getHeaders']>

function definite(headers: Headers): Record<string, string | number | string[]> {
  const kept: Record<string, string | number | string[]> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) kept[name] = value
  return kept
}
