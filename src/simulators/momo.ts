// SPDX-License-Identifier: Apache-2.0
// A mobile-money provider that speaks MTN's MoMo on a real port: it takes requests to pay, plays the payer and calls back.
// It has no words for a wrong PIN, which is a payer who declined, nor for a phone out of reach, whose prompt expires.
import { randomBytes, randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type PaymentResult, paymentResultBody } from '../protocols/momo.ts'
import { type MomoDisbursement, MomoTransfers } from './momo-outgoing.ts'
import { MomoRefunds } from './momo-refunds.ts'
import { type Ending, otherAmount, type Play, playOf } from './payer.ts'
import { type Asked, forgedUrl, ProviderServer, type ProviderServerOptions, say } from './provider-server.ts'

const maxRequests = 100_000
const tokenSeconds = 3_600
const requestsPath = '/collection/v1_0/requesttopay'

export interface MomoOptions extends ProviderServerOptions {
  subscriptionKey: string
  targetEnvironment: string
  apiUser: string
  apiKey: string
  /** Of the half that pays; the same unless given. */
  disbursement?: MomoDisbursement
}

const reasons: Readonly<Record<Ending, string | null>> = {
  paid: null,
  no_money: 'NOT_ENOUGH_FUNDS',
  declined: 'APPROVAL_REJECTED',
  wrong_pin: 'APPROVAL_REJECTED',
  over_limit: 'PAYER_LIMIT_REACHED',
  unreachable: 'EXPIRED',
}

interface Requested extends PaymentResult {
  amount: string
  currency: string
  phone: string
  callbackUrl: string | null
}

