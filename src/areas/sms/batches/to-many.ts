// SPDX-License-Identifier: Apache-2.0
// One message to several recipients.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { AnsweredBefore, type Keyed } from '../../../platform/api/idempotency.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import type { ShortLinks } from '../links/short-links.ts'
import type { SendReply } from '../schema.ts'
import type { Draft, Wanted } from '../sending/draft.ts'
import { acceptBatch } from './accept.ts'
import { type Entry, entryOf } from './entries.ts'
import { allRefused } from './refusals.ts'

/** A message before it is known whether it goes to one recipient or to many. */
export interface Composed {
  /** Fields shared by all of them. */
  readonly common: Omit<Wanted, 'to'>
  readonly shortLinks: ShortLinks | null
  /** Draft for a recipient; throws its refusal. */
  draftFor(recipient: string): Draft
}

export async function sendToMany(
  app: App,
  to: readonly string[],
  { common, shortLinks, draftFor }: Composed,
  caller: Caller,
  keyed: Keyed,
): Promise<Static<typeof SendReply>> {
  const recipients = [...new Set(to)]
  if (common.type === 'otp')
    throw new AppError('VALIDATION_ERROR', 'type otp is for one recipient: give to as one number')
  if (common.reference !== null && recipients.length > 1)
    throw new AppError('VALIDATION_ERROR', 'reference identifies one message: send to one recipient, or use bulk')
  const entries = recipients.map((recipient, index) => entryOf(index, recipient, () => draftFor(recipient)))
  return once(app, caller, keyed, async (tx) => {
    await shortLinks?.store(tx)
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

/**
 * Runs a verb in a transaction that also stores the answer under the request's key. The key is claimed first, so that a
 * repetition is not taken for a request whose references were all used before.
 */
async function once<Reply>(app: App, caller: Caller, keyed: Keyed, work: (tx: Tx) => Promise<Reply>): Promise<Reply> {
  const claim = keyed.request && { ...caller.tenant, ...keyed.request }
  if (claim && (await app.idempotency.begin(claim, false))) throw new AnsweredBefore()
  return app.db.tx(caller.tenant, async (tx) => {
    const reply = await work(tx)
    const answer = keyed.row(reply)
    if (claim && answer) {
      const { status, body } = answer
      await app.idempotency.finish(tx, claim, { status, location: null, body }, false)
    }
    return reply
  })
}

/** Value that all recipients share, or null. */
function sameFor<T>(entries: readonly Entry[], pick: (draft: Draft) => T | null): T | null {
  const values = new Set(entries.flatMap((entry) => ('draft' in entry ? [pick(entry.draft)] : [])))
  const [only = null] = values
  return values.size === 1 ? only : null
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
