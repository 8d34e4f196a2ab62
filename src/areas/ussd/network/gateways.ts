// SPDX-License-Identifier: Apache-2.0
// SMPP gateways open on this node: the sandbox network, and operators' gateways whose lease it holds. A screen stored
// by another node is shown by the node that has the gateway, which gets a signal.
import { firstUuidAt } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { Held, type Place } from '../../../platform/connections/held.ts'
import { heldAmong } from '../../../platform/connections/ownership.ts'
import { Followed } from '../../../platform/nodes/followed.ts'
import { wakesOf } from '../../../platform/nodes/wakes.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { type Environment, tenantOf } from '../../../platform/tenant.ts'
import { standardProfile, type UssdMessage, type UssdProfile } from '../../../protocols/smpp/ussd.ts'
import type { Session } from '../session.ts'
import { sessionOf } from '../store.ts'
import { screenWaits } from '../waiting.ts'
import {
  type GatewayRow,
  gatewayName,
  gatewaysTowards,
  leftBehind,
  lineSettings,
  listGateways,
  nameOfGateway,
  noteGateway,
  profileOf,
} from './gateway-store.ts'
import { Line } from './line.ts'
import { ussdNetwork } from './sandbox.ts'

/** Signal topic: a session changed on a node without its dialog. */
const dialogs = 'ussd-dialogs'
/** Signal topic: an operator changed a gateway. */
export const gatewayTopic = 'ussd-gateways'

/** Prefix of gateway lease names. */
export const gatewayLeases = 'ussd.gateway'

/** Reloads interval, in case a signal was lost. */
const reloadMs = 30_000
/** Interval of the search for gateways without a node. */
const takeMs = 1_000
/** Longest wait for an application. */
const longestMs = 600_000

/** Handlers of gateway messages. */
interface GatewayHandlers {
  /** Handles a message; returns the command_status. */
  take(gateway: string, message: UssdMessage): Promise<number>
  /** Shows a session's screen; a session that cannot be reached ends. */
  show(session: Session): Promise<void>
  /** Resumes a session whose node was lost while it waited for its application. */
  resume(session: Session): void
}

export const gatewaysOf = onePerApp((app) => new Gateways(app))

interface GatewayPlace extends Place {
  readonly row: GatewayRow
}

class Gateways {
  readonly #app: App
  #sandbox: Line | null = null
  /** Operators' gateways. */
  readonly #held: Held<GatewayPlace, Line>
  #handlers: GatewayHandlers | null = null
  readonly #followed: Followed

  constructor(app: App) {
    this.#app = app
    this.#held = new Held(app, {
      leases: gatewayLeases,
      make: ({ row }) => this.#lineTo(row),
      // Not awaited: an unresponsive gateway must not delay the others.
      // Sessions of a gateway that was only changed are still being dealt with here.
      begin: async (name, line, isNew) => void line.open().then(() => (isNew ? this.#resume(name) : undefined)),
      close: (line) => line.close(),
    })
    this.#followed = new Followed(app, {
      ...{ topic: gatewayTopic, everyMs: reloadMs, what: 'USSD gateways', load: () => this.#load() },
      between: { everyMs: takeMs, run: () => this.#held.openFree() },
    })
  }

  /** Gateway name of this node's sandbox network. */
  get sandboxName(): string {
    return `sandbox-${this.#app.nodeId}`
  }

  has(gateway: string): boolean {
    return this.#line(gateway) !== null
  }

