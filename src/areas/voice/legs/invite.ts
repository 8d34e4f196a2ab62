// SPDX-License-Identifier: Apache-2.0
// Outgoing SIP call over the first working route. A trunk that does not respond, has no line or does not want this side is passed
// over for this call; a callee who refused is not called again.
import type { Tenant } from '../../../platform/tenant.ts'
import type { SipCall } from '../../../protocols/sip/call.ts'
import type { DialogState } from '../../../protocols/sip/dialog.ts'
import type { CallHandlers } from '../../../protocols/sip/switchboard.ts'
import { isBlocked } from '../calls/blocked-prefixes.ts'
import { minutePriceOf } from '../calls/minute-price.ts'
import type { SipAudio } from '../room/sip-audio.ts'
import type { TelephoneNetwork, Way } from '../trunks/telephone-network.ts'

export interface InviteOptions {
  from: string
  to: string
  /** Public id of the call, by which the simulated carrier names its phone. */
  call: string
  audio: SipAudio
  ways: readonly Way[]
  /** Account that pays for the call, and the price of a minute. */
  payer: Tenant
  price: { currency: string; minuteMicros: bigint }
}

export interface InviteHandlers extends Omit<CallHandlers, 'referred'> {
  refused(status: number, reason: string): void
  /** A route failed and the next is tried. */
  passedOver?(way: Way, status: number): void
  /** The party wants a number to be called in its place, and its trunk may say so. */
  replaced?(number: string, tell: (status: number) => void): boolean
}

/** Timeout for the first response (100 Trying) of a trunk before the next one is tried. */
const firstSignMs = 4_000
/**
 * Time for the first response of a customer's address over TCP or TLS. A connection that is refused counts as silence until
 * then, so that an address tells nobody which ports are open there.
 */
const silentAddressMs = 8_000

/**
 * Refusals of a network that say nothing of the callee: no password that it takes, nothing left to spend, no answer, no line, a
 * fault of its own.
 */
const networkRefusals = new Set([401, 402, 407, 408, 500, 502, 503, 504])

/** Those among them that a network gives at each of its addresses. */
const wholeRefusals = new Set([401, 402, 407])

/** Redirects that one call follows. */
const maxRedirects = 3

/** One outgoing call over any number of routes. */
export class Invite {
  #sip: SipCall | null = null
  #trunk: string | null = null
  #isCancelled = false
  #redirects = 0
  readonly #network: TelephoneNetwork
  readonly #options: InviteOptions
  readonly #handlers: InviteHandlers

  constructor(network: TelephoneNetwork, options: InviteOptions, handlers: InviteHandlers) {
    this.#network = network
    this.#options = options
    this.#handlers = handlers
    this.#try(options.ways)
  }

  #try([way, ...rest]: readonly Way[]): void {
    if (!way) return void queueMicrotask(() => this.#handlers.refused(503, 'No way leads there'))
    const network = this.#network
    const options = this.#options
    const { payer } = options
    const handlers = this.#handlers
    const from = network.trunks.shown(way, options.from)
    if (from === null) {
      handlers.passedOver?.(way, 403)
      return this.#try(rest)
    }
    const shown = `<sip:${network.trunks.written(way, from)}@${way.domain ?? network.publicHost}>`
    const isDiscreet = way.trunk === undefined && way.peer.transport !== 'udp'
    let hasRung = false
    let isOver = false
    const passOver = (status: number, others = rest) => {
      isOver = true
      clearTimeout(patience)
      network.trunks.failed(way, options.to, status, !this.#sip?.hasHeard)
      handlers.passedOver?.(way, status)
      this.#try(others)
    }
    const refuse = (status: number, reason: string) => {
      isOver = true
      clearTimeout(patience)
      handlers.refused(status, reason)
    }
    const giveUp = () => {
      if (isOver || this.#isCancelled || this.#sip?.hasHeard) return
      if (rest.length === 0 && !isDiscreet) return
      if (rest.length > 0) passOver(408)
      else refuse(408, 'No answer')
      sip?.hangup()
    }
    const patience = setTimeout(giveUp, rest.length === 0 && isDiscreet ? silentAddressMs : firstSignMs)
    patience.unref()
    const sip = network.invite(
      way,
      {
        uri: way.uri,
        peer: way.peer,
        from: shown,
        description: options.audio.offer(way.peer, way),
        headers: [
          ['X-Pamoja-Call', options.call],
          // Networks that take From for the name of the line go by this one (RFC 3325).
          ...(way.trunk === undefined ? [] : [['P-Asserted-Identity', shown] as const]),
        ],
        ...(way.credentials ? { credentials: way.credentials } : {}),
        ...(way.trunk === undefined ? { mayReach: (host: string) => network.mayReach(host, payer.environment) } : {}),
      },
      {
        ...handlers,
        progress: (status, description, from) => {
          hasRung = true
          network.trunks.worked(way)
          handlers.progress?.(status, description, from)
        },
        answered: (description, from) => {
          clearTimeout(patience)
          network.trunks.worked(way)
          this.#trunk = way.trunk ?? null
          handlers.answered?.(description, from)
        },
        referred: (target, tell) => {
          const number = network.trunks.transferred(way, target)
          return number !== null && (handlers.replaced?.(number, tell) ?? false)
        },
        refused: (status, reason, contacts = []) => {
          if (isOver) return
          const isWaiting = isDiscreet && !sip?.hasHeard && !this.#isCancelled
          if (isWaiting) return
          const isDown = !hasRung && networkRefusals.has(status)
          const next = wholeRefusals.has(status) ? rest.filter(({ name }) => name !== way.name) : rest
          if (isDown && next.length > 0 && !this.#isCancelled) return passOver(status, next)
          const others =
            this.#isCancelled || this.#redirects >= maxRedirects
              ? []
              : network.trunks.redirected(way, contacts, (number) => this.#mayRing(number))
          if (others.length > 0) {
            this.#redirects++
            isOver = true
            clearTimeout(patience)
            return this.#try([...others, ...rest])
          }
          if (isDown) network.trunks.failed(way, options.to, status, !sip?.hasHeard)
          else if (!this.#isCancelled) network.trunks.worked(way)
          refuse(status, reason)
        },
      },
    )
    this.#sip = sip
    if (!sip) queueMicrotask(() => handlers.refused(503, 'This node takes no calls'))
  }

  /** Whether a network may have another number rung: none that is blocked or dearer, since the price of the call stays. */
  #mayRing(number: string): boolean {
    const { to, payer, price } = this.#options
    const { app } = this.#network
    if (number === to) return true
    const minuteMicros = minutePriceOf(app, payer, price.currency, number)
    return !isBlocked(app, number) && minuteMicros !== null && minuteMicros <= price.minuteMicros
  }

  /** Dialog of the call that was answered. */
  get dialogState(): DialogState | null {
    return this.#sip?.dialogState ?? null
  }

  /** Trunk of the call that was answered; null for other routes. */
  get trunk(): string | null {
    return this.#trunk
  }

  /** Asks the other side to call somebody else in place of this side. */
  refer(target: string, done: (status: number) => void): void {
    if (this.#sip) this.#sip.refer(target, done)
    else done(481)
  }

  /** Hangs up in any state. */
  hangup(): void {
    this.#isCancelled = true
    this.#sip?.hangup()
  }
}
