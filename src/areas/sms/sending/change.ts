// SPDX-License-Identifier: Apache-2.0
// Changing a message before it goes out.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { isCurrency } from '../../../kernel/money.ts'
import { post, reverse } from '../../../ledger/wallets.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { submission } from '../delivery/queue.ts'
import { linksFor, withRoomForLink } from '../links/opt-out-links.ts'
import { isOurAnswer, priorityOf } from '../message.ts'
import { segmentPrice } from '../prices/pricing.ts'
import type { MessageChange } from '../schema.ts'
import { changeMessage, chargeStep, type MessageRow, type TakenBack } from '../store.ts'
import { takeBack } from './cancel.ts'
import { metadataOf, scheduledAt, textOf, timeFor } from './draft.ts'
import { beyondWallet } from './refusals.ts'

/** Changes the time, the text or the notes of a message. */
export async function change(
  app: App,
  tx: Tx,
  caller: Caller,
  id: string | null,
  input: Static<typeof MessageChange>,
): Promise<MessageRow> {
  const { waits_ms: waitsMs, wanted_encoding: wantedEncoding, ...before } = await takeBack(tx, caller, id)
  if (isOurAnswer(before))
    throw new AppError('MESSAGE_NOT_CANCELLABLE', 'the message is an automatic reply to STOP, START or HELP', {
      extra: { current_status: before.status },
    })
  const at = input.scheduled_at === undefined ? before.scheduled_at : movedTo(caller, before, input.scheduled_at)
  const noted = { ...before, scheduled_at: at, metadata: metadataOf(input.metadata ?? before.metadata) }
  const after =
    input.message === undefined ? noted : await reworded(app, tx, caller, noted, input.message, wantedEncoding)
  // One that is not moved keeps its turn: it may wait for the rate of its plan, and not for a time of its own.
  const isMoved = input.scheduled_at !== undefined && at !== null
  const delayMs = isMoved ? Math.max(0, at.getTime() - caller.nowMs) : Math.max(0, Number(waitsMs))
  const priority = priorityOf(before.type, before.batch_id !== null)
  const job = submission(app, caller.tenant, { ...after, priority, wantedEncoding }, delayMs)
  const changed = await changeMessage(tx, caller.tenant, after, job.id)
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
  await record(tx, caller, 'sms.change', idOf('sms', before.id))
  return changed
}

/** New time of a message. Never null, not even for at once: its validity begins anew, not at its first acceptance. */
function movedTo(caller: Caller, { type, country }: MessageRow, to: string): Date {
  return timeFor(caller, type, country, scheduledAt(to, caller.nowMs)) ?? new Date(caller.nowMs)
}

/** The message with another text; one of another price is paid for anew. */
async function reworded(
  app: App,
  tx: Tx,
  caller: Caller,
  before: MessageRow,
  message: string,
  wantedEncoding: TakenBack['wanted_encoding'],
): Promise<MessageRow> {
  const { recipient: to, sender: from, type } = before
  const linked = await linksFor(app, tx, caller, type, [{ to, from, message }])
  const room = withRoomForLink(app, type, message)
  const { text, encoding, segments } = linked(textOf(room, wantedEncoding ?? 'auto'), to, from)
  const unitPrice = segmentPrice(app, caller, before)
  const after = { ...before, body: text, encoding, segments, unit_price: unitPrice, cost: unitPrice * BigInt(segments) }
  return after.cost === before.cost ? after : recharged(tx, caller, before, after)
}

/** Gives the old price back and takes the new one. */
async function recharged(
  tx: Tx,
  { tenant, receivedMs }: Caller,
  before: MessageRow,
  after: MessageRow,
): Promise<MessageRow> {
  const { currency } = before
  if (currency === null || !isCurrency(currency))
    throw new Error(`a message was paid in no known currency: ${currency}`)
  if (before.cost > 0n) await reverse(tx, tenant, chargeStep(before), receivedMs)
  const charged = { ...after, charges: before.charges + 1 }
  const leg = { debit: 'wallet', credit: 'revenue:sms', micros: after.cost, currency }
  if (after.cost > 0n && (await post(tx, tenant, chargeStep(charged), [leg], receivedMs)) === 'insufficient')
    throw await beyondWallet(tx, tenant, currency, after.cost)
  return charged
}
