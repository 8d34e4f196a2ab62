// SPDX-License-Identifier: Apache-2.0
// Chore that emits an event for each invoice past its due date, once, when the day has ended by the account's clock
// (UTC). It polls, so that a moved sandbox clock counts too.
import { buckets } from '../../../kernel/ids.ts'
import { dayOf } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { invoiceEvents } from '../events.ts'
import { tellInvoice } from './invoice.ts'
import { clockOffset, newlyOverdue, noteOverdue } from './store.ts'

/** Batch size; the next round continues. */
const invoicesAtOnce = 500

export const overdueChore: Chore = { name: 'overdue invoices', everyMs: 30_000, run: tellOverdue }

export async function tellOverdue(app: App): Promise<void> {
  const now = new Date(app.clock.nowMs())
  const found = await app.db.query(newlyOverdue, { buckets, now, limit: invoicesAtOnce })
  for (const invoice of found) await tellOne(app, tenantOf(invoice), invoice.id)
}

/** Rechecks in the emitting transaction: the invoice may be paid, or another node may have emitted it. */
async function tellOne(app: App, tenant: Tenant, id: string): Promise<void> {
  const { account, environment } = tenant
  await app.db.tx(tenant, async (tx) => {
    const { offset_ms } = await one(tx.query(clockOffset, { account, environment }))
    const occasion = occasionNow(app.clock, tenant, offset_ms)
    const row = await maybe(tx.query(noteOverdue, { ...tenant, id, today: dayOf(new Date(occasion.nowMs)) }))
    if (!row) return
    await tellInvoice(app, tx, invoiceEvents.overdue, occasion, row)
  })
}
