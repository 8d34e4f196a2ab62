// SPDX-License-Identifier: Apache-2.0
// SMPP connection to one gateway: screens go out, inputs come in.
import type { App } from '../../../platform/app.ts'
import { messageOf } from '../../../platform/telemetry/log.ts'
import { type SmppPlace, SmppPool } from '../../../protocols/smpp/pool.ts'
import { type UssdMessage, type UssdOp, type UssdProfile, ussdOf, ussdPdu } from '../../../protocols/smpp/ussd.ts'
import { type Session, shownText } from '../session.ts'
import { dialogNumber } from './dialogs.ts'

export interface LineSettings extends SmppPlace {
  /** Gateway name stored in sessions. */
  readonly name: string
  readonly profile: UssdProfile
}

interface LineHandlers {
  /** Handles a message of the gateway; returns the command_status. */
  take(gateway: string, message: UssdMessage): Promise<number>
  changed?(isUp: boolean, problem: string | null): void
}

const notConnected =
  'USSD gateway not connected: retried with growing waits; check its host, port and password if it stays so'

export class Line {
  readonly #profile: UssdProfile
  readonly #pool: SmppPool

  constructor(log: App['log'], { name, profile, ...place }: LineSettings, handlers: LineHandlers) {
    this.#profile = profile
    this.#pool = new SmppPool({
      ...place,
      sessions: 1,
      onDeliver: async (pdu) => {
        const message = ussdOf(pdu, 'source', profile)
        return message ? handlers.take(name, message) : 0
      },
      opened: () => handlers.changed?.(true, null),
      failed: (error, isFirst) => {
        const reason = messageOf(error)
        if (isFirst) log.warn({ gateway: name, reason }, notConnected)
        handlers.changed?.(false, reason)
      },
      lost: (reason) => {
        log.warn({ gateway: name, reason }, notConnected)
        handlers.changed?.(false, reason)
      },
    })
  }

  get isUp(): boolean {
    return this.#pool.sessions.size > 0
  }

  open(): Promise<void> {
    return this.#pool.start()
  }

  close(): Promise<void> {
    return this.#pool.stop()
  }

  /** Shows a session's current screen; returns whether the network accepted it. */
  async show(session: Session): Promise<boolean> {
    const isLast = session.awaiting === 'nobody'
    const op = session.setup.is_notice ? 'tells' : isLast ? 'ends' : 'asks'
    return this.#say(session, op, shownText(session))
  }

  /** Releases a dialog without a screen. */
  release(session: Session): Promise<boolean> {
    return this.#say(session, 'aborted', '')
  }

  async #say(screen: Session, op: UssdOp, text: string): Promise<boolean> {
    const { phone, shortcode, dialog } = screen
    const code = shortcode.slice(1, -1).split('*')[0] ?? ''
    const message: UssdMessage = { op, dialog: dialogNumber(dialog), sequence: sequenceOf(screen), phone, code, text }
    const pdu = ussdPdu(message, 'destination', this.#profile)
    const [session] = this.#pool.sessions
    const answer = await session?.submit(pdu).catch(() => null)
    return answer?.status === 0
  }
}

/** Sequence numbers have seven bits. */
const maxSequence = 127

/** Number of a screen, which rises within a dialog: above that of the answer it follows, which may echo the one before. */
function sequenceOf({ step, mark }: Session): number {
  return Math.max(step, Number.parseInt(mark ?? '0', 10) + 1) & maxSequence
}
