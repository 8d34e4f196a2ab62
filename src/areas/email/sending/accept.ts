// SPDX-License-Identifier: Apache-2.0
// Accepts a message in a group commit: message, charge and one job per recipient are stored together.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { formatMicros, formatMoney } from '../../../kernel/money.ts'
import { chargeOf, chargeRow } from '../../../ledger/charges.ts'
import { walletsOf } from '../../../ledger/wallets.ts'
import { audited, auditRow } from '../../../platform/api/audit.ts'
import { type Keyed, keyRow } from '../../../platform/api/idempotency.ts'
import type { App } from '../../../platform/app.ts'
import type { RowIn } from '../../../platform/commit/row-encoding.ts'
import { operation } from '../../../platform/commit.ts'
import { tenantColumns } from '../../../platform/tenant.ts'
import type { NewJob } from '../../../platform/work.ts'
import { contentColumns, discardContent, keepContent } from '../contents.ts'
import { bulkJob, sendJob } from '../delivery/deliver.ts'
import { rememberAccepted } from '../delivery/load.ts'
import { aboutOf, beginAll, eventsColumn, newsOf } from '../delivery/news.ts'
import { emailEvents } from '../events.ts'
import type { EmailAccepted } from '../schema.ts'
import { suppressedAmong } from '../suppressions/store.ts'
import { type Draft, messageSize, type Sending } from './draft.ts'

const submit = operation.tenant(
  'email.submit',
  {
    ...tenantColumns,
    id: 'uuid',
    status: 'text',
    sender: 'text',
    domain: 'text',
    subject: 'text',
    stream: 'text',
    source: 'text',
    content: 'uuid',
    content_body: 'jsonb',
    content_raw: 'bytea',
    content_files: 'bytea',
    template: 'text',
    variables: 'jsonb',
    tags: 'jsonb',
    metadata: 'text',
    track_opens: 'boolean',
    track_clicks: 'boolean',
    callback_url: 'text',
    reference: 'text',
    request: 'text',
    recipients: 'jsonb',
    size: 'int',
    unit_price: 'bigint',
    cost: 'bigint',
    currency: 'text',
    reason: 'text',
    scheduled_at: 'timestamptz',
    expires_at: 'timestamptz',
    created_at: 'timestamptz',
    lane: 'text',
    owner: 'uuid',
    delay_ms: 'bigint',
    events: 'jsonb',
    unsuppressed: 'jsonb',
    charge: chargeRow,
    audit: auditRow,
    key: keyRow,
  },
  { seen: 'text', verdict: 'text', existing: 'uuid', deliveries: 'text' },
)

type Accepted = Static<typeof EmailAccepted>

type Columns = Awaited<ReturnType<typeof contentColumns>>

/**
 * Accepts a draft; throws without storing or charging anything. The commit itself looks for suppressed recipients, which few
 * messages have; where it finds one, the message is accepted again without them.
 */
export async function accept(app: App, draft: Draft, sending: Sending, keyed: Keyed): Promise<Accepted> {
  const { tenant, nowMs } = sending
  const addresses = draft.recipients.map(({ email }) => email.toLowerCase())
  const columns = await contentColumns(app, tenant, draft.uuid, draft.content)
  const accepted = await acceptWithout(app, draft, sending, keyed, columns, new Map(), JSON.stringify(addresses))
  if (accepted) return accepted
  const suppressed = await suppressedAmong(app.db, tenant, addresses, draft.stream === 'bulk', new Date(nowMs))
  const again = await acceptWithout(app, draft, sending, keyed, columns, suppressed, null)
  if (!again) throw new Error('recipients are suppressed that nobody asked about')
  return again
}

