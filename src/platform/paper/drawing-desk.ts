// SPDX-License-Identifier: Apache-2.0
// Queue and cache of PDFs, drawn one after the other in a worker thread, since a long one takes most of a second.
import { Worker } from 'node:worker_threads'
import { AppError } from '../../kernel/errors.ts'
import type { Drawn } from './drawing-worker.ts'

/** Queue length. */
const maxWaiting = 20
const maxKeptBytes = 16 * 1_024 * 1_024
/** Timeout after which the worker is terminated: the longest paper takes a second. */
const maxMs = 30_000
/** Time after which a refused document may be requested again. */
const retryAfterSeconds = 2
const resourceLimits = { maxOldGenerationSizeMb: 256 }

/** A busy machine draws slowly; the same paper is drawn in time when there is less to do. */
function tooLong(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'the document took too long to draw', { retryAfterSeconds })
}

/** `workerFile` is a compiled program that calls `serveDrawings`. */
export class DrawingDesk<Paper> {
  readonly #workerFile: URL
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  readonly #kept = new Map<string, Buffer>()
  #keptBytes = 0

  constructor(workerFile: URL) {
    this.#workerFile = workerFile
  }

  kept(name: string): Buffer | undefined {
    return this.#kept.get(name)
  }

  /** Draws one PDF at a time. */
  draw(name: string, paper: Paper): Promise<Buffer> {
    if (this.#waiting >= maxWaiting)
      throw new AppError('SERVICE_UNAVAILABLE', 'too many documents are being rendered', { retryAfterSeconds })
    this.#waiting++
    // An earlier request in the queue may have filled the cache.
    const mine = this.#last.then(async () => this.#kept.get(name) ?? this.#keep(name, await this.#ask(paper)))
    this.#last = mine.catch(() => undefined)
    return mine.finally(() => this.#waiting--)
  }

  /** Cache a PDF and evict the oldest. */
  #keep(name: string, bytes: Buffer): Buffer {
    this.#kept.set(name, bytes)
    this.#keptBytes += bytes.length
    for (const [oldest, { length }] of this.#kept) {
      if (this.#keptBytes <= maxKeptBytes) break
      this.#kept.delete(oldest)
      this.#keptBytes -= length
    }
    return bytes
  }

  #ask(paper: Paper): Promise<Buffer> {
    const worker = this.#started()
    return new Promise((resolve, reject) => {
      const over = (act: () => void) => {
        clearTimeout(timer)
        worker.removeAllListeners('message').removeAllListeners('error').removeAllListeners('exit')
        act()
      }
      const broken = (error: Error) => {
        this.#worker = null
        // The worker may have exited already.
        worker.terminate().catch(() => undefined)
        reject(error)
      }
      const timer = setTimeout(() => over(() => broken(tooLong())), maxMs)
      worker.once('message', (drawn: Drawn) =>
        over(() => ('bytes' in drawn ? resolve(Buffer.from(drawn.bytes)) : reject(new Error(drawn.problem)))),
      )
      worker.once('error', (error) => over(() => broken(error)))
      worker.once('exit', () => over(() => broken(new Error('the thread that draws has ended'))))
      worker.postMessage(paper)
    })
  }

  /** The worker starts with the first PDF and is unreferenced, so that the process can exit. */
  #started(): Worker {
    if (this.#worker) return this.#worker
    this.#worker = new Worker(this.#workerFile, { resourceLimits })
    this.#worker.unref()
    return this.#worker
  }
}
