// SPDX-License-Identifier: Apache-2.0
// Events of calls in the call centre.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { callEvents } from '../../voice/area.ts'
import type { ContactRow } from '../contacts.ts'
import type { TransferRow } from './transfer-store.ts'

/** Fields common to all events of a call. The sequence is always 0: receivers order these events by time. */
function about({ tenant }: Occasion, contact: ContactRow) {
  const call_id = idOf('call', contact.call_id)
  return {
    account_id: idOf('account', tenant.account),
    call_id,
    conversation_uuid: `CON-${call_id.slice(5)}`,
    direction: contact.direction,
    from: contact.from_number,
    to: contact.to_number,
    agent_id: contact.agent_id,
    queue_id: contact.queue_id === null ? null : idOf('queue', contact.queue_id),
    custom_data: contact.data,
    sequence: 0,
  }
}

export function tellQueued(
  app: App,
  tx: Tx,
  occasion: Occasion,
  contact: ContactRow,
  { position, estimatedWait }: { position: number; estimatedWait: number | null },
) {
  return app.outbox.emit(tx, callEvents.queued, occasion, idOf('call', contact.call_id), {
    ...about(occasion, contact),
    position,
    priority: contact.priority,
    estimated_wait_seconds: estimatedWait,
    queued_at: contact.entered_at,
  })
}

export function tellAbandoned(app: App, tx: Tx, occasion: Occasion, contact: ContactRow, position: number) {
  return app.outbox.emit(tx, callEvents.abandoned, occasion, idOf('call', contact.call_id), {
    ...about(occasion, contact),
    position,
    wait_seconds: Math.max(0, Math.round((occasion.nowMs - contact.entered_at.getTime()) / 1_000)),
  })
}

export function tellTransferred(app: App, tx: Tx, occasion: Occasion, contact: ContactRow, transfer: TransferRow) {
  return app.outbox.emit(tx, callEvents.transferred, occasion, idOf('call', contact.call_id), {
    ...about(occasion, contact),
    transfer_id: idOf('transfer', transfer.id),
    transfer_type: transfer.kind,
    destination: transfer.destination,
    status: transfer.status,
    consult_call_id: transfer.kind === 'warm' && transfer.leg_id !== null ? idOf('call', transfer.leg_id) : null,
    started_at: transfer.started_at,
  })
}
