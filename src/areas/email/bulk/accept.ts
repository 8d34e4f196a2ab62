// SPDX-License-Identifier: Apache-2.0
// Accepts a bulk: one content for many recipients. Entries are validated one by one; the valid ones are stored and
// charged in one transaction and sent in batches.

import type { Static } from 'typebox'
import { parseMailbox } from '../../../kernel/email-address.ts'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, type Tx } from '../../../platform/db.ts'
import { bodyChecker } from '../../../platform/http/validate.ts'
import { mergedNotes } from '../../../platform/metadata/exact.ts'
import { checkCallback } from '../../../platform/outbound/callback-url.ts'
import { insertContent } from '../contents.ts'
import { priceOf } from '../prices.ts'
import { maxMessageBytes, maxTtlSeconds } from '../schema.ts'
import { beyondWallet, senderText } from '../sending/accept.ts'
import { attachmentsOf } from '../sending/attachments.ts'
import {
  bodyOf,
  checkVariables,
  mailbox,
  messageSize,
  requireSender,
  type Sending,
  scheduledTime,
} from '../sending/draft.ts'
import { sendingOf } from '../sending/send.ts'
import { suppressedAmong } from '../suppressions/store.ts'
import { compile } from '../templates/engine.ts'
import { findTemplate } from '../templates/find.ts'
import { batchJob } from './batches.ts'
import { type BulkAccepted, type BulkSend, Entry } from './schema.ts'
import { acceptMessages, insertBulk } from './store.ts'

const usualBatchSize = 250
const maxMessagesShown = 1_000
const maxProblemsShown = 1_000

type Input = Static<typeof BulkSend>
type Accepted = Static<typeof BulkAccepted>

const checkEntry = bodyChecker(Entry)

interface Judged {
  readonly entries: readonly {
    email: string
    name: string | null
    variables: Record<string, unknown> | null
    tags: readonly string[]
    metadata: string
  }[]
  readonly problems: Accepted['errors']
}

/** Valid entries, and the errors of the others. Of duplicates the first wins. */
function judge(input: Input): Judged {
  const entries: Judged['entries'][number][] = []
  const problems: Accepted['errors'] = []
  const known = new Set<string>()
  for (const [index, given] of input.recipients.entries()) {
    const problem = (code: string, message: string, email = '') =>
      void problems.push({ index, email: email.slice(0, 320), code, message })
    const entry = entryOf(given)
    if (entry instanceof AppError) {
      problem(entry.code, entry.details, textOf(given))
      continue
    }
    const parsed = parseMailbox(entry.email)
    if (!parsed) {
      problem('INVALID_EMAIL', 'the address is not valid', entry.email)
      continue
    }
    const key = parsed.address.toLowerCase()
    if (known.has(key)) {
      problem('DUPLICATE_RECIPIENT', 'the address stands earlier in the list', entry.email)
      continue
    }
    known.add(key)
    entries.push({
      email: parsed.address,
      name: entry.name ?? parsed.name,
      variables: entry.variables ?? null,
      tags: [...new Set([...(input.tags ?? []), ...(entry.tags ?? [])])].slice(0, 10),
      metadata: JSON.stringify(mergedNotes(input.metadata, entry.metadata)),
    })
  }
  return { entries, problems }
}

