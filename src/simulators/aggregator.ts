// SPDX-License-Identifier: Apache-2.0
// An aggregator with an HTTP interface, on a real port: it takes messages as JSON, as a form or in the query, answers with an
// id, and calls back with what became of each and with what handsets write. Numbers that end in 0000NN force an outcome,
// with the meanings that the message centre gives them.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { keepAliveMs } from './provider-server.ts'

/** Messages that were throttled and not yet taken. */
const maxUnfinished = 1_000
const maxBodyBytes = 64 * 1024
const callTimeoutMs = 10_000
/** Number of calls until one is answered with 200. */
const maxCalls = 5

interface Outcome {
  /** Refused with this status, and this code of its own. */
  refusal?: { status: number; code: string }
  /** Receipt of the callback; null: none is made. Left out: delivered. */
  receipt?: { status: string; error: string } | null
  /** Refused so often before it is taken. */
  throttles?: number
  /** Called twice, before the request is answered. */
  early?: boolean
}

/** The last two digits of a number that ends in 0000NN. */
const outcomes: Readonly<Record<string, Outcome>> = {
  '01': {},
  '02': { receipt: { status: 'UNDELIVERED', error: '0' } },
  '03': { refusal: { status: 400, code: 'E_REFUSED' } },
  '04': { receipt: { status: 'UNDELIVERED', error: '1' } },
  '05': { receipt: null },
  '06': { receipt: { status: 'EXPIRED', error: '0' } },
  '08': { throttles: 3 },
  '09': { early: true },
  '12': { refusal: { status: 503, code: 'E_DOWN' } },
}

const delivered = { status: 'DELIVERED', error: '0' } as const

export interface AggregatorOptions {
  /** Bearer token that requests must bring. */
  apiKey: string
  /** Delay from the request to the callback; a tenth of a second by default. */
  delayMs?: number
  /** Form of its callbacks. */
  calls?: 'json' | 'form' | 'query'
  /** The authority (PEM) of whom it calls. */
  ca?: string
}

/** A message as it was taken. */
export interface TakenMessage {
  readonly id: string
  readonly to: string
  readonly from: string
  readonly text: string
  readonly reference: string
}

export class AggregatorSimulator {
  /** `cut`: takes messages and cuts the line instead of answering. `silent`: takes them and never answers. */
  mode: 'answer' | 'cut' | 'silent' = 'answer'
  readonly taken: TakenMessage[] = []

  readonly #options: AggregatorOptions
  readonly #server: Server
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #throttled = new Map<string, number>()
  #stopped = false

  private constructor(options: AggregatorOptions) {
    this.#options = options
    this.#server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
      this.#take(request, response).catch(() => response.destroy())
    })
  }

  static async start(options: AggregatorOptions): Promise<AggregatorSimulator> {
    const simulator = new AggregatorSimulator(options)
    simulator.#server.listen(0, '127.0.0.1')
    await once(simulator.#server, 'listening')
    return simulator
  }

  get url(): string {
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/messages`
  }

  /** A handset writes; gives the status with which the call was answered. */
  async inbound(url: string, message: { from: string; to: string; text: string }): Promise<number> {
    return this.#call(url, message)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fields = await fieldsOf(request)
    const answer = (status: number, body: object, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    }
    const refuse = (status: number, code: string): void => answer(status, { error: { code } })
    if (request.headers.authorization !== `Bearer ${this.#options.apiKey}`) return refuse(401, 'E_KEY')
    const { to = '', from = '', text = '', reference = '', callback = '' } = fields
    if (!/^\+?\d{3,15}$/.test(to) || text === '') return refuse(400, 'E_NUMBER')
    const outcome = (/0000(\d\d)$/.test(to) && outcomes[to.slice(-2)]) || {}
    if (outcome.refusal) return refuse(outcome.refusal.status, outcome.refusal.code)
    if (outcome.throttles && this.#isThrottled(reference, outcome.throttles)) return refuse(429, 'E_RATE')
    const id = randomBytes(8).toString('hex')
    this.taken.push({ id, to, from, text, reference })
    const tell = (): Promise<unknown> => this.#tell(callback, id, outcome)
    if (outcome.early) await Promise.all([tell(), tell()])
    else this.#later(() => void tell())
    if (this.mode === 'cut') return void response.destroy()
    if (this.mode === 'answer') answer(201, { messages: [{ id, status: 'ACCEPTED' }] })
  }

  #isThrottled(reference: string, times: number): boolean {
    const met = this.#throttled.get(reference) ?? 0
    if (this.#throttled.size >= maxUnfinished) this.#throttled.clear()
    this.#throttled.set(reference, met + 1)
    return met < times
  }

  /** Calls with what became of a message, again when that is not taken. */
  async #tell(callback: string, id: string, { receipt = delivered }: Outcome, calls = 1): Promise<void> {
    if (receipt === null || callback === '' || this.#stopped) return
    const status = await this.#call(callback, { id, ...receipt }).catch(() => 0)
    if (status !== 200 && calls < maxCalls) this.#later(() => void this.#tell(callback, id, { receipt }, calls + 1))
  }

  async #call(url: string, fields: Readonly<Record<string, string>>): Promise<number> {
    const { calls = 'json', ca } = this.#options
    const pairs = new URLSearchParams(fields).toString()
    const target = calls === 'query' ? `${url}${url.includes('?') ? '&' : '?'}${pairs}` : url
    const body = calls === 'json' ? JSON.stringify(fields) : calls === 'form' ? pairs : ''
    const type = calls === 'json' ? 'application/json' : 'application/x-www-form-urlencoded'
    const options = {
      method: calls === 'query' ? 'GET' : 'POST',
      headers: calls === 'query' ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) },
      timeout: callTimeoutMs,
      agent: false,
    } as const
    return new Promise((resolve, reject) => {
      const done = (response: IncomingMessage): void => {
        response.resume()
        response.once('end', () => resolve(response.statusCode ?? 0))
        response.once('error', reject)
      }
      const call = target.startsWith('https:')
        ? httpsRequest(target, { ...options, ...(ca === undefined ? {} : { ca }) }, done)
        : httpRequest(target, options, done)
      call.once('error', reject)
      call.end(body)
    })
  }

  #later(what: () => void): void {
    if (this.#stopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      what()
    }, this.#options.delayMs ?? 100)
    this.#timers.add(timer)
  }
}

/** The fields of a request, however they came. */
async function fieldsOf(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBodyBytes) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks).toString()
  if (request.headers['content-type'] !== 'application/json') {
    const pairs = body === '' ? new URL(request.url ?? '/', 'http://localhost').searchParams : new URLSearchParams(body)
    return Object.fromEntries(pairs)
  }
  const parsed: unknown = JSON.parse(body)
  return Object.fromEntries(Object.entries(Object(parsed)).map(([name, value]) => [name, String(value)]))
}
