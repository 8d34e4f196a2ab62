// SPDX-License-Identifier: Apache-2.0
// Heavy work in processes of its own, so that neither a busy processor nor a crash of native code reaches requests. The
// queue is bounded: a task that would wait too long is refused at once, with the time after which to come back. A process
// gets bytes and answers values; it has no network, no database and writes no files (compute/confinement.ts).
import type { Static, TSchema } from 'typebox'
import Value from 'typebox/value'
import { Worker } from './compute/worker.ts'
import type { Logger } from './log.ts'

/** A kind of work: what it is called in the program that does it, and what its answer looks like. */
export interface Task<Input, S extends TSchema = TSchema> {
  readonly name: string
  readonly answer: S
  /** A process that takes longer is ended. */
  readonly timeoutMs: number
  /** Never set: says what the input is. */
  readonly input?: Input
}

export function task<Input>() {
  return <S extends TSchema>(declaration: Omit<Task<Input, S>, 'input'>): Task<Input, S> => declaration
}

/** Too much waits already. */
export class ComputeBusyError extends Error {
  readonly retryAfterSeconds: number

  constructor(waitMs: number) {
    super(`the work that waits would take ${Math.round(waitMs)} ms`)
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

/** The process died, hung, or gave an answer that is none: twice. */
export class ComputeFailedError extends Error {}

/** The program answered that it has no answer. */
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
  /** The program, compiled; it calls `serveTasks`. */
  readonly program: URL
  readonly programArguments?: readonly string[]
  readonly processes: number
  /** A task that would begin later than this is refused. */
  readonly maxWaitMs: number
  /** Tasks that wait hold their input in memory, so they are counted too. */
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

/** A process that did this much is replaced: decoders leak, and memory that is never given back is given back so. */
const tasksPerProcess = 500
/** A process with nothing to do gives its memory back after this time. */
const idleMs = 300_000
/** A task whose process died is tried once more, in another. */
const maxTries = 2
/** Guess of how long a kind of task takes before one was measured. */
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

  /** How long a task that is given now would wait before it begins. */
  estimatedWaitMs(): number {
    const { processes } = this.#options
    const busy = [...this.#workers].filter((worker) => worker.isBusy)
    if (busy.length < processes && this.#waiting.length === 0) return 0
    const ahead = this.#waiting.reduce((sum, { name }) => sum + this.#usual(name), 0)
    const running = busy.reduce((sum, worker) => sum + this.#usual(worker.taskName) / 2, 0)
    return (ahead + running) / processes
  }

  /** Process ids, for an operator's eyes and for tests that end one. */
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
    // Answers come from where hostile files are read, so that their shape is not taken on trust.
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
          { task: waiting.name, tries: waiting.tries },
          `a compute process failed: ${problem.message}`,
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
