// SPDX-License-Identifier: Apache-2.0
// Common part of simulated payment providers: a real port that takes JSON and forms, scaled time, and callbacks.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { isPayerAnswer, type PayerAnswer, payerKeyHeader, payerPath } from '../protocols/sandbox-payer.ts'
import { type Book, Journal } from './journal.ts'

const maxBodyBytes = 64 * 1024
const callbackTimeoutMs = 5_000
/**
 * Keep-alive time, longer than clients keep an idle connection. On a machine that stalls for seconds, Node's own five
 * would be over before the next request is read: it would be dropped, and its sender could not know whether it was
 * taken.
 */
export const keepAliveMs = 65_000

export interface ProviderServerOptions {
  host: string
  now(): number
  /** Waiting takes this part of the time it would. */
  timeScale: number
  /** Certificate authority of the called addresses. */
  ca(): string | undefined
  /** File of its books; in memory only without it. */
  journalFile?: string | null
  /** Fulfilled when callbacks can be taken: pending actions of the books wait for it. */
  ready?: Promise<unknown>
  /** The books can no longer be written down. */
  onProblem?(error: unknown): void
  /** Secret for answering prompts in a payer's place; without it that is off. */
  payerKey?: string
  /** Called right before a callback. */
  onCall?(body: object): void
}

export interface Asked {
  method: string
  /** Path without a query. */
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  /** The members of the JSON object, or of the form, that came; none without a body, null when it was no object. */
  body: Record<string, unknown> | null
}

export class ProviderServer {
  readonly #options: ProviderServerOptions
  readonly #server: Server
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(options: ProviderServerOptions, answer: (asked: Asked, response: ServerResponse) => void) {
    this.#options = options
    this.#server = createServer({ keepAliveTimeout: keepAliveMs }, async (request, response) => {
      const { method = '', url = '', headers } = request
      const [path = '', query = ''] = url.split('?')
      answer({ method, path, query: new URLSearchParams(query), headers, body: await bodyOf(request) }, response)
    })
  }

  /** Listens on the port that it had before, if that is free. */
  async listen(port: number): Promise<void> {
    try {
      this.#server.listen(port, this.#options.host)
      await once(this.#server, 'listening')
    } catch (error) {
      if (port === 0) throw error
      await this.listen(0)
    }
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  later(ms: number, what: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      what()
    }, ms * this.#options.timeScale)
    this.#timers.add(timer)
  }

  /** Calls back once, whatever the outcome: real providers do not retry either. */
  call(method: 'POST' | 'PUT', url: string, body: object, headers: Record<string, string> = {}): Promise<void> {
    const ca = this.#options.ca()
    this.#options.onCall?.(body)
    return new Promise((resolve) => {
      const call = httpsRequest(url, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        timeout: callbackTimeoutMs,
        ...(ca === undefined ? {} : { ca }),
      })
      call.on('response', (answer) => answer.resume().once('close', () => resolve()))
      call.on('timeout', () => call.destroy())
      call.on('error', () => resolve())
      call.end(JSON.stringify(body))
    })
  }
}

/** A provider on its port. Each kind says how it answers. */
export abstract class SimulatedProvider {
  protected readonly server: ProviderServer
  protected readonly journal: Journal
  /** Port of the server, kept because addresses that it gave out outlive it. */
  readonly #addresses: Book<number>
  readonly #ready: Promise<unknown>

  protected constructor(options: ProviderServerOptions) {
    this.journal = new Journal({ ...options, file: options.journalFile ?? null })
    this.#ready = options.ready ?? Promise.resolve()
    this.#addresses = this.journal.book({ name: 'addresses', most: 1 })
    this.server = new ProviderServer(options, (asked, response) => {
      if (asked.path === payerPath) void this.#answerPrompt(asked, response, options.payerKey)
      else this.answer(asked, response)
    })
  }

  /** Ends a waiting prompt; false when there is none. */
  protected async endPrompt(_id: string, _ending: PayerAnswer): Promise<boolean> {
    return false
  }

  async #answerPrompt({ headers, body }: Asked, response: ServerResponse, key: string | undefined): Promise<void> {
    if (key === undefined || headers[payerKeyHeader] !== key) return say(response, 403, {})
    const ending = body?.ending
    if (!isPayerAnswer(ending)) return say(response, 400, {})
    say(response, (await this.endPrompt(String(body?.id), ending)) ? 200 : 409, {})
  }

  protected abstract answer(asked: Asked, response: ServerResponse): void

  get port(): number {
    return this.server.port
  }

  async stop(): Promise<void> {
    this.journal.stop()
    await this.server.stop()
  }

  protected async listening(): Promise<this> {
    await this.server.listen(this.#addresses.get('port') ?? 0)
    this.#addresses.put('port', this.port)
    void this.#ready.then(() => this.journal.begin())
    return this
  }
}

export function say(response: ServerResponse, status: number, body?: object): void {
  if (body === undefined) return void response.writeHead(status).end()
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Address with a wrong token, as a forger would call. */
export function forgedUrl(url: string): string {
  return `${url.slice(0, -4)}AAAA`
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown> | null> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > maxBodyBytes) return null
      chunks.push(bytes)
    }
    if (size === 0) return {}
    const text = Buffer.concat(chunks).toString()
    if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
      return Object.fromEntries(new URLSearchParams(text))
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}
