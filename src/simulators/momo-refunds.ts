// SPDX-License-Identifier: Apache-2.0
// The part of the simulated MoMo that gives money back: it takes a refund of a payment that was made, once for each
// reference and never more than was paid, and calls back.
import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type PaymentResult, paymentResultBody } from '../protocols/momo.ts'
import { type RefundEnding, type RefundPlay, refundPlayOf } from './payer.ts'
import { type Asked, forgedUrl, type ProviderServer, say } from './provider-server.ts'

const maxRefunds = 100_000
export const refundsPath = '/disbursement/v1_0/refund'

const reasons: Readonly<Record<RefundEnding, string | null>> = {
  refunded: null,
  no_account: 'PAYEE_NOT_FOUND',
  no_float: 'NOT_ENOUGH_FUNDS',
}

/** A payment as the simulator knows it. */
interface Paid {
  status: string
  amount: string
  phone: string
  currency: string
}

interface Refund extends PaymentResult {
  of: string
  amount: string
  phone: string
  currency: string
  callbackUrl: string | null
}

export class MomoRefunds {
  readonly #find: (reference: string) => Paid | undefined
  readonly #server: () => ProviderServer | null
  readonly #refunds = new Map<string, Refund>()
  /** Reference -> how often it was not taken. */
  readonly #refusals = new Map<string, number>()

  constructor(find: (reference: string) => Paid | undefined, server: () => ProviderServer | null) {
    this.#find = find
    this.#server = server
  }

  /** What was given back, by the reference of the refund: the provider's own books. */
  get books(): ReadonlyMap<string, { of: string; amount: string }> {
    return new Map([...this.#refunds].filter(([, { status }]) => status === 'SUCCESSFUL'))
  }

  answer(asked: Asked, response: ServerResponse): void {
    if (asked.method === 'POST' && asked.path === refundsPath) return this.#take(asked, response)
    this.#tellState(asked.path.slice(refundsPath.length + 1), response)
  }

  #take({ headers, body }: Asked, response: ServerResponse): void {
    const reference = String(headers['x-reference-id'])
    const of = String(body?.referenceIdToRefund)
    const amount = String(body?.amount)
    const isRight =
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(reference) &&
      /^\d{1,12}(\.\d{1,2})?$/.test(amount) &&
      [body?.payerMessage, body?.payeeNote].every((text) => /^[A-Za-z0-9 .-]{0,160}$/.test(String(text)))
    if (!isRight) return say(response, 400)
    if (this.#refunds.has(reference)) return say(response, 409, refusal('RESOURCE_ALREADY_EXIST'))
    const paid = this.#find(of)
    if (paid?.status !== 'SUCCESSFUL' || paid.currency !== body?.currency)
      return say(response, 404, refusal('RESOURCE_NOT_FOUND'))
    if (this.#givenBack(of) + Number(amount) > Number(paid.amount)) return say(response, 400, refusal('NOT_ALLOWED'))
    const play = refundPlayOf(paid.phone)
    const refusals = this.#refusals.get(reference) ?? 0
    this.#refusals.set(reference, refusals + 1)
    if (refusals < (play.unavailable ?? 0) || this.#refunds.size >= maxRefunds)
      return say(response, 503, refusal('SERVICE_UNAVAILABLE'))
    if (play.lost && refusals === 0) return void response.destroy()
    const callbackUrl = headers['x-callback-url']
    const refund: Refund = {
      of,
      externalId: String(body?.externalId),
      status: 'PENDING',
      amount,
      currency: paid.currency,
      phone: paid.phone,
      callbackUrl: callbackUrl === undefined ? null : String(callbackUrl),
      financialTransactionId: null,
      reason: null,
    }
    this.#refunds.set(reference, refund)
    this.#server()?.later(play.afterMs, () => this.#decide(refund, play))
    if (play.cut) return void response.destroy()
    say(response, 202)
  }

  #tellState(reference: string, response: ServerResponse): void {
    const refund = this.#refunds.get(reference)
    if (!refund) return say(response, 404, refusal('RESOURCE_NOT_FOUND'))
    say(response, 200, paymentResultBody(refund, refund))
  }

  #givenBack(of: string): number {
    const alive = [...this.#refunds.values()].filter((refund) => refund.of === of && refund.status !== 'FAILED')
    return alive.reduce((sum, { amount }) => sum + Number(amount), 0)
  }

  #decide(refund: Refund, play: RefundPlay): void {
    refund.reason = reasons[play.ending]
    refund.status = refund.reason === null ? 'SUCCESSFUL' : 'FAILED'
    if (refund.reason === null) refund.financialTransactionId = String(randomInt(1_000_000_000, 9_999_999_999))
    void this.#tell(refund, play)
  }

  async #tell(refund: Refund, { callbacks, forged }: RefundPlay): Promise<void> {
    const { callbackUrl } = refund
    if (callbackUrl === null) return
    const success: Refund = { ...refund, status: 'SUCCESSFUL', reason: null }
    if (forged) await this.#server()?.call('PUT', forgedUrl(callbackUrl), paymentResultBody(success, refund))
    for (let i = 0; i < callbacks; i++)
      await this.#server()?.call('PUT', callbackUrl, paymentResultBody(refund, refund))
  }
}

function refusal(code: string): object {
  return { code, message: code }
}
