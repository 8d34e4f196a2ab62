// SPDX-License-Identifier: Apache-2.0
// The way to handsets over SMPP. So far it is the sandbox's: every node has a network of its own, and dialogs live where they
// began. A screen that another node stored is shown by the node that has the dialog, which hears of it by a signal.
import { randomInt } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import { onePerApp } from '../../platform/one-per-app.ts'
import { type Environment, tenantOf } from '../../platform/tenant.ts'
import { Esme } from '../../protocols/smpp/session.ts'
import {
  dialogsOf,
  standardProfile,
  type UssdMessage,
  type UssdOp,
  ussdOf,
  ussdPdu,
} from '../../protocols/smpp/ussd.ts'
import { ussdNetwork } from './sandbox/network.ts'
import { type Session, shownText } from './session.ts'
import { sessionOf } from './store.ts'
import { waitingOf } from './waiting.ts'

const reconnectMs = 500
const responseTimeoutMs = 10_000
const enquireLinkMs = 30_000
const window = 500
/** Said to all nodes when a session was taken on by one that has not its dialog. */
export const ussdTopic = 'ussd'

/** What a gateway brings; gives the command_status. */
type Intake = (gateway: string, message: UssdMessage) => Promise<number>

export const gatewayOf = onePerApp((app) => new Gateway(app))

class Gateway {
  readonly #app: App
  #esme: Esme | null = null
  #timer: NodeJS.Timeout | null = null
  #isStopped = false

  constructor(app: App) {
    this.#app = app
  }

  /** Where the dialogs of this node are. */
  get name(): string {
    return `sandbox-${this.#app.nodeId}`
  }

  get isUp(): boolean {
    return this.#esme !== null
  }

  async start(intake: Intake): Promise<() => Promise<void>> {
    this.#app.signals.on(ussdTopic, (text) => void this.#heard(text))
    await this.#connect(intake)
    return async () => {
      this.#isStopped = true
      if (this.#timer) clearTimeout(this.#timer)
      await this.#esme?.close()
    }
  }

  /** Shows what a session shows now. Gives whether the network took it. */
  async show(session: Session): Promise<boolean> {
    const isLast = session.awaiting === 'nobody'
    const op = session.setup.is_notice ? 'tells' : isLast ? 'ends' : 'asks'
    return this.#say(session, op, shownText(session))
  }

  /** Ends a dialog without a word. */
  async release(session: Session): Promise<boolean> {
    return this.#say(session, 'aborted', '')
  }

  async #say({ phone, shortcode, dialog }: Session, op: UssdOp, text: string): Promise<boolean> {
    const number = Number(dialog.slice(dialog.lastIndexOf('/') + 1))
    const code = shortcode.slice(1, -1).split('*')[0] ?? ''
    const message: UssdMessage = { op, dialog: number, sequence: 0, phone, code, text }
    const answer = await this.#esme?.submit(ussdPdu(message, 'destination')).catch(() => null)
    return answer?.status === 0
  }

  async #connect(intake: Intake): Promise<void> {
    const network = ussdNetwork.of(this.#app)
    if (network === null || this.#isStopped) return
    const again = (): void => {
      this.#esme = null
      if (!this.#isStopped) this.#timer = setTimeout(() => void this.#connect(intake), reconnectMs)
    }
    const { host, port, systemId, password } = network
    try {
      this.#esme = await Esme.connect({
        ...{ host, port, systemId, password, bindMode: 'transceiver', window, responseTimeoutMs, enquireLinkMs },
        onDeliver: async (pdu) => {
          const message = ussdOf(pdu, 'source')
          return message ? intake(this.name, message) : 0
        },
        onClosed: again,
      })
    } catch (error) {
      this.#app.log.warn({ error }, 'the USSD network is not connected; trying again')
      again()
    }
  }

  async #heard(text: string): Promise<void> {
    const [gateway, bucket = '', account = '', environment, id = ''] = text.split(' ')
    if (waitingOf(this.#app).wake(id) || gateway !== this.name) return
    const whose = { bucket: Number(bucket), account_id: account, environment: environmentOf(environment) }
    try {
      const session = await sessionOf(this.#app, tenantOf(whose), id)
      if (session) await this.show(session)
    } catch (error) {
      this.#app.log.warn({ error }, 'a screen that another node stored could not be shown')
    }
  }
}

/** As the platform names a dialog of a gateway that has numbers for them, each for one phone. */
export function dialogName(phone: string, number: number): string {
  return `${phone}/${number}`
}

/** A dialog for a session that the network does not know yet. */
export function newDialog(phone: string): string {
  return dialogName(phone, randomInt(dialogsOf(standardProfile)))
}

/** Has the next screen shown wherever the session's dialog is; whoever waits for it is woken. */
export async function showMoved(app: App, session: Session): Promise<void> {
  if (waitingOf(app).wake(session.id)) return
  const gateway = gatewayOf(app)
  if (session.gateway === gateway.name) return void (await gateway.show(session))
  const { bucket, account_id, environment, id } = session
  await app.signals.send(app.db, ussdTopic, [session.gateway, bucket, account_id, environment, id].join(' '))
}

function environmentOf(text: string | undefined): Environment {
  return text === 'live' ? 'live' : 'test'
}
