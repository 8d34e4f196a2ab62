// SPDX-License-Identifier: Apache-2.0
// Stores payments with all that belongs to them, in one statement: what was decided about them, the attempts, the jobs that
// look after those, and what is told.
import { idOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { commitAllIn, operation, type RowOf } from '../../platform/commit.ts'
import type { Tx } from '../../platform/db.ts'
import { eventRow, type NewEvent, type Occasion } from '../../platform/events.ts'
import { tenantColumns } from '../../platform/tenant.ts'
import { jobRow, type NewJob } from '../../platform/work.ts'
import { paymentEvents } from './events.ts'
import type { Check } from './fraud/assess.ts'
import { toldOf } from './payment.ts'
import type { PaymentRow } from './store.ts'

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

/** What is to be asked of the provider, and by which job. */
export interface Asked {
  attempt: string
  country: string
  token: Buffer
  job: NewJob
}

/** A payment as it is handed over, with what is told of it. */
export interface PreparedPayment {
  readonly payment: PaymentRow
  readonly event: NewEvent
  readonly item: RowOf<typeof accept.takes>
}

/** Gives for each whether it was stored: not one whose reference was used before. */
export async function insert(app: App, tx: Tx, all: readonly PreparedPayment[]): Promise<boolean[]> {
  if (all.length === 0) return []
  const items = all.map(({ item }) => item)
  const verdicts = await commitAllIn(tx, app.nodeId, accept, items)
  return all.map(({ payment, event }, i) => {
    const { version = null, deliveries = null } = verdicts[i] ?? {}
    if (version === null) return false
    payment.version = version
    tx.afterCommit(() => app.outbox.begin(event, deliveries))
    return true
  })
}

/** `asked` is null for one that nobody is asked for. */
interface NewPaymentRow {
  readonly occasion: Occasion
  readonly payment: PaymentRow
  readonly check: Check | null
  readonly asked: Asked | null
}

export function prepare(app: App, { occasion, payment, check, asked }: NewPaymentRow): PreparedPayment {
  const { id, callback_url: callbackUrl } = payment
  const told = toldOf(Object.assign({}, payment, { sequence: 1 }))
  const event = app.outbox.prepare(paymentEvents.created, occasion, idOf('payment', id), told, { callbackUrl })
  const { bucket, account, environment } = occasion.tenant
  // Each by its name: spreading into an object of forty members takes twenty times as long.
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
    attempt: asked?.attempt ?? null,
    country: asked?.country ?? null,
    token: asked?.token ?? null,
    job: asked?.job ?? null,
    event: event.row,
  }
  return { payment, event, item }
}
