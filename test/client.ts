// SPDX-License-Identifier: Apache-2.0
// A customer of the API: HTTPS with the installation's own certificate authority, and a key.
import { Agent, type AgentOptions, request } from 'node:https'
import { createSecureContext } from 'node:tls'

export interface Reply {
  status: number
  headers: Readonly<Record<string, string | undefined>>
  text: string
  /** The body as JSON; tests know its shape. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads replies whose shape it asserts
  body: any
}

export interface RequestOptions {
  body?: unknown
  /** Sent as they are, instead of a JSON body. */
  raw?: string | Buffer
  headers?: Readonly<Record<string, string>>
}

/** The status and the code of a refusal, as one thing to compare. */
export async function refusal(reply: Promise<Reply>): Promise<[status: number, code: string]> {
  const { status, body } = await reply
  return [status, body?.error?.code]
}

export class Client {
  readonly #origin: string
  readonly #agent: Agent
  readonly #authorization: string | null

  constructor(origin: string, ca: string | null, key: string | null, agent?: Agent, options: AgentOptions = {}) {
    this.#origin = origin
    // Made once: Node would make one for each connection, and a customer of a dead node tries many.
    const secureContext = agent ? undefined : createSecureContext(ca ? { ca } : {})
    this.#agent = agent ?? new Agent({ keepAlive: true, maxSockets: 128, secureContext, ...options })
    this.#authorization = key === null ? null : `Bearer ${key}`
  }

  /** Client of the same installation with another key, or none. */
  as(key: string | null): Client {
    return new Client(this.#origin, null, key, this.#agent)
  }

  /** Client of another node of the same installation, without a key. */
  at(origin: string): Client {
    return new Client(origin, null, null, this.#agent)
  }

  get(path: string, options: RequestOptions = {}): Promise<Reply> {
    return this.request('GET', path, options)
  }

  post(path: string, body?: unknown, options: RequestOptions = {}): Promise<Reply> {
    return this.request('POST', path, { ...(body === undefined ? {} : { body }), ...options })
  }

  put(path: string, body: unknown, options: RequestOptions = {}): Promise<Reply> {
    return this.request('PUT', path, { body, ...options })
  }

  patch(path: string, body: unknown, options: RequestOptions = {}): Promise<Reply> {
    return this.request('PATCH', path, { body, ...options })
  }

  delete(path: string, options: RequestOptions = {}): Promise<Reply> {
    return this.request('DELETE', path, options)
  }

  request(method: string, path: string, { body, raw, headers = {} }: RequestOptions = {}): Promise<Reply> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    return new Promise((resolve, reject) => {
      const sent = request(
        `${this.#origin}${path}`,
        {
          method,
          agent: this.#agent,
          headers: {
            ...(this.#authorization ? { authorization: this.#authorization } : {}),
            ...(payload !== undefined
              ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
              : {}),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          const done = (): void => {
            const text = Buffer.concat(chunks).toString()
            const isJson = /\bjson\b/.test(response.headers['content-type'] ?? '') && text !== ''
            resolve({
              status: response.statusCode ?? 0,
              headers: Object.fromEntries(
                Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
              ),
              text,
              body: isJson ? JSON.parse(text) : null,
            })
          }
          if (response.headers['content-type']?.startsWith('text/event-stream')) {
            // A stream goes on: what is learnt of it here is that it began.
            response.on('error', () => undefined)
            response.destroy()
            return done()
          }
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', done)
        },
      )
      sent.on('error', reject)
      sent.end(payload)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