/** Accepts a draft for all but the suppressed; null, with nothing stored, when one of `unsuppressed` is suppressed too. */
async function acceptWithout(
  app: App,
  draft: Draft,
  sending: Sending,
  keyed: Keyed,
  columns: Columns,
  suppressed: ReadonlyMap<string, string>,
  unsuppressed: string | null,
): Promise<Accepted | null> {
  const { tenant, nowMs, receivedMs } = sending
  const delayMs = draft.scheduledAt === null ? 0 : draft.scheduledAt.getTime() - nowMs
  const status = draft.scheduledAt === null ? 'queued' : 'scheduled'
  const recipients = draft.recipients.map((recipient, number) => {
    const reason = suppressed.get(recipient.email.toLowerCase()) ?? null
    const lane = draft.stream === 'bulk' ? bulkJob : sendJob
    const job = reason === null ? app.work.prepare(lane, tenant, { message: draft.uuid, number }, { delayMs }) : null
    return { recipient, number, reason, job }
  })
  const left = recipients.filter(({ job }) => job !== null)
  const reply = replyOf(draft, sending, left.length, [...suppressed.keys()])
  const events = recipients
    .filter(({ reason }) => reason !== null)
    .map(({ recipient, reason }) => {
      const told = toldOf(draft, recipient.email)
      return newsOf(app, emailEvents.suppressed, sending, told, {
        ...aboutOf(told),
        reason: reason ?? '',
        next_attempt_at: null,
      })
    })
  const first = left[0]?.job ?? null
  const { seen, verdict, existing, deliveries } = await app.commit(submit, {
    bucket: tenant.bucket,
    account: tenant.account,
    environment: tenant.environment,
    id: draft.uuid,
    status: reply.status,
    sender: senderText(draft),
    domain: draft.sender.domain,
    subject: draft.subject,
    stream: draft.stream,
    source: draft.source,
    content: draft.uuid,
    ...columns,
    template: draft.template,
    variables: draft.variables && JSON.stringify(draft.variables),
    tags: JSON.stringify(draft.tags),
    metadata: draft.metadata,
    track_opens: draft.tracking.opens,
    track_clicks: draft.tracking.clicks,
    callback_url: draft.callbackUrl,
    reference: draft.reference,
    request: sending.requestId,
    recipients: JSON.stringify(
      recipients.map(({ recipient, number, reason, job }) => ({
        number,
        ...recipient,
        status: job ? status : 'failed',
        reason: reason && 'suppressed',
        job: job?.id ?? null,
      })),
    ),
    size: messageSize(draft.content),
    unit_price: draft.unitPrice,
    cost: reply.cost,
    currency: sending.currency,
    reason: reply.reason,
    scheduled_at: draft.scheduledAt,
    expires_at: new Date((draft.scheduledAt?.getTime() ?? nowMs) + draft.ttlSeconds * 1000),
    created_at: new Date(nowMs),
    lane: first?.lane ?? null,
    owner: first?.owner ?? null,
    delay_ms: BigInt(delayMs),
    events: eventsColumn(events),
    unsuppressed,
    charge: chargeOf(
      tenant,
      { currency: sending.currency, micros: reply.cost, sourceId: draft.uuid, credit: 'revenue:email' },
      receivedMs,
    ),
    audit: auditOf(draft, sending),
    key: keyed.row(reply),
  })
  // After an unconfirmed commit the message may exist: keep its content.
  const isAhead = columns.content_body === null
  if (isAhead && (seen !== null || verdict === 'insufficient' || verdict === 'duplicate'))
    await discardContent(app, tenant, draft.uuid)
  keyed.settle(seen)
  if (verdict === 'suppressed') return null
  if (verdict === 'insufficient') throw await beyondWallet(app, sending, reply.cost)
  if (verdict === 'duplicate')
    throw new AppError('DUPLICATE_REFERENCE', `the reference ${draft.reference} was used before`, {
      extra: { existing_id: existing && idOf('email', existing) },
    })
  beginAll(app, events, deliveries)
  if (!isAhead && first?.owner) keepContent(app, draft.uuid, draft.content)
  for (const { recipient, number, job } of left)
    if (job) begin(app, draft, sending, recipient, number, job, first?.owner ?? null)
  return reply
}

/** Audit entry of a request; scheduled work has none. */
function auditOf(
  { uuid }: Draft,
  { tenant, receivedMs, requestId, actor, ip }: Sending,
): RowIn<typeof auditRow> | null {
  if (requestId === null) return null
  const by = { tenant, id: newUuid(receivedMs), actor, ip, requestId }
  return audited({ by, action: 'email.send', target: idOf('email', uuid) })
}

/** Starts all recipients' jobs on the node that leases the first. */
function begin(
  app: App,
  draft: Draft,
  sending: Sending,
  recipient: Draft['recipients'][number],
  number: number,
  job: NewJob,
  owner: string | null,
): void {
  if (owner === null) return
  rememberAccepted(app, {
    ...toldOf(draft, recipient.email),
    tags: [...draft.tags],
    status: 'queued',
    name: recipient.name,
    number,
    attempts: 0,
    sent_at: null,
    sender: senderText(draft),
    domain: draft.sender.domain,
    stream: draft.stream,
    content_id: draft.uuid,
    variables: draft.variables,
    track_opens: draft.tracking.opens,
    track_clicks: draft.tracking.clicks,
    request_id: sending.requestId,
    created_at: new Date(sending.nowMs),
    expires_at: new Date(sending.nowMs + draft.ttlSeconds * 1000),
    clock_offset_ms: BigInt(sending.nowMs - sending.receivedMs),
    is_suspended: false,
    suppressed: null,
    bulk_status: null,
    smtp_response: null,
    enhanced_code: null,
  })
  app.work.begin({ ...job, owner })
}

function toldOf(draft: Draft, email: string) {
  return {
    id: draft.uuid,
    email,
    bulk_id: null,
    tags: draft.tags,
    metadata: draft.metadata,
    callback_url: draft.callbackUrl,
  }
}

export function senderText({ from }: Pick<Draft, 'from'>): string {
  return from.name === null ? from.address : `${from.name} <${from.address}>`
}

function replyOf(draft: Draft, { nowMs, currency }: Sending, left: number, suppressed: string[]): Accepted {
  const to = draft.recipients.filter(({ type }) => type === 'to').map(({ email }) => email)
  const [only = ''] = to
  return {
    message_id: idOf('email', draft.uuid),
    status: left === 0 ? 'failed' : draft.scheduledAt === null ? 'queued' : 'scheduled',
    from: senderText(draft),
    to: to.length > 1 ? to : only,
    scheduled_at: draft.scheduledAt,
    recipients: left,
    suppressed,
    reason: left === 0 ? 'suppressed' : null,
    cost: draft.unitPrice * BigInt(left),
    currency,
    warnings: [...draft.warnings],
    timestamp: new Date(nowMs),
  }
}

export async function beyondWallet(app: App, { tenant, currency }: Sending, micros: bigint): Promise<AppError> {
  const wallet = (await walletsOf(app.db, tenant)).find((one) => one.currency === currency)
  const available = wallet?.availableMicros ?? 0n
  return new AppError(
    'INSUFFICIENT_BALANCE',
    `it costs ${formatMoney({ micros, currency })}, and the wallet has ${formatMoney({ micros: available, currency })}`,
    { extra: { balance: Number(formatMicros(available)), required: Number(formatMicros(micros)), currency } },
  )
}
