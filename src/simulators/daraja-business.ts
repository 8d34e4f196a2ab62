// SPDX-License-Identifier: Apache-2.0
// The rest of Daraja that clients call: registered C2B addresses and simulated payments to them, the balance, and payments to
// other businesses. Nothing of it moves money in the books; each is answered as the provider does, and then called back.
import { randomBytes, randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { outgoingResultBody } from '../protocols/daraja-outgoing.ts'
import { accepted, conversation, refusal } from './daraja-answers.ts'
import type { DarajaPayouts } from './daraja-outgoing.ts'
import { type ProviderServer, say } from './provider-server.ts'

const answerMs = 200
const maxRegistered = 1_000
const businessCommands = [
  'BusinessPayBill',
  'BusinessBuyGoods',
  'BusinessToBusinessTransfer',
  'MerchantToMerchantTransfer',
]

type Body = Readonly<Record<string, unknown>>
type Take = (body: Body, response: ServerResponse) => void

export class DarajaBusiness {
  readonly #shortcode: string
  readonly #payouts: DarajaPayouts
  readonly #server: ProviderServer
  readonly #now: () => number
  /** Shortcode -> where its payments are told. */
  readonly #registered = new Map<string, { confirmation: string }>()
  readonly #routes: ReadonlyMap<string, Take> = new Map<string, Take>([
    ['/mpesa/c2b/v1/registerurl', (body, response) => this.#register(body, response)],
    ['/mpesa/c2b/v2/registerurl', (body, response) => this.#register(body, response)],
    ['/mpesa/c2b/v1/simulate', (body, response) => this.#simulate(body, response)],
    ['/mpesa/c2b/v2/simulate', (body, response) => this.#simulate(body, response)],
    ['/mpesa/accountbalance/v1/query', (body, response) => this.#balance(body, response)],
    ['/mpesa/b2b/v1/paymentrequest', (body, response) => this.#payBusiness(body, response)],
  ])

  constructor(shortcode: string, payouts: DarajaPayouts, server: ProviderServer, now: () => number) {
    this.#shortcode = shortcode
    this.#payouts = payouts
    this.#server = server
    this.#now = now
  }

  answers(path: string): boolean {
    return this.#routes.has(path)
  }

  take(path: string, body: Body, response: ServerResponse): void {
    this.#routes.get(path)?.(body, response)
  }

  #register(body: Body, response: ServerResponse): void {
    const urls = [body.ConfirmationURL, body.ValidationURL].map(String)
    if (!urls.every((url) => /^https:\/\//.test(url))) return refuse(response, 'ConfirmationURL or ValidationURL')
    if (!/^(Completed|Cancelled)$/.test(String(body.ResponseType))) return refuse(response, 'ResponseType')
    if (this.#registered.size >= maxRegistered) this.#registered.clear()
    this.#registered.set(String(body.ShortCode), { confirmation: urls[0] ?? '' })
    say(response, 200, { ...this.#originator(), ResponseCode: '0', ResponseDescription: 'Success' })
  }

  #simulate(body: Body, response: ServerResponse): void {
    const { ShortCode, Amount, Msisdn, BillRefNumber, CommandID } = body
    if (!/^Customer(PayBill|BuyGoods)Online$/.test(String(CommandID))) return refuse(response, 'CommandID')
    if (!/^[1-9]\d{0,8}$/.test(String(Amount))) return refuse(response, 'Amount')
    if (!/^254\d{9}$/.test(String(Msisdn))) return refuse(response, 'Msisdn')
    say(response, 200, {
      ...this.#originator(),
      ResponseCode: '0',
      ResponseDescription: 'Accept the service request successfully.',
    })
    const url = this.#registered.get(String(ShortCode))?.confirmation
    if (url === undefined) return
    const told = {
      TransactionType: CommandID === 'CustomerPayBillOnline' ? 'Pay Bill' : 'Buy Goods',
      TransID: receipt(),
      TransTime: new Date(this.#now()).toISOString().replace(/\D/g, '').slice(0, 14),
      TransAmount: Number(Amount).toFixed(2),
      BusinessShortCode: String(ShortCode),
      BillRefNumber: String(BillRefNumber ?? ''),
      InvoiceNumber: '',
      OrgAccountBalance: '100000.00',
      ThirdPartyTransID: '',
      MSISDN: String(Msisdn),
      FirstName: 'Amina',
    }
    this.#server.later(answerMs, () => void this.#server.call('POST', url, told))
  }

  #balance(body: Body, response: ServerResponse): void {
    if (body.CommandID !== 'AccountBalance') return refuse(response, 'CommandID')
    this.#result(body, response, [
      [
        'AccountBalance',
        'Working Account|KES|100000.00|100000.00|0.00|0.00&Utility Account|KES|50000.00|50000.00|0.00|0.00',
      ],
      ['BOCompletedTime', new Date(this.#now()).toISOString().replace(/\D/g, '').slice(0, 14)],
    ])
  }

  #payBusiness(body: Body, response: ServerResponse): void {
    if (!businessCommands.includes(String(body.CommandID))) return refuse(response, 'CommandID')
    if (!/^[1-9]\d{0,8}$/.test(String(body.Amount))) return refuse(response, 'Amount')
    if (!/^\d{5,7}$/.test(String(body.PartyB))) return refuse(response, 'PartyB')
    this.#result(body, response, [
      ['Amount', `${body.Amount}.00`],
      ['Currency', 'KES'],
      ['ReceiverPartyPublicName', `${body.PartyB} - Business`],
    ])
  }

  /** Accepts a request of an initiator, and calls its result URL. */
  #result(body: Body, response: ServerResponse, parameters: readonly (readonly [string, string])[]): void {
    if (!this.#payouts.isInitiator(body.Initiator ?? body.InitiatorName, body.SecurityCredential))
      return refuse(response, 'SecurityCredential')
    const url = String(body.ResultURL)
    if (!/^https:\/\//.test(url)) return refuse(response, 'ResultURL')
    const [conversationId, originatorConversationId] = [conversation(), this.#originator().OriginatorCoversationID]
    say(response, 200, accepted(conversationId, originatorConversationId))
    const head = { originatorConversationId, conversationId, transactionId: receipt(), resultCode: '0' }
    const told = outgoingResultBody(
      { ...head, parameters: new Map(parameters) },
      'The service request is processed successfully.',
    )
    this.#server.later(answerMs, () => void this.#server.call('POST', url, told))
  }

  /** Misspelt by the provider too. */
  #originator(): { OriginatorCoversationID: string } {
    return { OriginatorCoversationID: `${this.#shortcode}-${randomInt(10_000_000, 99_999_999)}-1` }
  }
}

/** Request of the first version, which gives no id of its own. */
export function withOriginator(body: Body): Record<string, unknown> {
  return { OriginatorConversationID: randomBytes(12).toString('hex'), ...body }
}

function receipt(): string {
  return `S${randomBytes(5).toString('hex').toUpperCase().slice(0, 9)}`
}

function refuse(response: ServerResponse, what: string): void {
  say(response, 400, refusal('400.002.02', `Bad Request - Invalid ${what}`))
}
