// SPDX-License-Identifier: Apache-2.0
// Sessions with one message centre or gateway: as many as were agreed, each opened again when it breaks, later each time.
// Centres that allow no transceiver are bound to twice, and the two connections live and end together: one without the other
// would send texts of which nothing is ever heard, or none at all.
import { backoffMs } from '../../kernel/backoff.ts'
import { SessionError } from './link.ts'
import { type BindMode, Esme, type EsmeOptions } from './session.ts'

/** Waits before a session is opened again; the last one goes on. */
const reconnectSeconds = [0.1, 0.5, 1, 2, 5, 10, 20]
const longestReconnectMs = 20_000
/** A session that is lost sooner than this was as good as refused: operators bar those who bind again and again at once. */
const soundMs = 5_000
const jitter = 0.2

export type SmppSession = Pick<Esme, 'submit' | 'pending' | 'close'>

/** Settings of a pool's connections. */
export interface SmppPlace extends Omit<EsmeOptions, 'bindMode' | 'onDeliver' | 'onClosed'> {
  readonly isPaired: boolean
}

interface PoolOptions extends SmppPlace {
  /** Number of sessions to keep open. */
  readonly sessions: number
  readonly onDeliver: EsmeOptions['onDeliver']
  /** Another session is open. */
  opened(): void
  /** Runs when a session could not be opened; `isFirst` unless that failed before. It is tried again. */
  failed(error: unknown, isFirst: boolean): void
  /** Runs when a session was lost, and is not among the others any more. */
  lost(reason: string): void
}

export class SmppPool {
  readonly #options: PoolOptions
  readonly #sessions = new Set<SmppSession>()
  readonly #reconnects = new Set<NodeJS.Timeout>()
  #stopped = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Opens sessions. */
  get sessions(): ReadonlySet<SmppSession> {
    return this.#sessions
  }

  /** Fulfilled when each session has been tried once. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.sessions }, () => this.#connect(0)))
  }

  /** Opens nothing more, waits for the answers that are due, and unbinds. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#reconnects) clearTimeout(timer)
    await Promise.all([...this.#sessions].map((session) => session.close()))
  }

  async #connect(failures: number): Promise<void> {
    const holder: { session: SmppSession | null; isClosed: boolean } = { session: null, isClosed: false }
    let openedMs = performance.now()
    const lost = (session: SmppSession, reason: string): void =>
      this.#lost(session, reason, performance.now() < openedMs + soundMs ? failures : 0)
    try {
      const session = await openSession(this.#options, (reason) => {
        holder.isClosed = true
        if (holder.session) lost(holder.session, reason)
      })
      if (this.#stopped) return void (await session.close())
      openedMs = performance.now()
      holder.session = session
      this.#sessions.add(session)
      if (holder.isClosed) return lost(session, 'it closed at once')
      this.#options.opened()
    } catch (error) {
      if (this.#stopped) return
      this.#options.failed(error, failures === 0)
      this.#reconnect(failures + 1)
    }
  }

  /** `failures`: how many in a row came before this one. */
  #lost(session: SmppSession, reason: string, failures: number): void {
    this.#sessions.delete(session)
    if (this.#stopped) return
    this.#options.lost(reason)
    this.#reconnect(failures + 1)
  }

  #reconnect(failures: number): void {
    if (this.#stopped) return
    const attempt = Math.min(failures, reconnectSeconds.length)
    const timer = setTimeout(
      () => {
        this.#reconnects.delete(timer)
        void this.#connect(failures)
      },
      backoffMs(reconnectSeconds, attempt, jitter, Math.random()) ?? longestReconnectMs,
    )
    timer.unref()
    this.#reconnects.add(timer)
  }
}

type OnClosed = EsmeOptions['onClosed']
type Connect = (bindMode: BindMode, onClosed: OnClosed) => Promise<Esme>

/** Opens a session, as Esme.connect(): `onClosed` is called once, and never when this rejects. */
function openSession(options: PoolOptions, onClosed: OnClosed): Promise<SmppSession> {
  const { host, port, tls = null, systemId, password, systemType = '', window } = options
  const { responseTimeoutMs, enquireLinkMs, onDeliver, isPaired } = options
  const place = { host, port, tls, systemId, password, systemType, window, responseTimeoutMs, enquireLinkMs }
  const connect: Connect = (bindMode, onEnd) => Esme.connect({ ...place, bindMode, onDeliver, onClosed: onEnd })
  return isPaired ? openPair(connect, onClosed) : connect('transceiver', onClosed)
}

/** The receiver comes first, so that no receipt has to wait for it. */
async function openPair(connect: Connect, onClosed: OnClosed): Promise<SmppSession> {
  const open: Esme[] = []
  let isWhole = false
  let endedBecause: string | null = null
  const end = (mode: BindMode, reason: string): void => {
    if (endedBecause !== null) return
    endedBecause = `the ${mode} was lost: ${reason}`
    for (const one of open) void one.close()
    if (isWhole) onClosed(endedBecause)
  }
  const receiver = await connect('receiver', (reason) => end('receiver', reason))
  open.push(receiver)
  const transmitter = await connect('transmitter', (reason) => end('transmitter', reason)).catch(async (error) => {
    // A centre may not let it in again before it is gone.
    await receiver.close()
    throw error
  })
  open.push(transmitter)
  if (endedBecause !== null) {
    void transmitter.close()
    throw new SessionError('closed', endedBecause, { sent: false })
  }
  isWhole = true
  return {
    submit: (message, onLate) => transmitter.submit(message, onLate),
    get pending() {
      return transmitter.pending
    },
    // Pending answers are waited for; receipts may come meanwhile.
    async close() {
      await transmitter.close()
      await receiver.close()
    },
  }
}
