// SPDX-License-Identifier: Apache-2.0
// Worker thread that draws invoice PDFs: one answer per request, in order.

import { parentPort } from 'node:worker_threads'
import type { Brand } from '../../../platform/web/brand.ts'
import { pdfOf } from './pdf.ts'
import type { InvoiceRow } from './store.ts'

export interface Paper {
  readonly invoice: InvoiceRow
  readonly accountName: string
  readonly brand: Brand
  readonly url: string
}

/** PDF bytes, or the error. */
export type Drawn = { readonly bytes: Uint8Array } | { readonly problem: string }

parentPort?.on('message', async (paper: Paper) => parentPort?.postMessage(await drawn(paper)))

async function drawn({ invoice, accountName, brand, url }: Paper): Promise<Drawn> {
  try {
    return { bytes: await pdfOf(invoice, accountName, url, brand) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'unknown' }
  }
}