function entryOf(given: unknown): Static<typeof Entry> | AppError {
  try {
    const { value } = checkEntry(given)
    checkVariables(value.variables ?? {}, 'variables')
    return value
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function textOf(given: unknown): string {
  return typeof given === 'object' && given !== null && 'email' in given && typeof given.email === 'string'
    ? given.email
    : ''
}

export async function prepareBulk(app: App, input: Input, caller: Caller) {
  const sending = sendingOf(caller)
  const from = mailbox(input.from, 'from')
  const body = bodyOf({ ...input, stream: 'bulk' }, { from, to: null, cc: [] })
  const { attachments, files } = attachmentsOf(input.attachments)
  const { entries, problems } = judge(input)
  const [firstProblem] = problems
  if (firstProblem && (input.on_error === 'abort' || entries.length === 0))
    throw new AppError('VALIDATION_ERROR', `recipients[${firstProblem.index}]: ${firstProblem.message}`, {
      extra: { errors: problems.slice(0, 100).map(({ index, code, message }) => ({ index, code, details: message })) },
    })
  const scheduledAt = scheduledTime(input.scheduled_at, caller.nowMs)
  await checkCallback(app, caller.tenant, input.callback_url)
  const sender = await requireSender(app, caller.tenant, from)
  const template = input.template === undefined ? null : await findTemplate(app, caller.tenant, input.template)
  if (input.subject !== undefined) compile(input.subject, 'subject')
  if (input.html !== undefined) compile(input.html, 'html')
  if (input.text) compile(input.text, 'text')
  const content = {
    body: {
      ...body,
      attachments,
      renders: true,
      variables: input.variables ?? {},
      template: template && { id: template.id, version: template.version },
    },
    raw: null,
    files,
  }
  if (messageSize(content) > maxMessageBytes)
    throw new AppError('ATTACHMENT_TOO_LARGE', 'a message would be larger than 25 MiB')
  const suppressed = await suppressedAmong(
    app.db,
    caller.tenant,
    entries.map(({ email }) => email.toLowerCase()),
    true,
    new Date(caller.nowMs),
  )
  const left = entries.filter(({ email }) => !suppressed.has(email.toLowerCase()))
  return { sending, from, sender, template, content, entries: left, problems, suppressed, scheduledAt }
}

type Prepared = Awaited<ReturnType<typeof prepareBulk>>

export async function acceptBulk(
  app: App,
  tx: Tx,
  input: Input,
  caller: Caller,
  prepared: Prepared,
): Promise<Accepted> {
  const { sending, entries, problems, suppressed, scheduledAt, content, template } = prepared
  const { tenant, receivedMs, nowMs } = caller
  const id = newUuid(receivedMs)
  const price = priceOf(app, tenant, sending.currency, receivedMs)
  const { batch_size: batchSize = usualBatchSize, batch_interval: interval = 0 } = input
  const batches = Math.ceil(entries.length / batchSize)
  const cost = price * BigInt(entries.length)
  const status = scheduledAt === null ? ('queued' as const) : ('scheduled' as const)
  const ids = entries.map(() => newUuid(receivedMs))
  await insertContent(tx, tenant, id, content)
  const counts = {
    total: input.recipients.length,
    accepted: entries.length,
    rejected: problems.length,
    suppressed: suppressed.size,
  }
  await tx.query(insertBulk, {
    ...tenant,
    id,
    status,
    ...counts,
    batchSize,
    batches,
    interval,
    cost,
    currency: sending.currency,
    template: template?.id ?? null,
    scheduledAt,
    at: new Date(nowMs),
  })
  await storeMessages(app, tx, input, caller, prepared, id, ids, { price, cost, status })
  const delayMs = scheduledAt === null ? 0 : scheduledAt.getTime() - nowMs
  const job = app.work.prepare(batchJob, tenant, { bulk: id, batch: 0 }, { key: id, delayMs })
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
  await record(tx, caller, 'email_bulk.create', idOf('emailBulk', id), { after: { accepted: entries.length } })
  return {
    bulk_id: idOf('emailBulk', id),
    status,
    ...counts,
    suppressed_recipients: [...suppressed].slice(0, maxProblemsShown).map(([email, reason]) => ({ email, reason })),
    batch_size: batchSize,
    batches,
    cost,
    currency: sending.currency,
    messages:
      entries.length > maxMessagesShown
        ? []
        : entries.map(({ email }, i) => ({ email, message_id: idOf('email', ids[i] ?? '') })),
    errors: problems.slice(0, maxProblemsShown),
    warnings: batchSize < 100 || batchSize > 500 ? ['batch_size: batches of 100 to 500 are advised'] : [],
    timestamp: new Date(nowMs),
  }
}

async function storeMessages(
  app: App,
  tx: Tx,
  input: Input,
  caller: Caller,
  { sending, entries, from, sender, content, template, scheduledAt }: Prepared,
  id: string,
  ids: readonly string[],
  { price, cost, status }: { price: bigint; cost: bigint; status: string },
): Promise<void> {
  const { nowMs, receivedMs, tenant } = caller
  const common = {
    status,
    sender: senderText({ from }),
    domain: sender.domain,
    subject: input.subject ?? template?.subject ?? '',
    template: template?.name ?? null,
    track_opens: input.tracking?.opens ?? true,
    track_clicks: input.tracking?.clicks ?? true,
    callback_url: input.callback_url ?? null,
    request: caller.requestId,
    size: messageSize(content),
    unit_price: price.toString(),
    scheduled_at: scheduledAt,
    expires_at: new Date((scheduledAt?.getTime() ?? nowMs) + maxTtlSeconds * 1000),
    created_at: new Date(nowMs),
  }
  const rows = entries.map((entry, n) => ({ id: ids[n], n, ...entry }))
  const { verdict } = await one(
    tx.query(acceptMessages, {
      ...tenant,
      bulk: id,
      common: JSON.stringify(common),
      entries: JSON.stringify(rows),
      amount: cost,
      currency: sending.currency,
      transfer: newUuid(receivedMs),
    }),
  )
  if (verdict === 'insufficient') throw await insufficient(app, sending, cost)
}

function insufficient(app: App, sending: Sending, cost: bigint): Promise<AppError> {
  return beyondWallet(app, sending, cost)
}
