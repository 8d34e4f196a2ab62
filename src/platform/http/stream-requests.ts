// SPDX-License-Identifier: Apache-2.0
// Requests that are answered with messages until somebody ends it: what is checked before, and while it goes on.
import { once } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import type { App } from '../app.ts'
import type { Messages, Route } from '../route.ts'
import { principalOf, scopeRefusal } from './admission.ts'
import type { CompiledRoute, Exchange } from './exchange.ts'
import { callerOf, checked } from './request-input.ts'
import { leave } from './request-log-line.ts'
import type { Message, Streams } from './streams.ts'

/** Whether a route that answers once is asked to go on answering. */
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

/** Answers with messages until somebody ends it; whatever can be refused is refused before the first of them. */
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
    // An answer that its reader did not wait for is not finished, and would not be told of.
    if (reply.sent && !reply.raw.writableFinished) leave(app, request, reply)
  }
  return reply
}

/** The request log keeps how much was told; it is written the moment the stream ends, whoever ends it. */
async function* counted(exchange: Exchange, messages: AsyncIterable<Message>): AsyncGenerator<Message> {
  let count = 0
  for await (const message of messages) {
    if (message.data !== null) count++
    exchange.resultText = `{"messages":${count}}`
    // Who may not see whom it is about hears that something happened.
    yield exchange.principal?.masksPeople && message.data !== null ? { ...message, data: '{}' } : message
  }
}

/** Why a credential that was good when its stream began is so no longer. What cannot be looked up stays as it was. */
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
