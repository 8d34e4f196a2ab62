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
const mostConnections = 20
const messagesPerConnection = 100
const idleMs = 5_000
const maxWaiting = 64
const maxDestinations = 5_000
const backOffMs = 1_000

interface Idle {
  readonly client: SmtpClient
  readonly used: number
  readonly at: string
  readonly timer: NodeJS.Timeout
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

  /** Send over an idle connection, or a new one to the first server that answers. */
  async send(
    servers: readonly ClientOptions[],
    transaction: Transaction,
  ): Promise<{ sent: Sent; server: ClientOptions; tls: string | null }> {
    await this.#turn()
    try {
      return await this.#exchange(servers, transaction)
    } finally {
      this.#open -= 1
      this.#admit()
    }
  }

  /** Retry on a new connection when the server closed an idle one before the message was sent. */
  async #exchange(servers: readonly ClientOptions[], transaction: Transaction) {
    const idle = this.#reuse(servers)
    if (idle)
      try {
        return await this.#over(idle, servers, transaction)
      } catch (error) {
        if (!(error instanceof SmtpError) || error.kind !== 'closed' || error.sent) throw error
      }
    return this.#over(await this.#connect(servers), servers, transaction)
  }

  async #over({ client, used, at }: Omit<Idle, 'timer'>, servers: readonly ClientOptions[], transaction: Transaction) {
    const server = servers.find((one) => keyOf(one) === at) ?? servers[0]
    try {
      if (!server) throw new SmtpError('connect', 'there is no server')
      if (transaction.isUtf8 && !client.offers('SMTPUTF8'))
        return {
          sent: {
            stage: 'recipient' as const,
            reply: { code: 553, enhanced: '5.6.7', text: '5.6.7 The server takes no addresses beyond ASCII' },
          },
          server,
          tls: client.tls,
        }
      const sent = await client.send(transaction)
      return { sent, server, tls: client.tls }
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
    return this.#open < this.#limit.within(mostConnections)
  }

  /** Let in as many as the limit allows; after it was halved, that is none at first. */
  #admit(): void {
    while (this.#hasRoom() && this.#waiting.length > 0) this.#waiting.shift()?.()
  }

  #reuse(servers: readonly ClientOptions[]): Omit<Idle, 'timer'> | null {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      clearTimeout(idle.timer)
      const { at } = idle
      if (idle.client.isUsable && servers.some((one) => keyOf(one) === at)) return idle
      idle.client.destroy()
    }
    return null
  }

  async #connect(servers: readonly ClientOptions[]): Promise<Omit<Idle, 'timer'>> {
    let last: unknown = new SmtpError('connect', 'the domain has no mail server that can be reached')
    for (const server of servers) {
      try {
        return { client: await connectTolerantly(server), used: 0, at: keyOf(server) }
      } catch (error) {
        last = error
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
  }

  /** Adjust the connection limit after success or throttling. */
  learn(isThrottled: boolean, nowMs: number, pauseMs = backOffMs): void {
    if (isThrottled) {
      this.#limit.failed()
      this.#pausedUntilMs = nowMs + pauseMs
      return
    }
    this.#limit.succeeded(mostConnections)
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
async function connectTolerantly(server: ClientOptions): Promise<SmtpClient> {
  try {
    return await SmtpClient.connect(server)
  } catch (error) {
    if (!(error instanceof SmtpError) || error.kind !== 'tls' || server.tls !== 'opportunistic') throw error
    return SmtpClient.connect({ ...server, tls: 'none' })
  }
}

function keyOf({ host, port }: ClientOptions): string {
  return `${host} ${port}`
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
