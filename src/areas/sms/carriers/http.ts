// SPDX-License-Identifier: Apache-2.0
// A carrier behind HTTP: an aggregator that takes each message, however long, as one request which its profile describes.
// It is up until it fails to answer; then one message now and then finds out whether it does again.

import { Type } from 'typebox'
import { secureContextOf } from '../../../platform/outbound/dial.ts'
import { messageOf } from '../../../platform/telemetry/log.ts'
import type { Carrier, OutboundMessage, SubmitOutcome } from '../carrier.ts'
import { type Priority, segmentsOf } from '../message.ts'
import { type Bind, carrierKind, noticeUrl, type Surroundings } from './bind.ts'
import { httpFrame } from './http-frames.ts'
import { checkProfile, Profile } from './http-profile.ts'
import { type Answer, answerOf } from './http-reading.ts'
import { requestOf, valuesOf } from './http-request.ts'
import { Line } from './line.ts'

/** Messages of one class that wait for a place in the window. */
const maxWaiting = 5_000
/** An answer whose id cannot be read leaves the fate of its message unknown, so it may be long. */
const maxAnswerBytes = 64 * 1024

const HttpSettings = Type.Object({
  password: Type.String({
    default: '',
    maxLength: 2_000,
    pattern: '^[\\x20-\\x7e]*$',
    rule: 'must have at most 2000 visible ASCII characters',
    description: 'The password, or for `http` the token or key that `profile.auth` or {{password}} sends',
    sensitive: true,
  }),
  profile: Profile,
})

export const httpKind = carrierKind({
  settings: HttpSettings,
  isCalled: true,
  check: ({ profile }) => checkProfile(profile),
  open: (bind, { profile, password }, surroundings) => new HttpCarrier(bind, profile, password, surroundings),
  test: async (_bind, { profile }, probe) => {
    const { hostname, port, protocol } = new URL(profile.request.url)
    const isTls = protocol === 'https:'
    const host = hostname.replace(/^\[|\]$/g, '')
    const at = Number(port) || (isTls ? 443 : 80)
    await probe.name(host)
    await probe.connection(host, at)
    if (isTls) await probe.tls(host, at, secureContextOf(null))
    else probe.skip('tls', 'The address is http: nothing is encrypted')
    probe.skip('sign_in', 'Only a text shows whether the aggregator lets us in')
    probe.skip('answer', 'Only a text shows what the aggregator answers')
  },
})

interface Waiting {
  readonly account: string
  readonly priority: Priority
  readonly weight: number
  readonly message: OutboundMessage
  /** Number of refusals for lack of room. */
  throttled: number
  resolve(outcome: SubmitOutcome): void
  reject(error: unknown): void
}

class HttpCarrier implements Carrier {
  readonly #bind: Bind
  readonly #profile: Profile
  readonly #password: string
  readonly #surroundings: Surroundings
  readonly #line: Line<Waiting>
  readonly #running = new Set<Promise<void>>()
  lastError: string | null = null

  constructor(bind: Bind, profile: Profile, password: string, surroundings: Surroundings) {
    this.#bind = bind
    this.#profile = profile
    this.#password = password
    this.#surroundings = surroundings
    this.#line = new Line(maxWaiting, bind.ratePerSecond, {
      isOurs: () => this.#surroundings.isOurs(),
      isConnected: () => true,
      unanswered: () => this.#running.size,
      pump: () => this.#pump(),
    })
  }

  get name(): string {
    return this.#bind.name
  }

  get isUp(): boolean {
    return this.#line.isUp
  }

  get sessions(): number {
    return this.#line.isDoubted ? 0 : 1
  }

  get pending(): number {
    return this.#line.pending
  }

  get ratePerSecond(): number | null {
    return this.#line.ratePerSecond
  }

  /** Starts opens nothing: each request finds its connection. */
  async start(): Promise<void> {}

  async submit(message: OutboundMessage): Promise<SubmitOutcome> {
    const refusal = this.#line.refusal(message, 1)
    if (refusal) return refusal
    const { account, priority, weight } = message
    return new Promise((resolve, reject) => {
      this.#line.add({ account, priority, weight, message, throttled: 0, resolve, reject })
      this.#pump()
    })
  }

  /** Sends nothing more, and waits for the answers that are due. */
  async stop(): Promise<void> {
    this.#line.stop()
    await Promise.all(this.#running)
  }

  #pump(): void {
    while (this.#running.size < this.#bind.window) {
      const next = this.#line.next()
      if (!next) return
      const sending = this.#send(next)
        .catch(next.reject)
        .finally(() => {
          this.#running.delete(sending)
          this.#pump()
        })
      this.#running.add(sending)
    }
  }

  async #send(waiting: Waiting): Promise<void> {
    const { message } = waiting
    if (message.permit && !(await message.permit())) return waiting.resolve({ kind: 'withheld' })
    const answer = await this.#ask(message).catch((error): Answer => {
      this.#surroundings.log.error(
        { error, bind: this.name },
        'request to an aggregator could not be built: the message fails over; check the bind’s profile and address',
      )
      return { kind: 'reroute', code: 'CARRIER_ERROR', carrierCode: messageOf(error) }
    })
    if (answer.kind !== 'throttled') return waiting.resolve(answer)
    const waitMs = this.#line.throttle(waiting)
    if (waitMs === null) return waiting.resolve({ kind: 'reroute', code: 'THROTTLED', carrierCode: 'HTTP 429' })
    if (answer.afterMs !== null && answer.afterMs > waitMs)
      return waiting.resolve({ kind: 'retry', afterMs: answer.afterMs, reason: 'the aggregator asked for patience' })
    this.#line.again(waiting, waitMs)
  }

  async #ask(message: OutboundMessage): Promise<Answer> {
    const { http, publicUrl } = this.#surroundings
    const { url, method } = this.#profile.request
    const values = valuesOf(message, {
      parts: segmentsOf(message.text, message.encoding)?.segments ?? 1,
      password: this.#password,
      receipts_url: noticeUrl(publicUrl(), this.#bind, 'receipts'),
      inbound_url: noticeUrl(publicUrl(), this.#bind, 'inbound'),
    })
    const sentMs = performance.now()
    const outcome = await http.send({
      ...requestOf(this.#profile, values),
      pool: this.name,
      url,
      method,
      use: 'callback',
      environment: 'live',
      timeoutMs: this.#bind.responseTimeoutSeconds * 1_000,
      connections: this.#bind.window,
      maxAnswerBytes,
      once: true,
    })
    if (outcome.kind === 'failed') {
      message.trace?.note(httpFrame(this.name, method, message, outcome.reason, performance.now() - sentMs))
      this.#doubt(outcome.reason)
      return outcome.mayHaveArrived
        ? { kind: 'unknown', reason: outcome.reason }
        : { kind: 'reroute', code: 'CARRIER_ERROR', carrierCode: outcome.error }
    }
    this.#line.trust()
    const answer = answerOf(this.#profile, message.id, outcome)
    message.trace?.note(httpFrame(this.name, method, message, outcome.status, performance.now() - sentMs, answer))
    this.lastError = answer.kind === 'reroute' ? answer.carrierCode : answer.kind === 'unknown' ? answer.reason : null
    return answer
  }

  #doubt(reason: string): void {
    this.lastError = reason
    if (this.#line.doubt())
      this.#surroundings.log.warn(
        { bind: this.name, reason },
        'aggregator does not answer: messages wait or take another bind; check its status and the network',
      )
  }
}
