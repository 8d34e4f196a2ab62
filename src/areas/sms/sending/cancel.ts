// SPDX-License-Identifier: Apache-2.0
// Calling a message off before it goes out.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { reverse } from '../../../ledger/wallets.ts'
import { recordAs } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Tx } from '../../../platform/db.ts'
import { payloadOf } from '../delivery/status.ts'
import { smsEvents } from '../events.ts'
import { cancelMessage, chargeStep, findMessage, type MessageRow, type TakenBack, takeBackMessage } from '../store.ts'
import type { Sending } from './accept.ts'

/** Whoever calls a message off. */
type Canceller = Sending & { readonly requestId: string }

/** Calls a message off, gives its price back and tells of it. */
export async function cancel(app: App, tx: Tx, caller: Canceller, id: string | null): Promise<MessageRow> {
  const message = await takeBack(tx, caller, id)
  const at = new Date(caller.nowMs)
  const cancelled = await cancelMessage(tx, caller.tenant, message.id, at)
  if (message.cost > 0n) await reverse(tx, caller.tenant, chargeStep(message), caller.receivedMs)
  await tellFailed(app, tx, caller, cancelled)
  await recordAs(tx, { ...caller, id: newUuid(caller.receivedMs) }, 'sms.cancel', idOf('sms', message.id))
  return cancelled
}

/** Takes the job of a message, so that no node submits it: the holder of the job has the message. */
export async function takeBack(tx: Tx, { tenant }: Pick<Sending, 'tenant'>, id: string | null): Promise<TakenBack> {
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

async function tellFailed(app: App, tx: Tx, caller: Sending, message: MessageRow): Promise<void> {
  const id = idOf('sms', message.id)
  const occasion = { ...caller, requestId: message.request_id }
  const payload = payloadOf(message, 'failed', message.error_code)
  await app.outbox.emit(tx, smsEvents.status, occasion, id, payload, { callbackUrl: message.callback_url })
  await app.outbox.emit(tx, smsEvents.failed, occasion, id, payload)
}
