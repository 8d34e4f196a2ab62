// SPDX-License-Identifier: Apache-2.0
// The half of the Daraja simulator that pays: B2C payouts, and questions about them, which are answered by a call. It keeps
// books of what it paid, by the id that it was given.
import { randomBytes, randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { outgoingResultBody, readSecurityCredential } from '../protocols/daraja-outgoing.ts'
import { accepted, conversation, refusal } from './daraja-answers.ts'
import type { Book, Journal } from './journal.ts'
import { type PayoutEnding, payoutPlayOf } from './payee.ts'
import { ProviderKey } from './provider-key.ts'
import { forgedUrl, type ProviderServer, say } from './provider-server.ts'

const maxPayouts = 200_000
const answerMs = 200
const reversalMs = 10_000

export interface DarajaInitiator {
  name: string
  password: string
  /** Shortcode that payouts are made from. */
  shortcode: string
}

const codes: Readonly<Record<PayoutEnding, string>> = {
  paid: '0',
  float_low: '1',
  over_limit: '8',
  no_recipient: '2040',
  failed: '17',
}

interface Payout {
  id: string
  conversationId: string
  phone: string
  amount: string
  resultUrl: string
  timeoutUrl: string
  receipt: string
  /** Ending; null until it is decided. */
  ending: PayoutEnding | 'reversed' | null
  isTold: boolean
}

export class DarajaPayouts {
  readonly #key = new ProviderKey()
  readonly #initiator: DarajaInitiator
  readonly #server: ProviderServer
  readonly #payouts: Book<Payout>
  /** Ids whose first request got lost. */
  readonly #lost: Book<true>

  constructor(initiator: DarajaInitiator, server: ProviderServer, journal: Journal) {
    this.#initiator = initiator
    this.#server = server
    this.#payouts = journal.book({ name: 'payouts', most: maxPayouts, due: (payout) => this.#decide(payout) })
    this.#lost = journal.book({ name: 'lost payouts', most: maxPayouts })
  }

  /** Provider's public key, as an operator enters it. */
  get certificate(): string {
    return this.#key.publicPem
  }

  /** Payouts that were not reversed, by the id of the request. */
  get paid(): ReadonlyMap<string, string> {
    const paid = this.#payouts.values().filter(({ ending }) => ending === 'paid')
    return new Map(paid.map(({ id, amount }) => [id, amount]))
  }

  /** Whether a request comes from an initiator who may have money sent. */
  isInitiator(name: unknown, credential: unknown): boolean {
    const { name: wanted, password } = this.#initiator
    return name === wanted && readSecurityCredential(String(credential), this.#key.private) === password
  }

  pay(body: Record<string, unknown>, response: ServerResponse): void {
    const problem = this.#problemOf(body)
    if (problem) return say(response, 400, refusal('400.002.02', `Bad Request - Invalid ${problem}`))
    const id = String(body.OriginatorConversationID)
    const play = payoutPlayOf(String(body.PartyB))
    if (this.#payouts.has(id)) return say(response, 500, refusal('500.002.1001', 'Duplicate OriginatorConversationID'))
    if (play.unavailable) return say(response, 503, refusal('500.003.02', 'System is busy. Please try again'))
    if (play.lost && !this.#lost.has(id)) {
      this.#lost.put(id, true)
      return void response.destroy()
    }
    const payout: Payout = {
      id,
      conversationId: conversation(),
      phone: String(body.PartyB),
      amount: String(body.Amount),
      resultUrl: String(body.ResultURL),
      timeoutUrl: String(body.QueueTimeOutURL),
      receipt: `S${randomBytes(5).toString('hex').toUpperCase().slice(0, 9)}`,
      ending: null,
      isTold: false,
    }
    this.#payouts.put(id, payout, play.afterMs)
    const accept = () => say(response, 200, accepted(payout.conversationId, id))
    if (play.early) return void this.#payouts.play(id).then(accept)
    if (play.cut) return void response.destroy()
    accept()
  }

  /** Takes a question; the answer comes as a call. */
  query(body: Record<string, unknown>, response: ServerResponse): void {
    const isRight =
      this.isInitiator(body.Initiator, body.SecurityCredential) &&
      body.CommandID === 'TransactionStatusQuery' &&
      body.PartyA === this.#initiator.shortcode &&
      body.IdentifierType === '4' &&
      [body.ResultURL, body.QueueTimeOutURL].every(isAddress)
    if (!isRight) return say(response, 400, refusal('400.002.02', 'Bad Request'))
    const [conversationId, originator] = [conversation(), `${randomInt(1_000, 99_999)}-${randomInt(10_000_000)}-1`]
    const url = String(body.ResultURL)
    say(response, 200, accepted(conversationId, originator))
    const payout = this.#payouts.get(String(body.OriginalConversationID))
    const head = { originatorConversationId: originator, conversationId, transactionId: null }
    this.#server.later(answerMs, () => {
      if (!payout) return this.#call(url, { ...head, resultCode: 'R000002', parameters: new Map() })
      const parameters = new Map([
        ['OriginatorConversationID', payout.id],
        ['ConversationID', payout.conversationId],
        ['TransactionStatus', statusOf(payout)],
        ['Amount', payout.amount],
        ['ReceiptNo', payout.receipt],
      ])
      this.#call(url, { ...head, resultCode: '0', parameters })
    })
  }

  #problemOf(body: Record<string, unknown>): string | null {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(body.OriginatorConversationID))) return 'OriginatorConversationID'
    if (!this.isInitiator(body.InitiatorName, body.SecurityCredential)) return 'SecurityCredential'
    if (!['BusinessPayment', 'SalaryPayment', 'PromotionPayment'].includes(String(body.CommandID))) return 'CommandID'
    if (!/^[1-9]\d{0,8}$/.test(String(body.Amount))) return 'Amount'
    if (String(body.PartyA) !== this.#initiator.shortcode) return 'PartyA'
    if (!/^254\d{9}$/.test(String(body.PartyB))) return 'PartyB'
    if (!/^.{2,100}$/.test(String(body.Remarks))) return 'Remarks'
    if (!isAddress(body.ResultURL)) return 'ResultURL'
    return isAddress(body.QueueTimeOutURL) ? null : 'QueueTimeOutURL'
  }

  async #decide(payout: Payout): Promise<number | undefined> {
    if (payout.isTold) return this.#takeBack(payout)
    const play = payoutPlayOf(payout.phone)
    payout.ending = play.ending
    this.#payouts.keep(payout.id)
    if (play.forged) await this.#tell(payout, 'paid', forgedUrl(payout.resultUrl))
    if (play.timesOut) await this.#tell(payout, 'failed', payout.timeoutUrl)
    if (play.firstTold) await this.#tell(payout, play.firstTold)
    for (let i = 0; i < play.callbacks; i++) await this.#tell(payout, play.ending)
    if (!play.thenReversed) return
    payout.isTold = true
    this.#payouts.keep(payout.id)
    return reversalMs
  }

  async #takeBack(payout: Payout): Promise<undefined> {
    payout.ending = 'reversed'
    this.#payouts.keep(payout.id)
    await this.#tell(payout, 'failed')
  }

  async #tell(
    { id, conversationId, receipt, amount, phone, resultUrl }: Payout,
    ending: PayoutEnding,
    url = resultUrl,
  ) {
    const isPaid = ending === 'paid'
    await this.#call(url, {
      originatorConversationId: id,
      conversationId,
      transactionId: receipt,
      resultCode: codes[ending],
      parameters: new Map(
        isPaid
          ? [
              ['TransactionAmount', amount],
              ['TransactionReceipt', receipt],
              ['ReceiverPartyPublicName', `${phone} - Payee`],
            ]
          : [],
      ),
    })
  }

  async #call(url: string, result: Parameters<typeof outgoingResultBody>[0]): Promise<void> {
    const description = result.resultCode === '0' ? 'The service request is processed successfully.' : 'Not processed.'
    await this.#server.call('POST', url, outgoingResultBody(result, description))
  }
}

function statusOf({ ending }: Payout): string {
  if (ending === null) return 'Pending'
  if (ending === 'reversed') return 'Reversed'
  return ending === 'paid' ? 'Completed' : 'Failed'
}

function isAddress(url: unknown): boolean {
  const text = String(url)
  return (
    URL.canParse(text) && /^https:/.test(text) && !/mpesa|safaricom|exe|cmd|sql|query/i.test(new URL(text).pathname)
  )
}
