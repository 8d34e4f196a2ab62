// SPDX-License-Identifier: Apache-2.0
// Question to a customer's application that a caller waits for: the next screen of a USSD session, the next action of a
// call. It is signed as a delivery to a callback_url, asked at once and never later, and does not pass through the
// delivery queue. If the first URL gives no usable answer and time is left, the fallback URL is asked once.
import { type Id, newId } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { ToldCache } from '../../platform/nodes/told-cache.ts'
import type { Outcome } from '../../platform/outbound/exchange.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { signatureHeaders } from './deliveries/signature.ts'
import { loadCallbackTarget, type Target } from './deliveries/targets.ts'
import { noteQuestion } from './deliveries/trace.ts'
import { inForce } from './endpoints/secrets.ts'

interface Question {
  readonly tenant: Tenant
  /** `ussd.response`, `voice.answer`: X-Service-Event of the request, and for the log. */
  readonly name: string
  /** Public id of the session or call, in whose timeline the request stands. */
  readonly resource?: string | null
  /** Id of the event that subscribers get a copy of, so that a receiver of both can tell; a new one without it. */
  readonly eventId?: Id<'event'>
  readonly url: string
  readonly fallbackUrl?: string | null
  readonly method?: 'GET' | 'POST'
  readonly contentType: string
  readonly body: string
  /** Signatures of another provider's dialect. */
  readonly headers?: Readonly<Record<string, string>>
  /** Time for all of it, the fallback included. */
  readonly withinMs: number
  /** Reason for which an answer cannot be used, for the timeline; null for one that can. */
  readonly refusal?: (said: Said) => string | null
  /** Offset of the account's clock, by which the secret in force is chosen. */
  readonly clockOffsetMs?: number
}

interface Said {
  readonly kind: 'said'
  readonly status: number
  readonly contentType: string
  readonly text: string
  readonly tookMs: number
}

export type Answer =
  | Said
  | { readonly kind: 'nothing'; readonly why: NoAnswer; readonly reason: string; readonly tookMs: number }

/**
 * Late: the deadline passed. Refused: a status other than 2xx. Unreachable: no connection. Too long: more than is read. Crowded:
 * too many questions of the account are open already.
 */
type NoAnswer = 'late' | 'refused' | 'unreachable' | 'too_long' | 'crowded'

/** Most bytes of an answer that are read. */
const maxAnswerBytes = 64 * 1024
/** A connection that fails is tried once more after this, if there is time. */
const retryMs = 1_000
/** Time that is worth asking with. */
const leastMs = 200
/** Applications asked at once for one account; further questions wait, and their time runs. */
const connectionsPerAccount = 64
/** Questions open at once for one account, asked or waiting: fewer than may wait for one origin. */
const openPerAccount = 1_000
const targetForMs = 30_000
const maxTargets = 10_000

/** Asks a customer's application and waits for what it says. Never throws for what the other side does. */
export async function ask(app: App, question: Question): Promise<Answer> {
  const account = `${question.tenant.environment} ${question.tenant.account}`
  const open = openQuestions(app)
  const count = open.get(account) ?? 0
  if (count >= openPerAccount) return crowded
  open.set(account, count + 1)
  try {
    return await askInTime(app, question)
  } finally {
    const left = (open.get(account) ?? 1) - 1
    if (left > 0) open.set(account, left)
    else open.delete(account)
  }
}

const crowded: Answer = {
  kind: 'nothing',
  why: 'crowded',
  reason: `${openPerAccount} questions are open already: the application must answer faster`,
  tookMs: 0,
}

/** Opens questions by account. */
const openQuestions = onePerApp(() => new Map<string, number>())

async function askInTime(app: App, question: Question): Promise<Answer> {
  const beganMs = performance.now()
  const leftMs = (): number => question.withinMs - (performance.now() - beganMs)
  const target = await targetOf(app, question.tenant)
  let answer = await askOnce(app, target, question, question.url, leftMs())
  if (answer.kind === 'nothing' && answer.why === 'unreachable' && leftMs() > retryMs + leastMs) {
    await new Promise((resolve) => setTimeout(resolve, retryMs))
    answer = await askOnce(app, target, question, question.url, leftMs())
  }
  const { fallbackUrl } = question
  if (answer.kind === 'nothing' && fallbackUrl && leftMs() > leastMs)
    answer = await askOnce(app, target, question, fallbackUrl, leftMs())
  const tookMs = performance.now() - beganMs
  if (answer.kind === 'nothing')
    app.log.info(
      { question: question.name, account: question.tenant.account, why: answer.why, reason: answer.reason, tookMs },
      'a customer application gave no answer in time: its URL must answer 2xx within the deadline',
    )
  return { ...answer, tookMs }
}

