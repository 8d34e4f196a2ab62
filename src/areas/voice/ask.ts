// SPDX-License-Identifier: Apache-2.0
// Webhook requests to a customer's server about a call. The reply is a list of actions, empty, or a failure.
import { idOf } from '../../kernel/ids.ts'
import { Reply as Payload } from '../../platform/api/dialect.ts'
import type { App } from '../../platform/app.ts'
import { dialectOf } from '../../platform/outbound/dialect-url.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { ask as askCustomer, inDialect } from '../webhooks/area.ts'

const answerMs = 5_000
const retryAfterMs = 500

export interface Question {
  /** Name of the webhook: `voice.answer`, `voice.event`. */
  name: string
  url: string
  method: 'POST' | 'GET'
  /** Request body; a string is JSON and sent unchanged. */
  body: Record<string, unknown> | string
  /** Whether a failed request is retried once. */
  isRetried: boolean
  clockOffsetMs: number
}

export type Reply =
  | { kind: 'list'; actions: readonly unknown[] }
  /** Answered without actions. */
  | { kind: 'nothing' }
  | { kind: 'failed'; reason: string }

/** Call that a question is about, in whose timeline it stands; without an id in none. */
type About = Tenant & { readonly id: string | null }

export async function ask(app: App, about: About, question: Question): Promise<Reply> {
  const first = await askOnce(app, about, question)
  if (first.kind !== 'failed' || !question.isRetried) return first
  await new Promise((resume) => setTimeout(resume, retryAfterMs))
  return askOnce(app, about, question)
}

async function askOnce(app: App, about: About, question: Question): Promise<Reply> {
  const { id, ...tenant } = about
  const { name, clockOffsetMs } = question
  const request = await requestOf(app, tenant, question)
  if (request === null) return { kind: 'nothing' }
  const answer = await askCustomer(app, {
    tenant,
    name,
    resource: id === null ? null : idOf('call', id),
    ...request,
    withinMs: answerMs,
    clockOffsetMs,
  }).catch((error: unknown) => {
    app.log.warn({ error }, 'application not asked about a call: its keys cannot be read; check the database')
    return { kind: 'nothing' as const, reason: 'it could not be asked' }
  })
  if (answer.kind === 'nothing') return { kind: 'failed', reason: answer.reason }
  const { dialect, url } = dialectOf(question.url)
  if (dialect !== null) {
    const actions = app.dialects.get(dialect)?.flow?.(answer.text, url) ?? null
    return actions === null ? { kind: 'nothing' } : { kind: 'list', actions }
  }
  try {
    const said: unknown = answer.text.trim() === '' ? null : JSON.parse(answer.text)
    return Array.isArray(said) ? { kind: 'list', actions: said } : { kind: 'nothing' }
  } catch {
    return { kind: 'nothing' }
  }
}

/** Request of a question, in the dialect of its URL; null when the dialect does not ask it. */
async function requestOf(app: App, tenant: Tenant, { name, url, method, body, clockOffsetMs }: Question) {
  if (dialectOf(url).dialect !== null) {
    const payload = new Payload(typeof body === 'string' ? JSON.parse(body) : body)
    return inDialect(app, tenant, url, { name, payload }, clockOffsetMs)
  }
  return {
    url: method === 'GET' ? withQuery(url, body) : url,
    method,
    contentType: 'application/json',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
}

function withQuery(url: string, body: Record<string, unknown> | string): string {
  const whole = new URL(url)
  const fields: Record<string, unknown> = typeof body === 'string' ? JSON.parse(body) : body
  for (const [name, value] of Object.entries(fields))
    whole.searchParams.set(
      name,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''),
    )
  return whole.href
}