export class MomoSimulator {
  /** The half that pays. */
  readonly transfers: MomoTransfers
  readonly #options: MomoOptions
  readonly #requests = new Map<string, Requested>()
  /** References whose first request got lost. */
  readonly #lost = new Set<string>()
  readonly #tokens = new Set<string>()
  readonly #refunds = new MomoRefunds(
    (reference) => this.#requests.get(reference),
    () => this.#server,
  )
  #server: ProviderServer | null = null

  private constructor(options: MomoOptions) {
    this.#options = options
    this.transfers = new MomoTransfers(options.disbursement ?? options, () => this.#server, this.#refunds)
  }

  static async start(options: MomoOptions): Promise<MomoSimulator> {
    const simulator = new MomoSimulator(options)
    simulator.#server = await ProviderServer.start(options, (asked, response) => simulator.#answer(asked, response))
    return simulator
  }

  get port(): number {
    return this.#server?.port ?? 0
  }

  /** What was paid, by the reference of the request: the provider's own books. */
  get paid(): ReadonlyMap<string, string> {
    const paid = [...this.#requests].filter(([, { status }]) => status === 'SUCCESSFUL')
    return new Map(paid.map(([reference, { amount }]) => [reference, amount]))
  }

  /** What was given back, by the reference of the refund. */
  get refunded(): ReadonlyMap<string, { of: string; amount: string }> {
    return this.#refunds.books
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
  }

  #answer(asked: Asked, response: ServerResponse): void {
    const { method, path, headers } = asked
    if (path.startsWith('/disbursement/')) return this.transfers.answer(asked, response)
    if (headers['ocp-apim-subscription-key'] !== this.#options.subscriptionKey)
      return say(response, 401, { statusCode: 401, message: 'Access denied due to invalid subscription key.' })
    if (method === 'POST' && path === '/collection/token/') return this.#giveToken(headers.authorization, response)
    if (!this.#tokens.has(headers.authorization?.replace(/^Bearer /, '') ?? ''))
      return say(response, 401, { error: 'invalid_token' })
    if (headers['x-target-environment'] !== this.#options.targetEnvironment)
      return say(response, 400, refusal('NOT_ALLOWED_TARGET_ENVIRONMENT'))
    if (method === 'POST' && path === requestsPath) return this.#request(asked, response)
    if (method === 'GET' && path.startsWith(`${requestsPath}/`))
      return this.#tellState(path.slice(requestsPath.length + 1), response)
    say(response, 404, refusal('RESOURCE_NOT_FOUND'))
  }

  #giveToken(authorization: string | undefined, response: ServerResponse): void {
    const { apiUser, apiKey } = this.#options
    if (authorization !== `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`)
      return say(response, 401, { error: 'login_failed' })
    const token = randomBytes(21).toString('base64url')
    this.#tokens.add(token)
    say(response, 200, { access_token: token, token_type: 'access_token', expires_in: tokenSeconds })
  }

  #request({ headers, body }: Asked, response: ServerResponse): void {
    const reference = String(headers['x-reference-id'])
    const callbackUrl = headers['x-callback-url']
    const payer = Object(body?.payer)
    const phone = String(payer.partyId)
    const isRight =
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(reference) &&
      /^\d{1,12}(\.\d{1,2})?$/.test(String(body?.amount)) &&
      /^[A-Z]{3}$/.test(String(body?.currency)) &&
      payer.partyIdType === 'MSISDN' &&
      /^[1-9]\d{7,14}$/.test(phone) &&
      [body?.payerMessage, body?.payeeNote].every((text) => /^[A-Za-z0-9 .-]{0,160}$/.test(String(text)))
    if (!isRight) return say(response, 400)
    if (callbackUrl !== undefined && !/^https:\/\//.test(String(callbackUrl)))
      return say(response, 400, refusal('INVALID_CALLBACK_URL_HOST'))
    if (this.#requests.has(reference)) return say(response, 409, refusal('RESOURCE_ALREADY_EXIST'))
    const play = playOf(phone)
    if (play?.unavailable || this.#requests.size >= maxRequests)
      return say(response, 503, refusal('SERVICE_UNAVAILABLE'))
    if (play?.lost && !this.#lost.has(reference)) {
      this.#lost.add(reference)
      return void response.destroy()
    }
    const requested: Requested = {
      externalId: String(body?.externalId),
      status: 'PENDING',
      amount: String(body?.amount),
      currency: String(body?.currency),
      phone: `+${phone}`,
      callbackUrl: callbackUrl === undefined ? null : String(callbackUrl),
      financialTransactionId: null,
      reason: null,
    }
    this.#requests.set(reference, requested)
    if (play) this.#server?.later(play.afterMs, () => this.#decide(requested, play))
    if (play?.cut) return void response.destroy()
    say(response, 202)
  }

  #tellState(reference: string, response: ServerResponse): void {
    const requested = this.#requests.get(reference)
    if (!requested) return say(response, 404, refusal('RESOURCE_NOT_FOUND'))
    say(response, 200, paymentResultBody(requested, requested))
  }

  #decide(requested: Requested, play: Play): void {
    if (play.otherAmount) requested.amount = otherAmount(requested.amount)
    Object.assign(requested, outcomeOf(play.ending))
    void this.#tell(requested, play)
  }

  async #tell(requested: Requested, { ending, callbacks, forged, thenTold }: Play): Promise<void> {
    const { callbackUrl } = requested
    if (callbackUrl === null) return
    if (forged) await this.#call(requested, 'paid', forgedUrl(callbackUrl))
    for (let i = 0; i < callbacks; i++) await this.#call(requested, ending, callbackUrl)
    if (thenTold) await this.#call(requested, thenTold, callbackUrl)
  }

  async #call(requested: Requested, ending: Ending, url: string): Promise<void> {
    const { financialTransactionId } = requested
    const told = { ...requested, ...outcomeOf(ending), financialTransactionId }
    await this.#server?.call('PUT', url, paymentResultBody(told, requested))
  }
}

function outcomeOf(ending: Ending): Pick<PaymentResult, 'status' | 'reason' | 'financialTransactionId'> {
  const reason = reasons[ending]
  const isPaid = ending === 'paid'
  return {
    status: isPaid ? 'SUCCESSFUL' : 'FAILED',
    reason,
    financialTransactionId: isPaid ? String(randomInt(1_000_000_000, 9_999_999_999)) : null,
  }
}

function refusal(code: string): object {
  return { code, message: code }
}
