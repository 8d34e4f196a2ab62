// SPDX-License-Identifier: Apache-2.0
// Compute pool: heavy work in separate processes, so that neither load nor a crash of native code affects requests. The
// queue is bounded: a task that would wait too long is refused at once with a retry time. A process gets bytes and
// returns values; it has no network, no database and writes no files (compute/confinement.ts).
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
  readonly log: Pick<Logger, 'warn'>
}

interface Waiting {
  readonly name: string
  readonly input: unknown
  readonly timeoutMs: number
  tries: number
  resolve(answer: unknown): void
  reject(problem: Error): void
}

/** Tasks after which a process is replaced, since decoders leak memory. */
const tasksPerProcess = 500
/** Idle time after which a process exits. */
const idleMs = 300_000
/** A task whose process crashed is retried once, in another. */
const maxTries = 2
/** Assumed duration of a task before one was measured. */
const firstGuessMs = 800
const smoothing = 0.2

export class Compute {
  readonly #options: ComputeOptions
  readonly #waiting: Waiting[] = []
  readonly #workers = new Set<Worker>()
  readonly #usualMs = new Map<string, number>()
  #isStopped = false

  constructor(options: ComputeOptions) {
    this.#options = options
  }

  /** Expected queue time of a new task. */
  estimatedWaitMs(): number {
    const { processes } = this.#options
    const busy = [...this.#workers].filter((worker) => worker.isBusy)
    if (busy.length < processes && this.#waiting.length === 0) return 0
    const ahead = this.#waiting.reduce((sum, { name }) => sum + this.#usual(name), 0)
    const running = busy.reduce((sum, worker) => sum + this.#usual(worker.taskName) / 2, 0)
    return (ahead + running) / processes
  }

  /** Process ids, for operators and for tests that kill one. */
  pids(): readonly number[] {
    return [...this.#workers].map((worker) => worker.pid).filter((pid) => pid !== undefined)
  }

  async run<Input, S extends TSchema>(kind: Task<Input, S>, input: Input): Promise<Static<S>> {
    const waitMs = this.estimatedWaitMs()
    if (this.#isStopped || waitMs > this.#options.maxWaitMs || this.#waiting.length >= this.#options.maxWaiting)
      throw new ComputeBusyError(waitMs)
    const answer = await new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ name: kind.name, input, timeoutMs: kind.timeoutMs, tries: 0, resolve, reject })
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

  #usual(name: string | null): number {
    return (name && this.#usualMs.get(name)) || firstGuessMs
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#freeWorker()
      const waiting = worker && this.#waiting.shift()
      if (!waiting) return
      this.#give(worker, waiting)
    }
  }

  #freeWorker(): Worker | null {
    const free = [...this.#workers].find((worker) => !worker.isBusy)
    if (free) return free
    if (this.#workers.size >= this.#options.processes || this.#isStopped) return null
    const worker = new Worker(this.#options.program, this.#options.programArguments ?? [], idleMs, () => {
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
