// SPDX-License-Identifier: Apache-2.0
// The ports at which customers bind with SMPP 3.4, with TLS and without: who may connect and bind, and what sessions ask for.
import { isInRange, parseAddress, parseAddressRange } from '../../../kernel/addresses.ts'
import type { App } from '../../../platform/app.ts'
import { isPassword } from '../../../platform/auth/password.ts'
import { networkOf } from '../../../platform/http/admission.ts'
import type { AreaListener, OpenListener, Place } from '../../../platform/program/listeners.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import type { SubmitSm } from '../../../protocols/smpp/pdu.ts'
import { type BindPeer, Smsc, type SmscSession, type SubmitAnswer } from '../../../protocols/smpp/session.ts'
import { commandStatus } from '../../../protocols/smpp/status.ts'
import { findCredential, openPorts, recordBind, type SmppCredential } from './credentials.ts'
import { type Bound, offers } from './offers.ts'
import { callOff, query, submit } from './submit.ts'

const maxConnections = 1_000
/** Connections of one network, so that others find some left. */
const maxOfNetwork = 100
const bindWithinMs = 30_000
const wrongBindsPerMinute = 5
const oldestVersion = 0x33
const newestVersion = 0x50
/** Time for which a credential is not looked up again. */
const goodForMs = 1_000

const listener = (name: 'esme' | 'esme_tls'): AreaListener => ({
  name,
  role: 'api',
  over: 'tcp',
  scheme: name === 'esme' ? 'smpp' : 'smpps',
  host: 'PAMOJA_ESME_HOST',
  port: name === 'esme' ? 'PAMOJA_ESME_PORT' : 'PAMOJA_ESME_TLS_PORT',
  isOff: (config) =>
    config.NODE_ENV === 'production' && config[name === 'esme' ? 'PAMOJA_ESME_PORT' : 'PAMOJA_ESME_TLS_PORT'] === 0,
  open: (app, place) => open(app, name, place),
})

export const esmeListeners = [listener('esme'), listener('esme_tls')]

async function open(app: App, name: 'esme' | 'esme_tls', { host, port, identity }: Place): Promise<OpenListener> {
  const customers = customersOf(app)
  const smsc = await Smsc.listen({
    ...{ host, port, tls: name === 'esme_tls' ? identity : null, maxSessions: maxConnections },
    bindTimeoutMs: bindWithinMs,
    admits: (address) => customers.admits(address),
    authenticate: (systemId, password, _mode, peer) => customers.authenticate(systemId, password, peer),
    onSession: (session) => customers.bound(session),
    onClosed: (session) => customers.gone(session),
    onSubmit: (session, message, command) => customers.submit(session, message, command),
    onQuery: async (session, wanted) => {
      const bound = customers.of(session)
      return bound ? query(app, bound, wanted) : null
    },
    onCancel: async (session, wanted) => {
      const bound = customers.of(session)
      return bound ? callOff(app, bound, wanted) : commandStatus.ESME_RINVBNDSTS
    },
  })
  openPorts(app).set(name, smsc.port)
  return {
    port: smsc.port,
    updateIdentity: (renewed) => smsc.updateIdentity(renewed),
    async close(withinMs) {
      const deadline = setTimeout(() => smsc.cut(), withinMs)
      await smsc.close()
      clearTimeout(deadline)
    },
  }
}

interface Member extends Bound {
  readonly submitting: Set<string>
  /** Submits without an answer. */
  underWay: number
}

const customersOf = onePerApp((app) => new Customers(app))

/** Customers that are bound to this node, over both ports. */
class Customers {
  readonly #app: App
  readonly #open = new Map<string, number>()
  /** Sessions by credential. */
  readonly #sessions = new Map<string, number>()
  /** Credential of a bind that was let in, until its session is there. */
  readonly #admitted = new WeakMap<BindPeer, SmppCredential>()
  readonly #members = new WeakMap<SmscSession, Member>()
  readonly #releases = new WeakMap<SmscSession, () => void>()

  constructor(app: App) {
    this.#app = app
  }

  of(session: SmscSession): Member | undefined {
    return this.#members.get(session)
  }

