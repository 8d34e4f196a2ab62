// SPDX-License-Identifier: Apache-2.0
// A USSD gateway with handsets behind it, on a real port: handsets dial codes, see screens and answer them. A handset has one
// dialog at a time. Numbers that end in 0000NN do something by themselves, as the table says.
import type { SubmitSm } from '../protocols/smpp/pdu.ts'
import { Smsc, type SmscSession, type SubmitAnswer } from '../protocols/smpp/session.ts'
import { commandStatus } from '../protocols/smpp/status.ts'
import { dialogsOf, standardProfile, type UssdOp, type UssdProfile, ussdOf, ussdPdu } from '../protocols/smpp/ussd.ts'

const maxHandsets = 100_000
const maxSequence = 127

export interface HandsetScreen {
  readonly text: string
  /** Whether it can be answered. */
  readonly isOpen: boolean
}

interface Handset {
  readonly phone: string
  readonly code: string
  readonly dialog: number
  readonly session: SmscSession
  sequence: number
  /** Number of the last screen. */
  asked: number
  /** Screens that it was shown. */
  shown: number
  screen: HandsetScreen | null
  /** Waiters for the next screen. */
  waiting: ((screen: HandsetScreen | null) => void)[]
}

/** Reactions of handsets to an answerable screen, by the last two digits of a number in 0000NN. */
const habits: Readonly<Record<string, (network: UssdNetworkSimulator, handset: Handset) => void>> = {
  '01': (network, { phone }) => network.type(phone, '1'),
  '03': (network, { phone }) => void network.cancel(phone),
  '05': (network, handset) =>
    handset.shown === 1 ? network.type(handset.phone, '1') : void network.release(handset.phone),
  '06': (network, { phone }) => network.type(phone, '1'),
}

export interface UssdNetworkOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port?: number
  readonly systemId: string
  readonly password: string
  /** Dialect, where it differs from the standard. */
  readonly profile?: UssdProfile
  /** Whether it distrusts answers and sends everything twice. */
  readonly repeats?: boolean
  /** Numbers of answers: rising by themselves, those of the screens that they answer, or always 0. */
  readonly sequences?: 'own' | 'echoed' | 'none'
}

export class UssdNetworkSimulator {
  readonly #options: UssdNetworkOptions
  readonly #handsets = new Map<string, Handset>()
  #dialogs = 0
  #smsc: Smsc | null = null

  private constructor(options: UssdNetworkOptions) {
    this.#options = options
  }

