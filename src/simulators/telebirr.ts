// SPDX-License-Identifier: Apache-2.0
// telebirr web checkout simulator on a real port: it takes signed orders, plays the payer on its page, answers polls
// and calls back. It has one word for all failures.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { membersOf } from '../protocols/json.ts'
import {
  isTelebirrSigned,
  type TelebirrState,
  telebirrAnswerBody,
  telebirrNoticeBody,
  telebirrPaths,
} from '../protocols/telebirr.ts'
import type { Book } from './journal.ts'
import { OauthDoor } from './oauth-door.ts'
import { faultOf, otherAmount, type Play, playOnPage } from './payer.ts'
import { ProviderKey } from './provider-key.ts'
import { type Asked, forgedUrl, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

const maxOrders = 100_000
const tokenSeconds = 3_600
/** The only one that it knows. */
const currency = 'ETB'
const pagePath = '/payment/web/paygate'

export interface TelebirrOptions extends ProviderServerOptions {
  fabricAppId: string
  appSecret: string
  merchantAppId: string
  merchantCode: string
}

interface Ordered {
  orderId: string
  amount: string
  notifyUrl: string
  receipt: string
  state: TelebirrState
}

export class TelebirrSimulator extends SimulatedProvider {
  readonly #options: TelebirrOptions
  readonly #door: OauthDoor
  /** Key of the merchant, who would give only its public half away. */
  readonly #key = new ProviderKey()
  /** Orders by our id. */
  readonly #orders: Book<Ordered>

  private constructor(options: TelebirrOptions) {
    super(options)
    this.#options = options
    this.#door = new OauthDoor(options.now)
    this.#orders = this.journal.book({ name: 'orders', most: maxOrders })
  }

  static start(options: TelebirrOptions): Promise<TelebirrSimulator> {
    return new TelebirrSimulator(options).listening()
  }

  get pageUrl(): string {
    return `http://${this.#options.host}:${this.port}${pagePath}`
  }

  /** Key that the merchant signs with. */
  get privateKey(): string {
    return this.#key.private.export({ type: 'pkcs8', format: 'pem' }).toString()
  }

  protected override answer(asked: Asked, response: ServerResponse): void {
    const { method, path, headers, body } = asked
    if (method !== 'POST') return say(response, 405)
    if (path === pagePath) return this.#visit(asked, response)
    if (headers['x-app-key'] !== this.#options.fabricAppId) return say(response, 401, refusal('4010001'))
    if (path === telebirrPaths.token) return this.#giveToken(body, response)
    if (!this.#door.admits(headers.authorization)) return say(response, 401, refusal('4010002'))
    const { merchantAppId, merchantCode } = this.#options
    const content = membersOf(body?.biz_content)
    const isTheirs = content.appid === merchantAppId && content.merch_code === merchantCode
    if (!isTheirs || !isTelebirrSigned(body, this.#key.publicPem)) return say(response, 200, refusal('60200089'))
    if (path === telebirrPaths.order) return this.#take(content, response)
    if (path === telebirrPaths.query) return this.#tellState(content, response)
    say(response, 404, refusal('4040001'))
  }

  #giveToken(body: Asked['body'], response: ServerResponse): void {
    if (body?.appSecret !== this.#options.appSecret) return say(response, 401, refusal('4010003'))
    say(response, 200, { token: `Bearer ${this.#door.newToken(tokenSeconds)}` })
  }

  #take(content: Record<string, unknown>, response: ServerResponse): void {
    const { merch_order_id, total_amount, trans_currency, title, notify_url, redirect_url } = content
    const isRight =
      /^[A-Za-z0-9]{1,64}$/.test(String(merch_order_id)) &&
      /^\d{1,12}(\.\d{1,2})?$/.test(String(total_amount)) &&
      trans_currency === currency &&
      /^[A-Za-z0-9 ]{1,100}$/.test(String(title)) &&
      [notify_url, redirect_url].every((url) => /^https?:\/\/\S{1,500}$/.test(String(url)))
    if (!isRight) return say(response, 200, refusal('60200001'))
    const fault = faultOf(String(total_amount))
    if (fault.lost) return void response.destroy()
    if (fault.unavailable) return say(response, 503)
    const orderId = String(merch_order_id)
    if (this.#orders.has(orderId)) return say(response, 200, refusal('60200012'))
    this.#orders.put(orderId, {
      orderId,
      amount: String(total_amount),
      notifyUrl: String(notify_url),
      receipt: randomBytes(5).toString('hex').toUpperCase(),
      state: 'WAIT_PAY',
    })
    if (fault.cut) return void response.destroy()
    say(response, 200, telebirrAnswerBody({ merch_order_id: orderId, prepay_id: orderId }))
  }

  /** Decision of a payer on the page, whose address names the order. */
  #visit({ query, body }: Asked, response: ServerResponse): void {
    const order = this.#orders.get(query.get('prepay_id') ?? '')
    const isSigned = isTelebirrSigned(
      Object.fromEntries([...query].filter(([name]) => name !== 'version' && name !== 'trade_type')),
      this.#key.publicPem,
    )
    if (!order || !isSigned) return say(response, 404)
    const play = playOnPage(body ?? {})
    if (play && order.state === 'WAIT_PAY') {
      order.state = play.ending === 'paid' ? 'PAY_SUCCESS' : 'PAY_FAILED'
      if (play.otherAmount) order.amount = otherAmount(order.amount)
      this.#orders.keep(order.orderId)
      void this.#tell(order, play)
    }
    say(response, 200, {})
  }

  async #tell({ orderId, amount, notifyUrl, receipt, state }: Ordered, play: Play): Promise<void> {
    const notice = { orderId, isPaid: state === 'PAY_SUCCESS', amount, currency, receipt }
    const body = telebirrNoticeBody(notice)
    if (play.forged) await this.server.call('POST', forgedUrl(notifyUrl), body)
    for (let n = 0; n < play.callbacks; n++) await this.server.call('POST', notifyUrl, body)
    if (play.thenTold) await this.server.call('POST', notifyUrl, telebirrNoticeBody({ ...notice, isPaid: false }))
  }

  #tellState({ merch_order_id }: Record<string, unknown>, response: ServerResponse): void {
    const order = this.#orders.get(String(merch_order_id))
    if (!order) return say(response, 200, refusal('60200002'))
    const { orderId, amount: total_amount, state: order_status, receipt } = order
    const paid = order_status === 'PAY_SUCCESS' ? { trans_id: receipt, trans_currency: currency } : {}
    say(response, 200, telebirrAnswerBody({ merch_order_id: orderId, total_amount, order_status, ...paid }))
  }
}

function refusal(code: string): object {
  return { result: 'FAIL', code, msg: code }
}
