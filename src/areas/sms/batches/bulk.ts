// SPDX-License-Identifier: Apache-2.0
// A bulk: many different messages in one request.

import { setImmediate } from 'node:timers/promises'
import type { Static } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { mergedNotes } from '../../../platform/metadata/exact.ts'
import { callbackProblems, checkCallback } from '../../../platform/outbound/callback-url.ts'
import { linksFor, withRoomForLink } from '../links/opt-out-links.ts'
import { findPlaces } from '../ported/number-network.ts'
import { maxValiditySeconds } from '../schema.ts'
import { permissionOf } from '../senders/permissions.ts'
import { type Draft, draftOf, metadataOf, scheduledAt, textOf } from '../sending/draft.ts'
import { acceptBatch } from './accept.ts'
import { type Entry, entryOf, judged } from './entries.ts'
import { allRefused, refusedEntries } from './refusals.ts'
import type { BulkMessage, BulkReply, BulkSend } from './schema.ts'

/** Messages drafted before other requests have their turn: a thousand take some twenty milliseconds. */
const draftedAtOnce = 200

type Bulk = Static<typeof BulkSend>
type Message = Static<typeof BulkMessage>

/** The entries of a bulk request, checked; refuses at once what cannot be accepted for its form. */
export async function bulkEntries(app: App, input: Bulk, caller: Caller): Promise<readonly Entry[]> {
  const { callback_url, allow_partial = true } = input
  await checkCallback(app, caller.tenant, callback_url)
  const entries = await draftedEntries(app, input, caller)
  const bad = entries.flatMap((entry) => ('code' in entry ? [entry] : []))
  if (bad.length === entries.length || (bad.length > 0 && !allow_partial)) throw refusedEntries('messages', bad)
  return entries
}

/** The entries of a bulk, each a draft or the reason why there is none. */
export async function draftedEntries(app: App, input: Bulk, caller: Caller): Promise<readonly Entry[]> {
  const given = await judged(input.messages)
  const messages = given.flatMap((entry) => ('message' in entry ? [entry.message] : []))
  const draft = await drafterOf(app, input, messages, caller)
  const entries: Entry[] = []
  for (const entry of given) {
    entries.push('message' in entry ? entryOf(entry.index, entry.message.to, () => draft(entry.message)) : entry)
    if (entries.length % draftedAtOnce === 0) await setImmediate()
  }
  return entries
}

/** Function that drafts a message, or throws its refusal; networks, permissions and links are loaded once for all. */
async function drafterOf(
  app: App,
  { from, callback_url, callback_events, scheduled_at, metadata = {}, type = 'transactional' }: Bulk,
  messages: readonly Message[],
  caller: Caller,
): Promise<(message: Message) => Draft> {
  const usual = scheduledAt(scheduled_at, caller.nowMs)
  const usualEvents = callback_events ?? caller.principal.facts.callbackEvents
  const urls = messages.map((message) => message.callback_url)
  const urlProblems = await callbackProblems(app, caller.tenant, urls)
  const numbers = messages.map(({ to }) => to)
  await findPlaces(app, numbers)
  const permission = await permissionOf(app, caller.tenant)
  const addressed = messages.map((message) => ({ from, ...message }))
  const linked = await linksFor(app, app.db, caller, type, addressed)
  return (message) => {
    const { to, from: sender = from, reference = null } = message
    const urlProblem = message.callback_url === undefined ? undefined : urlProblems.get(message.callback_url)
    if (urlProblem) throw urlProblem
    const text = textOf(withRoomForLink(app, type, message.message))
    return draftOf(app, caller, permission, {
      to,
      from: sender,
      text: linked(text, to, sender),
      scheduledAt: message.scheduled_at === undefined ? usual : scheduledAt(message.scheduled_at, caller.nowMs),
      type,
      validity: maxValiditySeconds,
      metadata: metadataOf(mergedNotes(metadata, message.metadata)),
      reference,
      callbackUrl: message.callback_url ?? callback_url ?? null,
      callbackFinal: (message.callback_events ?? usualEvents) === 'final',
    })
  }
}

export async function sendBulk(
  app: App,
  tx: Tx,
  input: Bulk,
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
