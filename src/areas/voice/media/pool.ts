// SPDX-License-Identifier: Apache-2.0
// Media workers of this node: one thread per core but one, each with whole rooms. A crashed worker loses its calls,
// which are notified, and is replaced; one that cannot start is tried again with growing pauses. Without capacity calls are
// refused, and `refusal` says why.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { backoffMs } from '../../../kernel/backoff.ts'
import { root } from '../../../platform/program/root.ts'
import type { Logger } from '../../../platform/telemetry/log.ts'
import type { LegEnd } from '../../../protocols/media/engine.ts'
import { countPairs } from '../../../protocols/rtp/leg.ts'
import type { FromWorker, MediaCommand, MediaEvent, SocketCall, WorkerSettings, WorkerState } from './command.ts'

/** Events of a room's media. */
export interface RoomHandlers {
  happened(event: MediaEvent): void
  /** The worker crashed and the room's audio is lost. */
  lost(): void
}

const workerFile = new URL('dist/src/areas/voice/media/worker.js', root)
const maxWorkers = 8
/** Pauses before a worker that did not start is tried again. */
const startAgainSeconds = [0.25, 1, 4, 15, 60]

interface Thread {
  worker: Worker
  /** Status as it last told; null before it has started. */
  state: WorkerState | null
  rooms: Map<string, RoomHandlers>
  answers: Map<number, { done(answer: { port?: number; end?: LegEnd }): void; failed(error: Error): void }>
}

/** Legs that each worker takes: its limit, or its share of the ports where they are fewer. */
function legsPerWorker({ ports, maxLegs }: WorkerSettings, workers: number): number {
  return ports ? Math.min(maxLegs, Math.ceil(countPairs(ports) / workers)) : maxLegs
}

export class MediaPool {
  readonly #threads: Thread[] = []
  readonly #settings: WorkerSettings
  readonly #log: Pick<Logger, 'error'>
  readonly #file: URL
  readonly #restarts = new Set<NodeJS.Timeout>()
  #lastId = 0
  /** Starts in a row that failed. */
  #failures = 0
  #isClosed = false

  constructor(
    settings: WorkerSettings,
    log: Pick<Logger, 'error'>,
    { count = Math.max(1, Math.min(maxWorkers, availableParallelism() - 1)), file = workerFile } = {},
  ) {
    this.#settings = { ...settings, maxLegs: legsPerWorker(settings, count) }
    this.#log = log
    this.#file = file
    for (let i = 0; i < count; i++) this.#start()
  }

