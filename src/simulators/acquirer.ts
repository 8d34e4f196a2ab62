// SPDX-License-Identifier: Apache-2.0
// A card acquirer on a real port, with the issuers behind it: the number of the card decides. It keeps books of what was
// charged and refunded, and nothing of a card but what a receipt shows.
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { passesLuhn } from '../kernel/card.ts'
import { acquirerPaths, refundFailedNotice, signatureHeader, signNotice } from '../protocols/acquirer.ts'
import { membersOf, textOf } from '../protocols/json.ts'
import { type CardPlay, playOfCard } from '../protocols/test-cards.ts'
import { DisputeDesk } from './acquirer-disputes.ts'
import type { Book } from './journal.ts'
import { type Asked, type ProviderServerOptions, SimulatedProvider, say } from './provider-server.ts'

const maxIntents = 100_000
const maxRefunds = 100_000
const refundLateMs = 60_000
const refundBounceMs = 20_000
const tellAgainMs = 10_000
const maxTellings = 5
const noticeTimeoutMs = 5_000
const challengePath = '/challenge/'

export interface AcquirerOptions extends ProviderServerOptions {
  secretKey: string
  webhookSecret: string
}

/** Reasons that a card is refused, as issuers say it. */
const declines: Readonly<Partial<Record<CardPlay, string>>> = {
  declined: 'card_declined',
  no_money: 'insufficient_funds',
  expired: 'expired_card',
  wrong_cvc: 'incorrect_cvc',
}

interface Intent {
  id: string
  reference: string
  key: string
  amount: number
  received: number
  currency: string
  status: 'requires_action' | 'requires_capture' | 'succeeded' | 'canceled' | 'failed'
  isManual: boolean
  play: CardPlay
  token: string | null
  code: string | null
  isChallenged: boolean
  notifyUrl: string
}

interface Refund {
  id: string
  reference: string
  intent: string
  amount: number
  status: 'pending' | 'succeeded' | 'failed'
  /** Number of reports of its failure. */
  tellings?: number
}

export class AcquirerSimulator extends SimulatedProvider {
  readonly #options: AcquirerOptions
  readonly #byReference = new Map<string, Intent>()
  readonly #intents: Book<Intent>
  readonly #refunds: Book<Refund>
  /** Token -> what its card does. */
  readonly #tokens: Book<CardPlay>
  /** Intents that failed once on purpose. */
  readonly #stumbled: Book<true>
  readonly #disputes: DisputeDesk

