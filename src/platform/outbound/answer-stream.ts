// SPDX-License-Identifier: Apache-2.0
// Streamed response body, with backpressure and a timeout.
import { Readable } from 'node:stream'

export class AnswerStream extends Readable {
  readonly #pieceTimeoutMs: number
  readonly #resume: () => void
  readonly #ended: (isWhole: boolean) => void
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  /** `ended` is called once: true when complete, so that the connection can be reused. */
  constructor(pieceTimeoutMs: number, resume: () => void, ended: (isWhole: boolean) => void) {
    super()
    this.#pieceTimeoutMs = pieceTimeoutMs
    this.#resume = resume
    this.#ended = ended
    this.#wait()
  }

  /** Adds a chunk; returns whether the reader wants more now, otherwise `resume` is called later. */
  add(chunk: Buffer): boolean {
    if (this.#isOver) return false
    clearTimeout(this.#timer)
    const isHungry = this.push(chunk)
    if (isHungry) this.#wait()
    return isHungry
  }

  complete(): void {
    this.#end(true)
    this.push(null)
  }

  fail(error: Error): void {
    this.#end(false)
    this.destroy(error)
  }

  override _read(): void {
    if (this.#isOver) return
    this.#wait()
    this.#resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#end(false)
    callback(error)
  }

  #wait(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.fail(new Error('the answer stopped in the middle')), this.#pieceTimeoutMs)
  }

  #end(isWhole: boolean): void {
    clearTimeout(this.#timer)
    if (this.#isOver) return
    this.#isOver = true
    this.#ended(isWhole)
  }
}
