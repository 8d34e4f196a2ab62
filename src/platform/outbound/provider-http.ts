// SPDX-License-Identifier: Apache-2.0
// HTTP client for configured providers: JSON or forms. The result says whether the provider can have accepted the
// request: `unsent` certainly not, `unknown` perhaps. Nothing is retried here.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Outbound } from '../outbound.ts'
import type { Outcome } from './exchange.ts'

export type ProviderAnswer =
  | { kind: 'answered'; status: number; body: unknown }
  | { kind: 'unsent'; reason: string }
  | { kind: 'unknown'; reason: string }

/** Request and outcome. */
export interface Exchange {
  readonly method: string
  readonly url: string
  readonly body: object | undefined
  readonly answer: ProviderAnswer
  readonly durationMs: number
}

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: object
  /** Sends as a form instead, as most OAuth servers want. */
  form?: Readonly<Record<string, string>>
  /** Timeout from now to the end of the response. */
  timeoutMs: number
  /** Receives the outcome, for a timeline. */
  trace?: ((exchange: Exchange) => void) | undefined
}

type Trace = NonNullable<ProviderRequest['trace']>

const traces = new AsyncLocalStorage<Trace>()

/** Reports all requests within `work` to `trace`, unless they name another. */
export function traced<T>(trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  return trace ? traces.run(trace, work) : work()
}

/** Trace of requests that are in no timeline, such as shared token requests. */
export const untold: Trace = () => undefined

const connectTimeoutMs = 3_000
const maxAnswerBytes = 256 * 1024
/** Connections per provider; further requests are queued. */
const connections = 64

export class ProviderClient {
  readonly #door: Outbound
  readonly #patienceMs: number
  readonly #running = new Set<Promise<ProviderAnswer>>()

  /** No request takes longer than `patienceMs`, whatever its own timeout. */
  constructor(door: Outbound, patienceMs: number = Number.POSITIVE_INFINITY) {
    this.#door = door
    this.#patienceMs = patienceMs
  }

  ask(request: ProviderRequest): Promise<ProviderAnswer> {
    const asking = this.#traced(request).finally(() => this.#running.delete(asking))
    this.#running.add(asking)
    return asking
  }

  /** Waits for requests in progress, which have timeouts. */
  async close(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #traced(request: ProviderRequest): Promise<ProviderAnswer> {
    const sentMs = performance.now()
    const answer = await this.#ask(request)
    const { method, url, body, trace = traces.getStore() } = request
    trace?.({ method, url, body, answer, durationMs: performance.now() - sentMs })
    return answer
  }

  async #ask({ method, url, headers, body, form, timeoutMs }: ProviderRequest): Promise<ProviderAnswer> {
    const [type, text] = form
      ? ['application/x-www-form-urlencoded', new URLSearchParams(form).toString()]
      : ['application/json', body === undefined ? null : JSON.stringify(body)]
    try {
      const outcome = await this.#door.send({
        pool: 'provider',
        url,
        method,
        headers: { ...headers, accept: 'application/json', ...(text === null ? {} : { 'content-type': type }) },
        body: text,
        use: 'callback',
        environment: 'live',
        timeoutMs: Math.min(timeoutMs, this.#patienceMs),
        isTimedWhole: true,
        connectTimeoutMs,
        maxAnswerBytes,
        once: true,
        connections,
      })
      return answerOf(outcome)
    } catch (error) {
      // The queue is full, or the request is malformed.
      return { kind: 'unsent', reason: error instanceof Error ? error.message : String(error) }
    }
  }
}

function answerOf(outcome: Outcome): ProviderAnswer {
  if (outcome.kind === 'failed')
    return { kind: outcome.mayHaveArrived ? 'unknown' : 'unsent', reason: `${outcome.error}: ${outcome.reason}` }
  // A truncated response is no answer.
  if (outcome.truncated) return { kind: 'unknown', reason: `an answer with status ${outcome.status} did not end` }
  return { kind: 'answered', status: outcome.status, body: parsed(outcome.body) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
