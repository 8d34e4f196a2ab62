// SPDX-License-Identifier: Apache-2.0
// Orange Money web payment simulator on a real port: it opens payments, has a page for each where the payer enters a
// number, and answers polls. It has one word for all failures, and learns the number only on the page.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import {
  type OrangeMoneyState,
  orangeMoneyNoticeBody,
  orangeMoneyPath,
  orangeMoneyTokenPath,
} from '../protocols/orange-money.ts'
import type { Book } from './journal.ts'
import { basicHeader, OauthDoor } from './oauth-door.ts'
import { faultOf, type Play, playOnPage } from './payer.ts'
import { type Asked, forgedUrl, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

const maxPayments = 100_000
const tokenSeconds = 3_600
const tokenBytes = 16
const pagesPath = '/payment/pay_token/'
const market = 'sim'

export interface OrangeMoneyOptions extends ProviderServerOptions {
  clientId: string
  clientSecret: string
  merchantKey: string
}

interface Opened {
  orderId: string
  amount: number
  payToken: string
  notifyToken: string
  notifyUrl: string
  receipt: string
  state: OrangeMoneyState
}

export class OrangeMoneySimulator extends SimulatedProvider {
  static readonly market = market
  readonly #options: OrangeMoneyOptions
  readonly #door: OauthDoor
  /** Payments by order id, which ends the token that names the payment. */
  readonly #payments: Book<Opened>

  private constructor(options: OrangeMoneyOptions) {
    super(options)
    this.#options = options
    this.#door = new OauthDoor(options.now)
    this.#payments = this.journal.book({ name: 'payments', most: maxPayments })
  }

  static start(options: OrangeMoneyOptions): Promise<OrangeMoneySimulator> {
    return new OrangeMoneySimulator(options).listening()
  }

  protected override answer(asked: Asked, response: ServerResponse): void {
    const { method, path, headers } = asked
    if (method !== 'POST') return say(response, 405, refusal(61, 'Method not allowed'))
    if (path === orangeMoneyTokenPath) return this.#giveToken(asked, response)
    if (path.startsWith(pagesPath)) return this.#visit(asked, response)
    if (!this.#door.admits(headers.authorization)) return say(response, 401, refusal(42, 'Expired credentials'))
    if (path === orangeMoneyPath(market, 'webpayment')) return this.#open(asked, response)
    if (path === orangeMoneyPath(market, 'transactionstatus')) return this.#tellState(asked, response)
    say(response, 404, refusal(60, 'Resource not found'))
  }

  #giveToken({ headers, body }: Asked, response: ServerResponse): void {
    const { clientId, clientSecret } = this.#options
    const isForm = headers['content-type'] === 'application/x-www-form-urlencoded'
    const isRight = isForm && body?.grant_type === 'client_credentials'
    if (!isRight || headers.authorization !== basicHeader(clientId, clientSecret))
      return say(response, 401, { error: 'invalid_client' })
    const access_token = this.#door.newToken(tokenSeconds)
    say(response, 200, { token_type: 'Bearer', access_token, expires_in: tokenSeconds })
  }

  #open({ body }: Asked, response: ServerResponse): void {
    const { merchant_key, order_id, amount, currency, return_url, cancel_url, notif_url, reference } = body ?? {}
    if (merchant_key !== this.#options.merchantKey) return say(response, 401, refusal(42, 'Expired credentials'))
    const isRight =
      /^[A-Za-z0-9_-]{1,30}$/.test(String(order_id)) &&
      typeof amount === 'number' &&
      /^[A-Z]{3}$/.test(String(currency)) &&
      /^.{1,30}$/.test(String(reference)) &&
      [return_url, cancel_url, notif_url].every((url) => /^https?:\/\/\S{1,250}$/.test(String(url)))
    if (!isRight) return say(response, 400, refusal(23, 'Invalid body field'))
    const fault = faultOf(String(amount))
    if (fault.lost) return void response.destroy()
    if (fault.unavailable) return say(response, 503, refusal(5, 'Service unavailable'))
    const orderId = String(order_id)
    if (this.#payments.has(orderId)) return say(response, 400, refusal(23, 'The order_id was used before'))
    const opened: Opened = {
      orderId,
      amount,
      payToken: `${randomBytes(tokenBytes).toString('hex')}${orderId}`,
      notifyToken: randomBytes(16).toString('hex'),
      notifyUrl: String(notif_url),
      receipt: `MP${randomBytes(6).toString('hex').toUpperCase()}`,
      state: 'INITIATED',
    }
    this.#payments.put(orderId, opened)
    if (fault.cut) return void response.destroy()
    const { payToken, notifyToken } = opened
    const payment_url = `http://${this.#options.host}:${this.port}${pagesPath}${payToken}`
    say(response, 201, { status: 201, message: 'OK', pay_token: payToken, payment_url, notif_token: notifyToken })
  }

  #named(payToken: string): Opened | null {
    const opened = this.#payments.get(payToken.slice(2 * tokenBytes))
    return opened?.payToken === payToken ? opened : null
  }

  /** Decision of a payer on the page. */
  #visit({ path, body }: Asked, response: ServerResponse): void {
    const opened = this.#named(path.slice(pagesPath.length))
    if (!opened) return say(response, 404, refusal(60, 'Resource not found'))
    const play = playOnPage(body ?? {})
    if (play && opened.state === 'INITIATED') {
      opened.state = play.ending === 'paid' ? 'SUCCESS' : 'FAILED'
      this.#payments.keep(opened.orderId)
      void this.#tell(opened, play)
    }
    say(response, 200, {})
  }

  async #tell({ state, notifyToken, notifyUrl, receipt }: Opened, play: Play): Promise<void> {
    const notice = { state: state === 'SUCCESS' ? state : 'FAILED', notifyToken, receipt } as const
    const body = orangeMoneyNoticeBody(notice)
    if (play.forged) await this.server.call('POST', forgedUrl(notifyUrl), body)
    for (let n = 0; n < play.callbacks; n++) await this.server.call('POST', notifyUrl, body)
    if (play.thenTold) await this.server.call('POST', notifyUrl, orangeMoneyNoticeBody({ ...notice, state: 'FAILED' }))
  }

  #tellState({ body }: Asked, response: ServerResponse): void {
    const opened = this.#named(String(body?.pay_token))
    if (!opened || opened.orderId !== body?.order_id || opened.amount !== body.amount)
      return say(response, 404, refusal(60, 'Resource not found'))
    const { state: status, orderId: order_id, receipt } = opened
    say(response, 201, { status, order_id, txnid: status === 'SUCCESS' ? receipt : '' })
  }
}

function refusal(code: number, message: string): object {
  return { code, message, description: message }
}
