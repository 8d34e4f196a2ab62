// SPDX-License-Identifier: Apache-2.0
// EcoCash simulator (Open API) on a real port: it takes payments, plays the payer and answers polls. It has no
// callbacks, and one word for most failures.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { ecocashKeyHeader, ecocashPaths, ecocashStateAnswer } from '../protocols/ecocash.ts'
import type { Book } from './journal.ts'
import { type Ending, otherAmount, playOf } from './payer.ts'
import { type Asked, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

const maxPayments = 100_000
const mode = 'live'

export interface EcocashOptions extends ProviderServerOptions {
  apiKey: string
}

const words: Readonly<Record<Ending, string>> = {
  paid: 'SUCCESS',
  no_money: 'INSUFFICIENT_FUNDS',
  declined: 'CANCELLED',
  wrong_pin: 'FAILED',
  over_limit: 'FAILED',
  unreachable: 'EXPIRED',
}

interface Requested {
  reference: string
  phone: string
  amount: number
  currency: string
  status: string
  receipt: string | null
}

export class EcocashSimulator extends SimulatedProvider {
  static readonly mode = mode
  readonly #options: EcocashOptions
  /** Payments by our reference. */
  readonly #payments: Book<Requested>

  private constructor(options: EcocashOptions) {
    super(options)
    this.#options = options
    this.#payments = this.journal.book({
      name: 'payments',
      most: maxPayments,
      due: async (requested) => this.#decide(requested),
    })
  }

  static start(options: EcocashOptions): Promise<EcocashSimulator> {
    return new EcocashSimulator(options).listening()
  }

  protected override answer(asked: Asked, response: ServerResponse): void {
    const { method, path, headers } = asked
    if (headers[ecocashKeyHeader] !== this.#options.apiKey) return say(response, 401, refusal('Unauthorized'))
    if (method === 'POST' && path === ecocashPaths.payment(mode)) return this.#take(asked, response)
    if (method === 'POST' && path === ecocashPaths.state(mode)) return this.#tell(asked, response)
    say(response, 404, refusal('Not Found'))
  }

  #take({ body }: Asked, response: ServerResponse): void {
    const { customerMsisdn, amount, reason, currency, sourceReference } = body ?? {}
    const isRight =
      /^263\d{9}$/.test(String(customerMsisdn)) &&
      typeof amount === 'number' &&
      /^[A-Za-z0-9 .-]{1,100}$/.test(String(reason)) &&
      (currency === 'USD' || currency === 'ZiG') &&
      /^[0-9a-f-]{36}$/.test(String(sourceReference))
    if (!isRight) return say(response, 400, refusal('Bad Request'))
    const reference = String(sourceReference)
    if (this.#payments.has(reference)) return say(response, 409, refusal('Conflict'))
    const phone = String(customerMsisdn)
    const play = playOf(phone)
    if (play?.lost) return void response.destroy()
    if (play?.unavailable) return say(response, 503, refusal('Service Unavailable'))
    const requested = {
      reference,
      phone,
      amount,
      currency: String(currency),
      status: 'PENDING_VALIDATION',
      receipt: null,
    }
    this.#payments.put(reference, requested, play?.afterMs)
    if (play?.cut) return void response.destroy()
    say(response, 200, { sourceReference: reference })
  }

  #decide(requested: Requested): undefined {
    const play = playOf(requested.phone)
    if (!play) return
    requested.status = words[play.ending]
    if (play.otherAmount) requested.amount = Number(otherAmount(String(requested.amount)))
    if (play.ending === 'paid') requested.receipt = `MP${randomBytes(6).toString('hex').toUpperCase()}`
    this.#payments.keep(requested.reference)
  }

  #tell({ body }: Asked, response: ServerResponse): void {
    const requested = this.#payments.get(String(body?.sourceReference))
    if (!requested || requested.phone !== body?.sourceMobileNumber) return say(response, 404, refusal('Not Found'))
    say(response, 200, ecocashStateAnswer(requested))
  }
}

function refusal(message: string): object {
  return { message }
}