  #start(): void {
    const worker = new Worker(this.#file, { workerData: this.#settings })
    const thread: Thread = { worker, state: null, rooms: new Map(), answers: new Map() }
    worker.on('message', (message: FromWorker) => this.#take(thread, message))
    worker.on('error', (error) =>
      this.#log.error({ error }, 'media worker stopped: it is started again, and its calls are over; check the error'),
    )
    worker.on('exit', () => this.#lost(thread))
    worker.unref()
    this.#threads.push(thread)
  }

  #take(thread: Thread, message: FromWorker): void {
    if ('state' in message) {
      thread.state = message.state
      this.#failures = 0
    } else if ('happened' in message) thread.rooms.get(roomOf(message.happened))?.happened(message.happened)
    else {
      const { id, error, ...answer } = message.answer
      const waiting = thread.answers.get(id)
      thread.answers.delete(id)
      if (error === undefined) waiting?.done(answer)
      else waiting?.failed(new Error(error))
    }
  }

  #lost(thread: Thread): void {
    this.#threads.splice(this.#threads.indexOf(thread), 1)
    for (const { failed } of thread.answers.values()) failed(new Error('the media worker is gone'))
    for (const room of thread.rooms.values()) room.lost()
    if (this.#isClosed) return
    if (thread.state) return this.#start()
    const timer = setTimeout(() => {
      this.#restarts.delete(timer)
      this.#start()
    }, this.#pauseMs())
    timer.unref()
    this.#restarts.add(timer)
  }

  #pauseMs(): number {
    const attempt = Math.min(++this.#failures, startAgainSeconds.length)
    return backoffMs(startAgainSeconds, attempt, 0.2, Math.random()) ?? 0
  }

  /** Whether there is capacity for one more call. */
  get admits(): boolean {
    return this.#threads.some((thread) => this.#isOpen(thread))
  }

  /** A worker that is about to start takes rooms, unless the last one did not. */
  #isOpen({ state }: Thread): boolean {
    return state?.admits ?? this.#failures === 0
  }

  /** Why no call is taken; null while calls are. */
  get refusal(): string | null {
    if (this.admits) return null
    if (this.#failures > 0) return 'no process for audio starts on this node'
    const { lateMs } = this.figures
    if (lateMs > this.#settings.latestMs)
      return `audio would be late: by ${Math.round(lateMs)} ms now, and ${this.#settings.latestMs} ms are the limit`
    return 'this node has as many calls as it takes'
  }

  get figures(): { legs: number; lateMs: number; workers: number } {
    const states = this.#threads.flatMap(({ state }) => state ?? [])
    const legs = states.reduce((sum, state) => sum + state.legs, 0)
    return { legs, lateMs: Math.max(0, ...states.map((state) => state.lateMs)), workers: this.#threads.length }
  }

  /** Opens a room on the least loaded worker. Names within it start with the room's. */
  room(id: string, handlers: RoomHandlers): MediaRoom | null {
    const [thread] = this.#threads.filter((each) => this.#isOpen(each)).sort((a, b) => a.rooms.size - b.rooms.size)
    if (!thread) return null
    thread.rooms.set(id, handlers)
    return new MediaRoom(
      id,
      (command) => this.#ask(thread, command),
      () => thread.rooms.delete(id),
    )
  }

  #ask(thread: Thread, command: MediaCommand): Promise<{ port?: number; end?: LegEnd }> {
    return new Promise((done, failed) => {
      if (!this.#threads.includes(thread)) return failed(new Error('the media worker is gone'))
      const id = ++this.#lastId
      thread.answers.set(id, { done, failed })
      thread.worker.postMessage({ id, command })
    })
  }

  /** Crash a worker, for tests. */
  async crash(): Promise<void> {
    await this.#threads[0]?.worker.terminate()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#restarts) clearTimeout(timer)
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()))
  }
}

/** Room of a media event: names are `room:name`. */
function roomOf(event: MediaEvent): string {
  const name =
    'leg' in event
      ? event.leg
      : 'player' in event
        ? event.player
        : 'recorder' in event
          ? event.recorder
          : event.listener
  return name.slice(0, name.indexOf(':'))
}

/** Room as its call commands it. Commands without a reply are not awaited. */
export class MediaRoom {
  readonly id: string
  readonly #ask: (command: MediaCommand) => Promise<{ port?: number; end?: LegEnd }>
  readonly #forget: () => void

  constructor(
    id: string,
    ask: (command: MediaCommand) => Promise<{ port?: number; end?: LegEnd }>,
    forget: () => void,
  ) {
    this.id = id
    this.#ask = ask
    this.#forget = forget
  }

  name(what: string): string {
    return `${this.id}:${what}`
  }

  /** Opens a leg; returns its local port. */
  async open(leg: string, host: string): Promise<number> {
    const { port } = await this.#ask({ do: 'open', leg: this.name(leg), room: this.id, host })
    if (port === undefined) throw new Error('a leg without a port')
    return port
  }

  /** Opens the websocket of a leg; returns the problem when it cannot be. */
  async openSocket(leg: string, call: SocketCall): Promise<string | null> {
    const asked = this.#ask({ do: 'open_socket', leg: this.name(leg), room: this.id, call })
    return asked.then(
      () => null,
      (error: Error) => error.message,
    )
  }

  async closeLeg(leg: string): Promise<LegEnd | null> {
    const answer = await this.#ask({ do: 'close', leg: this.name(leg) }).catch(() => null)
    return answer?.end ?? null
  }

  tell(command: MediaCommand): void {
    this.#ask(command).catch(() => undefined)
  }

  close(): void {
    this.#forget()
  }
}
