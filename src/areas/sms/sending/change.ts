// SPDX-License-Identifier: Apache-2.0
// Changing or cancelling a message before it goes out. Its job is taken away first: who has that has the message.

import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { isCurrency } from '../../../kernel/money.ts'
import { post, reverse } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import { record } from '../../../platform/audit.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { cancellableOf, type Waiting } from '../batches/store.ts'
import { submission } from '../delivery/queue.ts'
import { changeOf, failed, loadMessages, payloadOf, type Stored, tell, transferId } from '../delivery/status.ts'
import { smsEvents } from '../events.ts'
import { linksFor, withRoomForLink } from '../links/opt-out-links.ts'
import { priorityOf } from '../message.ts'
import { segmentPrice } from '../prices/pricing.ts'
import type { MessageChange } from '../schema.ts'
import {
  cancelMessage,
  changeMessage,
  chargeStep,
  findMessage,
  type MessageRow,
  type TakenBack,
  takeBackMessage,
} from '../store.ts'
import { metadataOf, scheduledAt, textOf, timeFor } from './draft.ts'
import { beyondWallet } from './refusals.ts'

/** Messages of a batch that are called off together. */
const chunkSize = 500

/** Calls a message off, gives its price back and tells of it. */
export async function cancel(app: App, tx: Tx, caller: Caller, id: string | null): Promise<MessageRow> {
  const message = await takenBack(tx, caller, id)
  const at = new Date(caller.nowMs)
  const cancelled = await cancelMessage(tx, caller.tenant, message.id, at)
  if (message.cost > 0n) await reverse(tx, caller.tenant, chargeStep(message), caller.receivedMs)
  await tellFailed(app, tx, caller, cancelled)
  await record(tx, caller, 'sms.cancel', `sms:${message.id}`)
  return cancelled
}

/** Calls off what of a batch was not submitted yet; gives how many messages that were. */
export async function cancelBatch(app: App, { tenant }: Caller, id: string): Promise<number> {
  const waiting = await cancellableOf(app.db, tenant, id)
  const fences = new Map(waiting.map((message) => [message.id, message]))
  let cancelled = 0
  for (let start = 0; start < waiting.length; start += chunkSize) {
    const ids = waiting.slice(start, start + chunkSize).map((message) => message.id)
    const messages = await app.db.query(loadMessages, {
      buckets: ids.map(() => tenant.bucket),
      accounts: ids.map(() => tenant.account),
      environments: ids.map(() => tenant.environment),
      ids,
    })
    const changed = await Promise.all(
      messages.flatMap((message) => {
        const fence = fences.get(message.id)
        return fence ? [cancelWaiting(app, message, fence)] : []
      }),
    )
    cancelled += changed.filter(Boolean).length
  }
  return cancelled
}

/** Fails a message whose job no node has; one that was taken meanwhile has another attempt, and goes its way. */
async function cancelWaiting(app: App, message: Stored, { job, attempt }: Waiting): Promise<boolean> {
  const change = changeOf(app, message, 'failed', 'CANCELLED')
  const verdict = await app.commit(failed, {
    bucket: message.bucket,
    account: message.account_id,
    environment: message.environment,
    id: message.id,
    job,
    attempt,
    error_code: 'CANCELLED',
    carrier_code: null,
    carrier: null,
    attempts: 0,
    at: change.at,
    transfer: transferId(app),
    ...change.columns,
  })
  tell(app, change, verdict)
  return verdict.changed === true
}

/** Changes the time, the text or the notes of a message; a text of another length is paid for anew. */
export async function change(
  app: App,
  tx: Tx,
  caller: Caller,
  id: string | null,
  input: Static<typeof MessageChange>,
): Promise<MessageRow> {
  const { waits_ms: waitsMs, wanted_encoding: wantedEncoding, ...before } = await takenBack(tx, caller, id)
  const { currency } = before
  if (currency === null)
    throw new AppError('MESSAGE_NOT_CANCELLABLE', 'the message is our answer to STOP, START or HELP', {
      extra: { current_status: before.status },
    })
  const at = input.scheduled_at === undefined ? before.scheduled_at : movedTo(caller, before, input.scheduled_at)
  let after: MessageRow = { ...before, scheduled_at: at, metadata: metadataOf(input.metadata ?? before.metadata) }
  if (input.message !== undefined) {
    const { recipient: to, sender: from, type } = before
    const linked = await linksFor(app, tx, caller, type, [{ to, from, message: input.message }])
    const room = withRoomForLink(app, type, input.message)
    const { text, encoding, segments } = linked(textOf(room, wantedEncoding ?? 'auto'), to, from)
    const unitPrice = segmentPrice(app, caller, before)
    after = { ...after, body: text, encoding, segments, unit_price: unitPrice, cost: unitPrice * BigInt(segments) }
    if (after.cost !== before.cost) after = await recharged(tx, caller, currency, before, after)
  }
  // One that is not moved keeps its turn: it may wait for the rate of its plan, and not for a time of its own.
  const isMoved = input.scheduled_at !== undefined && at !== null
  const delayMs = isMoved ? Math.max(0, at.getTime() - caller.nowMs) : Math.max(0, Number(waitsMs))
  const priority = priorityOf(before.type, before.batch_id !== null)
  const job = submission(app, caller.tenant, { ...after, priority, wantedEncoding }, delayMs)
  const changed = await changeMessage(tx, caller.tenant, after, job.id)
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
  await record(tx, caller, 'sms.change', `sms:${before.id}`)
  return changed
}

/** When it goes out now. Never null, not even for at once: its validity begins anew, and not when it was first sent in. */
function movedTo(caller: Caller, { type, country }: MessageRow, to: string): Date {
  return timeFor(caller, type, country, scheduledAt(to, caller.nowMs)) ?? new Date(caller.nowMs)
}

async function takenBack(tx: Tx, { tenant }: Caller, id: string | null): Promise<TakenBack> {
  const message = id === null ? null : await takeBackMessage(tx, tenant, id)
  if (message) return message
  const known = id === null ? null : await findMessage(tx, tenant, id)
  if (known?.direction !== 'outbound') throw new AppError('NOT_FOUND', 'there is no such message')
  throw new AppError(
    'MESSAGE_NOT_CANCELLABLE',
    known.status === 'queued' ? 'the message is being sent' : `the message is ${known.status}`,
    { extra: { current_status: known.status } },
  )
}

/** Gives the old price back and takes the new one. */
async function recharged(
  tx: Tx,
  { tenant, receivedMs }: Caller,
  currency: string,
  before: MessageRow,
  after: MessageRow,
): Promise<MessageRow> {
  if (!isCurrency(currency)) throw new Error(`a message was paid in an unknown currency: ${currency}`)
  if (before.cost > 0n) await reverse(tx, tenant, chargeStep(before), receivedMs)
  const charged = { ...after, charges: before.charges + 1 }
  const leg = { debit: 'wallet', credit: 'revenue:sms', micros: after.cost, currency }
  if (after.cost > 0n && (await post(tx, tenant, chargeStep(charged), [leg], receivedMs)) === 'insufficient')
    throw await beyondWallet(tx, tenant, currency, after.cost)
  return charged
}

async function tellFailed(app: App, tx: Tx, caller: Caller, message: MessageRow): Promise<void> {
  const id = idOf('sms', message.id)
  const occasion = { ...caller, requestId: message.request_id }
  const payload = payloadOf(message, 'failed', message.error_code)
  await app.outbox.emit(tx, smsEvents.status, occasion, id, payload, { callbackUrl: message.callback_url })
  await app.outbox.emit(tx, smsEvents.failed, occasion, id, payload)
}
