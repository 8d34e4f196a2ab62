// SPDX-License-Identifier: Apache-2.0
// The mail servers of the sandbox, on real ports. What becomes of a message depends on the local part of its recipient:
// `bounce+x@` is refused, `greylist+x@` only at first, `bounce-later+x@` is taken and then reported as undeliverable, and so
// on; every other address has a mailbox.
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
import { exchangers, MailNames } from './mail-names.ts'
import { type Reading, readAs } from './mail-reader.ts'

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
  identity: { key: string; cert: string }
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
  readonly #options: MailExchangerOptions
  readonly #journal: Journal
  readonly #pendingActions: Book<PendingAction>
  readonly #greylisted = new Set<string>()
  readonly #sessions = new Set<ServerSession>()
  readonly #servers = new Map<string, Server>()
  #returnPath: { host: string; port: number } | null = null

  private constructor(options: MailExchangerOptions, names: MailNames) {
    this.#options = options
    this.names = names
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
    const exchanger = new MailExchanger(options, await MailNames.start(options.host))
    const good = createSecureContext(options.identity)
    await exchanger.#listen(exchangers.usual, good)
    await exchanger.#listen(exchangers.notls, null)
    // A server without a certificate: every handshake fails.
    await exchanger.#listen(exchangers.badtls, createSecureContext({}))
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