  static async start(options: UssdNetworkOptions): Promise<UssdNetworkSimulator> {
    const simulator = new UssdNetworkSimulator(options)
    simulator.#smsc = await Smsc.listen({
      host: options.host,
      port: options.port ?? 0,
      systemId: 'USSDSIM',
      authenticate: (systemId, password) => simulator.#authenticate(systemId, password),
      onSubmit: async (session, message) => simulator.#take(session, message),
    })
    return simulator
  }

  get #profile(): UssdProfile {
    return this.#options.profile ?? standardProfile
  }

  get port(): number {
    return this.#smsc?.port ?? 0
  }

  /** A subscriber dials: gives the number of the dialog once the other side has taken it, or the status it refused with. */
  async dial(phone: string, dialled: string): Promise<{ readonly dialog: number; readonly status: number }> {
    const session = this.#receiver()
    if (!session) throw new Error('no session that receives USSD is bound')
    const handset = this.#open(phone, dialled, session, this.#nextDialog())
    const status = await this.#say(handset, 'dialled', dialled)
    if (this.#options.repeats) await this.#say(handset, 'dialled', dialled)
    return { dialog: handset.dialog, status }
  }

  /** A subscriber answers the screen; gives the command_status, null when it sees none that can be answered. */
  async input(phone: string, text: string): Promise<number | null> {
    const handset = this.#handsets.get(phone)
    if (!handset?.screen?.isOpen) return null
    handset.screen = null
    handset.sequence = this.#nextSequence(handset)
    const status = await this.#say(handset, 'answered', text)
    // The gateway of 06 doubts every answer that it gets.
    if (this.#options.repeats || nnOf(phone) === '06') await this.#say(handset, 'answered', text)
    return status
  }

  #nextSequence({ sequence, asked }: Handset): number {
    const { sequences = 'own' } = this.#options
    if (sequences === 'none') return 0
    return sequences === 'echoed' ? asked : (sequence + 1) & maxSequence
  }

  /** Type as a handset that reacts by itself, a moment later. */
  type(phone: string, text: string): void {
    setImmediate(() => void this.input(phone, text).catch(() => undefined))
  }

  /** The subscriber hangs up. */
  async cancel(phone: string): Promise<void> {
    await this.#abort(phone, 'aborted')
  }

  /** The network ends the dialog. */
  async release(phone: string): Promise<void> {
    await this.#abort(phone, 'released')
  }

  /** Current screen of a handset, or the next one; null when none came in time or its dialog is over. */
  screen(phone: string, withinMs: number): Promise<HandsetScreen | null> {
    const handset = this.#handsets.get(phone)
    if (!handset || handset.screen) return Promise.resolve(handset?.screen ?? null)
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), withinMs)
      handset.waiting.push((screen) => {
        clearTimeout(timer)
        resolve(screen)
      })
    })
  }

  async stop(): Promise<void> {
    for (const handset of this.#handsets.values()) this.#wake(handset, null)
    await this.#smsc?.close()
  }

  #authenticate(systemId: string, password: string): number {
    if (systemId !== this.#options.systemId) return commandStatus.ESME_RINVSYSID
    return password === this.#options.password ? commandStatus.ESME_ROK : commandStatus.ESME_RINVPASWD
  }

  #receiver(): SmscSession | undefined {
    return [...(this.#smsc?.sessions ?? [])].find(({ receives }) => receives)
  }

  #nextDialog(): number {
    this.#dialogs = (this.#dialogs + 1) % dialogsOf(this.#profile)
    return this.#dialogs
  }

  #open(phone: string, code: string, session: SmscSession, dialog: number): Handset {
    const before = this.#handsets.get(phone)
    if (before) this.#wake(before, null)
    const handset: Handset = {
      phone,
      code,
      dialog,
      session,
      sequence: 0,
      asked: 0,
      shown: 0,
      screen: null,
      waiting: [],
    }
    this.#handsets.delete(phone)
    this.#handsets.set(phone, handset)
    const [oldest] = this.#handsets.size > maxHandsets ? this.#handsets.keys() : []
    if (oldest !== undefined) this.#handsets.delete(oldest)
    return handset
  }

  /** A screen came. */
  #take(session: SmscSession, message: SubmitSm): SubmitAnswer {
    const said = ussdOf(message, 'destination', this.#profile)
    if (!said) return { status: commandStatus.ESME_RINVSERTYP, messageId: '' }
    const { op, phone, code, dialog, text } = said
    if (nnOf(phone) === '04') return { status: commandStatus.ESME_RSUBMITFAIL, messageId: '' }
    const known = this.#handsets.get(phone)
    const handset = known?.dialog === dialog ? known : this.#open(phone, code, session, dialog)
    const screen = { text, isOpen: op === 'asks' }
    handset.screen = screen
    handset.asked = said.sequence ?? 0
    handset.shown += 1
    this.#wake(handset, screen)
    if (screen.isOpen) habits[nnOf(phone)]?.(this, handset)
    return { status: commandStatus.ESME_ROK, messageId: `u${dialog}-${handset.shown}` }
  }

  #wake(handset: Handset, screen: HandsetScreen | null): void {
    for (const wake of handset.waiting.splice(0)) wake(screen)
  }

  async #abort(phone: string, op: UssdOp): Promise<void> {
    const handset = this.#handsets.get(phone)
    if (!handset) return
    this.#handsets.delete(phone)
    this.#wake(handset, null)
    await this.#say(handset, op, '').catch(() => undefined)
  }

  #say({ session, phone, code, dialog, sequence }: Handset, op: UssdOp, text: string): Promise<number> {
    const digits =
      code
        .replace(/[^\d*]/g, '')
        .replace(/^\*|\*$/g, '')
        .split('*')[0] ?? ''
    // Any bound session, where the one that the dialog began over is gone, or only sends.
    const via = session.receives && this.#smsc?.sessions.has(session) ? session : this.#receiver()
    if (!via) return Promise.reject(new Error('no session that receives USSD is bound'))
    return via.deliver(ussdPdu({ op, dialog, sequence, phone, code: digits, text }, 'source', this.#profile))
  }
}

/** The last two digits of a number that ends in 0000NN. */
function nnOf(phone: string): string {
  return /0000(\d\d)$/.exec(phone)?.[1] ?? ''
}