  private constructor(options: AcquirerOptions) {
    super(options)
    this.#options = options
    const { journal } = this
    this.#intents = journal.book({
      name: 'intents',
      most: maxIntents,
      due: (intent) => this.#notify(intent),
      forgotten: ({ reference }) => this.#byReference.delete(reference),
    })
    for (const intent of this.#intents.values()) this.#byReference.set(intent.reference, intent)
    this.#refunds = journal.book({
      name: 'refunds',
      most: maxRefunds,
      due: async (refund) => (refund.status === 'pending' ? this.#giveBack(refund) : this.#bounce(refund)),
    })
    this.#tokens = journal.book({ name: 'tokens', most: maxIntents })
    this.#stumbled = journal.book({ name: 'stumbled', most: maxIntents })
    this.#disputes = new DisputeDesk({
      journal,
      leftOf: ({ id }) => this.#leftOf(id),
      tell: (url, notice) => this.#tellNotice(url, notice),
    })
  }

  static start(options: AcquirerOptions): Promise<AcquirerSimulator> {
    return new AcquirerSimulator(options).listening()
  }

  protected override answer(asked: Asked, response: ServerResponse): void {
    const { method, path, query, headers, body } = asked
    if (method === 'POST' && path.startsWith(challengePath)) return this.#decide(path, body, response)
    if (headers.authorization !== `Bearer ${this.#options.secretKey}`)
      return say(response, 401, { error: { type: 'invalid_request_error', code: 'invalid_api_key' } })
    const { intents, refunds, disputes } = acquirerPaths
    const isWrite = method === 'POST'
    if (isWrite && typeof headers['idempotency-key'] !== 'string')
      return refuse(response, 400, 'idempotency_key_missing')
    if (isWrite && path === intents) return this.#create(asked, response)
    if (method === 'GET' && path === intents)
      return say(response, 200, {
        data: [this.#byReference.get(query.get('reference') ?? '')]
          .filter(isThere)
          .map((intent) => this.#shown(intent)),
      })
    if (method === 'GET' && path === `${intents}/books`) return say(response, 200, this.#books())
    if (isWrite && path === refunds) return this.#refund(asked, response)
    if (method === 'GET' && path === refunds)
      return say(response, 200, {
        data: [this.#refunds.get(query.get('reference') ?? '')].filter(isThere).map(shownRefund),
      })
    if (method === 'GET' && path === disputes)
      return this.#disputes.answerSearch(query.get('reference') ?? '', response)
    const [, answered] = /^\/v1\/disputes\/(dp_[0-9a-f]+)$/.exec(path) ?? []
    if (isWrite && answered !== undefined) return this.#disputes.takeEvidence(answered, asked, response)
    const [, dispute] = /^\/v1\/test_helpers\/disputes\/(dp_[0-9a-f]+)\/close$/.exec(path) ?? []
    if (isWrite && dispute !== undefined) return this.#disputes.decide(dispute, body, response)
    const [, id = '', verb = ''] = /^\/v1\/payment_intents\/(pi_[0-9a-f]+)\/(capture|cancel)$/.exec(path) ?? []
    const intent = this.#intents.get(id)
    if (!isWrite || !intent) return refuse(response, 404, 'resource_missing')
    if (verb === 'capture') {
      this.#capture(intent, body, response)
      return this.#expectDispute(intent)
    }
    if (intent.status === 'succeeded') return refuse(response, 400, 'payment_intent_unexpected_state')
    if (intent.status !== 'failed') intent.status = 'canceled'
    this.#intents.keep(id)
    say(response, 200, this.#shown(intent))
  }

  #create({ headers, body }: Asked, response: ServerResponse): void {
    const key = String(headers['idempotency-key'])
    const reference = textOf(membersOf(body?.metadata).reference)
    const before = this.#byReference.get(reference)
    if (before) return before.key === key ? this.#tell(before, response) : refuse(response, 400, 'reference_in_use')
    const { card } = membersOf(body?.payment_method_data)
    const digits = textOf(membersOf(card).number)
    const play = card === undefined ? this.#playOfToken(textOf(body?.payment_method)) : playOf(digits)
    const { amount, currency, notify_url } = membersOf(body)
    const isRight = typeof amount === 'number' && Number.isSafeInteger(amount) && amount > 0 && reference !== ''
    if (!isRight || play === null) return refuse(response, 400, 'parameter_invalid')
    if (play === 'down') return refuse(response, 503, 'api_unavailable')
    if (play === 'stumbles' && !this.#stumbled.has(key)) {
      this.#stumbled.put(key, true)
      return refuse(response, 500, 'api_error')
    }
    const isKept = body?.setup_future_usage === 'off_session' && card !== undefined
    const id = `pi_${randomBytes(12).toString('hex')}`
    const isMerchants = body?.off_session === true
    const code = play === 'declined_later' && isMerchants ? 'card_declined' : (declines[play] ?? null)
    const wants3ds = membersOf(membersOf(body?.payment_method_options).card).request_three_d_secure === 'any'
    const isChallenged = play === 'challenged' || play === 'challenged_declined' || wants3ds
    const isManual = body?.capture_method === 'manual'
    const intent: Intent = {
      id,
      reference,
      key,
      amount,
      received: 0,
      currency: textOf(currency),
      status: 'failed',
      isManual,
      play,
      token: isKept ? `pm_${randomBytes(12).toString('hex')}` : null,
      code,
      isChallenged: false,
      notifyUrl: textOf(notify_url),
    }
    if (intent.token !== null) this.#tokens.put(intent.token, play)
    if (code === null && isChallenged && !isMerchants) {
      intent.status = 'requires_action'
      intent.isChallenged = true
    } else if (code === null) approve(intent)
    this.#intents.put(id, intent)
    this.#byReference.set(reference, intent)
    this.#expectDispute(intent)
    this.#tell(intent, response)
  }

  /** Play of a token; one that is used is kept for longer. */
  #playOfToken(token: string): CardPlay | null {
    this.#tokens.keep(token)
    return this.#tokens.get(token) ?? null
  }

  #expectDispute(intent: Intent): void {
    if (intent.play === 'disputed' && intent.status === 'succeeded') this.#disputes.expect(intent)
  }

  #tell(intent: Intent, response: ServerResponse): void {
    if (intent.play === 'cut') return void response.destroy()
    if (intent.status !== 'failed') return say(response, 200, this.#shown(intent))
    say(response, 402, { error: { type: 'card_error', code: intent.code, payment_intent: this.#shown(intent) } })
  }

  /** Decision of the payer on the bank's page. */
  #decide(path: string, body: Asked['body'], response: ServerResponse): void {
    const intent = this.#intents.get(path.slice(challengePath.length))
    if (intent?.status !== 'requires_action') return refuse(response, 404, 'resource_missing')
    if (body?.decision === 'approve' && intent.play !== 'challenged_declined') approve(intent)
    else {
      intent.status = 'failed'
      intent.code = body?.decision === 'approve' ? 'card_declined' : 'authentication_failed'
    }
    intent.isChallenged = false
    this.#intents.put(intent.id, intent, 0)
    this.#expectDispute(intent)
    say(response, 200, {})
  }

  async #notify(intent: Intent): Promise<undefined> {
    const notice = { type: `payment_intent.${intent.status}`, data: { object: this.#shown(intent) } }
    await this.#tellNotice(intent.notifyUrl, notice)
  }

  /** Sends a notice; returns whether it was accepted. */
  async #tellNotice(url: string, notice: object): Promise<boolean> {
    if (!url.startsWith('https://')) return false
    const text = JSON.stringify(notice)
    const { webhookSecret, now, ca } = this.#options
    const signature = signNotice(webhookSecret, text, Math.floor(now() / 1_000))
    const authority = ca()
    const call = httpsRequest(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [signatureHeader]: signature },
      timeout: noticeTimeoutMs,
      ...(authority === undefined ? {} : { ca: authority }),
    })
    return new Promise((resolve) => {
      call.on('response', (answer) => answer.resume().once('close', () => resolve(answer.statusCode === 200)))
      call.on('timeout', () => call.destroy())
      call.on('error', () => resolve(false))
      call.end(text)
    })
  }

  #refund({ body }: Asked, response: ServerResponse): void {
    const reference = textOf(membersOf(body?.metadata).reference)
    const before = this.#refunds.get(reference)
    if (before) return say(response, 200, shownRefund(before))
    const intent = this.#intents.get(textOf(body?.payment_intent))
    const amount = body?.amount
    if (!intent || reference === '') return refuse(response, 404, 'resource_missing')
    if (this.#disputes.isTaken(intent.id)) return refuse(response, 400, 'charge_disputed')
    const left = this.#leftOf(intent.id)
    if (typeof amount !== 'number' || amount <= 0 || amount > left)
      return refuse(response, 400, 'charge_already_refunded')
    const isLate = intent.play === 'refund_late'
    const status = intent.play === 'refund_fails' ? 'failed' : isLate ? 'pending' : 'succeeded'
    const refund: Refund = { id: `re_${randomBytes(12).toString('hex')}`, reference, intent: intent.id, amount, status }
    const bounceMs = intent.play === 'refund_bounces' ? refundBounceMs : undefined
    this.#refunds.put(reference, refund, isLate ? refundLateMs : bounceMs)
    say(response, 200, shownRefund(refund))
  }

  #giveBack(refund: Refund): undefined {
    refund.status = 'succeeded'
    this.#refunds.keep(refund.reference)
  }

  /** The card is closed: the money comes back, which is told until it is taken. */
  async #bounce(refund: Refund): Promise<number | undefined> {
    refund.status = 'failed'
    refund.tellings = (refund.tellings ?? 0) + 1
    this.#refunds.keep(refund.reference)
    const notice = { type: refundFailedNotice, data: { object: shownRefund(refund) } }
    const isTaken = await this.#tellNotice(this.#intents.get(refund.intent)?.notifyUrl ?? '', notice)
    return isTaken || refund.tellings >= maxTellings ? undefined : tellAgainMs
  }

  #capture(intent: Intent, body: Asked['body'], response: ServerResponse): void {
    const amount = body?.amount_to_capture
    if (intent.status === 'succeeded' && intent.received === amount) return say(response, 200, this.#shown(intent))
    const isRight = typeof amount === 'number' && amount > 0 && amount <= intent.amount
    if (intent.status !== 'requires_capture' || !isRight)
      return refuse(response, 400, 'payment_intent_unexpected_state')
    intent.status = 'succeeded'
    intent.received = amount
    this.#intents.keep(intent.id)
    if (intent.play === 'cut') return void response.destroy()
    say(response, 200, this.#shown(intent))
  }

  #shown({ id, status, amount, received, currency, token, code, isChallenged, reference }: Intent): object {
    const url = `http://${this.#options.host}:${this.port}${challengePath}${id}`
    return {
      id,
      object: 'payment_intent',
      status,
      amount,
      amount_received: received,
      currency,
      payment_method: token,
      last_payment_error: code === null ? null : { code },
      next_action: isChallenged ? { type: 'redirect_to_url', redirect_to_url: { url } } : null,
      metadata: { reference },
    }
  }

  /** Captured amount of an intent, less refunds. */
  #leftOf(id: string): number {
    const given = this.#refunds.values().filter((one) => one.intent === id && one.status !== 'failed')
    return (this.#intents.get(id)?.received ?? 0) - given.reduce((sum, one) => sum + one.amount, 0)
  }

  /** Captured and refunded totals, in minor units, by currency. */
  #books(): object {
    const charged: Record<string, number> = {}
    const refunded: Record<string, number> = {}
    let charges = 0
    for (const { received, currency } of this.#intents.values()) {
      if (received > 0) charges++
      charged[currency] = (charged[currency] ?? 0) + received
    }
    for (const { intent, amount, status } of this.#refunds.values()) {
      const currency = this.#intents.get(intent)?.currency ?? ''
      if (status === 'succeeded') refunded[currency] = (refunded[currency] ?? 0) + amount
    }
    return { charges, charged, refunded }
  }
}

function playOf(digits: string): CardPlay | null {
  return passesLuhn(digits) ? playOfCard(digits) : null
}

function approve(intent: Intent): void {
  intent.status = intent.isManual ? 'requires_capture' : 'succeeded'
  if (!intent.isManual) intent.received = intent.amount
}

function shownRefund({ id, amount, status, reference, intent }: Refund): object {
  const failure_reason = status === 'failed' ? 'lost_or_stolen_card' : null
  return { id, object: 'refund', amount, status, failure_reason, payment_intent: intent, metadata: { reference } }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  say(response, status, { error: { type: 'invalid_request_error', code } })
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined
}
