// SPDX-License-Identifier: Apache-2.0
// JSON, or a form, to providers that an operator configured, through the one door to the outside. What matters afterwards is whether
// the provider can have taken the request: `unsent` is certain that it cannot, `unknown` is not. Nothing is ever sent a
// second time from here.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Outbound } from '../outbound.ts'
import type { Outcome } from './exchange.ts'

export type ProviderAnswer =
  | { kind: 'answered'; status: number; body: unknown }
  | { kind: 'unsent'; reason: string }
  | { kind: 'unknown'; reason: string }

/** A request and what came of it. */
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
  /** Sent as a form instead: what most servers of OAuth want. */
  form?: Readonly<Record<string, string>>
  /** For all of it, from now to the end of the answer. */
  timeoutMs: number
  /** Told what came of it, for a timeline. */
  trace?: ((exchange: Exchange) => void) | undefined
}

type Trace = NonNullable<ProviderRequest['trace']>

const traces = new AsyncLocalStorage<Trace>()

/** Has everything that a provider is asked within `work` told to `trace`, where the request names no other. */
export function traced<T>(trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  return trace ? traces.run(trace, work) : work()
}

/** For requests that are no part of anybody's timeline, such as those for a token that all share. */
export const untold: Trace = () => undefined

const connectTimeoutMs = 3_000
const maxAnswerBytes = 256 * 1024
/** To one provider, whichever of its accounts are asked for; further requests wait. */
const connections = 64

export class ProviderClient {
  readonly #door: Outbound
  readonly #running = new Set<Promise<ProviderAnswer>>()

  constructor(door: Outbound) {
    this.#door = door
  }

  ask(request: ProviderRequest): Promise<ProviderAnswer> {
    const asking = this.#traced(request).finally(() => this.#running.delete(asking))
    this.#running.add(asking)
    return asking
  }

  /** Waits for what is under way, which its time bounds. */
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
        timeoutMs,
        isTimedWhole: true,
        connectTimeoutMs,
        maxAnswerBytes,
        once: true,
        connections,
      })
      return answerOf(outcome)
    } catch (error) {
      // Too many wait already, or it is a request that cannot be written.
      return { kind: 'unsent', reason: error instanceof Error ? error.message : String(error) }
    }
  }
}

function answerOf(outcome: Outcome): ProviderAnswer {
  if (outcome.kind === 'failed')
    return { kind: outcome.mayHaveArrived ? 'unknown' : 'unsent', reason: `${outcome.error}: ${outcome.reason}` }
  // Half an answer may have said anything.
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
