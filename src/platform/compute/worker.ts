// SPDX-License-Identifier: Apache-2.0
// One process with one task at a time. It is started for its first task and ended when it hangs or idles.
import type { ChildProcess } from 'node:child_process'
import { Type } from 'typebox'
import Value from 'typebox/value'
import { startConfined } from './confinement.ts'

export type WorkOutcome =
  | { kind: 'answer'; answer: unknown }
  | { kind: 'refusal'; code: string; message: string; picture: number | null }

const Message = Type.Union([
  Type.Object({ id: Type.Integer(), answer: Type.Unknown() }),
  Type.Object({
    id: Type.Integer(),
    refusal: Type.Object({
      code: Type.String(),
      message: Type.String(),
      picture: Type.Union([Type.Integer(), Type.Null()]),
    }),
  }),
])

interface Running {
  readonly id: number
  readonly name: string
  readonly timer: NodeJS.Timeout
  resolve(outcome: WorkOutcome): void
  reject(problem: Error): void
}

/** Limit of stderr kept for the log. */
const maxComplaint = 500

export class Worker {
  done = 0
  readonly #program: URL
  readonly #arguments: readonly string[]
  readonly #idleMs: number
  readonly #onEnd: () => void
  #child: ChildProcess | null = null
  #running: Running | null = null
  #idle: NodeJS.Timeout | null = null
  #complaint = ''
  #hasEnded = false

  constructor(program: URL, programArguments: readonly string[], idleMs: number, onEnd: () => void) {
    this.#program = program
    this.#arguments = programArguments
    this.#idleMs = idleMs
    this.#onEnd = onEnd
  }

  get isBusy(): boolean {
    return this.#running !== null || this.#hasEnded
  }

  get taskName(): string | null {
    return this.#running?.name ?? null
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Runs a task; rejects when the process crashes or times out. */
  run(name: string, input: unknown, timeoutMs: number): Promise<WorkOutcome> {
    if (this.#hasEnded) return Promise.reject(new Error('the process was ended'))
    if (this.#idle) clearTimeout(this.#idle)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#die(new Error(`${name} took longer than ${timeoutMs} ms`)), timeoutMs)
      this.#running = { id: this.done + 1, name, timer, resolve, reject }
      this.#send({ id: this.done + 1, task: name, input }).catch((problem: Error) => this.#die(problem))
    })
  }

  end(): void {
    this.#die(new Error('the process was ended'))
  }

  async #send(message: { id: number; task: string; input: unknown }): Promise<void> {
    const child = this.#child ?? (await this.#start())
    // The result is awaited by its task, not by the process.
    await new Promise<void>((resolve, reject) => {
      child.send(message, (problem) => (problem ? reject(problem) : resolve()))
    })
  }

  async #start(): Promise<ChildProcess> {
    const child = await startConfined(this.#program, this.#arguments)
    if (this.#hasEnded) {
      child.kill('SIGKILL')
      throw new Error('the process was ended')
    }
    this.#child = child
    child.on('message', (message) => this.#hear(message))
    child.stderr?.on('data', (text: Buffer) => {
      this.#complaint = `${this.#complaint}${text}`.slice(-maxComplaint)
    })
    child.on('error', (problem) => this.#die(problem))
    child.on('exit', (code, signal) =>
      this.#die(new Error(`the process ended (${signal ?? code}) ${this.#complaint}`.trim())),
    )
    // An idle process does not keep the program alive.
    child.unref()
    child.channel?.unref()
    return child
  }

  #hear(message: unknown): void {
    const running = this.#running
    if (!Value.Check(Message, message) || message.id !== running?.id) return
    clearTimeout(running.timer)
    this.#running = null
    this.done += 1
    this.#idle = setTimeout(() => this.end(), this.#idleMs).unref()
    if ('refusal' in message) running.resolve({ kind: 'refusal', ...message.refusal })
    else running.resolve({ kind: 'answer', answer: message.answer })
  }

  #die(problem: Error): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    if (this.#idle) clearTimeout(this.#idle)
    this.#child?.kill('SIGKILL')
    const running = this.#running
    this.#running = null
    if (running) clearTimeout(running.timer)
    this.#onEnd()
    running?.reject(problem)
  }
}
