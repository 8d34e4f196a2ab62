// SPDX-License-Identifier: Apache-2.0
// Payout half of the Airtel Money simulator: disbursements, authorised by the PIN. It keeps books of payouts by the id
// of the request, has no callbacks, and no code for reversed money.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { airtelAnswerBody, airtelPayoutCodes } from '../protocols/airtel.ts'
import { decryptWith } from '../protocols/rsa.ts'
import type { Book, Journal } from './journal.ts'
import { type PayoutEnding, payoutPlayOf } from './payee.ts'
import { ProviderKey } from './provider-key.ts'
import { type Asked, say } from './provider-server.ts'

const maxPayouts = 200_000
export const disbursementsPath = '/standard/v1/disbursements/'

const codes: Readonly<Record<PayoutEnding, string>> = {
  paid: airtelPayoutCodes.success,
  float_low: airtelPayoutCodes.notEnoughMoney,
  no_recipient: airtelPayoutCodes.noRecipient,
  over_limit: airtelPayoutCodes.overLimit,
  failed: airtelPayoutCodes.failed,
}

interface Payout {
  id: string
  msisdn: string
  amount: number
  country: string
  currency: string
  /** Status code; in process until it is decided. */
  code: string
  airtelMoneyId: string
}

export class AirtelPayouts {
  readonly #key = new ProviderKey()
  readonly #pin: string
  readonly #payouts: Book<Payout>

  constructor(pin: string, journal: Journal) {
    this.#pin = pin
    this.#payouts = journal.book({ name: 'payouts', most: maxPayouts, due: async (payout) => this.#decide(payout) })
  }

  /** Public key as an operator enters it. */
  get publicKey(): string {
    return this.#key.publicPem
  }

  /** Payouts by the id of the request. */
  get paid(): ReadonlyMap<string, string> {
    const paid = this.#payouts.values().filter(({ code }) => code === airtelPayoutCodes.success)
    return new Map(paid.map(({ id, amount }) => [id, String(amount)]))
  }

  take({ headers, body }: Asked, response: ServerResponse): void {
    const payee = Object(body?.payee)
    const transaction = Object(body?.transaction)
    const country = headers['x-country']
    const currency = headers['x-currency']
    const isRight =
      typeof country === 'string' &&
      typeof currency === 'string' &&
      /^[1-9]\d{5,9}$/.test(String(payee.msisdn)) &&
      typeof transaction.amount === 'number' &&
      /^[A-Za-z0-9-]{1,64}$/.test(String(transaction.id)) &&
      /^[A-Za-z0-9 ]{1,64}$/.test(String(body?.reference)) &&
      decryptWith(this.#key.private, String(body?.pin)) === this.#pin
    if (!isRight) return say(response, 400, airtelAnswerBody(airtelPayoutCodes.badAmount))
    const id = String(transaction.id)
    if (this.#payouts.has(id)) return say(response, 400, airtelAnswerBody(airtelPayoutCodes.repeated))
    const play = payoutPlayOf(String(payee.msisdn))
    if (play.lost) return void response.destroy()
    if (play.unavailable) return say(response, 429)
    const payout: Payout = {
      id,
      msisdn: String(payee.msisdn),
      amount: transaction.amount,
      country,
      currency,
      code: airtelPayoutCodes.inProcess,
      airtelMoneyId: `CI${randomBytes(6).toString('hex').toUpperCase()}`,
    }
    this.#payouts.put(id, payout, play.early ? 0 : play.afterMs)
    if (play.cut) return void response.destroy()
    say(response, 200, airtelAnswerBody(airtelPayoutCodes.inProcess, { id, status: 'TIP' }))
  }

  #decide(payout: Payout): undefined {
    payout.code = codes[payoutPlayOf(payout.msisdn).ending]
    this.#payouts.keep(payout.id)
  }

  tellState({ path, headers }: Asked, response: ServerResponse): void {
    const payout = this.#payouts.get(path.slice(disbursementsPath.length))
    const isTheirs = payout?.country === headers['x-country'] && payout?.currency === headers['x-currency']
    if (!payout || !isTheirs) return say(response, 404, airtelAnswerBody(airtelPayoutCodes.notFound))
    const { id, code, airtelMoneyId } = payout
    const status = code === airtelPayoutCodes.success ? 'TS' : code === airtelPayoutCodes.inProcess ? 'TIP' : 'TF'
    const receipt = status === 'TS' ? { airtel_money_id: airtelMoneyId } : {}
    say(response, 200, airtelAnswerBody(code, { id, status, message: status, ...receipt }))
  }
}
