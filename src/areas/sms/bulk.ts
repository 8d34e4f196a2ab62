// SPDX-License-Identifier: Apache-2.0
// Sending many: the recipients of one message, or a bulk of different ones. One transaction accepts what can be accepted and
// pays for all of it last; an entry that cannot be accepted stops no other.
import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import { isE164 } from '../../kernel/phone.ts'
import { minuteMs } from '../../kernel/time.ts'
import { walletsOf } from '../../ledger/wallets.ts'
import type { App } from '../../platform/app.ts'
import { record } from '../../platform/audit.ts'
import type { Caller } from '../../platform/auth.ts'
import { one, statement, type Tx } from '../../platform/db.ts'
import { AnsweredBefore, type Keyed } from '../../platform/http/idempotency.ts'
import { encodeItems } from '../../platform/items.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { NewJob } from '../../platform/work.ts'
import { insertBatch, type Rejection } from './batch-store.ts'
import { callbackProblems, checkCallback } from './callbacks.ts'
import { batchJob, firstLookMs } from './complete-batch.ts'
import { linksFor, withRoomForLink } from './consent/links.ts'
import {
  beyondWallet,
  type Draft,
  draftOf,
  itemOf,
  jobOf,
  metadataOf,
  refusalOf,
  scheduledAt,
  submit,
  textOf,
  tooExpensive,
  type Wanted,
} from './draft.ts'
import { type BadEntry, judged, refused } from './entries.ts'
import { findPlaces } from './ported/numbers.ts'
import { currencyOf } from './pricing.ts'
import { type BulkReply, type BulkSend, mostValiditySeconds, type SendReply } from './schema.ts'
import { permissionOf } from './senders/permissions.ts'
import type { ShortLinks } from './short-links.ts'
import type { Notes } from './store.ts'

/** A transaction hands so many messages to PostgreSQL at a time. */
const chunkSize = 500

/** What sms.submit does for one, except that the transaction pays for all of them last. */
const accept = statement<{ items: Buffer }, { verdict: string; existing: string | null }>(
  'sms.accept',
  `select v.verdict, v.existing
     from unnest(sms.accept($items::sms.submit_item[], false))
          with ordinality as v(verdict, existing, n)
    order by v.n`,
)

const charge = statement<
  Tenant & {
    currency: string
    ids: readonly string[]
    amounts: readonly string[]
    transfers: readonly string[]
  },
  { insufficient: boolean }
>(
  'sms.charge',
  `select coalesce('insufficient' = any(ledger.charge(array(
            select row($bucket::smallint, $account::uuid, $environment::text, $currency::text, i.amount, i.id, 'charge',
                       i.transfer, 'revenue:sms')::ledger.charge_item
              from unnest($ids::uuid[], $amounts::bigint[], $transfers::uuid[]) as i(id, amount, transfer)))),
          false) as insufficient`,
)

export async function sendToMany(
  app: App,
  to: readonly string[],
  common: Omit<Wanted, 'to'>,
  draft: (recipient: string) => Draft,
  caller: Caller,
  keyed: Keyed,
  links: ShortLinks | null,
): Promise<Static<typeof SendReply>> {
  const recipients = [...new Set(to)]
  if (common.type === 'otp')
    throw new AppError('VALIDATION_ERROR', 'type otp is for one recipient: give to as one number')
  if (common.reference !== null && recipients.length > 1)
    throw new AppError('VALIDATION_ERROR', 'reference names one message: send to one recipient, or use bulk')
  await admitMessages(app, caller, recipients.length - 1)
  const entries = recipients.map((recipient, index) => entryOf(index, recipient, () => draft(recipient)))
  return once(app, caller, keyed, async (tx) => {
    await links?.store(tx)
    const { batch, outcomes, head } = await submitBatch(app, tx, entries, common.metadata, caller)
    if (head.accepted === 0) throw allRefused('to', outcomes)
    return {
      status: 'queued',
      message_id: idOf('smsBatch', batch),
      to: recipients,
      from: common.from,
      segments: common.text.segments,
      cost: head.cost,
      currency: head.currency,
      timestamp: new Date(caller.nowMs),
      encoding: common.text.encoding,
      country: sameFor(entries, ({ place }) => place.country),
      network: sameFor(entries, ({ place }) => place.network),
      scheduled_at: dateOf(sameFor(entries, (draft) => draft.scheduledAt?.getTime() ?? null)),
      messages: outcomes.map(({ index: _, error: __, ...outcome }) => outcome),
      accepted: head.accepted,
      rejected: head.rejected,
    }
  })
}

