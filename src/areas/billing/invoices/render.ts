// SPDX-License-Identifier: Apache-2.0
// Invoice PDFs, drawn in one worker thread and kept. Anyone with its address may request one, so that drawing is rate
// limited per account.
import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import { AppError } from '../../../kernel/errors.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { DrawingDesk } from '../../../platform/paper/drawing-desk.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { root } from '../../../platform/program/root.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { payUrl } from './invoice.ts'
import type { Paper } from './pdf-worker.ts'
import type { InvoiceRow } from './store.ts'

/** PDFs drawn per account and minute; cached ones do not count. */
const drawnPerMinute = 30
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
  throw new AppError('RATE_LIMITED', 'too many documents of this account are being rendered', {
    retryAfterSeconds: Math.ceil(refusedBy.resetMs / 1_000),
  })
}

const deskOf = onePerApp(() => new DrawingDesk<Paper>(workerFile))
