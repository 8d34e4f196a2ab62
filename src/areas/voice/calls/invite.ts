// SPDX-License-Identifier: Apache-2.0
// Outgoing SIP call over the first working route. A trunk that is down or does not respond is skipped; a callee who
// refused is not called again.
import { offerAudio } from '../../../protocols/sdp/session-description.ts'
import type { SipCall } from '../../../protocols/sip/call.ts'
import type { CallHandlers } from '../../../protocols/sip/switchboard.ts'
import type { TelephoneNetwork, Way } from '../trunks/telephone-network.ts'

export interface InviteOptions {
  from: string
  /** Public id of the call, by which the simulated carrier names its phone. */
  call: string
  port: number
  ways: readonly Way[]
}

export interface InviteHandlers extends CallHandlers {
  refused(status: number, reason: string): void
  /** A route failed and the next is tried. */
  passedOver?(way: Way, status: number): void
}

/** Timeout for the first response (100 Trying) of a trunk before the next one is tried. */
const firstSignMs = 4_000

/** One outgoing call over any number of routes. */
export class Invite {
  private sip: SipCall | null = null
  private isCancelled = false
  private readonly network: TelephoneNetwork
  private readonly options: InviteOptions
  private readonly handlers: InviteHandlers

  constructor(network: TelephoneNetwork, options: InviteOptions, handlers: InviteHandlers) {
    this.network = network
    this.options = options
    this.handlers = handlers
    this.try(options.ways)
  }

  private try([way, ...rest]: readonly Way[]): void {
    if (!way) return void queueMicrotask(() => this.handlers.refused(503, 'No way leads there'))
    const { network, options, handlers } = this
    let hasRung = false
    let isPassedOver = false
    const passOver = (status: number) => {
      isPassedOver = true
      clearTimeout(patience)
      network.trunks.failed(way, status)
      handlers.passedOver?.(way, status)
      this.try(rest)
    }
    const patience = setTimeout(() => {
      if (rest.length === 0 || this.isCancelled || this.sip?.hasHeard) return
      this.sip?.hangup()
      passOver(408)
    }, firstSignMs)
    patience.unref()
    this.sip = network.invite(
      way,
      {
        uri: way.uri,
        peer: way.peer,
        from: `<sip:${options.from}@${way.domain ?? network.host}>`,
        description: offerAudio({ host: network.mediaHost, port: options.port, version: 1 }),
        headers: [['X-Pamoja-Call', options.call]],
        ...(way.credentials ? { credentials: way.credentials } : {}),
      },
      {
        ...handlers,
        progress: (status, description) => {
          hasRung = true
          handlers.progress?.(status, description)
        },
        answered: (description) => {
          clearTimeout(patience)
          network.trunks.worked(way)
          handlers.answered?.(description)
        },
        refused: (status, reason) => {
          clearTimeout(patience)
          if (isPassedOver) return
          const isDown = !hasRung && (status === 503 || status === 408)
          if (isDown && rest.length > 0 && !this.isCancelled) return passOver(status)
          if (isDown) network.trunks.failed(way, status)
          handlers.refused(status, reason)
        },
      },
    )
    if (!this.sip) queueMicrotask(() => handlers.refused(503, 'This node takes no calls'))
  }

  /** Hang up in any state. */
  hangup(): void {
    this.isCancelled = true
    this.sip?.hangup()
  }
}
