// SPDX-License-Identifier: Apache-2.0
// The part of the simulated MoMo that gives money back: it takes a refund of a payment that was made, once for each
// reference and never more than was paid, and calls back.
import type { ServerResponse } from 'node:http'
import { paymentResultBody } from '../protocols/momo.ts'
import type { Book, Journal } from './journal.ts'
import { type MomoOrder, momoOutcome, momoRefusal, readMomoTerms } from './momo-product.ts'
import { type RefundEnding, type RefundPlay, refundPlayOf } from './payer.ts'
import { type Asked, forgedUrl, type ProviderServer, say } from './provider-server.ts'

const maxRefunds = 100_000
export const refundsPath = '/disbursement/v1_0/refund'

const reasons: Readonly<Record<RefundEnding, string | null>> = {
  refunded: null,
  no_account: 'PAYEE_NOT_FOUND',
  no_float: 'NOT_ENOUGH_FUNDS',
}

interface Refund extends MomoOrder {
  of: string
}

export class MomoRefunds {
  readonly #find: (reference: string) => MomoOrder | undefined
  readonly #server: ProviderServer
  readonly #refunds: Book<Refund>
  /** Reference -> how often it was asked for. */
  readonly #asked: Book<number>

  constructor(find: (reference: string) => MomoOrder | undefined, server: ProviderServer, journal: Journal) {
    this.#find = find
    this.#server = server
    this.#refunds = journal.book({
      name: 'refunds',
      most: maxRefunds,
      due: (refund, reference) => this.#decide(refund, reference),
    })
    this.#asked = journal.book({ name: 'refunds asked for', most: maxRefunds })
  }

  /** Refunds by their reference: the provider's own books. */
  get books(): ReadonlyMap<string, { of: string; amount: string }> {
    return new Map(this.#refunds.entries().filter(([, { status }]) => status === 'SUCCESSFUL'))
  }

  answer(asked: Asked, response: ServerResponse): void {
    if (asked.method === 'POST' && asked.path === refundsPath) return this.#take(asked, response)
    this.#tellState(asked.path.slice(refundsPath.length + 1), response)
  }

  #take(asked: Asked, response: ServerResponse): void {
    const of = String(asked.body?.referenceIdToRefund)
    const paid = this.#find(of)
    const read = readMomoTerms(asked, paid?.phone ?? '')
    if (!read) return say(response, 400)
    const { reference, order } = read
    if (this.#refunds.has(reference)) return say(response, 409, momoRefusal('RESOURCE_ALREADY_EXIST'))
    if (paid?.status !== 'SUCCESSFUL' || paid.currency !== order.currency)
      return say(response, 404, momoRefusal('RESOURCE_NOT_FOUND'))
    if (this.#givenBack(of) + Number(order.amount) > Number(paid.amount))
      return say(response, 400, momoRefusal('NOT_ALLOWED'))
    const play = refundPlayOf(paid.phone)
    const times = this.#asked.get(reference) ?? 0
    this.#asked.put(reference, times + 1)
    if (times < (play.unavailable ?? 0)) return say(response, 503, momoRefusal('SERVICE_UNAVAILABLE'))
    if (play.lost && times === 0) return void response.destroy()
    const refund: Refund = { ...order, of }
    this.#refunds.put(reference, refund, play.afterMs)
    if (play.cut) return void response.destroy()
    say(response, 202)
  }

  #tellState(reference: string, response: ServerResponse): void {
    const refund = this.#refunds.get(reference)
    if (!refund) return say(response, 404, momoRefusal('RESOURCE_NOT_FOUND'))
    say(response, 200, paymentResultBody(refund, refund))
  }

  #givenBack(of: string): number {
    const alive = this.#refunds.values().filter((refund) => refund.of === of && refund.status !== 'FAILED')
    return alive.reduce((sum, { amount }) => sum + Number(amount), 0)
  }

  async #decide(refund: Refund, reference: string): Promise<undefined> {
    const play = refundPlayOf(refund.phone)
    if (refund.status === 'PENDING') {
      Object.assign(refund, momoOutcome(reasons[play.ending]))
      this.#refunds.keep(reference)
    }
    await this.#tell(refund, play)
  }

  async #tell(refund: Refund, { callbacks, forged }: RefundPlay): Promise<void> {
    const { callbackUrl } = refund
    if (callbackUrl === null) return
    const success: Refund = { ...refund, status: 'SUCCESSFUL', reason: null }
    if (forged) await this.#server.call('PUT', forgedUrl(callbackUrl), paymentResultBody(success, refund))
    for (let i = 0; i < callbacks; i++) await this.#server.call('PUT', callbackUrl, paymentResultBody(refund, refund))
  }
}
