// SPDX-License-Identifier: Apache-2.0
// Worker thread that draws invoice PDFs.
import { serveDrawings } from '../../../platform/paper/drawing-worker.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { pdfOf } from './pdf.ts'
import type { InvoiceRow } from './store.ts'

export interface Paper {
  readonly invoice: InvoiceRow
  readonly accountName: string
  readonly brand: Brand
  readonly url: string
}

serveDrawings<Paper>(({ invoice, accountName, brand, url }) => pdfOf(invoice, accountName, url, brand))
