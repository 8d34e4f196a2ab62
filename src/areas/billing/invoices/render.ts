// SPDX-License-Identifier: Apache-2.0
// PDFs of invoices, beside the event loop: a long invoice takes most of a second to draw, and whoever has its address may ask
// for it. One thread draws one at a time, what it drew is kept for a while, and an account has so many drawn a minute.
import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../../kernel/errors.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import { root } from '../../../platform/root.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { payUrl } from './invoice.ts'
import type { Drawn, Paper } from './pdf-worker.ts'
import type { InvoiceRow } from './store.ts'

/** So many wait for theirs on one node. */
const mostWaiting = 20
/** So many are drawn for one account a minute; those that are kept are not counted. */
const drawnPerMinute = 30
const mostKeptBytes = 16 * 1_024 * 1_024
/** A thread that takes longer is ended: the longest invoice takes a second. */
const mostMs = 30_000
const resourceLimits = { maxOldGenerationSizeMb: 256 }
/** The compiled file: the bundle of `npm start` does not hold it. */
const workerFile = new URL('dist/src/areas/billing/invoices/pdf-worker.js', root)

/** Refuses when too many wait, or too many were drawn for the account. */
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

  /** One at a time. */
  draw(name: string, paper: Paper): Promise<Buffer> {
    if (this.#waiting >= mostWaiting)
      throw new AppError('SERVICE_UNAVAILABLE', 'too many documents are being made', { retryAfterSeconds: 2 })
    this.#waiting++
    // Whoever asked for the same before may have it drawn by now.
    const mine = this.#last.then(async () => this.#kept.get(name) ?? this.#keep(name, await this.#ask(paper)))
    this.#last = mine.catch(() => undefined)
    return mine.finally(() => this.#waiting--)
  }

  /** The oldest go first. */
  #keep(name: string, bytes: Buffer): Buffer {
    this.#kept.set(name, bytes)
    this.#keptBytes += bytes.length
    for (const [oldest, { length }] of this.#kept) {
      if (this.#keptBytes <= mostKeptBytes) break
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
        // A thread that has ended already cannot be ended once more.
        worker.terminate().catch(() => undefined)
        reject(error)
      }
      const timer = setTimeout(() => over(() => broken(new Error('an invoice took too long to draw'))), mostMs)
      worker.once('message', (drawn: Drawn) =>
        over(() => ('bytes' in drawn ? resolve(Buffer.from(drawn.bytes)) : reject(new Error(drawn.problem)))),
      )
      worker.once('error', (error) => over(() => broken(error)))
      worker.once('exit', () => over(() => broken(new Error('the thread that draws invoices has ended'))))
      worker.postMessage(paper)
    })
  }

  /** Started with the first: few nodes need one. It keeps no program from ending. */
  #started(): Worker {
    if (this.#worker) return this.#worker
    this.#worker = new Worker(workerFile, { resourceLimits })
    this.#worker.unref()
    return this.#worker
  }
}
