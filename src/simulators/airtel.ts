// SPDX-License-Identifier: Apache-2.0
// Airtel Money simulator on a real port: it takes payments, plays the payer and answers polls. It has no callbacks, no
// code for an unreachable phone, whose prompt times out, and tells no amounts.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { airtelAnswerBody, airtelCodes } from '../protocols/airtel.ts'
import { byHand, type PayerAnswer, payerHeader } from '../protocols/sandbox-payer.ts'
import { AirtelPayouts, disbursementsPath } from './airtel-outgoing.ts'
import type { Book } from './journal.ts'
import { type Ending, playOf, type RefundEnding, refundPlayOf } from './payer.ts'
import { type Asked, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

const maxPayments = 100_000
const tokenSeconds = 180
const paymentsPath = '/merchant/v1/payments/'
const statesPath = '/standard/v1/payments/'
const refundsPath = '/standard/v1/payments/refund'

export interface AirtelOptions extends ProviderServerOptions {
  clientId: string
  clientSecret: string
  /** PIN of the account that pays. */
  pin: string
}

const codes: Readonly<Record<Ending, string>> = {
  paid: airtelCodes.success,
  no_money: airtelCodes.notEnoughMoney,
  declined: airtelCodes.refused,
  wrong_pin: airtelCodes.wrongPin,
  over_limit: airtelCodes.overLimit,
  unreachable: airtelCodes.timedOut,
}

const refundCodes: Readonly<Record<RefundEnding, string>> = {
  refunded: airtelCodes.success,
  no_account: airtelCodes.notPermitted,
  no_float: airtelCodes.notEnoughMoney,
}

interface Requested {
  id: string
  msisdn: string
  amount: number
  /** Number of refused refunds. */
  refusals: number
  country: string
  currency: string
  /** Status code; in process until the payer decided. */
  code: string
  airtelMoneyId: string
  /** Sets where a person answers for the payer: the answer, null until then. */
  byHand?: PayerAnswer | null
}

export class AirtelSimulator extends SimulatedProvider {
  /** The half that pays. */
  readonly payouts: AirtelPayouts
  readonly #options: AirtelOptions
  readonly #payments: Book<Requested>
  /** The provider's id of a payment that was given back -> its amount. */
  readonly #refunded: Book<number>
  /** Token -> when it is over. */
  readonly #tokens = new Map<string, number>()

  private constructor(options: AirtelOptions) {
    super(options)
    this.#options = options
    this.#payments = this.journal.book({
      name: 'payments',
      most: maxPayments,
      due: async (requested) => this.#decide(requested),
    })
    this.#refunded = this.journal.book({ name: 'refunds', most: maxPayments })
    this.payouts = new AirtelPayouts(options.pin, this.journal)
  }

  static start(options: AirtelOptions): Promise<AirtelSimulator> {
    return new AirtelSimulator(options).listening()
  }

  /** Refunds by the provider's id of the payment: its own books. */
  get refunded(): ReadonlyMap<string, number> {
    return new Map(this.#refunded.entries())
  }

  protected override answer(asked: Asked, response: ServerResponse): void {
    const { method, path, headers, body } = asked
    if (method === 'POST' && path === '/auth/oauth2/token') return this.#giveToken(body, response)
    const untilMs = this.#tokens.get(headers.authorization?.replace(/^Bearer /, '') ?? '') ?? 0
    if (untilMs <= this.#options.now())
      return say(response, 401, { error: 'invalid_token', error_description: 'The access token is invalid' })
    if (method === 'POST' && path === paymentsPath) return this.#take(asked, response)
    if (method === 'POST' && path === refundsPath) return this.#refund(asked, response)
    if (method === 'POST' && path === disbursementsPath) return this.payouts.take(asked, response)
    if (method === 'GET' && path.startsWith(disbursementsPath)) return this.payouts.tellState(asked, response)
    if (method === 'GET' && path.startsWith(statesPath)) return this.#tellState(asked, response)
    say(response, 404, airtelAnswerBody(airtelCodes.notFound))
  }

  #giveToken(body: Asked['body'], response: ServerResponse): void {
    const { clientId, clientSecret, now } = this.#options
    const isRight =
      body?.client_id === clientId && body.client_secret === clientSecret && body.grant_type === 'client_credentials'
    if (!isRight)
      return say(response, 400, { error: 'invalid_client', error_description: 'Invalid client credentials' })
    for (const [token, untilMs] of this.#tokens) if (untilMs <= now()) this.#tokens.delete(token)
    const token = randomBytes(21).toString('base64url')
    this.#tokens.set(token, now() + tokenSeconds * 1_000)
    say(response, 200, { access_token: token, expires_in: String(tokenSeconds), token_type: 'bearer' })
  }

  #take({ headers, body }: Asked, response: ServerResponse): void {
    const subscriber = Object(body?.subscriber)
    const transaction = Object(body?.transaction)
    const country = headers['x-country']
    const currency = headers['x-currency']
    const isRight =
      typeof country === 'string' &&
      typeof currency === 'string' &&
      [subscriber, transaction].every((part) => part.country === country && part.currency === currency) &&
      /^[1-9]\d{5,9}$/.test(String(subscriber.msisdn)) &&
      typeof transaction.amount === 'number' &&
      /^[A-Za-z0-9-]{1,64}$/.test(String(transaction.id)) &&
      /^[A-Za-z0-9 ]{1,64}$/.test(String(body?.reference))
    if (!isRight) return say(response, 400, airtelAnswerBody(airtelCodes.badAmount))
    const id = String(transaction.id)
    if (this.#payments.has(id)) return say(response, 400, airtelAnswerBody(airtelCodes.notHonoured))
    const isByHand = headers[payerHeader] === byHand
    const play = isByHand ? null : playOf(String(subscriber.msisdn))
    if (play?.lost) return void response.destroy()
    if (play?.unavailable) return say(response, 429)
    const requested: Requested = {
      id,
      msisdn: String(subscriber.msisdn),
      amount: transaction.amount,
      refusals: 0,
      country,
      currency,
      code: airtelCodes.inProcess,
      airtelMoneyId: `MP${randomBytes(6).toString('hex').toUpperCase()}`,
      ...(isByHand ? { byHand: null } : {}),
    }
    this.#payments.put(id, requested, play?.afterMs)
    if (play?.cut) return void response.destroy()
    say(response, 200, airtelAnswerBody(airtelCodes.inProcess, { id, status: 'SUCCESS' }))
  }

  protected override async endPrompt(id: string, ending: PayerAnswer): Promise<boolean> {
    const requested = this.#payments.get(id)
    if (requested?.byHand !== null || requested.code !== airtelCodes.inProcess) return false
    this.#payments.put(id, { ...requested, byHand: ending }, 0)
    return true
  }

  #decide(requested: Requested): undefined {
    const ending = requested.byHand ?? playOf(requested.msisdn)?.ending
    if (!ending) return
    requested.code = codes[ending]
    this.#payments.keep(requested.id)
  }

  /** Refunds a payment: whole, at once, and only once. */
  #refund({ headers, body }: Asked, response: ServerResponse): void {
    const receipt = String(Object(body?.transaction).airtel_money_id)
    const requested = this.#payments.values().find(({ airtelMoneyId }) => airtelMoneyId === receipt)
    const isTheirs = requested?.country === headers['x-country'] && requested?.currency === headers['x-currency']
    if (!requested || !isTheirs || requested.code !== airtelCodes.success)
      return say(response, 404, airtelAnswerBody(airtelCodes.notFound))
    if (this.#refunded.has(receipt)) return say(response, 400, airtelAnswerBody(airtelCodes.notHonoured))
    const play = refundPlayOf(requested.msisdn)
    if (play.lost) return void response.destroy()
    requested.refusals += 1
    this.#payments.keep(requested.id)
    if (requested.refusals <= (play.unavailable ?? 0)) return say(response, 429)
    if (play.ending !== 'refunded') return say(response, 400, airtelAnswerBody(refundCodes[play.ending]))
    this.#refunded.put(receipt, requested.amount)
    if (play.cut) return void response.destroy()
    say(response, 200, airtelAnswerBody(airtelCodes.success, { airtel_money_id: receipt, status: 'SUCCESS' }))
  }

  #tellState({ path, headers }: Asked, response: ServerResponse): void {
    const requested = this.#payments.get(path.slice(statesPath.length))
    const isTheirs = requested?.country === headers['x-country'] && requested?.currency === headers['x-currency']
    if (!requested || !isTheirs) return say(response, 404, airtelAnswerBody(airtelCodes.notFound))
    const { id, code, airtelMoneyId } = requested
    const status = code === airtelCodes.success ? 'TS' : code === airtelCodes.inProcess ? 'TIP' : 'TF'
    const receipt = status === 'TS' ? { airtel_money_id: airtelMoneyId } : {}
    say(response, 200, airtelAnswerBody(code, { id, status, message: status, ...receipt }))
  }
}
