// SPDX-License-Identifier: Apache-2.0
// A customer's server asked now, with a deadline: for the flow of a call, or told what a caller typed. Signed like a callback; one
// retry; an answer that is too long, too late or no JSON is a failure with a sentence.
import { createHmac } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { callbackSecret, inForce } from '../webhooks/area.ts'

const answerMs = 5_000
const retryAfterMs = 500
const mostAnswerBytes = 64 * 1_024
const connections = 50

export interface Question {
  url: string
  method: 'POST' | 'GET'
  body: Record<string, unknown>
  /** Whether it is asked a second time when that fails. */
  isRetried: boolean
}

export type Reply =
  | { kind: 'list'; actions: readonly unknown[] }
  /** It answered, and wants nothing done. */
  | { kind: 'nothing' }
  | { kind: 'failed'; reason: string }

export async function ask(app: App, tenant: Tenant, nowMs: number, question: Question): Promise<Reply> {
  const first = await askOnce(app, tenant, nowMs, question)
  if (first.kind !== 'failed' || !question.isRetried) return first
  await new Promise((resume) => setTimeout(resume, retryAfterMs))
  return askOnce(app, tenant, nowMs, question)
}

async function askOnce(app: App, tenant: Tenant, nowMs: number, { url, method, body }: Question): Promise<Reply> {
  const isPost = method === 'POST'
  const text = isPost ? JSON.stringify(body) : ''
  const { current } = inForce(await callbackSecret(app, tenant), nowMs)
  const outcome = await app.outbound.send({
    pool: `voice:${tenant.account}:${tenant.environment}`,
    url,
    ...(isPost ? {} : { query: queryOf(body) }),
    method,
    headers: {
      ...(isPost ? { 'content-type': 'application/json' } : {}),
      accept: 'application/json',
      'x-service-signature': createHmac('sha256', current).update(text).digest('hex'),
      'x-service-timestamp': String(Math.floor(nowMs / 1_000)),
    },
    body: isPost ? text : null,
    timeoutMs: answerMs,
    maxAnswerBytes: mostAnswerBytes,
    connections,
    use: 'callback',
    environment: tenant.environment,
  })
  if (outcome.kind === 'failed') return { kind: 'failed', reason: outcome.reason }
  if (outcome.status < 200 || outcome.status > 299)
    return { kind: 'failed', reason: `it answered with status ${outcome.status}` }
  return readReply(outcome.body, outcome.truncated)
}

function readReply(body: string, truncated: boolean): Reply {
  if (truncated) return { kind: 'failed', reason: `its answer is longer than ${mostAnswerBytes} bytes` }
  try {
    const answer: unknown = body.trim() === '' ? null : JSON.parse(body)
    return Array.isArray(answer) ? { kind: 'list', actions: answer } : { kind: 'nothing' }
  } catch {
    return { kind: 'nothing' }
  }
}

function queryOf(body: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(body))
    query.set(name, typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''))
  return query.toString()
}
