// SPDX-License-Identifier: Apache-2.0
// Connection pool per destination, the group of servers of a domain. It starts with two connections, grows on success
// and shrinks when throttled; its queue is bounded, so that a slow destination does not block others.
import { AdaptiveLimit } from '../../../platform/concurrency/adaptive-limit.ts'
import {
  type ClientOptions,
  type Sent,
  SmtpClient,
  SmtpError,
  type Transaction,
} from '../../../protocols/smtp/client.ts'

const firstConnections = 2
const maxConnections = 20
const messagesPerConnection = 100
const idleMs = 5_000
const maxWaiting = 64
const maxDestinations = 5_000
const backOffMs = 1_000

const withoutUtf8: Sent = {
  stage: 'recipient',
  reply: { code: 553, enhanced: '5.6.7', text: '5.6.7 The server takes no addresses beyond ASCII' },
}

interface Idle {
  readonly client: SmtpClient
  readonly used: number
  readonly at: string
  readonly timer: NodeJS.Timeout
}

/** Security of a connection: none, encrypted with any certificate, or with one that MTA-STS or DANE accepts. */
export type TlsLevel = 'plain' | 'encrypted' | 'mta_sts' | 'dane'

export interface Server extends ClientOptions {
  /** Minimum security of a connection; `plain` still uses TLS where it is offered. */
  readonly level: TlsLevel
  /** TLSA records that the certificate must match; the connection is not shared with servers that have others. */
  readonly pinned?: string
  /** Source of the required security: `MTA-STS of shop.example`. */
  readonly rule?: string
}

/** Server without the required security: nothing was sent to it. */
export class InsecureServerError extends SmtpError {
  readonly level: TlsLevel

  constructor({ servername, level, rule }: Server, { message, reply }: SmtpError) {
    super('tls', `${rule} does not allow ${servername}: ${message}`, reply ? { reply } : {})
    this.level = level
  }
}

export interface Exchanged {
  readonly sent: Sent
  readonly server: Server
  readonly tls: string | null
  readonly level: TlsLevel
  /** Reason why MTA-STS would refuse the certificate; null when it would accept it. */
  readonly distrust: string | null
}

/** The queue of this destination is full: retry later. */
export class QueueFullError extends Error {}

export class Destination {
  readonly #idle: Idle[] = []
  readonly #waiting: (() => void)[] = []
  #open = 0
  readonly #limit = new AdaptiveLimit(firstConnections)
  #pausedUntilMs = 0

  get isUnused(): boolean {
    return this.#open === 0 && this.#waiting.length === 0 && this.#idle.length === 0
  }

  /** Rest of a pause the destination asked for. */
  pauseMs(nowMs: number): number {
    return Math.max(0, this.#pausedUntilMs - nowMs)
  }

  /** Sends over an idle connection, or a new one to the first server that answers. */
  async send(servers: readonly Server[], transaction: Transaction): Promise<Exchanged> {
    await this.#turn()
    try {
      return await this.#exchange(servers, transaction)
    } finally {
      this.#open -= 1
      this.#admit()
    }
  }

  /** Retries on a new connection when the server closed an idle one before the message was sent. */
  async #exchange(servers: readonly Server[], transaction: Transaction): Promise<Exchanged> {
    const idle = this.#reuse(servers)
    if (idle)
      try {
        return await this.#over(idle, servers, transaction)
      } catch (error) {
        if (!(error instanceof SmtpError) || error.kind !== 'closed' || error.sent) throw error
      }
    return this.#over(await this.#connect(servers), servers, transaction)
  }

