// SPDX-License-Identifier: Apache-2.0
// Stores a payment with all that belongs to it, in one statement: what was decided about it, the attempt, the job that looks
// after it, and what is told of it.
import { idOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { commitIn, operation } from '../../platform/commit.ts'
import type { Tx } from '../../platform/db.ts'
import { eventColumns, type Occasion } from '../../platform/events.ts'
import type { NewJob } from '../../platform/work.ts'
import { paymentEvents } from './events.ts'
import type { Check } from './fraud/assess.ts'
import { toldOf } from './payment.ts'
import type { PaymentRow } from './store.ts'

const accept = operation(
  'payments.accept',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
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
    job: 'uuid',
    lane: 'text',
    owner: 'uuid',
    delay_ms: 'bigint',
    job_payload: 'jsonb',
    ...eventColumns,
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

/** False when the reference was used before: then nothing was stored. `asked` is null for one that nobody is asked for. */
export async function insert(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  check: Check | null,
  asked: Asked | null,
): Promise<boolean> {
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
    job: asked?.job.id ?? null,
    lane: asked?.job.lane ?? null,
    owner: asked?.job.owner ?? null,
    delay_ms: asked && BigInt(Math.round(asked.job.delayMs)),
    job_payload: asked?.job.payload ?? null,
  }
  const { version, deliveries } = await commitIn(tx, app.nodeId, accept, Object.assign(item, event.columns))
  if (version === null) return false
  payment.version = version
  tx.afterCommit(() => app.outbox.begin(event, deliveries))
  return true
}
