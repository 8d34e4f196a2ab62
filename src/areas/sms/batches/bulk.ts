// SPDX-License-Identifier: Apache-2.0
// Sending many: the recipients of one message, or a bulk of different ones.
import { setImmediate } from 'node:timers/promises'
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { e164Rule, isE164 } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { AnsweredBefore, type Keyed } from '../../../platform/http/idempotency.ts'
import { linksFor, withRoomForLink } from '../links/opt-out-links.ts'
import type { ShortLinks } from '../links/short-links.ts'
import { findPlaces } from '../ported/places.ts'
import { mostValiditySeconds, type SendReply } from '../schema.ts'
import { permissionOf } from '../senders/permissions.ts'
import { callbackProblems, checkCallback } from '../sending/callback-urls.ts'
import { type Draft, draftOf, metadataOf, scheduledAt, textOf, type Wanted } from '../sending/draft.ts'
import { acceptBatch, type Entry, type EntryOutcome } from './accept.ts'
import { judged, refused } from './entries.ts'
import type { BulkReply, BulkSend } from './schema.ts'

/** So many messages are looked at before other requests have their turn: a thousand take some twenty milliseconds. */
const draftedAtOnce = 200

/** One message to several people. */
interface ToMany {
  readonly to: readonly string[]
  readonly common: Omit<Wanted, 'to'>
  draft(recipient: string): Draft
  readonly links: ShortLinks | null
}

export async function sendToMany(
  app: App,
  { to, common, draft, links }: ToMany,
  caller: Caller,
  keyed: Keyed,
): Promise<Static<typeof SendReply>> {
  const recipients = [...new Set(to)]
  if (common.type === 'otp')
    throw new AppError('VALIDATION_ERROR', 'type otp is for one recipient: give to as one number')
  if (common.reference !== null && recipients.length > 1)
    throw new AppError('VALIDATION_ERROR', 'reference names one message: send to one recipient, or use bulk')
  const entries = recipients.map((recipient, index) => entryOf(index, recipient, () => draft(recipient)))
  return once(app, caller, keyed, async (tx) => {
    await links?.store(tx)
    const { batch, outcomes, head } = await acceptBatch(app, tx, entries, common.metadata, caller)
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
  const { batch, outcomes, head } = await acceptBatch(app, tx, entries, metadataOf(input.metadata), caller)
  const isWhole = outcomes.every(({ error_code }) => error_code === null)
  if (head.accepted === 0 || !(isWhole || allow_partial)) throw allRefused('messages', outcomes)
  return {
    batch_id: idOf('smsBatch', batch),
    status: 'queued',
    total: entries.length,
    ...head,
    timestamp: new Date(caller.nowMs),
    messages: outcomes,
  }
}

function entryOf(index: number, to: string, make: () => Draft): Entry {
  if (!isE164(to)) return { index, to, code: 'INVALID_PHONE', why: `to ${e164Rule}` }
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
    app.db,
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
  const entries: Entry[] = []
  for (const entry of given) {
    entries.push('message' in entry ? entryOf(entry.index, entry.message.to, () => draft(entry.message)) : entry)
    if (entries.length % draftedAtOnce === 0) await setImmediate()
  }
  const bad = entries.flatMap((entry) => ('code' in entry ? [entry] : []))
  if (bad.length === entries.length || (bad.length > 0 && !allow_partial)) throw refusedEntries('messages', bad)
  return entries
}

/**
 * Runs a verb of many messages in a transaction that also stores the answer under the request's key. The key is claimed
 * first, so that a repetition is not taken for a request whose references were all used before.
 */
async function once<Reply>(app: App, caller: Caller, keyed: Keyed, work: (tx: Tx) => Promise<Reply>): Promise<Reply> {
  const claim = keyed.request && { ...caller.tenant, ...keyed.request }
  if (claim && (await app.idempotency.begin(claim, false))) throw new AnsweredBefore()
  return app.db.tx(async (tx) => {
    const reply = await work(tx)
    const { reply_status: status, reply_body: body } = keyed.columns(reply)
    if (claim && status !== null && body !== null)
      await app.idempotency.finish(tx, claim, { status, location: null, body }, false)
    return reply
  })
}

function allRefused(list: 'to' | 'messages', outcomes: readonly EntryOutcome[]): AppError {
  return refusedEntries(
    list,
    outcomes.flatMap(({ index, to, error_code, error = '', existing_id }) =>
      error_code === null ? [] : [{ index, to, code: error_code, why: error, existing_id }],
    ),
  )
}

interface Problem {
  readonly index: number
  readonly to: string
  readonly code: string
  readonly why: string
  /** The message that has its reference. */
  readonly existing_id?: string | undefined
}

/** Nothing was accepted: the first problem is the answer, all of them stand in `errors`. */
function refusedEntries(list: 'to' | 'messages', problems: readonly Problem[]): AppError {
  const [first] = problems
  const code = problemCodes.find((known) => known === first?.code) ?? 'VALIDATION_ERROR'
  return new AppError(code, first ? `${list}[${first.index}]: ${first.why}` : '', {
    extra: {
      ...existing(first),
      errors: problems.slice(0, maxListed).map((problem) => {
        const { index, to, code: error_code, why: error } = problem
        return { index, to, error_code, error, ...existing(problem) }
      }),
    },
  })
}

function existing(problem: Problem | undefined): { existing_id?: string } {
  return problem?.existing_id === undefined ? {} : { existing_id: problem.existing_id }
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
