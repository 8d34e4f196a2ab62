// SPDX-License-Identifier: Apache-2.0
// Multipart requests with files. Files are received first, since they may precede the fields that describe them; then
// the request continues like any write, with key and transaction. Files of a failed request are deleted.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { keyOf } from '../api/idempotency.ts'
import type { Received, ReceivedFile, Route } from '../api/route.ts'
import type { App } from '../app.ts'
import { send } from './answer.ts'
import { type CompiledRoute, printable } from './exchange.ts'
import { execute, executeOnce } from './executing.ts'
import { isMultipart, readParts } from './multipart.ts'
import { callerOf, checked, fieldsOfParts } from './request-input.ts'

export async function handleMultipart(
  app: App,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = compiled
  const { exchange } = request
  if (route.kind !== 'multipart') throw new Error(`${route.operation} takes no parts`)
  const caller = callerOf(exchange)
  const received: Received<unknown> = { files: [], state: 'unused' }
  request.body = undefined
  try {
    await receive(app, compiled, route, request, received)
    const key = keyOf(request.headers['idempotency-key'], request.body)
    if (key === null) {
      const input = checked(compiled, request, reply)
      return send(compiled, request, reply, await execute(app, compiled, input, caller, received))
    }
    const hash = app.idempotency.hashOf(route.method, request.url, exchange.rawBody)
    return await executeOnce({ app, compiled, request, reply, caller, key, hash, received })
  } finally {
    request.raw.resume()
    if (received.state === 'unused')
      for (const { kept } of received.files)
        await route.discard(app, kept, caller).catch((error: unknown) => {
          app.log.warn(
            { error, operation: route.operation },
            'file of a refused request not removed: housekeeping removes it; check the storage if this repeats',
          )
        })
  }
}

async function receive(
  app: App,
  { checkParams, checkQuery }: CompiledRoute,
  route: Extract<Route, { kind: 'multipart' }>,
  request: FastifyRequest,
  { files }: Received<unknown>,
): Promise<void> {
  const contentType = request.headers['content-type']
  if (!isMultipart(contentType))
    throw new AppError(
      'UNSUPPORTED_MEDIA_TYPE',
      `the content type is ${printable(contentType || 'missing')}, not multipart/form-data`,
    )
  // Path and query are checked before the body arrives.
  const input = { params: checkParams(request.params).value, query: checkQuery(request.query).value }
  const caller = callerOf(request.exchange)
  const { fields, digest } = await readParts({
    bytes: request.raw.iterator({ destroyOnReturn: false })[Symbol.asyncIterator](),
    contentType,
    maxBytes: route.bodyLimitBytes,
    files: route.files,
    take: (file) => route.receive(app, file, input, caller),
    taken: (file) => files.push(file),
  })
  requireFiles(route.files, files)
  request.body = fieldsOfParts(route.body, fields)
  request.exchange.rawBody = digest
}

function requireFiles(
  declared: Extract<Route, { kind: 'multipart' }>['files'],
  received: readonly ReceivedFile<unknown>[],
): void {
  const missing = Object.entries(declared)
    .filter(([name, { optional }]) => !optional && !received.some(({ part }) => part === name))
    .map(([name]) => name)
  if (missing.length === 0) return
  const fields = missing.map((field) => ({ field, code: 'VALIDATION_ERROR' as const, message: 'is missing' }))
  throw new AppError('VALIDATION_ERROR', `${missing.join(', ')} is missing: send it as a file`, { fields })
}
