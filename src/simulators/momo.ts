// SPDX-License-Identifier: Apache-2.0
// A mobile-money provider that speaks MTN's MoMo on a real port: it takes requests to pay, plays the payer and calls back.
// It has no words for a wrong PIN, which is a payer who declined, nor for a phone out of reach, whose prompt expires.
import type { ServerResponse } from 'node:http'
import { paymentResultBody } from '../protocols/momo.ts'
import { byHand, type PayerAnswer, payerHeader } from '../protocols/sandbox-payer.ts'
import type { Book } from './journal.ts'
import { MomoTransfers } from './momo-outgoing.ts'
import {
  MomoDoor,
  type MomoOrder,
  type MomoProduct,
  momoBooks,
  momoOutcome,
  momoRefusal,
  readMomoOrder,
} from './momo-product.ts'
import { MomoRefunds } from './momo-refunds.ts'
import { MomoUsers } from './momo-users.ts'
import { type Ending, otherAmount, type Play, playedAs, playOf } from './payer.ts'
import { type Asked, forgedUrl, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

const maxRequests = 100_000
const requestsPath = '/collection/v1_0/requesttopay'

export interface MomoOptions extends ProviderServerOptions, MomoProduct {
  /** Product that pays out; the collecting one by default. */
  disbursement?: MomoProduct
}

const reasons: Readonly<Record<Ending, string | null>> = {
  paid: null,
  no_money: 'NOT_ENOUGH_FUNDS',
  declined: 'APPROVAL_REJECTED',
  wrong_pin: 'APPROVAL_REJECTED',
  over_limit: 'PAYER_LIMIT_REACHED',
  unreachable: 'EXPIRED',
}

export class MomoSimulator extends SimulatedProvider {
  /** The half that pays. */
  readonly transfers: MomoTransfers
  readonly #door: MomoDoor
  readonly #requests: Book<MomoOrder>
  /** References whose first request got lost. */
  readonly #lost: Book<true>
  readonly #refunds: MomoRefunds
  readonly #users: MomoUsers

  private constructor(options: MomoOptions) {
    super(options)
    this.#users = new MomoUsers([options, options.disbursement ?? options])
    this.#door = new MomoDoor(options, '/collection/token/', this.#users)
    const { journal, server } = this
    this.#requests = journal.book({
      name: 'requests',
      most: maxRequests,
      due: (requested, reference) => this.#decide(requested, reference),
    })
    this.#lost = journal.book({ name: 'lost requests', most: maxRequests })
    this.#refunds = new MomoRefunds((reference) => this.#requests.get(reference), server, journal)
    this.transfers = new MomoTransfers(options.disbursement ?? options, server, journal, this.#refunds, this.#users)
  }

  static start(options: MomoOptions): Promise<MomoSimulator> {
    return new MomoSimulator(options).listening()
  }

  /** Payments by the reference of the request: the provider's own books. */
  get paid(): ReadonlyMap<string, string> {
    return momoBooks(this.#requests)
  }

  /** Refunds by their reference. */
  get refunded(): ReadonlyMap<string, { of: string; amount: string }> {
    return this.#refunds.books
  }

  protected override answer(asked: Asked, response: ServerResponse): void {
    const { method, path } = asked
    if (path.startsWith('/disbursement/')) return this.transfers.answer(asked, response)
    if (path.startsWith('/v1_0/apiuser')) return this.#users.answer(asked, response)
    if (!this.#door.admits(asked, response)) return
    if (this.#door.common(asked, response)) return
    if (method === 'POST' && path === requestsPath) return this.#request(asked, response)
    if (method === 'GET' && path.startsWith(`${requestsPath}/`))
      return this.#tellState(path.slice(requestsPath.length + 1), response)
    say(response, 404, momoRefusal('RESOURCE_NOT_FOUND'))
  }

  #request(asked: Asked, response: ServerResponse): void {
    const read = readMomoOrder(asked, 'payer')
    if (!read) return say(response, 400)
    const { reference, order } = read
    if (order.callbackUrl !== null && !/^https:\/\//.test(order.callbackUrl))
      return say(response, 400, momoRefusal('INVALID_CALLBACK_URL_HOST'))
    if (this.#requests.has(reference)) return say(response, 409, momoRefusal('RESOURCE_ALREADY_EXIST'))
    const isByHand = asked.headers[payerHeader] === byHand
    if (isByHand) order.byHand = null
    const play = isByHand ? null : playOf(order.phone)
    if (play?.unavailable) return say(response, 503, momoRefusal('SERVICE_UNAVAILABLE'))
    if (play?.lost && !this.#lost.has(reference)) {
      this.#lost.put(reference, true)
      return void response.destroy()
    }
    this.#requests.put(reference, order, play?.afterMs)
    if (play?.cut) return void response.destroy()
    say(response, 202)
  }

  #tellState(reference: string, response: ServerResponse): void {
    const requested = this.#requests.get(reference)
    if (!requested) return say(response, 404, momoRefusal('RESOURCE_NOT_FOUND'))
    say(response, 200, paymentResultBody(requested, requested))
  }

  protected override async endPrompt(reference: string, ending: PayerAnswer): Promise<boolean> {
    const order = this.#requests.get(reference)
    if (order?.byHand !== null || order.status !== 'PENDING') return false
    this.#requests.put(reference, { ...order, byHand: ending }, 0)
    return true
  }

  async #decide(requested: MomoOrder, reference: string): Promise<undefined> {
    const play = requested.byHand ? playedAs(requested.byHand) : playOf(requested.phone)
    if (!play) return
    if (requested.status === 'PENDING') {
      if (play.otherAmount) requested.amount = otherAmount(requested.amount)
      Object.assign(requested, momoOutcome(reasons[play.ending]))
      this.#requests.keep(reference)
    }
    await this.#tell(requested, play)
  }

  async #tell(requested: MomoOrder, { ending, callbacks, forged, thenTold }: Play): Promise<void> {
    const { callbackUrl } = requested
    if (callbackUrl === null) return
    if (forged) await this.#call(requested, 'paid', forgedUrl(callbackUrl))
    for (let i = 0; i < callbacks; i++) await this.#call(requested, ending, callbackUrl)
    if (thenTold) await this.#call(requested, thenTold, callbackUrl)
  }

  async #call(requested: MomoOrder, ending: Ending, url: string): Promise<void> {
    const { financialTransactionId } = requested
    const told = { ...requested, ...momoOutcome(reasons[ending]), financialTransactionId }
    await this.server.call('PUT', url, paymentResultBody(told, requested))
  }
}
