// SPDX-License-Identifier: Apache-2.0
// The connection to one gateway over SMPP: opened again when it breaks, later each time. Gateways that allow no transceiver
// are bound to twice, and the two connections live and end together.
import type { SecureContext } from 'node:tls'
import type { App } from '../../../platform/app.ts'
import { type BindMode, Esme } from '../../../protocols/smpp/session.ts'
import { type UssdMessage, type UssdOp, type UssdProfile, ussdOf, ussdPdu } from '../../../protocols/smpp/ussd.ts'
import { type Session, shownText } from '../session.ts'
import { dialogNumber } from './dialogs.ts'

const firstPauseMs = 500
const longestPauseMs = 30_000

export interface LineSettings {
  /** As sessions name it. */
  readonly name: string
  readonly host: string
  readonly port: number
  readonly tls: SecureContext | null
  readonly systemId: string
  readonly password: string
  readonly systemType: string
  readonly isPaired: boolean
  readonly window: number
  readonly responseTimeoutMs: number
  readonly enquireLinkMs: number
  readonly profile: UssdProfile
}

interface Ears {
  /** What the gateway brings; gives the command_status. */
  take(gateway: string, message: UssdMessage): Promise<number>
  changed?(isUp: boolean, problem: string | null): void
}

export class Line {
  readonly #log: App['log']
  readonly #settings: LineSettings
  readonly #ears: Ears
  #open: Esme[] = []
  #timer: NodeJS.Timeout | null = null
  #failures = 0
  #isStopped = false

  constructor(log: App['log'], settings: LineSettings, ears: Ears) {
    this.#log = log
    this.#settings = settings
    this.#ears = ears
  }

  get isUp(): boolean {
    return this.#open.length > 0
  }

  get profile(): UssdProfile {
    return this.#settings.profile
  }

  async open(): Promise<void> {
    if (this.#isStopped) return
    const opened: Esme[] = []
    // Both ends of a pair report; what counts is the first.
    let isOver = false
    const over = (reason: string): void => {
      if (isOver) return
      isOver = true
      this.#open = []
      for (const one of opened) void one.close()
      this.#again(reason)
    }
    try {
      const modes: BindMode[] = this.#settings.isPaired ? ['receiver', 'transmitter'] : ['transceiver']
      for (const mode of modes) opened.push(await this.#connect(mode, over))
      if (isOver) return
      this.#open = opened
      this.#failures = 0
      this.#ears.changed?.(true, null)
      if (this.#isStopped) await this.close()
    } catch (error) {
      over(error instanceof Error ? error.message : String(error))
    }
  }

  async close(): Promise<void> {
    this.#isStopped = true
    if (this.#timer) clearTimeout(this.#timer)
    const open = this.#open
    this.#open = []
    await Promise.all(open.map((one) => one.close()))
  }

  /** Shows what a session shows now. Gives whether the network took it. */
  async show(session: Session): Promise<boolean> {
    const isLast = session.awaiting === 'nobody'
    const op = session.setup.is_notice ? 'tells' : isLast ? 'ends' : 'asks'
    return this.#say(session, op, shownText(session))
  }

  /** Ends a dialog without a word. */
  release(session: Session): Promise<boolean> {
    return this.#say(session, 'aborted', '')
  }

  async #say({ phone, shortcode, dialog }: Session, op: UssdOp, text: string): Promise<boolean> {
    const code = shortcode.slice(1, -1).split('*')[0] ?? ''
    const message: UssdMessage = { op, dialog: dialogNumber(dialog), sequence: 0, phone, code, text }
    const pdu = ussdPdu(message, 'destination', this.profile)
    const answer = await this.#open
      .at(-1)
      ?.submit(pdu)
      .catch(() => null)
    return answer?.status === 0
  }

  #connect(bindMode: BindMode, onClosed: (reason: string) => void): Promise<Esme> {
    const { name, profile, isPaired: _, ...place } = this.#settings
    return Esme.connect({
      ...place,
      bindMode,
      onDeliver: async (pdu) => {
        const message = ussdOf(pdu, 'source', profile)
        return message ? this.#ears.take(name, message) : 0
      },
      onClosed,
    })
  }

  #again(reason: string): void {
    if (this.#isStopped) return
    const { name } = this.#settings
    if (this.#failures === 0)
      this.#log.warn(
        { gateway: name, reason },
        'USSD gateway not connected: retried with growing waits; check its host, port and password if it stays so',
      )
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#failures, 10))
    this.#failures += 1
    this.#ears.changed?.(false, reason)
    this.#timer = setTimeout(() => void this.open(), pauseMs)
  }
}
