// SPDX-License-Identifier: Apache-2.0
// M-Pesa Open API simulator on a real port, as an application that does not wait for its payers: it takes payments,
// plays the payer and answers polls. It has no callbacks, and few codes for failures.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { mpesaOpenAnswerBody, mpesaOpenCodes, mpesaOpenPath } from '../protocols/mpesa-open.ts'
import { decryptWith } from '../protocols/rsa.ts'
import type { Book } from './journal.ts'
import { OauthDoor } from './oauth-door.ts'
import { type Ending, playOf } from './payer.ts'
import { ProviderKey } from './provider-key.ts'
import { type Asked, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

const maxPayments = 100_000
const sessionSeconds = 3_600
const market = 'vodacomTZN'

export interface MpesaOpenOptions extends ProviderServerOptions {
  apiKey: string
  serviceProviderCode: string
}

const words: Readonly<Record<Ending, string>> = {
  paid: 'Completed',
  no_money: 'Failed',
  declined: 'Cancelled',
  wrong_pin: 'Failed',
  over_limit: 'Failed',
  unreachable: 'Expired',
}

interface Requested {
  conversationId: string
  phone: string
  word: string
  receipt: string
}

export class MpesaOpenSimulator extends SimulatedProvider {
  static readonly market = market
  readonly #options: MpesaOpenOptions
  readonly #sessions: OauthDoor
  readonly #key = new ProviderKey()
  readonly #payments: Book<Requested>

  private constructor(options: MpesaOpenOptions) {
    super(options)
    this.#options = options
    this.#sessions = new OauthDoor(options.now)
    this.#payments = this.journal.book({
      name: 'payments',
      most: maxPayments,
      due: async (requested) => this.#decide(requested),
    })
  }

  static start(options: MpesaOpenOptions): Promise<MpesaOpenSimulator> {
    return new MpesaOpenSimulator(options).listening()
  }

  get publicKey(): string {
    return this.#key.publicPem
  }

  protected override answer(asked: Asked, response: ServerResponse): void {
    const { method, path, headers } = asked
    const shown = decryptWith(this.#key.private, headers.authorization?.replace(/^Bearer /, '') ?? '') ?? ''
    if (method === 'GET' && path === mpesaOpenPath(market, 'getSession')) return this.#giveSession(shown, response)
    if (!this.#sessions.admits(shown)) return say(response, 401, mpesaOpenAnswerBody(mpesaOpenCodes.sessionError))
    if (method === 'POST' && path === mpesaOpenPath(market, 'c2bPayment/singleStage'))
      return this.#take(asked, response)
    if (method === 'GET' && path === mpesaOpenPath(market, 'queryTransactionStatus')) return this.#tell(asked, response)
    say(response, 404)
  }

  #giveSession(key: string, response: ServerResponse): void {
    if (key !== this.#options.apiKey) return say(response, 401, mpesaOpenAnswerBody(mpesaOpenCodes.badKey))
    const output_SessionID = this.#sessions.newToken(sessionSeconds)
    say(response, 200, mpesaOpenAnswerBody(mpesaOpenCodes.success, { output_SessionID }))
  }

  #take({ body }: Asked, response: ServerResponse): void {
    const conversationId = String(body?.input_ThirdPartyConversationID)
    const msisdn = String(body?.input_CustomerMSISDN)
    const isRight =
      body?.input_Country === market.slice(-3) &&
      body.input_ServiceProviderCode === this.#options.serviceProviderCode &&
      /^[A-Za-z0-9]{1,40}$/.test(conversationId) &&
      /^\d{12,14}$/.test(msisdn) &&
      /^\d{1,12}(\.\d{1,2})?$/.test(String(body.input_Amount)) &&
      /^[A-Z]{3}$/.test(String(body.input_Currency)) &&
      /^[A-Za-z0-9]{1,20}$/.test(String(body.input_TransactionReference)) &&
      /^[A-Za-z0-9 ]{1,256}$/.test(String(body.input_PurchasedItemsDesc))
    if (!isRight) return say(response, 400, mpesaOpenAnswerBody('INS-21'))
    if (this.#payments.has(conversationId)) return say(response, 409, mpesaOpenAnswerBody(mpesaOpenCodes.repeated))
    const play = playOf(msisdn)
    if (play?.lost) return void response.destroy()
    if (play?.unavailable) return say(response, 503, mpesaOpenAnswerBody(mpesaOpenCodes.overloaded))
    const receipt = randomBytes(5).toString('hex').toUpperCase()
    this.#payments.put(conversationId, { conversationId, phone: msisdn, word: 'Pending', receipt }, play?.afterMs)
    if (play?.cut) return void response.destroy()
    say(response, 201, mpesaOpenAnswerBody(mpesaOpenCodes.success, { output_TransactionID: 'N/A' }))
  }

  #decide(requested: Requested): undefined {
    const play = playOf(requested.phone)
    if (!play) return
    requested.word = words[play.ending]
    this.#payments.keep(requested.conversationId)
  }

  #tell({ query }: Asked, response: ServerResponse): void {
    const requested = this.#payments.get(query.get('input_QueryReference') ?? '')
    if (!requested) return say(response, 400, mpesaOpenAnswerBody(mpesaOpenCodes.unknownReference))
    const { word, receipt } = requested
    const paid = word === 'Completed' ? { output_OriginalTransactionID: receipt } : {}
    const more = { output_ResponseTransactionStatus: word, ...paid }
    say(response, 200, mpesaOpenAnswerBody(mpesaOpenCodes.success, more))
  }
}