export async function sendBulk(
  app: App,
  tx: Tx,
  input: Static<typeof BulkSend>,
  entries: readonly Entry[],
  caller: Caller,
): Promise<Static<typeof BulkReply>> {
  const { allow_partial = true } = input
  const { batch, outcomes, head } = await submitBatch(app, tx, entries, metadataOf(input.metadata), caller)
  if (head.accepted === 0 || (head.rejected > 0 && !allow_partial)) throw allRefused('messages', outcomes)
  return {
    batch_id: idOf('smsBatch', batch),
    status: 'queued',
    total: entries.length,
    ...head,
    timestamp: new Date(caller.nowMs),
    messages: outcomes,
  }
}

/** An entry of a request for many messages: a draft, or why there is none. */
type Entry = { readonly index: number; readonly to: string; readonly draft: Draft } | BadEntry

function entryOf(index: number, to: string, make: () => Draft): Entry {
  if (!isE164(to)) return { index, to, code: 'INVALID_PHONE', why: 'to must be E.164, such as +254711000001' }
  try {
    return { index, to, draft: make() }
  } catch (error) {
    return refused(index, to, error)
  }
}

/** The entries of a bulk request, checked; refuses at once what cannot be accepted for its form. */
export async function bulkEntries(app: App, input: Static<typeof BulkSend>, caller: Caller): Promise<readonly Entry[]> {
  const { from, callback_url, scheduled_at, metadata = {}, type = 'transactional', allow_partial = true } = input
  if (callback_url !== undefined) await checkCallback(app, caller.tenant, callback_url)
  const usual = scheduledAt(scheduled_at, caller.nowMs)
  const given = await judged(input.messages)
  const messages = given.flatMap((entry) => ('message' in entry ? [entry.message] : []))
  const urlProblems = await callbackProblems(
    app,
    caller.tenant,
    messages.map((message) => message.callback_url),
  )
  await findPlaces(
    app,
    messages.map(({ to }) => to),
  )
  const permission = await permissionOf(app, caller.tenant)
  const linked = await linksFor(
    app,
    caller,
    type,
    messages.map((message) => ({ from, ...message })),
  )
  const draft = (message: (typeof messages)[number]): Draft => {
    const { from: sender = from, reference } = message
    const urlProblem = message.callback_url === undefined ? undefined : urlProblems.get(message.callback_url)
    if (urlProblem) throw urlProblem
    const text = textOf(withRoomForLink(app, type, message.message))
    return draftOf(app, caller, permission, {
      to: message.to,
      from: sender,
      text: linked(text, message.to, sender),
      scheduledAt: message.scheduled_at === undefined ? usual : scheduledAt(message.scheduled_at, caller.nowMs),
      type,
      validity: mostValiditySeconds,
      metadata: metadataOf({ ...metadata, ...message.metadata }),
      reference: reference ?? null,
      callbackUrl: message.callback_url ?? callback_url ?? null,
    })
  }
  const entries = given.map((entry) =>
    'message' in entry ? entryOf(entry.index, entry.message.to, () => draft(entry.message)) : entry,
  )
  const bad = entries.filter((entry) => 'code' in entry)
  if (bad.length === entries.length || (bad.length > 0 && !allow_partial)) throw refusedEntries('messages', bad)
  return entries
}

/** What became of an entry, as the reply tells it. */
type EntryOutcome = Static<typeof BulkReply>['messages'][number]

interface Submitted {
  batch: string
  outcomes: EntryOutcome[]
  head: { accepted: number; rejected: number; segments: number; cost: bigint; currency: string }
}

/** A plan's messages of a minute go at once, those of the next when it has passed: a bulk is not refused for its size. */
function afterMs(app: App, { principal }: Caller, position: number): number {
  const perMinute = principal.planPolicies.sms?.limit
  if (perMinute === undefined || perMinute === 0 || app.config.PAMOJA_RATE_LIMITS === 'off') return 0
  return Math.floor(position / perMinute) * minuteMs
}

