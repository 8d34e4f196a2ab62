// SPDX-License-Identifier: Apache-2.0
// The mail servers of the sandbox, on real ports. What becomes of a message depends on the local part of its recipient:
// `bounce+x@` is refused, `greylist+x@` only at first, `bounce-later+x@` is taken and then reported as undeliverable, and so
// on; every other address has a mailbox.
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { composeAbuseReport, composeDeliveryReport } from '../protocols/dsn.ts'
import { parseHeader } from '../protocols/mime/header.ts'
import { SmtpClient } from '../protocols/smtp/client.ts'
import { type Reply, reply } from '../protocols/smtp/reply.ts'
import { type ServerHost, ServerSession } from '../protocols/smtp/server-session.ts'
import { type Book, Journal } from './journal.ts'
import { type CaughtMessage, MailCatcher } from './mail-catcher.ts'
import { exchangers, MailNames, usualPolicyOf } from './mail-names.ts'
import { type Reading, readAs } from './mail-reader.ts'
import { type Identity, PolicyHost } from './policy-host.ts'

const maxBytes = 40 * 1024 * 1024
const maxRemembered = 10_000
const slowMs = 5_000
const tarpitMs = 60_000
const reportAfterMs = 2_000
const readAfterMs = 500

export interface MailExchangerOptions {
  host: string
  now(): number
  timeScale: number
  /** Certificate of the servers, also trusted for the URLs that readers open. */
  identity: Identity
  /** Certificate for a name, of an authority that senders of the sandbox trust. */
  identityOf(name: string): Identity
  ca: string | undefined
  journalFile: string | null
  ready: Promise<unknown>
  onProblem?(error: unknown): void
}

/** Pending action of a recipient or the server after a message was taken. */
interface PendingAction {
  what: Reading | 'bounce' | 'complaint'
  caught: string
  to: string
}

export class MailExchanger {
  readonly names: MailNames
  readonly catcher: MailCatcher
  readonly policies: PolicyHost
  readonly #options: MailExchangerOptions
  readonly #journal: Journal
  readonly #pendingActions: Book<PendingAction>
  readonly #greylisted = new Set<string>()
  readonly #sessions = new Set<ServerSession>()
  readonly #servers = new Map<string, Server>()
  #returnPath: { host: string; port: number } | null = null

