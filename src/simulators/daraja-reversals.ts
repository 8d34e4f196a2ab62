// SPDX-License-Identifier: Apache-2.0
// The part of the Daraja simulator that takes payments back: all of a payment, once, named by its receipt. What became of
// it, and of a question about it, is told by a call. It has no words for a payer without an account.
import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { outgoingResultBody } from '../protocols/daraja-outgoing.ts'
import { reversalCodes } from '../protocols/daraja-reversals.ts'
import { accepted, conversation, refusal } from './daraja-answers.ts'
import type { Book, Journal } from './journal.ts'
import { type RefundEnding, refundPlayOf } from './payer.ts'
import { forgedUrl, type ProviderServer, say } from './provider-server.ts'

const maxReversals = 100_000
const answerMs = 200

const codes: Readonly<Record<RefundEnding, string>> = {
  refunded: reversalCodes.done,
  no_account: reversalCodes.unknownReceipt,
  no_float: reversalCodes.noMoney,
}

interface Paid {
  phone: string
  amount: string
}

interface Reversal {
  id: string
  conversationId: string
  receipt: string
  amount: string
  resultUrl: string
  /** Result code; null until it is decided. */
  code: string | null
}

export interface DarajaReversalsOptions {
  shortcode: string
  isInitiator(name: unknown, credential: unknown): boolean
  /** The payment with a receipt. */
  find(receipt: string): Paid | undefined
  server: ProviderServer
  journal: Journal
}

export class DarajaReversals {
  readonly #options: DarajaReversalsOptions
  readonly #reversals: Book<Reversal>
  /** Receipt -> how often a reversal was asked for. */
  readonly #asked: Book<number>

  constructor(options: DarajaReversalsOptions) {
    this.#options = options
    const { journal } = options
    this.#reversals = journal.book({ name: 'reversals', most: maxReversals, due: (one) => this.#decide(one) })
    this.#asked = journal.book({ name: 'reversals asked for', most: maxReversals })
  }

  /** Reversals by the receipt of the payment: the provider's own books. */
  get books(): ReadonlyMap<string, string> {
    const done = this.#reversals.values().filter(({ code }) => code === reversalCodes.done)
    return new Map(done.map(({ receipt, amount }) => [receipt, amount]))
  }

  knows(id: unknown): boolean {
    return this.#reversals.has(String(id))
  }

  take(body: Record<string, unknown>, response: ServerResponse): void {
    const problem = this.#problemOf(body)
    if (problem) return say(response, 400, refusal('400.002.02', `Bad Request - Invalid ${problem}`))
    const receipt = String(body.TransactionID)
    const paid = this.#options.find(receipt)
    const play = refundPlayOf(paid?.phone ?? '')
    const asked = this.#asked.get(receipt) ?? 0
    this.#asked.put(receipt, asked + 1)
    if (asked < (play.unavailable ?? 0))
      return say(response, 503, refusal('500.003.02', 'System is busy. Please try again'))
    if (play.lost && asked === 0) return void response.destroy()
    const reversal: Reversal = {
      id: `${randomInt(1_000, 99_999)}-${randomInt(10_000_000, 99_999_999)}-1`,
      conversationId: conversation(),
      receipt,
      amount: String(body.Amount),
      resultUrl: String(body.ResultURL),
      code: null,
    }
    this.#reversals.put(reversal.id, reversal, play.afterMs)
    if (play.cut && asked === 0) return void response.destroy()
    say(response, 200, accepted(reversal.conversationId, reversal.id))
  }

  /** Takes a question; the answer comes as a call. */
  query(body: Record<string, unknown>, response: ServerResponse): void {
    const { isInitiator, server, shortcode } = this.#options
    const reversal = this.#reversals.get(String(body.OriginalConversationID))
    const isRight = isInitiator(body.Initiator, body.SecurityCredential) && body.PartyA === shortcode
    if (!reversal || !isRight) return say(response, 400, refusal('400.002.02', 'Bad Request'))
    const head = { originatorConversationId: conversation(), conversationId: conversation(), transactionId: null }
    say(response, 200, accepted(head.conversationId, head.originatorConversationId))
    server.later(answerMs, () => {
      const { id, code, amount } = reversal
      const parameters = new Map([
        ['OriginatorConversationID', id],
        ['TransactionStatus', code === null ? 'Pending' : code === reversalCodes.done ? 'Completed' : 'Failed'],
        ['Amount', amount],
        ['ReceiptNo', receiptOf(reversal)],
      ])
      void this.#call(String(body.ResultURL), { ...head, resultCode: '0', parameters })
    })
  }

  #problemOf(body: Record<string, unknown>): string | null {
    const { isInitiator, shortcode } = this.#options
    if (!isInitiator(body.Initiator, body.SecurityCredential)) return 'SecurityCredential'
    if (body.CommandID !== 'TransactionReversal') return 'CommandID'
    if (body.ReceiverParty !== shortcode) return 'ReceiverParty'
    if (body.RecieverIdentifierType !== '11') return 'RecieverIdentifierType'
    if (!/^[1-9]\d{0,8}$/.test(String(body.Amount))) return 'Amount'
    if (!/^.{2,100}$/.test(String(body.Remarks))) return 'Remarks'
    return [body.ResultURL, body.QueueTimeOutURL].every((url) => /^https:\/\//.test(String(url))) ? null : 'ResultURL'
  }

  async #decide(reversal: Reversal): Promise<undefined> {
    const paid = this.#options.find(reversal.receipt)
    const play = refundPlayOf(paid?.phone ?? '')
    const code = reversal.code ?? this.#codeOf(reversal, paid, play.ending)
    reversal.code = code
    this.#reversals.keep(reversal.id)
    const { resultUrl } = reversal
    if (play.forged) await this.#tell(reversal, reversalCodes.done, forgedUrl(resultUrl))
    for (let i = 0; i < play.callbacks; i++) await this.#tell(reversal, code, resultUrl)
  }

  #codeOf({ receipt, amount }: Reversal, paid: Paid | undefined, ending: RefundEnding): string {
    if (!paid || paid.amount !== amount) return reversalCodes.unknownReceipt
    return this.books.has(receipt) ? reversalCodes.doneBefore : codes[ending]
  }

  async #tell(reversal: Reversal, resultCode: string, url: string): Promise<void> {
    const { id, conversationId, amount, receipt } = reversal
    const isDone = resultCode === reversalCodes.done
    await this.#call(url, {
      originatorConversationId: id,
      conversationId,
      transactionId: receiptOf(reversal),
      resultCode,
      parameters: new Map(
        isDone
          ? [
              ['Amount', amount],
              ['OriginalTransactionID', receipt],
            ]
          : [],
      ),
    })
  }

  async #call(url: string, result: Parameters<typeof outgoingResultBody>[0]): Promise<void> {
    const description = result.resultCode === '0' ? 'The service request is processed successfully.' : 'Not processed.'
    await this.#options.server.call('POST', url, outgoingResultBody(result, description))
  }
}

/** Receipt of the reversal itself. */
function receiptOf({ conversationId }: Reversal): string {
  return `R${conversationId.slice(-9).toUpperCase()}`
}
