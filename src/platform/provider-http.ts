// SPDX-License-Identifier: Apache-2.0
// Requests to providers that an operator configured. What matters afterwards is whether the provider can have taken the
// request: `unsent` is certain that it cannot, `unknown` is not. Nothing is ever sent a second time from here.
import { Agent, request } from 'undici'

export type ProviderAnswer =
  | { kind: 'answered'; status: number; body: unknown }
  | { kind: 'unsent'; reason: string }
  | { kind: 'unknown'; reason: string }

export interface ProviderRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body?: object
  timeoutMs: number
}

const connectMs = 3_000
const maxBodyBytes = 256 * 1024
const connectionsPerProvider = 64

/** Before any of these, no byte of the request can have arrived. */
const unsentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

export class ProviderClient {
  readonly #agent = new Agent({
    connect: { timeout: connectMs },
    connections: connectionsPerProvider,
    maxResponseSize: maxBodyBytes,
  })

  async ask({ method, url, headers, body, timeoutMs }: ProviderRequest): Promise<ProviderAnswer> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    try {
      const answer = await request(url, {
        dispatcher: this.#agent,
        method,
        headers: { ...headers, accept: 'application/json', ...(text ? { 'content-type': 'application/json' } : {}) },
        ...(text === undefined ? {} : { body: text }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      return { kind: 'answered', status: answer.statusCode, body: parsed(await answer.body.text()) }
    } catch (error) {
      const code = codeOf(error)
      return { kind: unsentCodes.has(code) ? 'unsent' : 'unknown', reason: code }
    }
  }

  close(): Promise<void> {
    return this.#agent.close()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.cause instanceof Error ? codeOf(error.cause) : error.name
}
