// SPDX-License-Identifier: Apache-2.0
// Common part of all products of the simulated MoMo, for incoming, outgoing and refunded money: authentication, reading
// of orders, and reports of their outcome.
import { randomBytes, randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { PaymentResult } from '../protocols/momo.ts'
import type { PayerAnswer } from '../protocols/sandbox-payer.ts'
import type { Book } from './journal.ts'
import type { MomoUsers } from './momo-users.ts'
import { type Asked, say } from './provider-server.ts'

const tokenSeconds = 3_600

export interface MomoProduct {
  subscriptionKey: string
  targetEnvironment: string
  apiUser: string
  apiKey: string
}

/** Lets those in who have the product's subscription key and a token of its own. */
export class MomoDoor {
  readonly #product: MomoProduct
  readonly #tokenPath: string
  readonly #tokens = new Set<string>()
  readonly #users: MomoUsers

  constructor(product: MomoProduct, tokenPath: string, users: MomoUsers) {
    this.#product = product
    this.#users = users
    this.#tokenPath = tokenPath
  }

  /** Answers what both products have: the balance, and whether a number has an account; false for any other path. */
  common({ method, path }: Asked, response: ServerResponse): boolean {
    const [, , , kind, ...rest] = path.split('/')
    if (method !== 'GET' || (kind !== 'account' && kind !== 'accountholder')) return false
    if (kind === 'account' && rest[0] === 'balance') {
      say(response, 200, { availableBalance: '100000', currency: rest[1] ?? 'EUR' })
      return true
    }
    const [idType = '', id = '', what = ''] = rest
    if (kind !== 'accountholder' || !/^(msisdn|email|party_code)$/i.test(idType)) return false
    // Nobody holds an account under a number that cannot be paid to.
    const isHolder = idType.toLowerCase() !== 'msisdn' || /^[1-9]\d{7,14}$/.test(id)
    if (what === 'active') say(response, 200, { result: isHolder })
    else if (what === 'basicuserinfo' && isHolder)
      say(response, 200, { given_name: 'Amina', family_name: 'Otieno', sub: id, locale: 'en' })
    else return false
    return true
  }

  /** Authenticate; false when it has answered already, with a token or a refusal. */
  admits({ method, path, headers }: Asked, response: ServerResponse): boolean {
    if (headers['ocp-apim-subscription-key'] !== this.#product.subscriptionKey)
      say(response, 401, { statusCode: 401, message: 'Access denied due to invalid subscription key.' })
    else if (method === 'POST' && path === this.#tokenPath) this.#giveToken(headers.authorization, response)
    else if (!this.#tokens.has(headers.authorization?.replace(/^Bearer /, '') ?? ''))
      say(response, 401, { error: 'invalid_token' })
    else if (headers['x-target-environment'] !== this.#product.targetEnvironment)
      say(response, 400, momoRefusal('NOT_ALLOWED_TARGET_ENVIRONMENT'))
    else return true
    return false
  }

  #giveToken(authorization: string | undefined, response: ServerResponse): void {
    const { apiUser, apiKey } = this.#product
    const isMerchant = authorization === `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`
    if (!isMerchant && !this.#users.admits(authorization)) return say(response, 401, { error: 'login_failed' })
    const token = randomBytes(21).toString('base64url')
    this.#tokens.add(token)
    say(response, 200, { access_token: token, token_type: 'access_token', expires_in: tokenSeconds })
  }
}

/** A payment, a transfer or a refund, from when it was taken on. */
export interface MomoOrder extends PaymentResult {
  amount: string
  currency: string
  phone: string
  callbackUrl: string | null
  /** Sets where a person answers for the payer: the answer, null until then. */
  byHand?: PayerAnswer | null
}

/** Reads an order with a phone; null when malformed. */
export function readMomoOrder(asked: Asked, party: 'payer' | 'payee'): { reference: string; order: MomoOrder } | null {
  const other = Object(asked.body?.[party])
  const phone = String(other.partyId)
  const isRight = other.partyIdType === 'MSISDN' && /^[1-9]\d{7,14}$/.test(phone)
  return isRight ? readMomoTerms(asked, `+${phone}`) : null
}

/** Reads an order whose phone is known. */
export function readMomoTerms({ headers, body }: Asked, phone: string): { reference: string; order: MomoOrder } | null {
  const reference = String(headers['x-reference-id'])
  const isRight =
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(reference) &&
    /^\d{1,12}(\.\d{1,2})?$/.test(String(body?.amount)) &&
    /^[A-Z]{3}$/.test(String(body?.currency)) &&
    [body?.payerMessage, body?.payeeNote].every((text) => /^[A-Za-z0-9 .-]{0,160}$/.test(String(text)))
  if (!isRight) return null
  const callbackUrl = headers['x-callback-url']
  const order: MomoOrder = {
    externalId: String(body?.externalId),
    status: 'PENDING',
    amount: String(body?.amount),
    currency: String(body?.currency),
    phone,
    callbackUrl: callbackUrl === undefined ? null : String(callbackUrl),
    financialTransactionId: null,
    reason: null,
  }
  return { reference, order }
}

/** Outcome of an order: paid, unless there is a reason. */
export function momoOutcome(
  reason: string | null,
): Pick<PaymentResult, 'status' | 'reason' | 'financialTransactionId'> {
  const isPaid = reason === null
  return {
    status: isPaid ? 'SUCCESSFUL' : 'FAILED',
    reason,
    financialTransactionId: isPaid ? String(randomInt(1_000_000_000, 9_999_999_999)) : null,
  }
}

/** Paid orders by their reference: the provider's own books. */
export function momoBooks(orders: Book<MomoOrder>): ReadonlyMap<string, string> {
  const paid = orders.entries().filter(([, { status }]) => status === 'SUCCESSFUL')
  return new Map(paid.map(([reference, { amount }]) => [reference, amount]))
}

export function momoRefusal(code: string): object {
  return { code, message: code }
}
