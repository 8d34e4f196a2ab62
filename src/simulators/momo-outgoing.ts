// SPDX-License-Identifier: Apache-2.0
// The half of the MoMo simulator that pays: transfers, with a subscription key and tokens of their own. It keeps books of
// what it paid, by the reference of the request, and has no words for money that was taken back.
import { randomBytes, randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type PaymentResult, paymentResultBody } from '../protocols/momo.ts'
import { type MomoRefunds, refundsPath } from './momo-refunds.ts'
import { type PayoutEnding, type PayoutPlay, payoutPlayOf } from './payee.ts'
import { type Asked, forgedUrl, type ProviderServer, say } from './provider-server.ts'

const maxTransfers = 200_000
const tokenSeconds = 3_600
const transfersPath = '/disbursement/v1_0/transfer'

export interface MomoDisbursement {
  subscriptionKey: string
  targetEnvironment: string
  apiUser: string
  apiKey: string
}

const reasons: Readonly<Record<PayoutEnding, string | null>> = {
  paid: null,
  float_low: 'NOT_ENOUGH_FUNDS',
  no_recipient: 'PAYEE_NOT_FOUND',
  over_limit: 'PAYEE_NOT_ALLOWED_TO_RECEIVE',
  failed: 'INTERNAL_PROCESSING_ERROR',
}

interface Transfer extends PaymentResult {
  amount: string
  currency: string
  phone: string
  callbackUrl: string | null
}

export class MomoTransfers {
  readonly #options: MomoDisbursement
  readonly #refunds: MomoRefunds
  readonly #server: () => ProviderServer | null
  readonly #transfers = new Map<string, Transfer>()
  /** References whose first request got lost. */
  readonly #lost = new Set<string>()
  readonly #tokens = new Set<string>()

  constructor(options: MomoDisbursement, server: () => ProviderServer | null, refunds: MomoRefunds) {
    this.#options = options
    this.#refunds = refunds
    this.#server = server
  }

  /** What was paid, by the reference of the request. */
  get paid(): ReadonlyMap<string, string> {
    const paid = [...this.#transfers].filter(([, { status }]) => status === 'SUCCESSFUL')
    return new Map(paid.map(([reference, { amount }]) => [reference, amount]))
  }

  answer(asked: Asked, response: ServerResponse): void {
    const { method, path, headers } = asked
    const { subscriptionKey, targetEnvironment } = this.#options
    if (headers['ocp-apim-subscription-key'] !== subscriptionKey)
      return say(response, 401, { statusCode: 401, message: 'Access denied due to invalid subscription key.' })
    if (method === 'POST' && path === '/disbursement/token/') return this.#giveToken(headers.authorization, response)
    if (!this.#tokens.has(headers.authorization?.replace(/^Bearer /, '') ?? ''))
      return say(response, 401, { error: 'invalid_token' })
    if (headers['x-target-environment'] !== targetEnvironment)
      return say(response, 400, refusal('NOT_ALLOWED_TARGET_ENVIRONMENT'))
    if (method === 'POST' && path === transfersPath) return this.#take(asked, response)
    if (path.startsWith(refundsPath)) return this.#refunds.answer(asked, response)
    const transfer = this.#transfers.get(path.slice(transfersPath.length + 1))
    if (method !== 'GET' || !transfer) return say(response, 404, refusal('RESOURCE_NOT_FOUND'))
    say(response, 200, paymentResultBody(transfer, transfer, 'payee'))
  }

  #giveToken(authorization: string | undefined, response: ServerResponse): void {
    const { apiUser, apiKey } = this.#options
    if (authorization !== `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`)
      return say(response, 401, { error: 'login_failed' })
    const token = randomBytes(21).toString('base64url')
    this.#tokens.add(token)
    say(response, 200, { access_token: token, token_type: 'access_token', expires_in: tokenSeconds })
  }

  #take({ headers, body }: Asked, response: ServerResponse): void {
    const reference = String(headers['x-reference-id'])
    const callbackUrl = headers['x-callback-url']
    const payee = Object(body?.payee)
    const phone = String(payee.partyId)
    const isRight =
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(reference) &&
      /^\d{1,12}(\.\d{1,2})?$/.test(String(body?.amount)) &&
      /^[A-Z]{3}$/.test(String(body?.currency)) &&
      payee.partyIdType === 'MSISDN' &&
      /^[1-9]\d{7,14}$/.test(phone) &&
      [body?.payerMessage, body?.payeeNote].every((text) => /^[A-Za-z0-9 .-]{0,160}$/.test(String(text)))
    if (!isRight) return say(response, 400)
    if (this.#transfers.has(reference)) return say(response, 409, refusal('RESOURCE_ALREADY_EXIST'))
    const play = payoutPlayOf(phone)
    if (play.unavailable || this.#transfers.size >= maxTransfers)
      return say(response, 503, refusal('SERVICE_UNAVAILABLE'))
    if (play.lost && !this.#lost.has(reference)) {
      this.#lost.add(reference)
      return void response.destroy()
    }
    const transfer: Transfer = {
      externalId: String(body?.externalId),
      status: 'PENDING',
      amount: String(body?.amount),
      currency: String(body?.currency),
      phone: `+${phone}`,
      callbackUrl: callbackUrl === undefined ? null : String(callbackUrl),
      financialTransactionId: null,
      reason: null,
    }
    this.#transfers.set(reference, transfer)
    if (play.early) return void this.#decide(transfer, play).then(() => say(response, 202))
    this.#server()?.later(play.afterMs, () => void this.#decide(transfer, play))
    if (play.cut) return void response.destroy()
    say(response, 202)
  }

  async #decide(transfer: Transfer, play: PayoutPlay): Promise<void> {
    Object.assign(transfer, outcomeOf(play.ending))
    const { callbackUrl } = transfer
    if (callbackUrl === null) return
    if (play.forged) await this.#call(transfer, 'failed', forgedUrl(callbackUrl))
    if (play.firstTold) await this.#call(transfer, play.firstTold, callbackUrl)
    for (let i = 0; i < play.callbacks; i++) await this.#call(transfer, play.ending, callbackUrl)
  }

  async #call(transfer: Transfer, ending: PayoutEnding, url: string): Promise<void> {
    const { financialTransactionId } = transfer
    const told = { ...transfer, ...outcomeOf(ending), financialTransactionId }
    await this.#server()?.call('PUT', url, paymentResultBody(told, transfer, 'payee'))
  }
}

function outcomeOf(ending: PayoutEnding): Pick<PaymentResult, 'status' | 'reason' | 'financialTransactionId'> {
  const isPaid = ending === 'paid'
  return {
    status: isPaid ? 'SUCCESSFUL' : 'FAILED',
    reason: reasons[ending],
    financialTransactionId: isPaid ? String(randomInt(1_000_000_000, 9_999_999_999)) : null,
  }
}

function refusal(code: string): object {
  return { code, message: code }
}