async function askOnce(app: App, target: Target, question: Question, url: string, withinMs: number): Promise<Answer> {
  const { tenant, name, eventId = newId('event', app.clock.nowMs()), method = 'POST', contentType } = question
  const body = Buffer.from(question.body)
  const nowMs = app.clock.nowMs()
  const signed = method === 'GET' ? Buffer.alloc(0) : body
  const { clockOffsetMs = 0 } = question
  const headers = headersOf(target, { name, eventId, body: signed, nowMs, clockOffsetMs })
  if (method === 'POST') headers.push('Content-Type', contentType)
  headers.push(...Object.entries(question.headers ?? {}).flat())
  const outcome = await app.outbound.send({
    use: 'callback',
    environment: tenant.environment,
    pool: `ask:${tenant.account}`,
    url,
    method,
    headers,
    body: method === 'GET' ? null : body,
    timeoutMs: Math.max(1, Math.floor(withinMs)),
    isTimedWhole: true,
    maxAnswerBytes,
    connections: connectionsPerAccount,
  })
  const answer = answerOf(outcome)
  const refusal = answer.kind === 'said' ? (question.refusal?.(answer) ?? null) : null
  const { resource } = question
  if (resource) noteQuestion(app, { tenant, name, clockOffsetMs, resource, url, refusal }, outcome)
  return answer
}

/** Headers of a request without a body that is no question, such as the upgrade to a websocket: signed as one by GET is. */
export async function callbackHeaders(
  app: App,
  { tenant, name, clockOffsetMs }: { tenant: Tenant; name: string; clockOffsetMs: number },
): Promise<Record<string, string>> {
  const target = await targetOf(app, tenant)
  const nowMs = app.clock.nowMs()
  const eventId = newId('event', nowMs)
  const headers = headersOf(target, { name, eventId, body: Buffer.alloc(0), nowMs, clockOffsetMs })
  return Object.fromEntries(
    Array.from({ length: headers.length / 2 }, (_, i) => [headers[2 * i] ?? '', headers[2 * i + 1] ?? '']),
  )
}

function headersOf(
  target: Target,
  asked: { name: string; eventId: Id<'event'>; body: Buffer; nowMs: number; clockOffsetMs: number },
): string[] {
  const { name, eventId, body, nowMs, clockOffsetMs } = asked
  const headers = signatureHeaders({
    eventId,
    timestampSeconds: Math.floor(nowMs / 1_000),
    body,
    isHubSigned: false,
    ...inForce(target, nowMs + clockOffsetMs),
  })
  return [...headers, 'User-Agent', 'Pamoja-Webhooks/1.0', 'X-Service-Event', name, 'X-Service-Event-Id', eventId]
}

function answerOf(outcome: Outcome): Answer {
  const tookMs = outcome.timing.durationMs
  if (outcome.kind === 'failed') {
    const why = outcome.error === 'TIMEOUT' ? 'late' : 'unreachable'
    return { kind: 'nothing', why, reason: outcome.reason, tookMs }
  }
  const { status, headers, body, truncated } = outcome
  if (status < 200 || status > 299)
    return { kind: 'nothing', why: 'refused', reason: `it answered with the status ${status}`, tookMs }
  if (truncated)
    return { kind: 'nothing', why: 'too_long', reason: `it answered with more than ${maxAnswerBytes} bytes`, tookMs }
  return { kind: 'said', status, contentType: headers['content-type'] ?? '', text: body, tookMs }
}

/** Signing keys of accounts, cached until a secret is replaced. */
const targets = onePerApp((app) => {
  const known = new ToldCache<Target>(app.signals, { most: maxTargets, goodForMs: targetForMs })
  app.signals.on('webhooks', (text) => known.forget(text))
  return known
})

function targetOf(app: App, tenant: Tenant): Promise<Target> {
  const key = `callback:${tenant.account}:${tenant.environment}`
  return targets(app).of(key, () => loadCallbackTarget(app, tenant))
}
