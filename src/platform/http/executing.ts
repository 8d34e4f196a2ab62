// SPDX-License-Identifier: Apache-2.0
// Runs the handler of a request. With an idempotency key it runs once: the reply is stored in the commit of its effects
// and replayed to repeats. An error by a business rule is stored too; other failures leave the key free.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { type Answer, AnsweredBefore, type Claim, KeyConflict, keyed } from '../api/idempotency.ts'
import type { Conclude, Input, Received, Route } from '../api/route.ts'
import type { App } from '../app.ts'
import type { Caller } from '../auth.ts'
import { answerOf, errorBody, give, replay, send, storable } from './answer.ts'
import { asError, type CompiledRoute, type Exchange } from './exchange.ts'
import { checked } from './request-input.ts'

/** Request with an idempotency key, and its hash for comparison with repeats. */
interface Keyed {
  app: App
  compiled: CompiledRoute
  request: FastifyRequest
  reply: FastifyReply
  caller: Caller
  key: string
  hash: string
  /** Files of a multipart request. */
  received?: Received<unknown>
}

/** Runs the handler of a request without an idempotency key. */
export function execute(
  app: App,
  { route }: CompiledRoute,
  input: Input<never, never, never>,
  caller: Caller,
  received?: Received<unknown>,
): Promise<unknown> {
  return verbOf(app, route, input, caller, received)
}

export async function verbOf(
  app: App,
  route: Route,
  input: Input<never, never, never>,
  caller: Caller,
  received: Received<unknown> = { files: [], state: 'unused' },
): Promise<unknown> {
  if (route.kind === 'read') return route.handle(app, input, caller)
  if (route.kind === 'stream' || route.kind === 'upload' || route.kind === 'download')
    throw new Error(`${route.operation} is no plain request`)
  if (route.kind === 'commit')
    return route.handle(
      app,
      input,
      caller,
      keyed(null, 0, () => ''),
    )
  const made =
    route.kind === 'multipart'
      ? await route.transact(app, input, caller, received, async () => undefined)
      : await route.transact(app, input, caller, await route.prepare?.(app, input, caller), async () => undefined)
  return route.follow ? route.follow(app, input, caller, made) : made
}

/** Runs the handler of a request with an idempotency key. */
export function executeOnce(what: Keyed): Promise<unknown> {
  return what.compiled.route.kind === 'commit' ? inGroupCommit(what) : inTransaction(what)
}

/** Keyed request in a plain transaction, which stores the reply too. */
async function inTransaction({ app, compiled, request, reply, caller, key, hash, received }: Keyed): Promise<unknown> {
  const { route, secretReply } = compiled
  const claim = { ...caller.tenant, key, hash }
  let isCommitted = false
  const before = await app.idempotency.begin(claim, secretReply)
  if (before) return replay(compiled, request, reply, before)
  try {
    const input = checked(compiled, request, reply)
    const prepared = route.kind === 'write' ? await route.prepare?.(app, input, caller) : undefined
    if (route.kind !== 'write' && route.kind !== 'multipart') {
      const result = await execute(app, compiled, input, caller)
      await app.idempotency.finish(app.db, claim, storable(compiled, request, result), secretReply)
      return send(compiled, request, reply, result)
    }
    const { follow } = route
    const conclude: Conclude<unknown> = async (tx, written) => {
      const answer = storable(compiled, request, written)
      if (follow) await app.idempotency.finishForNow(tx, claim, answer, secretReply)
      else await app.idempotency.finish(tx, claim, answer, secretReply)
    }
    const made =
      route.kind === 'multipart'
        ? await route.transact(app, input, caller, received ?? { files: [], state: 'unused' }, conclude)
        : await route.transact(app, input, caller, prepared, conclude)
    isCommitted = true
    if (!follow) return send(compiled, request, reply, made)
    const result = await follow(app, input, caller, made)
    await app.idempotency.amend(claim, storable(compiled, request, result), secretReply)
    return send(compiled, request, reply, result)
  } catch (error) {
    if (isCommitted) await amendByRefusal(app, request.exchange, claim, error)
    else await storeRefusal(app, request.exchange, claim, error)
    throw error
  }
}

/** Keyed request in a group commit: the batch stores the key with its effects. */
async function inGroupCommit({ app, compiled, request, reply, caller, key, hash }: Keyed): Promise<unknown> {
  const { route } = compiled
  if (route.kind !== 'commit') throw new Error(`${route.operation} is not a group commit`)
  const claim = { ...caller.tenant, key, hash }
  const leaveKey = app.idempotency.enter(claim)
  try {
    const input = checked(compiled, request, reply)
    // The reply is serialised before the commit that stores it.
    let answer: Answer | null = null
    const handleOnce = keyed(claim, route.reply.status, (made) => {
      answer = answerOf(compiled, request, made)
      return request.exchange.resultText ?? ''
    })
    const result = await route.handle(app, input, caller, handleOnce)
    return give(reply, route, answer ?? answerOf(compiled, request, result))
  } catch (error) {
    // Some rules refuse before the commit that checks the key.
    const isFirst = !(error instanceof AnsweredBefore) && (await storeRefusal(app, request.exchange, claim, error))
    if (isFirst) throw error
    return replay(compiled, request, reply, await app.idempotency.stored(claim))
  } finally {
    leaveKey()
  }
}

const storedRefusals = new Set([402, 403, 404, 409, 422])

/**
 * Stores an error by a business rule as the reply; other errors leave the key free for a retry. False when the key
 * belongs to an earlier reply or another request.
 */
async function storeRefusal(app: App, exchange: Exchange, claim: Claim, error: unknown): Promise<boolean> {
  const stored =
    error instanceof AppError &&
    storedRefusals.has(error.status) &&
    error.code !== 'VALIDATION_ERROR' &&
    error.extras.fields === undefined &&
    !(error instanceof KeyConflict)
  if (!stored) {
    await app.idempotency.free(claim).catch(() => undefined)
    return true
  }
  const body = errorBody(app, exchange, error)
  const answer = { status: error.status, location: null, body }
  const problem = await app.idempotency.finish(app.db, claim, answer, false).catch(asError)
  if (problem instanceof KeyConflict) return false
  exchange.errorCode = error.code
  exchange.replyText = body
  return true
}

/**
 * Replaces the stored reply after a failure. What was committed stays, and so does the key: with the error, or with the
 * reply of the commit. Only when no provider was called and everything was undone may the key be used again.
 */
async function amendByRefusal(app: App, exchange: Exchange, claim: Claim, error: unknown): Promise<void> {
  if (error instanceof AppError && error.code === 'PROVIDER_UNAVAILABLE') return app.idempotency.release(claim)
  if (!(error instanceof AppError) || error.status >= 500) return app.idempotency.settle(claim)
  exchange.errorCode = error.code
  exchange.replyText = errorBody(app, exchange, error)
  const answer = { status: error.status, location: null, body: exchange.replyText }
  await app.idempotency.amend(claim, answer, false)
}
