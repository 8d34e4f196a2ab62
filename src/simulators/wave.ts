// SPDX-License-Identifier: Apache-2.0
// Wave checkout simulator on a real port: it opens sessions, plays the payer on the page of each and answers polls. It
// has no callbacks. A payer who leaves or cannot pay does not return: the session expires.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type WaveSession, wavePaths, waveSessionAnswer } from '../protocols/wave.ts'
import type { Book } from './journal.ts'
import { type Ending, faultOf, playOnPage } from './payer.ts'
import { type Asked, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

const maxSessions = 100_000
const pagesPath = '/c/'

export interface WaveOptions extends ProviderServerOptions {
  apiKey: string
}

interface Opened extends WaveSession {
  reference: string
}

const errorCodes: Readonly<Record<Ending, string | null>> = {
  paid: null,
  no_money: 'insufficient-funds',
  declined: null,
  wrong_pin: 'payment-failure',
  over_limit: 'payment-failure',
  unreachable: 'payment-failure',
}

export class WaveSimulator extends SimulatedProvider {
  readonly #options: WaveOptions
  readonly #sessions: Book<Opened>
  /** Our reference -> the session's id. */
  readonly #references: Book<string>

  private constructor(options: WaveOptions) {
    super(options)
    this.#options = options
    this.#sessions = this.journal.book({ name: 'sessions', most: maxSessions })
    this.#references = this.journal.book({ name: 'references', most: maxSessions })
  }

  static start(options: WaveOptions): Promise<WaveSimulator> {
    return new WaveSimulator(options).listening()
  }

  protected override answer(asked: Asked, response: ServerResponse): void {
    const { method, path, query, headers } = asked
    if (method === 'POST' && path.startsWith(pagesPath)) return this.#visit(asked, response)
    if (headers.authorization !== `Bearer ${this.#options.apiKey}`)
      return say(response, 401, refusal('no-matching-api-key'))
    if (method === 'POST' && path === wavePaths.sessions) return this.#open(asked, response)
    if (method === 'GET' && path === wavePaths.search) return this.#search(query, response)
    const session = method === 'GET' ? this.#sessions.get(path.slice(wavePaths.sessions.length + 1)) : undefined
    if (session && path.startsWith(`${wavePaths.sessions}/`)) return say(response, 200, waveSessionAnswer(session))
    say(response, 404, refusal('not-found'))
  }

  #open({ body }: Asked, response: ServerResponse): void {
    const { amount, currency, client_reference, restrict_payer_mobile, success_url, error_url } = body ?? {}
    const isRight =
      /^[1-9]\d{0,11}(\.\d{1,2})?$/.test(String(amount)) &&
      /^[A-Z]{3}$/.test(String(currency)) &&
      /^.{1,255}$/.test(String(client_reference)) &&
      /^\+[1-9]\d{7,14}$/.test(String(restrict_payer_mobile)) &&
      [success_url, error_url].every((url) => /^https?:\/\/\S+$/.test(String(url)))
    if (!isRight) return say(response, 400, refusal('request-validation-error'))
    const fault = faultOf(String(amount))
    if (fault.lost) return void response.destroy()
    if (fault.unavailable) return say(response, 503, refusal('service-unavailable'))
    const id = `cos-${randomBytes(7).toString('hex')}`
    const session: Opened = {
      id,
      state: 'open',
      isPaid: false,
      amount: String(amount),
      currency: String(currency),
      launchUrl: `http://${this.#options.host}:${this.port}${pagesPath}${id}`,
      receipt: null,
      errorCode: null,
      reference: String(client_reference),
    }
    this.#sessions.put(id, session)
    this.#references.put(session.reference, id)
    if (fault.cut) return void response.destroy()
    say(response, 200, waveSessionAnswer(session))
  }

  /** Decision of a payer on the page. */
  #visit({ path, body }: Asked, response: ServerResponse): void {
    const session = this.#sessions.get(path.slice(pagesPath.length))
    if (!session) return say(response, 404, refusal('not-found'))
    const play = playOnPage(body ?? {})
    if (play && session.state === 'open') {
      session.isPaid = play.ending === 'paid'
      session.state = session.isPaid ? 'complete' : 'expired'
      session.errorCode = errorCodes[play.ending]
      session.receipt = session.isPaid ? `T${randomBytes(5).toString('hex').toUpperCase()}` : null
      this.#sessions.keep(session.id)
    }
    say(response, 200, {})
  }

  #search(query: URLSearchParams, response: ServerResponse): void {
    const id = this.#references.get(query.get('client_reference') ?? '')
    const session = id === undefined ? undefined : this.#sessions.get(id)
    say(response, 200, { result: session ? [waveSessionAnswer(session)] : [] })
  }
}

function refusal(code: string): object {
  return { code, message: code }
}
