// SPDX-License-Identifier: Apache-2.0
// Hooks (webhooks of providers): limits, the raw body, the handler and its reply. A wrong secret or unknown address
// counts towards the limit of requests without credentials.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../kernel/errors.ts'
import { minuteMs } from '../../kernel/time.ts'
import type { Hook, HookAnswer, HookCall } from '../api/hook.ts'
import type { App } from '../app.ts'
import { rateHeaders } from '../limits/headers.ts'
import type { Policy } from '../limits/share.ts'
import { addressPolicy, tooMany } from './admission.ts'
import { asAppError, errorBody, lastLine } from './answer.ts'
import { giveDownload } from './downloads.ts'
import type { Exchange } from './exchange.ts'

const anyBytes = 'application/octet-stream'

export function mountHooks(http: FastifyInstance, app: App, hooks: readonly Hook[]): void {
  // Separate Fastify context: the body is raw bytes for any content type.
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    for (const hook of hooks)
      scope.route({
        method: [...hook.methods],
        url: hook.path,
        bodyLimit: hook.maxBytes,
        exposeHeadRoute: false,
        config: { open: true, hook },
        onRequest: async (request, reply) => admit(app, hook, request, reply),
        handler: async (request, reply) => give(request, reply, await hook.handle(app, callOf(request, reply))),
        errorHandler: (error, request, reply) => refuse(app, hook, request, reply, error),
      })
  })
}

async function admit(app: App, hook: Hook, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { ip, receivedMs } = request.exchange
  const { headers } = request.raw
  // Fastify refuses a malformed content type; hooks ignore it.
  if (!/^[\w.+-]+\/[\w.+-]+\s*(;|$)/.test(headers['content-type'] ?? 'a/b')) headers['content-type'] = anyBytes
  const admission = await app.limits.admit(hook.limits.map((limit) => policyOf(hook, limit, ip, request.params)))
  reply.headers(rateHeaders(admission, receivedMs))
  if (admission.refusedBy && app.config.PAMOJA_RATE_LIMITS === 'on') throw tooMany(app, admission, 'RATE_LIMITED')
}

function policyOf({ operation }: Hook, limit: Hook['limits'][number], ip: string, params: unknown): Policy {
  const { name = operation, by, perMinute, perSecond } = limit
  // Rate limit key: a digest, because the text would keep the whole URL in memory with what it may contain.
  const value = by === 'address' ? addressPolicy(ip).key : digestOf(String(Object(params)[by]))
  return {
    name,
    key: `hook:${name}:${value}`,
    limit: perSecond ?? perMinute ?? 0,
    windowMs: perSecond === undefined ? minuteMs : 1_000,
    shared: false,
  }
}

function callOf(request: FastifyRequest, reply: FastifyReply): HookCall<never> {
  const { method, url, params, query, headers, body, exchange } = request
  const { ip, id: requestId, receivedMs } = exchange
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const call = { method, url, params, query: Object(query), headers, bytes, ip, requestId, receivedMs }
  // The router supplies each path parameter as a string.
  return { ...call, gone: () => goneFrom(reply) } as HookCall<never>
}

function goneFrom({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

async function give(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Awaited<ReturnType<Hook['handle']>>,
): Promise<FastifyReply> {
  if (answer === 'cut') {
    reply.hijack()
    request.raw.socket.destroy()
    return reply
  }
  return 'open' in answer ? giveDownload(request, reply, answer) : write(reply, answer)
}

function write(reply: FastifyReply, { status, headers, body }: HookAnswer): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .send(body ?? undefined)
}

const guesses = new Set([401, 403, 404])

async function refuse(app: App, hook: Hook, request: FastifyRequest, reply: FastifyReply, thrown: unknown) {
  const { exchange } = request
  const error = await limited(app, exchange, asAppError(app, exchange, thrown, hook.maxBytes))
  const { retryAfterSeconds } = error.extras
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  exchange.errorCode = error.code
  if (hook.refused) return write(reply, hook.refused(app, callOf(request, reply), error))
  reply.code(error.status).header('content-type', 'application/json; charset=utf-8')
  return reply.send(errorBody(app, exchange, error) + lastLine)
}

/** The error, or RATE_LIMITED after too many from one IP address. */
async function limited(app: App, { ip }: Exchange, error: AppError): Promise<AppError> {
  if (!guesses.has(error.status) || app.config.PAMOJA_RATE_LIMITS !== 'on') return error
  const admission = await app.limits.admit([addressPolicy(ip)])
  return admission.refusedBy ? tooMany(app, admission, 'RATE_LIMITED') : error
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