/** Accepts what can be accepted, all of it or nothing as far as money goes. */
async function submitBatch(
  app: App,
  tx: Tx,
  entries: readonly Entry[],
  metadata: Notes,
  caller: Caller,
): Promise<Submitted> {
  const currency = currencyOf(caller)
  const batch = newUuid(caller.receivedMs)
  const drafts = entries.flatMap((entry) => ('draft' in entry ? [entry] : []))
  const total = drafts.reduce((sum, { draft }) => sum + draft.cost, 0n)
  if (drafts.some(({ draft }) => refusalOf(draft, caller) === 'INSUFFICIENT_BALANCE'))
    throw tooExpensive(currency, total, 0n)
  const verdicts = new Map<number, { verdict: string; existing: string | null }>()
  const jobs: NewJob[] = []
  for (let start = 0; start < drafts.length; start += chunkSize) {
    const chunk = drafts.slice(start, start + chunkSize).map(({ index, draft }, i) => ({
      index,
      draft,
      job: jobOf(app, draft, caller, afterMs(app, caller, start + i)),
    }))
    const rows = await tx.query(accept, {
      items: encodeItems(
        submit.takes,
        chunk.map(({ index, draft, job }) =>
          Object.assign(itemOf(draft, job, caller), { batch, batch_index: index, refusal: refusalOf(draft, caller) }),
        ),
      ),
    })
    chunk.forEach(({ index, job }, i) => {
      const row = rows[i]
      if (!row) throw new Error('a message was given no verdict')
      verdicts.set(index, row)
      if (row.verdict === 'accepted') jobs.push(job)
    })
  }
  const outcomes = entries.map((entry) => outcomeOf(entry, verdicts.get(entry.index), currency))
  const taken = outcomes.filter(({ message_id }) => message_id !== null)
  const head = {
    accepted: taken.length,
    rejected: outcomes.length - taken.length,
    segments: outcomes.reduce((sum, { segments, cost }) => sum + (cost > 0n ? segments : 0), 0),
    cost: outcomes.reduce((sum, { cost }) => sum + cost, 0n),
    currency,
  }
  const paying = drafts.filter(({ index }) => verdicts.get(index)?.verdict === 'accepted').map(({ draft }) => draft)
  await insertBatch(tx, caller.tenant, {
    id: batch,
    total: entries.length,
    ...head,
    metadata,
    rejections: outcomes.flatMap(rejectionOf),
    created_at: new Date(caller.nowMs),
  })
  const watch = app.work.prepare(batchJob, caller.tenant, { batch }, { delayMs: firstLookMs })
  await app.work.add(tx, watch)
  await record(tx, caller, 'sms.send_batch', `sms_batch:${batch}`, { after: { accepted: head.accepted } })
  await pay(tx, paying, caller)
  tx.afterCommit(() => {
    for (const job of jobs) app.work.begin(job)
  })
  return { batch, outcomes, head }
}

/** The last thing of the transaction: whoever else sends for this account waits for the wallet from here on. */
async function pay(tx: Tx, drafts: readonly Draft[], caller: Caller): Promise<void> {
  if (drafts.length === 0) return
  const currency = currencyOf(caller)
  const total = drafts.reduce((sum, { cost }) => sum + cost, 0n)
  // What cannot be paid is mostly seen without the lock, and without deciding on each message.
  const wallet = (await walletsOf(tx, caller.tenant)).find((candidate) => candidate.currency === currency)
  const available = wallet?.availableMicros ?? 0n
  if (total > available) throw tooExpensive(currency, total, available)
  const { insufficient } = await one(
    tx.query(charge, {
      ...caller.tenant,
      currency,
      ids: drafts.map(({ uuid }) => uuid),
      amounts: drafts.map(({ cost }) => cost.toString()),
      transfers: drafts.map(() => newUuid(caller.receivedMs)),
    }),
  )
  if (insufficient) throw await beyondWallet(tx, caller.tenant, currency, total)
}

