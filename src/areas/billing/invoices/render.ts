// SPDX-License-Identifier: Apache-2.0
// Queue and cache of invoice PDFs, drawn in one worker thread: a long invoice takes most of a second, and anyone with
// its address may request it. Drawing is rate limited per account.
import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../../kernel/errors.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { root } from '../../../platform/program/root.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { payUrl } from './invoice.ts'
import type { Drawn, Paper } from './pdf-worker.ts'
import type { InvoiceRow } from './store.ts'

/** Queue length per node. */
const maxWaiting = 20
/** PDFs drawn per account and minute; cached ones do not count. */
const drawnPerMinute = 30
const maxKeptBytes = 16 * 1_024 * 1_024
/** Timeout after which the worker is terminated: the longest invoice takes a second. */
const maxMs = 30_000
/** Time after which a refused document may be requested again. */
const retryAfterSeconds = 2
const resourceLimits = { maxOldGenerationSizeMb: 256 }
/** Compiled worker: the bundle of `npm start` does not contain it. */
const workerFile = new URL('dist/src/areas/billing/invoices/pdf-worker.js', root)

/** Draws a PDF or takes it from the cache; throws when the queue is full or the rate limit is reached. */
export async function renderInvoice(
  app: App,
  invoice: InvoiceRow,
  accountName: string,
  brand: Brand = {},
): Promise<Buffer> {
  const desk = deskOf(app)
  const paper: Paper = { invoice, accountName, brand, url: payUrl(app, invoice) }
  const name = createHash('sha256').update(serialize(paper)).digest('base64')
  const kept = desk.kept(name)
  if (kept) return kept
  await requireRoom(app, invoice)
  return desk.draw(name, paper)
}

async function requireRoom(app: App, { account_id }: InvoiceRow): Promise<void> {
  const name = 'invoice-pdf-account'
  const policy = { name, key: `${name}:${account_id}`, limit: drawnPerMinute, windowMs: minuteMs, shared: false }
  const { refusedBy } = await app.limits.admit([policy])
  if (!refusedBy || app.config.PAMOJA_RATE_LIMITS !== 'on') return
  throw new AppError('RATE_LIMITED', 'too many documents of this account are being made', {
    retryAfterSeconds: Math.ceil(refusedBy.resetMs / 1_000),
  })
}

/** A busy machine draws slowly; the same invoice is drawn in time when there is less to do. */
function tooLong(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'the document took too long to draw', { retryAfterSeconds })
}

const deskOf = onePerApp(() => new Desk())

class Desk {
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  readonly #kept = new Map<string, Buffer>()
  #keptBytes = 0

  kept(name: string): Buffer | undefined {
    return this.#kept.get(name)
  }

  /** Draws one PDF at a time. */
  draw(name: string, paper: Paper): Promise<Buffer> {
    if (this.#waiting >= maxWaiting)
      throw new AppError('SERVICE_UNAVAILABLE', 'too many documents are being made', { retryAfterSeconds })
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
      worker.once('exit', () => over(() => broken(new Error('the thread that draws invoices has ended'))))
      worker.postMessage(paper)
    })
  }

  /** The worker starts with the first PDF and is unreferenced, so that the process can exit. */
  #started(): Worker {
    if (this.#worker) return this.#worker
    this.#worker = new Worker(workerFile, { resourceLimits })
    this.#worker.unref()
    return this.#worker
  }
}
