// SPDX-License-Identifier: Apache-2.0
// Accepting a message, through a group commit: it is there exactly when it was paid for, and its job is there exactly when
// it is.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { chargeOf, chargeRow } from '../../../ledger/charges.ts'
import { audited, auditRow } from '../../../platform/api/audit.ts'
import { type Keyed, keyRow } from '../../../platform/api/idempotency.ts'
import type { App } from '../../../platform/app.ts'
import type { RowIn } from '../../../platform/commit/row-encoding.ts'
import { operation } from '../../../platform/commit.ts'
import type { Occasion } from '../../../platform/events.ts'
import { tenantColumns } from '../../../platform/tenant.ts'
import { jobRow, type NewJob } from '../../../platform/work.ts'
import { keepAccepted } from '../delivery/handover.ts'
import type { StoredMessage } from '../delivery/load.ts'
import { submission } from '../delivery/queue.ts'
import { type FallbackContent, fallbackTimer } from '../fallback/fallback.ts'
import { type Priority, priorityOf } from '../message.ts'
import type { Draft } from './draft.ts'
import { beyondWallet, forcedRefusal, optedOut, referenceUsed, tooExpensive } from './refusals.ts'

/** Occasion of a message: its tenant, times and requester. */
export interface Sending extends Occasion {
  readonly actor: string
  readonly ip: string
}

const submitColumns = {
  ...tenantColumns,
  id: 'uuid',
  recipient: 'text',
  sender: 'text',
  body: 'text',
  encoding: 'text',
  segments: 'smallint',
  unit_price: 'bigint',
  cost: 'bigint',
  currency: 'text',
  country: 'text',
  network: 'text',
  type: 'text',
  validity: 'int',
  metadata: 'jsonb',
  reference: 'text',
  callback_url: 'text',
  batch: 'uuid',
  batch_index: 'smallint',
  scheduled_at: 'timestamptz',
  created_at: 'timestamptz',
  refusal: 'text',
  request: 'text',
  charge: chargeRow,
  job: jobRow,
  audit: auditRow,
  key: keyRow,
  callback_final: 'boolean',
} as const

const verdictColumns = { seen: 'text', verdict: 'text', existing: 'uuid' } as const

/** Acceptance of one message; many go as rows of sms.accept. */
export const acceptOne = operation.tenant('sms.submit', submitColumns, verdictColumns)

const acceptWithFallback = operation.tenant(
  'sms.submit_fallback',
  { ...submitColumns, fallback: 'jsonb', timer: jobRow },
  verdictColumns,
)

/** Accepts a message, or throws its refusal; then nothing was charged. `reply` is kept with the key of the request. */
export async function accept(
  app: App,
  draft: Draft,
  sending: Sending,
  keyed: Keyed,
  reply: unknown,
  fallback: FallbackContent | null = null,
): Promise<void> {
  const forced = forcedRefusal(draft, sending)
  if (forced === 'INSUFFICIENT_BALANCE') throw tooExpensive(draft.currency, draft.cost, 0n)
  if (forced === 'OPTED_OUT') throw optedOut(draft)
  const job = jobOf(app, draft, sending)
  const alone = { batch: null, batch_index: null, refusal: null, audit: auditOf(draft, sending), key: keyed.row(reply) }
  const item = Object.assign(itemOf(draft, job, sending), alone)
  const { seen, verdict, existing } =
    fallback === null
      ? await app.commit(acceptOne, item)
      : await app.commit(acceptWithFallback, Object.assign(item, followedBy(app, draft, sending, fallback)))
  keyed.settle(seen)
  if (verdict === 'insufficient') throw await beyondWallet(app.db, sending.tenant, draft.currency, draft.cost)
  if (verdict === 'opted_out') throw optedOut(draft)
  if (verdict === 'duplicate') throw referenceUsed(draft, existing)
  if (job.owner !== null) keepAccepted(app, storedOf(draft, sending))
  app.work.begin(job)
}

