// SPDX-License-Identifier: Apache-2.0
// Compute pool: heavy work in separate processes, so that neither load nor a crash of native code affects requests. The
// queue is bounded, and so is each owner's share of it: a task that would wait too long is refused at once with a retry
// time. Owners take turns, urgent tasks before others. A process gets bytes and returns values; it has no network, no
// database and writes no files (compute/confinement.ts).
import type { Static, TSchema } from 'typebox'
import Value from 'typebox/value'
import { Worker } from './compute/worker.ts'
import type { Logger } from './telemetry/log.ts'

/** Kind of task: its name in the program, and the schema of its result. */
export interface Task<Input, S extends TSchema = TSchema> {
  readonly name: string
  readonly answer: S
  /** Timeout after which the process is killed. */
  readonly timeoutMs: number
  /** Never set: types the input. */
  readonly input?: Input
}

export function task<Input>() {
  return <S extends TSchema>(declaration: Omit<Task<Input, S>, 'input'>): Task<Input, S> => declaration
}

/** The queue is full. */
export class ComputeBusyError extends Error {
  readonly retryAfterSeconds: number

  constructor(waitMs: number) {
    super(`the work that waits would take ${Math.round(waitMs)} ms`)
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

/** The process crashed, timed out or returned an invalid result, twice. */
export class ComputeFailedError extends Error {}

/** The program reported an error. */
export class ComputeRefusedError extends Error {
  readonly code: string
  readonly picture: number | null

  constructor(code: string, message: string, picture: number | null) {
    super(message)
    this.code = code
    this.picture = picture
  }
}

export interface ComputeOptions {
  /** Compiled program that calls `serveTasks`. */
  readonly program: URL
  readonly programArguments?: readonly string[]
  readonly processes: number
  /** Maximum queue time; a task that would start later is refused. */
  readonly maxWaitMs: number
  /** Queue limit: waiting tasks hold their input in memory. */
  readonly maxWaiting: number
  /** Idle time after which a process exits and gives its memory back; five minutes unless given. */
  readonly idleMs?: number
  readonly log: Pick<Logger, 'warn'>
}

/** On whose behalf a task runs. */
export interface Asked {
  /** Owner of the task, such as an account: owners take turns, and none has more than a share of the queue. */
  readonly owner: string
  /** Urgent tasks come before all others. */
  readonly isUrgent: boolean
  /** Time until the answer has to be there; the queue's own bound unless given. */
  readonly withinMs?: number
}

const nobody: Asked = { owner: '', isUrgent: false }

interface Waiting {
  readonly name: string
  readonly input: unknown
  readonly timeoutMs: number
  readonly owner: string
  readonly isUrgent: boolean
  /** Turns of the pool are numbered; an owner has one task in each. */
  readonly turn: number
  tries: number
  resolve(answer: unknown): void
  reject(problem: Error): void
}

/** Tasks after which a process is replaced, since decoders leak memory. */
const tasksPerProcess = 500
const idleMs = 300_000
/** A task whose process crashed is retried once, in another. */
const maxTries = 2
/** Assumed duration of a task before one was measured. */
const firstGuessMs = 800
const smoothing = 0.2
/** Part of the queue that one owner may fill. */
const shareOfOwner = 0.25
/** Part of the queue that is kept for urgent tasks. */
const shareOfUrgent = 0.25

export class Compute {
  readonly #options: ComputeOptions
  readonly #waiting: Waiting[] = []
  readonly #workers = new Set<Worker>()
  readonly #usualMs = new Map<string, number>()
  /** Turn of the task that was started last. */
  #turn = 0
  #isStopped = false

  constructor(options: ComputeOptions) {
    this.#options = options
  }

  /** Expected queue time of a new task. */
  estimatedWaitMs(asked: Asked = nobody): number {
    const { processes } = this.#options
    const busy = [...this.#workers].filter((worker) => worker.isBusy)
    if (busy.length < processes && this.#waiting.length === 0) return 0
    const own = { isUrgent: asked.isUrgent, turn: this.#nextTurn(asked.owner) }
    const before = this.#waiting.filter((waiting) => !isBefore(own, waiting))
    const ahead = before.reduce((sum, { name }) => sum + this.#usual(name), 0)
    const running = busy.reduce((sum, worker) => sum + this.#usual(worker.taskName) / 2, 0)
    return (ahead + running) / processes
  }

  /** Process ids, for operators and for tests that kill one. */
  pids(): readonly number[] {
    return [...this.#workers].map((worker) => worker.pid).filter((pid) => pid !== undefined)
  }

  async run<Input, S extends TSchema>(kind: Task<Input, S>, input: Input, asked: Asked = nobody): Promise<Static<S>> {
    const waitMs = this.estimatedWaitMs(asked)
    const maxWaitMs = Math.min(this.#options.maxWaitMs, asked.withinMs ?? Number.POSITIVE_INFINITY)
    if (this.#isStopped || waitMs > maxWaitMs || !this.#hasRoom(asked)) throw new ComputeBusyError(waitMs)
    const answer = await new Promise<unknown>((resolve, reject) => {
      const { owner, isUrgent, withinMs } = asked
      const turn = this.#nextTurn(owner)
      const waiting = { name: kind.name, input, timeoutMs: kind.timeoutMs, owner, isUrgent, turn, tries: 0 }
      this.#wait({ ...waiting, resolve, reject }, withinMs)
      this.#next()
    })
    if (Value.Check(kind.answer, answer)) return answer
    // Results are validated: the process reads hostile files.
    throw new ComputeFailedError(`the answer to ${kind.name} does not look as it must`)
  }

  stop(): void {
    this.#isStopped = true
    for (const { reject } of this.#waiting.splice(0)) reject(new ComputeBusyError(0))
    for (const worker of this.#workers) worker.end()
    this.#workers.clear()
  }

  /** Puts a task where its turn is, and refuses it when its time is over, also while it runs. */
  #wait(waiting: Waiting, withinMs: number | undefined): void {
    const late = withinMs === undefined ? undefined : setTimeout(() => this.#refuse(held, withinMs), withinMs)
    const held: Waiting = {
      ...waiting,
      resolve: (answer) => {
        clearTimeout(late)
        waiting.resolve(answer)
      },
      reject: (problem) => {
        clearTimeout(late)
        waiting.reject(problem)
      },
    }
    const at = this.#waiting.findIndex((other) => isBefore(held, other))
    this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, held)
  }

  #refuse(waiting: Waiting, waitedMs: number): void {
    const at = this.#waiting.indexOf(waiting)
    if (at >= 0) this.#waiting.splice(at, 1)
    waiting.reject(new ComputeBusyError(waitedMs))
  }

  #hasRoom({ owner, isUrgent }: Asked): boolean {
    const { maxWaiting } = this.#options
    const own = this.#waiting.filter((waiting) => waiting.owner === owner && waiting.isUrgent === isUrgent).length
    const room = isUrgent || owner === '' ? maxWaiting : Math.floor(maxWaiting * (1 - shareOfUrgent))
    return this.#waiting.length < room && (owner === '' || own < Math.ceil(maxWaiting * shareOfOwner))
  }

  /** Turn of the next task of an owner: after those of theirs that wait. */
  #nextTurn(owner: string): number {
    return this.#waiting.reduce(
      (turn, waiting) => (waiting.owner === owner && waiting.turn >= turn ? waiting.turn + 1 : turn),
      this.#turn + 1,
    )
  }

  #usual(name: string | null): number {
    return (name && this.#usualMs.get(name)) || firstGuessMs
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#freeWorker()
      const waiting = worker && this.#waiting.shift()
      if (!waiting) return
      this.#turn = Math.max(this.#turn, waiting.turn - 1)
      this.#give(worker, waiting)
    }
  }

  #freeWorker(): Worker | null {
    const free = [...this.#workers].find((worker) => !worker.isBusy)
    if (free) return free
    if (this.#workers.size >= this.#options.processes || this.#isStopped) return null
    const { program, programArguments = [], idleMs: mayIdleMs = idleMs } = this.#options
    const worker = new Worker(program, programArguments, mayIdleMs, () => {
      this.#workers.delete(worker)
      this.#next()
    })
    this.#workers.add(worker)
    return worker
  }

  #give(worker: Worker, waiting: Waiting): void {
    waiting.tries += 1
    const startedMs = performance.now()
    worker.run(waiting.name, waiting.input, waiting.timeoutMs).then(
      (outcome) => {
        this.#measured(waiting.name, performance.now() - startedMs)
        if (worker.done >= tasksPerProcess) worker.end()
        if (outcome.kind === 'answer') waiting.resolve(outcome.answer)
        else waiting.reject(new ComputeRefusedError(outcome.code, outcome.message, outcome.picture))
        this.#next()
      },
      (problem: Error) => {
        this.#options.log.warn(
          { task: waiting.name, tries: waiting.tries, reason: problem.message },
          'compute process ended during a task: the task is tried at most twice; check the machine’s memory if this repeats',
        )
        if (this.#isStopped || waiting.tries >= maxTries) waiting.reject(new ComputeFailedError(problem.message))
        else this.#waiting.unshift(waiting)
        this.#next()
      },
    )
  }

  #measured(name: string, ms: number): void {
    const before = this.#usualMs.get(name)
    this.#usualMs.set(name, before === undefined ? ms : before + smoothing * (ms - before))
  }
}

type Place = Pick<Waiting, 'isUrgent' | 'turn'>

/** Whether a task comes before another that waits already. */
function isBefore(one: Place, other: Place): boolean {
  return one.isUrgent === other.isUrgent ? one.turn < other.turn : one.isUrgent
}
