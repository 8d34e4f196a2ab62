// SPDX-License-Identifier: Apache-2.0
// Media workers of this node: one thread per core but one, each with whole rooms. A crashed worker loses its calls,
// which are notified, and is replaced; without capacity calls are refused.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { root } from '../../../platform/program/root.ts'
import type { LegEnd } from '../../../protocols/media/engine.ts'
import type { FromWorker, MediaCommand, MediaEvent, SocketCall, WorkerSettings, WorkerState } from './command.ts'

/** Events of a room's media. */
export interface RoomHandlers {
  happened(event: MediaEvent): void
  /** The worker crashed and the room's audio is lost. */
  lost(): void
}

const workerFile = new URL('dist/src/areas/voice/media/worker.js', root)
const mostWorkers = 8

interface Thread {
  worker: Worker
  state: WorkerState
  rooms: Map<string, RoomHandlers>
  answers: Map<number, { done(answer: { port?: number; end?: LegEnd }): void; failed(error: Error): void }>
}

export class MediaPool {
  private readonly threads: Thread[] = []
  private readonly settings: WorkerSettings
  private lastId = 0
  private isClosed = false

  constructor(settings: WorkerSettings, count = Math.max(1, Math.min(mostWorkers, availableParallelism() - 1))) {
    this.settings = settings
    for (let i = 0; i < count; i++) this.start()
  }

  private start(): void {
    const worker = new Worker(workerFile, { workerData: this.settings })
    const thread: Thread = { worker, state: { legs: 0, lateMs: 0, admits: true }, rooms: new Map(), answers: new Map() }
    worker.on('message', (message: FromWorker) => this.take(thread, message))
    worker.on('error', () => undefined)
    worker.on('exit', () => this.lost(thread))
    worker.unref()
    this.threads.push(thread)
  }

  private take(thread: Thread, message: FromWorker): void {
    if ('state' in message) thread.state = message.state
    else if ('happened' in message) thread.rooms.get(roomOf(message.happened))?.happened(message.happened)
    else {
      const { id, error, ...answer } = message.answer
      const waiting = thread.answers.get(id)
      thread.answers.delete(id)
      if (error === undefined) waiting?.done(answer)
      else waiting?.failed(new Error(error))
    }
  }

  private lost(thread: Thread): void {
    this.threads.splice(this.threads.indexOf(thread), 1)
    for (const { failed } of thread.answers.values()) failed(new Error('the media worker is gone'))
    for (const room of thread.rooms.values()) room.lost()
    if (!this.isClosed) this.start()
  }

  /** Whether there is capacity for one more call. */
  get admits(): boolean {
    return this.threads.some(({ state }) => state.admits)
  }

  get figures(): { legs: number; lateMs: number; workers: number } {
    const legs = this.threads.reduce((sum, { state }) => sum + state.legs, 0)
    return { legs, lateMs: Math.max(0, ...this.threads.map(({ state }) => state.lateMs)), workers: this.threads.length }
  }

  /** Open a room on the least loaded worker. Names within it start with the room's. */
  room(id: string, handlers: RoomHandlers): MediaRoom | null {
    const [thread] = this.threads.filter(({ state }) => state.admits).sort((a, b) => a.rooms.size - b.rooms.size)
    if (!thread) return null
    thread.rooms.set(id, handlers)
    return new MediaRoom(
      id,
      (command) => this.ask(thread, command),
      () => thread.rooms.delete(id),
    )
  }

  private ask(thread: Thread, command: MediaCommand): Promise<{ port?: number; end?: LegEnd }> {
    return new Promise((done, failed) => {
      if (!this.threads.includes(thread)) return failed(new Error('the media worker is gone'))
      const id = ++this.lastId
      thread.answers.set(id, { done, failed })
      thread.worker.postMessage({ id, command })
    })
  }

  /** Crash a worker, for tests. */
  async crash(): Promise<void> {
    await this.threads[0]?.worker.terminate()
  }

  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all(this.threads.map(({ worker }) => worker.terminate()))
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
  private readonly ask: (command: MediaCommand) => Promise<{ port?: number; end?: LegEnd }>
  private readonly forget: () => void

  constructor(id: string, ask: MediaRoom['ask'], forget: () => void) {
    this.id = id
    this.ask = ask
    this.forget = forget
  }

  name(what: string): string {
    return `${this.id}:${what}`
  }

  /** Open a leg; returns its local port. */
  async open(leg: string, host: string): Promise<number> {
    const { port } = await this.ask({ do: 'open', leg: this.name(leg), room: this.id, host })
    if (port === undefined) throw new Error('a leg without a port')
    return port
  }

  /** Open the websocket of a leg; returns the problem when it cannot be. */
  async openSocket(leg: string, call: SocketCall): Promise<string | null> {
    const asked = this.ask({ do: 'open_socket', leg: this.name(leg), room: this.id, call })
    return asked.then(
      () => null,
      (error: Error) => error.message,
    )
  }

  async closeLeg(leg: string): Promise<LegEnd | null> {
    const answer = await this.ask({ do: 'close', leg: this.name(leg) }).catch(() => null)
    return answer?.end ?? null
  }

  tell(command: MediaCommand): void {
    this.ask(command).catch(() => undefined)
  }

  close(): void {
    this.forget()
  }
}
