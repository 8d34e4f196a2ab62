// SPDX-License-Identifier: Apache-2.0
// Requests to a provider that wants a token with each: the token is asked for when there is none, kept while it is good,
// and replaced once when the provider no longer knows it.
import {
  type ProviderAnswer,
  ProviderClient,
  type ProviderRequest,
  untold,
} from '../../../platform/outbound/provider-http.ts'
import { membersOf } from '../../../protocols/json.ts'
import type { Surroundings } from '../providers/kind.ts'

const tokenMs = 10_000

export interface BearerOptions {
  surroundings: Surroundings
  /** Request for a token. */
  request: Omit<ProviderRequest, 'timeoutMs'>
  /** The token in an answer, as it is sent with requests; null when there is none. That of OAuth without it. */
  readToken?(body: unknown): string | null
  /** Lifetime of a token here, well below its real one. */
  tokenForMs: number
  /** Whether an answer says that the token was not good. Nothing was done then. */
  isRefused(answer: { status: number; body: unknown }): boolean
}

export class BearerClient {
  readonly #options: BearerOptions
  readonly #client: ProviderClient
  #token: { text: string; untilMs: number } | null = null

  constructor(options: BearerOptions) {
    this.#options = options
    this.#client = new ProviderClient(options.surroundings.http, options.surroundings.patienceMs)
  }

  async ask(request: ProviderRequest): Promise<ProviderAnswer> {
    for (let isFirst = true; ; isFirst = false) {
      const token = await this.#freshToken()
      if (typeof token !== 'string') return token
      const headers = { ...request.headers, authorization: `Bearer ${token}` }
      const answer = await this.#client.ask({ ...request, headers })
      const isRefused = answer.kind === 'answered' && this.#options.isRefused(answer)
      if (!isRefused || !isFirst) return answer
      this.#token = null
    }
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #freshToken(): Promise<string | ProviderAnswer> {
    if (this.#token && this.#token.untilMs > performance.now()) return this.#token.text
    const answer = await this.#client.ask({
      ...this.#options.request,
      timeoutMs: tokenMs,
      trace: this.#options.surroundings.signsIn ?? untold,
    })
    const { readToken = oauthTokenIn, tokenForMs } = this.#options
    const text = answer.kind === 'answered' ? readToken(answer.body) : null
    // Without a token the request itself was not sent.
    if (text === null) return { kind: 'unsent', reason: 'no token was given' }
    this.#token = { text, untilMs: performance.now() + tokenForMs }
    return text
  }
}

function oauthTokenIn(body: unknown): string | null {
  const { access_token } = membersOf(body)
  return typeof access_token === 'string' ? access_token : null
}

export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}