  async #over(
    { client, used, at }: Omit<Idle, 'timer'>,
    servers: readonly Server[],
    transaction: Transaction,
  ): Promise<Exchanged> {
    const server = servers.find((one) => keyOf(one) === at) ?? servers[0]
    try {
      if (!server) throw new SmtpError('connect', 'there is no server')
      const { tls, distrust } = client
      const level = tls !== null && server.level === 'plain' ? 'encrypted' : server.level
      const sent = transaction.isUtf8 && !client.offers('SMTPUTF8') ? withoutUtf8 : await client.send(transaction)
      return { sent, server, tls, level, distrust }
    } finally {
      if (client.isUsable && used + 1 < messagesPerConnection) this.#keep(client, used + 1, at)
      else void client.quit()
    }
  }

  #turn(): Promise<void> {
    if (this.#hasRoom()) {
      this.#open += 1
      return Promise.resolve()
    }
    if (this.#waiting.length >= maxWaiting) return Promise.reject(new QueueFullError())
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        this.#open += 1
        resolve()
      })
    })
  }

  #hasRoom(): boolean {
    return this.#open < this.#limit.within(maxConnections)
  }

  /** Starts as many waiting messages as the connection limit allows: none at first after the limit was halved. */
  #admit(): void {
    while (this.#hasRoom() && this.#waiting.length > 0) this.#waiting.shift()?.()
  }

  /** Idle connection that fits; others stay, because domains of one group of servers may ask for different security. */
  #reuse(servers: readonly Server[]): Omit<Idle, 'timer'> | null {
    for (let i = this.#idle.length - 1; i >= 0; i--) {
      const idle = this.#idle[i]
      if (!idle || (idle.client.isUsable && !servers.some((one) => keyOf(one) === idle.at))) continue
      this.#idle.splice(i, 1)
      clearTimeout(idle.timer)
      if (idle.client.isUsable) return idle
      idle.client.destroy()
    }
    return null
  }

  async #connect(servers: readonly Server[]): Promise<Omit<Idle, 'timer'>> {
    let last: unknown = new SmtpError('connect', 'the domain has no mail server that can be reached')
    for (const server of servers) {
      try {
        return { client: await connectTolerantly(server), used: 0, at: keyOf(server) }
      } catch (error) {
        const isInsecure = error instanceof SmtpError && error.kind === 'tls' && server.rule !== undefined
        if (isInsecure) last = new InsecureServerError(server, error)
        else if (!(last instanceof InsecureServerError)) last = error
      }
    }
    throw last
  }

  #keep(client: SmtpClient, used: number, at: string): void {
    const timer = setTimeout(() => {
      const place = this.#idle.findIndex((one) => one.client === client)
      if (place >= 0) this.#idle.splice(place, 1)
      void client.quit()
    }, idleMs)
    timer.unref()
    this.#idle.push({ client, used, at, timer })
    const surplus = this.#idle.length > this.#limit.within(maxConnections) ? this.#idle.shift() : undefined
    if (!surplus) return
    clearTimeout(surplus.timer)
    void surplus.client.quit()
  }

  /** Adjusts the connection limit after success or throttling. */
  learn(isThrottled: boolean, nowMs: number, pauseMs = backOffMs): void {
    if (isThrottled) {
      this.#limit.failed()
      this.#pausedUntilMs = nowMs + pauseMs
      return
    }
    this.#limit.succeeded(maxConnections)
    this.#admit()
  }

  close(): void {
    for (const { client, timer } of this.#idle.splice(0)) {
      clearTimeout(timer)
      client.destroy()
    }
  }
}

/** Fall back to plain SMTP when the TLS handshake fails: opportunistic TLS is no worse than none. */
async function connectTolerantly(server: Server): Promise<SmtpClient> {
  try {
    return await SmtpClient.connect(server)
  } catch (error) {
    if (!(error instanceof SmtpError) || error.kind !== 'tls' || server.tls !== 'opportunistic') throw error
    return SmtpClient.connect({ ...server, tls: 'none' })
  }
}

/** Key of a shared connection: its server and the security required of it. */
function keyOf({ host, port, servername, level, tls, pinned = '' }: Server): string {
  return tls === 'opportunistic' ? `${host} ${port}` : `${host} ${port} ${servername} ${level} ${pinned}`
}

/** Destinations in use, or used recently, on this node. */
export class Destinations {
  readonly #known = new Map<string, Destination>()

  of(name: string): Destination {
    let destination = this.#known.get(name)
    if (!destination) {
      if (this.#known.size >= maxDestinations) this.#tidy()
      destination = new Destination()
      this.#known.set(name, destination)
    }
    return destination
  }

  close(): void {
    for (const destination of this.#known.values()) destination.close()
    this.#known.clear()
  }

  #tidy(): void {
    for (const [name, destination] of this.#known) if (destination.isUnused) this.#known.delete(name)
  }
}