  admits(address: string): (() => void) | null {
    const network = networkOf(address)
    if ((this.#open.get(network) ?? 0) >= maxOfNetwork) return null
    return counted(this.#open, network)
  }

  /** The command_status of a bind. Wrong ones count: after five, a network waits. */
  async authenticate(systemId: string, password: string, peer: BindPeer): Promise<number> {
    const { ESME_ROK, ESME_RBINDFAIL, ESME_RINVSYSID, ESME_RINVPASWD } = commandStatus
    if (peer.interfaceVersion < oldestVersion || peer.interfaceVersion > newestVersion) return ESME_RBINDFAIL
    const wrong = wrongBinds(peer.address)
    const [state] = await this.#app.limits.peek([wrong])
    if (state && state.remaining < 1) return ESME_RBINDFAIL
    try {
      const credential = await findCredential(this.#app.db, systemId)
      const isRight = credential !== null && (await isPassword(password, credential.hash))
      if (!isRight || !isAllowed(credential.allowed_ips, peer.address)) {
        await this.#app.limits.admit([wrong])
        return credential === null ? ESME_RINVSYSID : ESME_RINVPASWD
      }
      if ((this.#sessions.get(credential.id) ?? 0) >= credential.sessions) return ESME_RBINDFAIL
      await recordBind(this.#app.db, credential)
      this.#admitted.set(peer, credential)
      return ESME_ROK
    } catch {
      // The database is away, or too many sign in at once: the customer binds again in a while.
      return ESME_RBINDFAIL
    }
  }

  bound(session: SmscSession): void {
    const credential = this.#admitted.get(session.peer)
    if (!credential) return session.drop()
    // Others may have bound while the password of this one was checked.
    if ((this.#sessions.get(credential.id) ?? 0) >= credential.sessions) return void session.unbind()
    const member: Member = {
      ...{ session, credential, tenant: tenantOf(credential), address: plain(session.peer.address) },
      isStillGood: rechecked(this.#app, credential),
      submitting: new Set(),
      underWay: 0,
    }
    this.#members.set(session, member)
    this.#releases.set(session, counted(this.#sessions, credential.id))
    offers(this.#app).add(member)
  }

  gone(session: SmscSession): void {
    this.#releases.get(session)?.()
    const member = this.#members.get(session)
    if (member) offers(this.#app).remove(member)
  }

  async submit(session: SmscSession, message: SubmitSm, command: 'submit_sm' | 'data_sm'): Promise<SubmitAnswer> {
    const refused = (status: number): SubmitAnswer => ({ status, messageId: '' })
    const member = this.#members.get(session)
    if (!member) return refused(commandStatus.ESME_RINVBNDSTS)
    if (command === 'data_sm') return refused(commandStatus.ESME_RINVCMDID)
    if (member.underWay >= member.credential.window) return refused(commandStatus.ESME_RTHROTTLED)
    const ids: string[] = []
    member.underWay += 1
    try {
      if (!(await member.isStillGood())) {
        void session.unbind()
        return refused(commandStatus.ESME_RINVBNDSTS)
      }
      return await submit(this.#app, member, message, (id) => {
        ids.push(id)
        member.submitting.add(id)
      })
    } finally {
      member.underWay -= 1
      // After the answer, which leaves in this turn of the event loop.
      setImmediate(() => {
        for (const id of ids) member.submitting.delete(id)
      })
    }
  }
}

/** Counts one more of a name; gives what to call when it has ended. */
function counted(counts: Map<string, number>, name: string): () => void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
  return () => {
    const left = (counts.get(name) ?? 1) - 1
    if (left > 0) counts.set(name, left)
    else counts.delete(name)
  }
}

/** Whether a credential still has the password that the session bound with. */
function rechecked(app: App, { system_id, hash }: SmppCredential): () => Promise<boolean> {
  let goodUntilMs = performance.now() + goodForMs
  return async () => {
    if (performance.now() < goodUntilMs) return true
    goodUntilMs = performance.now() + goodForMs
    return (await findCredential(app.db, system_id))?.hash === hash
  }
}

function wrongBinds(address: string) {
  const network = networkOf(address)
  const counts = { limit: wrongBindsPerMinute, windowMs: 60_000, shared: false }
  return { name: 'smpp-bind', key: `smpp-bind:${network}`, ...counts }
}

const plain = (address: string): string => address.replace(/^::ffff:/, '')

function isAllowed(ranges: readonly string[], peer: string): boolean {
  const address = parseAddress(plain(peer))
  if (ranges.length === 0) return true
  return ranges.some((text) => {
    const range = parseAddressRange(text)
    return range !== null && address !== null && isInRange(address, range)
  })
}
