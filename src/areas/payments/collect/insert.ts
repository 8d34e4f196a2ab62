// SPDX-License-Identifier: Apache-2.0
// Insert of payments with all that belongs to them, in one statement: risk decisions, attempts, their jobs, and events.

import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { commitAllIn, operation } from '../../../platform/commit.ts'
import type { Tx } from '../../../platform/db.ts'
import { eventRow } from '../../../platform/events.ts'
import { tenantColumns } from '../../../platform/tenant.ts'
import { jobRow } from '../../../platform/work.ts'
import { paymentEvents } from '../records/events.ts'
import { toldOf } from '../records/payment.ts'
import { type Draft, runWithin } from './draft.ts'

const accept = operation.tenant(
  'payments.accept',
  {
    ...tenantColumns,
    id: 'uuid',
    purpose: 'text',
    method: 'text',
    provider: 'text',
    amount: 'bigint',
    currency: 'text',
    fee: 'bigint',
    phone: 'text',
    description: 'text',
    reference: 'text',
    customer: 'jsonb',
    metadata: 'jsonb',
    callback_url: 'text',
    details: 'jsonb',
    invoice: 'uuid',
    risk: 'jsonb',
    sequence: 'int',
    request: 'text',
    expires_at: 'timestamptz',
    at: 'timestamptz',
    real_at: 'timestamptz',
    score: 'smallint',
    decision: 'text',
    inputs: 'jsonb',
    matched: 'jsonb',
    payer: 'uuid',
    watched: 'jsonb',
    attempt: 'uuid',
    country: 'text',
    token: 'bytea',
    job: jobRow,
    event: eventRow,
  },
  { version: 'text', deliveries: 'text' },
)

/** Inserts drafts; tells of each whether it was stored: one whose reference was used before is not. */
export async function insert(app: App, tx: Tx, drafts: readonly Draft[]): Promise<boolean[]> {
  if (drafts.length === 0) return []
  const rows = drafts.map((draft) => runWithin(draft.request, () => rowOf(app, draft)))
  const items = rows.map(({ item }) => item)
  const verdicts = await commitAllIn(tx, app.nodeId, accept, items)
  return drafts.map(({ payment }, i) => {
    const { version = null, deliveries = null } = verdicts[i] ?? {}
    const event = rows[i]?.event
    if (version === null || !event) return false
    payment.version = version
    tx.afterCommit(() => app.outbox.begin(event, deliveries))
    return true
  })
}

/** The row that the SQL function takes, and the event within it. */
function rowOf(app: App, { request: { occasion }, payment, weighed, attempt, job }: Draft) {
  const check = weighed?.check ?? null
  const { id, callback_url: callbackUrl } = payment
  const told = toldOf(Object.assign({}, payment, { sequence: 1 }))
  const event = app.outbox.prepare(paymentEvents.created, occasion, idOf('payment', id), told, { callbackUrl })
  const { bucket, account, environment } = occasion.tenant
  // Members one by one: spreading into an object of forty members takes twenty times as long.
  const item = {
    bucket,
    account,
    environment,
    id,
    purpose: payment.purpose,
    method: payment.method,
    provider: payment.provider,
    amount: payment.amount,
    currency: payment.currency,
    fee: payment.fee,
    phone: payment.phone,
    description: payment.description,
    reference: payment.reference,
    customer: JSON.stringify(payment.customer),
    metadata: JSON.stringify(payment.metadata),
    callback_url: callbackUrl,
    details: JSON.stringify(payment.details),
    invoice: payment.invoice_id,
    risk: payment.risk && JSON.stringify(payment.risk),
    sequence: payment.sequence,
    request: payment.request_id,
    expires_at: payment.expires_at,
    at: payment.created_at,
    real_at: new Date(occasion.receivedMs),
    score: check?.score ?? null,
    decision: check?.decision ?? null,
    inputs: check?.inputs ?? null,
    matched: check && JSON.stringify(check.matched),
    payer: check?.payer ?? null,
    watched: check?.watched ?? null,
    attempt: attempt?.id ?? null,
    country: attempt?.country ?? null,
    token: attempt?.token ?? null,
    job: attempt && job,
    event: event.row,
  }
  return { event, item }
}