function followedBy(app: App, { uuid, validity, scheduledAt: at }: Draft, sending: Sending, fallback: FallbackContent) {
  const delayMs = at === null ? 0 : at.getTime() - sending.nowMs
  const timer = fallbackTimer(app, sending.tenant, uuid, fallback, validity, delayMs)
  return { fallback: JSON.stringify(fallback), timer }
}

/** The job that submits a message which is sent alone. */
export function jobOf(app: App, draft: Draft, sending: Sending): NewJob {
  return queued(app, draft, sending, priorityOf(draft.type, false), 0)
}

/** Job of one message of a batch, not before `afterMs`: such jobs are claimed from the table as there is room. */
export function jobOfMany(app: App, draft: Draft, sending: Sending, afterMs: number): NewJob {
  return queued(app, draft, sending, priorityOf(draft.type, true), afterMs + 1)
}

function queued(app: App, draft: Draft, sending: Sending, priority: Priority, afterMs: number): NewJob {
  const { uuid: id, text, wantedEncoding = null, place, scheduledAt: at } = draft
  const delayMs = Math.max(afterMs, at === null ? 0 : at.getTime() - sending.nowMs)
  return submission(app, sending.tenant, { id, segments: text.segments, ...place, priority, wantedEncoding }, delayMs)
}

/** Row of sms.submit_item. Add to it with Object.assign: a spread of this many columns costs more than all the rest. */
export function itemOf(draft: Draft, job: NewJob, sending: Sending) {
  const { tenant } = sending
  const { currency, cost: micros } = draft
  return {
    bucket: tenant.bucket,
    account: tenant.account,
    environment: tenant.environment,
    id: draft.uuid,
    recipient: draft.to,
    sender: draft.from,
    body: draft.text.text,
    encoding: draft.text.encoding,
    segments: draft.text.segments,
    unit_price: draft.unitPrice,
    cost: draft.cost,
    currency: draft.currency,
    country: draft.place.country,
    network: draft.place.network,
    type: draft.type,
    validity: draft.validity,
    metadata: JSON.stringify(draft.metadata),
    reference: draft.reference,
    callback_url: draft.callbackUrl,
    callback_final: draft.callbackFinal,
    scheduled_at: draft.scheduledAt,
    created_at: new Date(sending.nowMs),
    request: sending.requestId,
    charge: chargeOf(tenant, { currency, micros, sourceId: draft.uuid, credit: 'revenue:sms' }, sending.receivedMs),
    job,
  }
}

/** Audit entry of a request; scheduled work has none. */
function auditOf(
  { uuid }: Draft,
  { tenant, receivedMs, requestId, actor, ip }: Sending,
): RowIn<typeof auditRow> | null {
  if (requestId === null) return null
  const by = { tenant, id: newUuid(receivedMs), actor, ip, requestId }
  return audited({ by, action: 'sms.send', target: idOf('sms', uuid) })
}

/** The message that the row has become, as sms.messages has it. */
function storedOf(draft: Draft, { tenant, receivedMs, nowMs, requestId }: Sending): StoredMessage {
  return {
    bucket: tenant.bucket,
    account_id: tenant.account,
    environment: tenant.environment,
    id: draft.uuid,
    status: 'queued',
    recipient: draft.to,
    sender: draft.from,
    body: draft.text.text,
    encoding: draft.text.encoding,
    segments: draft.text.segments,
    type: draft.type,
    currency: draft.currency,
    country: draft.place.country,
    network: draft.place.network,
    validity: draft.validity,
    metadata: draft.metadata,
    callback_url: draft.callbackUrl,
    callback_final: draft.callbackFinal,
    batch_id: null,
    request_id: requestId,
    route: null,
    under_way: false,
    attempts: 0,
    created_at: new Date(nowMs),
    scheduled_at: draft.scheduledAt,
    clock_offset_ms: BigInt(nowMs - receivedMs),
  }
}
