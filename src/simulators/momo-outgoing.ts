// SPDX-License-Identifier: Apache-2.0
// The half of the MoMo simulator that pays: transfers, with a subscription key and tokens of their own. It keeps books of
// what it paid, by the reference of the request, and has no words for money that was taken back.
import type { ServerResponse } from 'node:http'
import { paymentResultBody } from '../protocols/momo.ts'
import type { Book, Journal } from './journal.ts'
import {
  MomoDoor,
  type MomoOrder,
  type MomoProduct,
  momoBooks,
  momoOutcome,
  momoRefusal,
  readMomoOrder,
} from './momo-product.ts'
import { type MomoRefunds, refundsPath } from './momo-refunds.ts'
import type { MomoUsers } from './momo-users.ts'
import { type PayoutEnding, payoutPlayOf } from './payee.ts'
import { type Asked, forgedUrl, type ProviderServer, say } from './provider-server.ts'

const maxTransfers = 200_000
const transfersPath = '/disbursement/v1_0/transfer'

const reasons: Readonly<Record<PayoutEnding, string | null>> = {
  paid: null,
  float_low: 'NOT_ENOUGH_FUNDS',
  no_recipient: 'PAYEE_NOT_FOUND',
  over_limit: 'PAYEE_NOT_ALLOWED_TO_RECEIVE',
  failed: 'INTERNAL_PROCESSING_ERROR',
}

export class MomoTransfers {
  readonly #door: MomoDoor
  readonly #refunds: MomoRefunds
  readonly #server: ProviderServer
  readonly #transfers: Book<MomoOrder>
  /** References whose first request got lost. */
  readonly #lost: Book<true>

  constructor(product: MomoProduct, server: ProviderServer, journal: Journal, refunds: MomoRefunds, users: MomoUsers) {
    this.#door = new MomoDoor(product, '/disbursement/token/', users)
    this.#refunds = refunds
    this.#server = server
    this.#transfers = journal.book({
      name: 'transfers',
      most: maxTransfers,
      due: (transfer, reference) => this.#decide(transfer, reference),
    })
    this.#lost = journal.book({ name: 'lost transfers', most: maxTransfers })
  }

  /** Payouts by the reference of the request. */
  get paid(): ReadonlyMap<string, string> {
    return momoBooks(this.#transfers)
  }

  answer(asked: Asked, response: ServerResponse): void {
    if (!this.#door.admits(asked, response)) return
    if (this.#door.common(asked, response)) return
    const { method, path } = asked
    if (method === 'POST' && path === transfersPath) return this.#take(asked, response)
    if (path.startsWith(refundsPath)) return this.#refunds.answer(asked, response)
    const transfer = this.#transfers.get(path.slice(transfersPath.length + 1))
    if (method !== 'GET' || !transfer) return say(response, 404, momoRefusal('RESOURCE_NOT_FOUND'))
    say(response, 200, paymentResultBody(transfer, transfer, 'payee'))
  }

  #take(asked: Asked, response: ServerResponse): void {
    const read = readMomoOrder(asked, 'payee')
    if (!read) return say(response, 400)
    const { reference, order: transfer } = read
    if (this.#transfers.has(reference)) return say(response, 409, momoRefusal('RESOURCE_ALREADY_EXIST'))
    const play = payoutPlayOf(transfer.phone)
    if (play.unavailable) return say(response, 503, momoRefusal('SERVICE_UNAVAILABLE'))
    if (play.lost && !this.#lost.has(reference)) {
      this.#lost.put(reference, true)
      return void response.destroy()
    }
    this.#transfers.put(reference, transfer, play.afterMs)
    if (play.early) return void this.#transfers.play(reference).then(() => say(response, 202))
    if (play.cut) return void response.destroy()
    say(response, 202)
  }

  async #decide(transfer: MomoOrder, reference: string): Promise<undefined> {
    const play = payoutPlayOf(transfer.phone)
    if (transfer.status === 'PENDING') {
      Object.assign(transfer, momoOutcome(reasons[play.ending]))
      this.#transfers.keep(reference)
    }
    const { callbackUrl } = transfer
    if (callbackUrl === null) return
    if (play.forged) await this.#call(transfer, 'failed', forgedUrl(callbackUrl))
    if (play.firstTold) await this.#call(transfer, play.firstTold, callbackUrl)
    for (let i = 0; i < play.callbacks; i++) await this.#call(transfer, play.ending, callbackUrl)
  }

  async #call(transfer: MomoOrder, ending: PayoutEnding, url: string): Promise<void> {
    const { financialTransactionId } = transfer
    const told = { ...transfer, ...momoOutcome(reasons[ending]), financialTransactionId }
    await this.#server.call('PUT', url, paymentResultBody(told, transfer, 'payee'))
  }
}