function outcomeOf(
  entry: Entry,
  decided: { verdict: string; existing: string | null } | undefined,
  currency: string,
): EntryOutcome {
  const { index, to } = entry
  const refused = { index, to, message_id: null, status: 'failed' as const, segments: 0, cost: 0n, currency }
  if (!('draft' in entry)) return { ...refused, error_code: entry.code, error: entry.why }
  const { draft } = entry
  if (decided?.verdict === 'duplicate')
    return {
      ...refused,
      error_code: 'DUPLICATE_REFERENCE',
      error: `the reference ${draft.reference} was used before`,
      ...(decided.existing ? { existing_id: idOf('sms', decided.existing) } : {}),
    }
  const isOut = decided?.verdict === 'opted_out'
  return {
    index,
    message_id: idOf('sms', draft.uuid),
    to,
    status: isOut ? 'failed' : 'queued',
    segments: draft.text.segments,
    cost: isOut ? 0n : draft.cost,
    currency,
    error_code: isOut ? 'OPTED_OUT' : null,
  }
}

function rejectionOf({ index, to, message_id, error_code, error = '', existing_id }: EntryOutcome): Rejection[] {
  if (message_id !== null || error_code === null) return []
  return [{ index, to, error_code, error, ...(existing_id === undefined ? {} : { existing_id }) }]
}

/**
 * Runs a verb of many messages in a transaction that also stores the answer under the request's key. The key is claimed
 * first, so that a repetition is not taken for a request whose references were all used before.
 */
async function once<Reply>(app: App, caller: Caller, keyed: Keyed, work: (tx: Tx) => Promise<Reply>): Promise<Reply> {
  const { request } = keyed
  if (request && (await app.idempotency.begin(caller.tenant, request.key, request.hash, false)))
    throw new AnsweredBefore()
  return app.db.tx(async (tx) => {
    const reply = await work(tx)
    const { reply_status: status, reply_body: body } = keyed.columns(reply)
    if (request && status !== null && body !== null)
      await app.idempotency.finish(
        tx,
        caller.tenant,
        request.key,
        request.hash,
        { status, location: null, body },
        false,
      )
    return reply
  })
}

/** A plan counts messages: the request itself was the first. */
async function admitMessages(app: App, { principal }: Caller, more: number): Promise<void> {
  const policy = principal.planPolicies.sms
  if (!policy || app.config.PAMOJA_RATE_LIMITS === 'off') return
  for (let i = 0; i < more; i++) {
    const { refusedBy } = await app.limits.admit([policy])
    if (!refusedBy) continue
    throw new AppError('RATE_LIMITED', `the plan takes ${policy.limit} messages a minute, and each recipient is one`, {
      retryAfterSeconds: Math.max(1, Math.ceil(refusedBy.resetMs / 1_000)),
    })
  }
}

function allRefused(list: 'to' | 'messages', outcomes: readonly EntryOutcome[]): AppError {
  return refusedEntries(
    list,
    outcomes.flatMap(({ index, to, error_code, error = '' }) =>
      error_code === null ? [] : [{ index, to, code: error_code, why: error }],
    ),
  )
}

/** Nothing was accepted: the first problem is the answer, all of them stand in `errors`. */
function refusedEntries(
  list: 'to' | 'messages',
  bad: readonly (Entry | { index: number; to: string; code: string; why: string })[],
): AppError {
  const problems = bad.flatMap((entry) => ('code' in entry ? [entry] : []))
  const [first] = problems
  const code = problemCodes.find((known) => known === first?.code) ?? 'VALIDATION_ERROR'
  return new AppError(code, first ? `${list}[${first.index}]: ${first.why}` : '', {
    extra: {
      errors: problems
        .slice(0, maxListed)
        .map(({ index, to, code: error_code, why }) => ({ index, to, error_code, error: why })),
    },
  })
}

const problemCodes = [
  'INVALID_PHONE',
  'INVALID_URL',
  'ENCODING_ERROR',
  'NO_ROUTE',
  'PROVIDER_UNAVAILABLE',
  'DUPLICATE_REFERENCE',
  'OPTED_OUT',
  'SENDER_NOT_ALLOWED',
  'COUNTRY_NOT_ENABLED',
] as const
const maxListed = 1_000

/** What all recipients have in common, or null. */
function sameFor<T>(entries: readonly Entry[], pick: (draft: Draft) => T | null): T | null {
  const values = new Set(entries.flatMap((entry) => ('draft' in entry ? [pick(entry.draft)] : [])))
  const [only = null] = values
  return values.size === 1 ? only : null
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
