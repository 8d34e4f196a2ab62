// SPDX-License-Identifier: Apache-2.0
// A mobile-money provider that speaks Daraja on a real port: it takes STK pushes, plays the payer and calls back.
import { randomBytes, randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { passwordOf, stkCallbackBody } from '../protocols/daraja.ts'
import { byHand, type PayerAnswer, payerHeader } from '../protocols/sandbox-payer.ts'
import { refusal } from './daraja-answers.ts'
import { DarajaBusiness, withOriginator } from './daraja-business.ts'
import { type DarajaInitiator, DarajaPayouts } from './daraja-outgoing.ts'
import { DarajaReversals } from './daraja-reversals.ts'
import type { Book } from './journal.ts'
import { type Ending, otherAmount, type Play, playedAs, playOf } from './payer.ts'
import { type Asked, forgedUrl, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

const maxPrompts = 100_000
const tokenSeconds = 3_599

export interface DarajaOptions extends ProviderServerOptions {
  shortcode: string
  passkey: string
  consumerKey: string
  consumerSecret: string
  initiator: DarajaInitiator
}

const codes: Readonly<Record<Ending, string>> = {
  paid: '0',
  no_money: '1',
  over_limit: '4',
  declined: '1032',
  unreachable: '1037',
  wrong_pin: '2001',
}

const descriptions: Readonly<Record<string, string>> = {
  '0': 'The service request is processed successfully.',
  '1': 'The balance is insufficient for the transaction.',
  '4': 'The daily limit of the payer is reached.',
  '1032': 'Request cancelled by user',
  '1037': 'DS timeout user cannot be reached',
  '2001': 'The initiator information is invalid.',
}

interface Prompt {
  merchantRequestId: string
  checkoutId: string
  phone: string
  amount: string
  callbackUrl: string
  /** Sets where a person answers for the payer: the answer, null until then. */
  byHand?: PayerAnswer | null
  /** Result code; null while the payer thinks. */
  resultCode: string | null
  receipt: string | null
}

export class DarajaSimulator extends SimulatedProvider {
  /** The half that pays. */
  readonly payouts: DarajaPayouts
  /** The part that takes payments back. */
  readonly reversals: DarajaReversals
  readonly #options: DarajaOptions
  readonly #prompts: Book<Prompt>
  readonly #tokens = new Set<string>()
  readonly #business: DarajaBusiness

  private constructor(options: DarajaOptions) {
    super(options)
    this.#options = options
    this.#prompts = this.journal.book({
      name: 'prompts',
      most: maxPrompts,
      due: (prompt) => this.#decide(prompt),
    })
    this.payouts = new DarajaPayouts(options.initiator, this.server, this.journal)
    this.#business = new DarajaBusiness(options.shortcode, this.payouts, this.server, () => options.now())
    this.reversals = new DarajaReversals({
      shortcode: options.shortcode,
      isInitiator: (name, credential) => this.payouts.isInitiator(name, credential),
      find: (receipt) => this.#prompts.values().find((prompt) => prompt.receipt === receipt),
      server: this.server,
      journal: this.journal,
    })
  }

  static start(options: DarajaOptions): Promise<DarajaSimulator> {
    return new DarajaSimulator(options).listening()
  }

  protected override answer({ method, path, headers, body }: Asked, response: ServerResponse): void {
    if (body === null) return say(response, 400, refusal('400.002.02', 'Bad Request - Invalid body'))
    if (method === 'GET' && path === '/oauth/v1/generate') return this.#giveToken(headers.authorization, response)
    if (!this.#tokens.has(headers.authorization?.replace(/^Bearer /, '') ?? ''))
      return say(response, 404, refusal('404.001.03', 'Invalid Access Token'))
    if (path === '/mpesa/stkpush/v1/processrequest') return this.#push(body, headers[payerHeader] === byHand, response)
    if (path === '/mpesa/stkpushquery/v1/query') return this.#query(body, response)
    if (path === '/mpesa/b2c/v3/paymentrequest') return this.payouts.pay(body, response)
    if (path === '/mpesa/b2c/v1/paymentrequest') return this.payouts.pay(withOriginator(body), response)
    if (this.#business.answers(path)) return this.#business.take(path, body, response)
    if (path === '/mpesa/reversal/v1/request') return this.reversals.take(body, response)
    if (path === '/mpesa/transactionstatus/v1/query' && this.reversals.knows(body.OriginalConversationID))
      return this.reversals.query(body, response)
    if (path === '/mpesa/transactionstatus/v1/query') return this.payouts.query(body, response)
    say(response, 404, refusal('404.001.01', 'Resource not found'))
  }

  #giveToken(authorization: string | undefined, response: ServerResponse): void {
    const { consumerKey, consumerSecret } = this.#options
    const wanted = `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString('base64')}`
    if (authorization !== wanted) return say(response, 400, refusal('400.008.01', 'Invalid Authentication passed'))
    const token = randomBytes(21).toString('base64url')
    this.#tokens.add(token)
    say(response, 200, { access_token: token, expires_in: String(tokenSeconds) })
  }

  #push(body: Record<string, unknown>, isByHand: boolean, response: ServerResponse): void {
    const problem = this.#problemOf(body)
    if (problem) return say(response, 400, refusal('400.002.02', `Bad Request - Invalid ${problem}`))
    const phone = String(body.PhoneNumber)
    const play = isByHand ? null : playOf(phone)
    if (play?.unavailable) return say(response, 503, refusal('500.003.02', 'System is busy. Please try again'))
    if (play?.lost) return void response.destroy()
    const prompt: Prompt = {
      merchantRequestId: `${randomInt(1_000, 99_999)}-${randomInt(10_000_000, 99_999_999)}-1`,
      checkoutId: `ws_CO_${randomBytes(12).toString('hex')}`,
      phone: `+${phone}`,
      amount: String(body.Amount),
      callbackUrl: String(body.CallBackURL),
      resultCode: null,
      receipt: null,
      ...(isByHand ? { byHand: null } : {}),
    }
    this.#prompts.put(prompt.checkoutId, prompt, play?.afterMs)
    if (play?.cut) return void response.destroy()
    say(response, 200, {
      MerchantRequestID: prompt.merchantRequestId,
      CheckoutRequestID: prompt.checkoutId,
      ResponseCode: '0',
      ResponseDescription: 'Success. Request accepted for processing',
      CustomerMessage: 'Success. Request accepted for processing',
    })
  }

  #problemOf(body: Record<string, unknown>): string | null {
    const { shortcode, passkey } = this.#options
    const timestamp = String(body.Timestamp)
    if (String(body.BusinessShortCode) !== shortcode) return 'BusinessShortCode'
    if (!/^\d{14}$/.test(timestamp)) return 'Timestamp'
    if (body.Password !== passwordOf(shortcode, passkey, timestamp)) return 'Password'
    if (!/^[1-9]\d{0,8}$/.test(String(body.Amount))) return 'Amount'
    if (!/^254\d{9}$/.test(String(body.PhoneNumber))) return 'PhoneNumber'
    if (!/^https:\/\//.test(String(body.CallBackURL))) return 'CallBackURL'
    if (/mpesa|safaricom|exe|cmd|sql|query/i.test(new URL(String(body.CallBackURL)).pathname)) return 'CallBackURL'
    if (!/^.{1,12}$/.test(String(body.AccountReference))) return 'AccountReference'
    return /^.{1,182}$/s.test(String(body.TransactionDesc)) ? null : 'TransactionDesc'
  }

  #query(body: Record<string, unknown>, response: ServerResponse): void {
    const prompt = this.#prompts.get(String(body.CheckoutRequestID))
    if (!prompt) return say(response, 400, refusal('400.002.02', 'Bad Request - Invalid CheckoutRequestID'))
    const { merchantRequestId, checkoutId, resultCode } = prompt
    if (resultCode === null) return say(response, 500, refusal('500.001.1001', 'The transaction is being processed'))
    say(response, 200, {
      ResponseCode: '0',
      ResponseDescription: 'The service request has been accepted successsfully',
      MerchantRequestID: merchantRequestId,
      CheckoutRequestID: checkoutId,
      ResultCode: resultCode,
      ResultDesc: descriptions[resultCode] ?? '',
    })
  }

  protected override async endPrompt(id: string, ending: PayerAnswer): Promise<boolean> {
    const prompt = this.#prompts.get(id)
    if (prompt?.byHand !== null || prompt.resultCode !== null) return false
    this.#prompts.put(id, { ...prompt, byHand: ending }, 0)
    return true
  }

  async #decide(prompt: Prompt): Promise<undefined> {
    const play = prompt.byHand ? playedAs(prompt.byHand) : playOf(prompt.phone)
    if (!play) return
    if (prompt.resultCode === null) {
      prompt.resultCode = codes[play.ending]
      if (play.ending === 'paid') prompt.receipt = `S${randomBytes(5).toString('hex').toUpperCase().slice(0, 9)}`
      this.#prompts.keep(prompt.checkoutId)
    }
    await this.#tell(prompt, play)
  }

  async #tell(prompt: Prompt, { ending, callbacks, forged, thenTold, otherAmount: isOther }: Play): Promise<void> {
    const told = isOther ? { ...prompt, amount: otherAmount(prompt.amount) } : prompt
    if (forged) await this.#call(told, 'paid', forgedUrl(prompt.callbackUrl))
    for (let i = 0; i < callbacks; i++) await this.#call(told, ending, prompt.callbackUrl)
    if (thenTold) await this.#call(told, thenTold, prompt.callbackUrl)
  }

  async #call({ checkoutId, merchantRequestId, receipt, amount, phone }: Prompt, ending: Ending, url: string) {
    const resultCode = codes[ending]
    const body = stkCallbackBody(
      { checkoutId, resultCode, amount, receipt },
      { merchantRequestId, description: descriptions[resultCode] ?? '', phone, at: new Date(this.#options.now()) },
    )
    await this.server.call('POST', url, body)
  }
}