  /** Line of a gateway, by its name in sessions; null when it is not open here. */
  #line(gateway: string): Line | null {
    if (gateway === this.sandboxName) return this.#sandbox
    const name = nameOfGateway(gateway)
    return name === null ? null : this.#held.get(name)
  }

  async start(handlers: GatewayHandlers): Promise<() => Promise<void>> {
    this.#handlers = handlers
    wakesOf(this.#app).on(dialogs, (text) => void this.#heard(text))
    await this.#openSandbox(handlers)
    if (this.#app.config.PAMOJA_ROLES.includes('carriers')) await this.#followed.start()
    return () => this.#stop()
  }

  /** Gateway for a push to a number; null when none that can push is connected. What a dead node said of one is not believed. */
  async towards(environment: Environment, phone: string): Promise<{ name: string; profile: UssdProfile } | null> {
    if (environment === 'test') {
      const isUp = this.#sandbox?.isUp ?? false
      return isUp ? { name: this.sandboxName, profile: standardProfile } : null
    }
    const rows = await this.#app.db.query(gatewaysTowards, { phone })
    const names = rows.map(({ name }) => name)
    const held = await heldAmong(this.#app, gatewayLeases, names)
    const row = rows.find(({ name }) => held.has(name))
    return row ? { name: gatewayName(row.name), profile: profileOf(row.profile) } : null
  }

  /** Shows a screen; false when the network refused it or this node does not have the gateway. */
  async show(session: Session): Promise<boolean> {
    return (await this.#line(session.gateway)?.show(session)) ?? false
  }

  async release(session: Session): Promise<boolean> {
    return (await this.#line(session.gateway)?.release(session)) ?? false
  }

  async #openSandbox(handlers: GatewayHandlers): Promise<void> {
    const network = ussdNetwork.of(this.#app)
    if (!network) return
    const { host, port, systemId, password } = network
    const line = new Line(
      this.#app.log,
      {
        ...{ name: this.sandboxName, host, port, tls: null, systemId, password, systemType: '', isPaired: false },
        ...{ window: 500, responseTimeoutMs: 10_000, enquireLinkMs: 30_000, profile: standardProfile },
      },
      { take: handlers.take },
    )
    this.#sandbox = line
    await line.open()
  }

  async #load(): Promise<void> {
    const rows = (await this.#app.db.query(listGateways, {})).filter(({ enabled }) => enabled)
    await this.#held.want(rows.map((row) => ({ name: row.name, version: String(row.updated_at.getTime()), row })))
  }

  /** Line to a gateway; null when its password cannot be read, so that the others still work. */
  #lineTo(row: GatewayRow): Line | null {
    const handlers = this.#handlers
    if (handlers === null) return null
    try {
      return new Line(this.#app.log, lineSettings(this.#app, row), {
        take: handlers.take,
        changed: (isUp, problem) => void this.#note(row.name, isUp, problem),
      })
    } catch (error) {
      this.#app.log.error(
        { error, gateway: row.name },
        'USSD gateway not opened: its password cannot be read; set it again',
      )
      return null
    }
  }

  /** Resumes sessions of a lost node: the application is asked again with the same session and step. */
  async #resume(name: string): Promise<void> {
    const gateway = gatewayName(name)
    try {
      const since = firstUuidAt(Math.max(0, this.#app.clock.nowMs() - longestMs))
      for (const row of await this.#app.db.query(leftBehind, { gateway, since })) {
        const session = await sessionOf(this.#app, tenantOf(row), row.id)
        if (session && session.gateway === gateway) this.#handlers?.resume(session)
      }
    } catch (error) {
      this.#app.log.warn(
        { error, gateway },
        'sessions of a gateway taken over from another node not resumed: their timers end them; check the error if this repeats',
      )
    }
  }

  async #note(name: string, isUp: boolean, problem: string | null): Promise<void> {
    await this.#app.db
      .query(noteGateway, { name, isUp, problem: problem?.slice(0, 200) ?? null })
      .catch((error) =>
        this.#app.log.warn(
          { error },
          'status of a USSD gateway not stored: operators see the last one; check the database if this repeats',
        ),
      )
  }

  async #stop(): Promise<void> {
    await this.#followed.stop()
    await this.#held.stop()
    await this.#sandbox?.close()
  }

  async #heard(text: string): Promise<void> {
    const [verb, gateway = '', bucket = '', account = '', environment, id = ''] = text.split(' ')
    if (screenWaits.of(this.#app).wake(id) || !this.has(gateway)) return
    const whose = { bucket: Number(bucket), account_id: account, environment: environmentOf(environment) }
    try {
      const session = await sessionOf(this.#app, tenantOf(whose), id)
      if (!session) return
      if (verb === 'release') await this.release(session)
      else await this.#handlers?.show(session)
    } catch (error) {
      this.#app.log.warn(
        { error },
        'screen stored by another node not sent: the session’s timer ends it; check the gateway’s connection',
      )
    }
  }
}

/** Shows the screen on the node that has the dialog, by signal. */
export async function showOnItsNode(app: App, session: Session): Promise<void> {
  if (screenWaits.of(app).wake(session.id)) return
  await there(app, session, 'show')
}

/** Releases the dialog of a session without a screen, on whichever node it is. */
export async function releaseOnItsNode(app: App, session: Session): Promise<void> {
  await there(app, session, 'release')
}

async function there(app: App, session: Session, verb: 'show' | 'release'): Promise<void> {
  const gateways = gatewaysOf(app)
  if (gateways.has(session.gateway)) return void (await gateways[verb](session))
  const { gateway, bucket, account_id, environment, id } = session
  wakesOf(app).ring(dialogs, [verb, gateway, bucket, account_id, environment, id].join(' '))
}

function environmentOf(text: string | undefined): Environment {
  return text === 'live' ? 'live' : 'test'
}