  private constructor(options: MailExchangerOptions, names: MailNames, policies: PolicyHost) {
    this.#options = options
    this.names = names
    this.policies = policies
    this.catcher = new MailCatcher(names)
    const { now, timeScale, onProblem } = options
    this.#journal = new Journal({ file: options.journalFile, now, timeScale, ...(onProblem ? { onProblem } : {}) })
    this.#pendingActions = this.#journal.book({
      name: 'errands',
      most: maxRemembered,
      due: (action) => this.#run(action),
    })
  }

  static async start(options: MailExchangerOptions): Promise<MailExchanger> {
    const { host, identity, identityOf } = options
    const policies = await PolicyHost.start(host, identityOf, usualPolicyOf)
    const exchanger = new MailExchanger(options, await MailNames.start(host), policies)
    await exchanger.#listen(exchangers.usual, createSecureContext(identity))
    await exchanger.#listen(exchangers.sts, createSecureContext(identityOf(exchangers.sts)))
    // A certificate of a good authority, for another server.
    await exchanger.#listen(exchangers.badsts, createSecureContext(identityOf('elsewhere.mx.sandbox.pamoja.test')))
    await exchanger.#listen(exchangers.notls, null)
    // A server without a certificate: every handshake fails.
    await exchanger.#listen(exchangers.badtls, createSecureContext({}))
    await exchanger.#listenPinned(exchangers.dane, true)
    await exchanger.#listenPinned(exchangers.baddane, false)
    void options.ready.then(() => exchanger.#journal.begin())
    return exchanger
  }

  /** The port of a server of the sandbox, which are not all on 25. */
  portOf(exchanger: string): number | null {
    const address = this.#servers.get(exchanger)?.address()
    return typeof address === 'object' && address !== null ? address.port : null
  }

  /** Address that takes reports about messages. */
  reportTo(address: { host: string; port: number } | null): void {
    this.#returnPath = address
  }

  async stop(): Promise<void> {
    this.#journal.stop()
    for (const session of this.#sessions) session.destroy()
    await Promise.all([...this.#servers.values()].map((server) => new Promise((resolve) => server.close(resolve))))
    await this.policies.stop()
    await this.names.stop()
  }

  async #listen(name: string, secureContext: SecureContext | null): Promise<void> {
    const host = this.#hostOf(name, secureContext)
    const server = createServer((socket: Socket) => {
      const session = new ServerSession(socket, host)
      this.#sessions.add(session)
      void session.closed.then(() => this.#sessions.delete(session))
    })
    server.listen(0, this.#options.host)
    await once(server, 'listening')
    this.#servers.set(name, server)
  }

  /** A server with TLSA records (DANE), which fit its certificate or not. */
  async #listenPinned(name: string, isFitting: boolean): Promise<void> {
    const identity = this.#options.identityOf(name)
    await this.#listen(name, createSecureContext(identity))
    const key = new X509Certificate(identity.cert).publicKey.export({ type: 'spki', format: 'der' })
    const digest = createHash('sha256')
      .update(isFitting ? key : 'another key')
      .digest('hex')
    this.names.publish({ name: `_25._tcp.${name}`, type: 'TLSA', value: `3 1 1 ${digest}` })
  }

  #hostOf(hostname: string, secureContext: SecureContext | null): ServerHost {
    return {
      hostname,
      secureContext: () => secureContext,
      isSubmission: false,
      maxBytes,
      maxRecipients: 100,
      maxMessages: 1_000_000,
      idleMs: 120_000,
      delayMs: (_peer, recipient) => delayOf(recipient) * this.#options.timeScale,
      recipient: async (to, { from }) => this.#recipient(from, to),
      message: async ({ from, to }, content, { tls, address }) => {
        const at = new Date(this.#options.now())
        if (to.some((one) => behaviourOf(one) === 'drop')) return 'reset'
        for (const one of to) this.#take({ from, to: one, content, tls, peer: address, at })
        return reply(250, '2.0.0 Ok: queued')
      },
    }
  }

  #recipient(from: string, to: string): Reply | null {
    switch (behaviourOf(to)) {
      case 'bounce':
        return reply(550, '5.1.1 The mailbox does not exist')
      case 'bounce-soft':
        return reply(452, '4.2.2 The mailbox is full')
      case 'spam':
        return reply(554, '5.7.1 Message refused as spam')
      case 'greylist': {
        const key = `${from.slice(from.lastIndexOf('@'))} ${to}`
        if (this.#greylisted.has(key)) return null
        if (this.#greylisted.size >= maxRemembered) this.#greylisted.clear()
        this.#greylisted.add(key)
        return reply(451, '4.7.1 Greylisted, please try again later')
      }
      default:
        return null
    }
  }

  #take(message: Omit<CaughtMessage, 'id'>): void {
    const caught = this.catcher.keep(message)
    const behaviour = behaviourOf(message.to)
    const what = behaviour === 'bounce-later' ? 'bounce' : behaviour
    if (isAction(what))
      this.#pendingActions.put(
        caught.id,
        { what, caught: caught.id, to: message.to },
        isReading(what) ? readAfterMs : reportAfterMs,
      )
  }

  async #run({ what, caught, to }: PendingAction): Promise<undefined> {
    const message = this.catcher.get(caught)
    if (!message) return
    if (isReading(what)) return void (await readAs(what, message.content, this.#options.ca))
    if (!this.#returnPath || message.from === '') return
    const { bodyAt } = parseHeader(message.content)
    const about = {
      reporter: exchangers.usual,
      to: message.from,
      recipient: to,
      originalHeader: message.content.toString('utf8', 0, bodyAt),
      at: new Date(this.#options.now()),
    }
    const report =
      what === 'bounce'
        ? composeDeliveryReport({ ...about, status: '5.1.1', diagnostic: '550 5.1.1 The mailbox does not exist' })
        : composeAbuseReport({ ...about, feedbackType: 'abuse' })
    const client = await SmtpClient.connect({ ...this.#returnPath, hello: exchangers.usual, tls: 'opportunistic' })
    await client.send({ from: '', to: message.from, content: report, isUtf8: false, isEightBit: false })
    await client.quit()
  }
}

function isReading(what: PendingAction['what']): what is Reading {
  return what === 'open' || what === 'click' || what === 'unsubscribe'
}

function isAction(what: string): what is PendingAction['what'] {
  return ['open', 'click', 'unsubscribe', 'bounce', 'complaint'].includes(what)
}

/** `bounce` of `bounce+x@shop.test`; `bounce@shop.test` is meant so too. */
function behaviourOf(address: string): string {
  return /^([a-z-]+)(?:\+[^@]*)?@/.exec(address.toLowerCase())?.[1] ?? ''
}

function delayOf(recipient: string | null): number {
  const behaviour = recipient === null ? '' : behaviourOf(recipient)
  return behaviour === 'slow' ? slowMs : behaviour === 'tarpit' ? tarpitMs : 0
}
