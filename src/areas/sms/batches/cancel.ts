// SPDX-License-Identifier: Apache-2.0
// Calling off what of a batch is not yet on its way.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { loadMessages, type StoredMessage } from '../delivery/load.ts'
import { changeOf, storeFailed, tell, transferId } from '../delivery/status.ts'
import type { BatchRecord } from './schema.ts'
import { cancellableOf, findBatch, type Waiting } from './store.ts'

/** Messages that are called off together. */
const chunkSize = 500

export interface CancelledBatch {
  id: string
  /** Number of cancelled messages. */
  cancelled: number
}

/** Calls off what of a batch still waits, each message by itself, before the transaction that tells of it. */
export async function cancelBatch(app: App, { tenant }: Caller, id: string | null): Promise<CancelledBatch> {
  if (!id || !(await findBatch(app.db, tenant, id))) throw noSuchBatch()
  const waiting = await cancellableOf(app.db, tenant, id)
  const fences = new Map(waiting.map((message) => [message.id, message]))
  let cancelled = 0
  for (let start = 0; start < waiting.length; start += chunkSize) {
    const ids = waiting.slice(start, start + chunkSize).map((message) => message.id)
    const messages = await loadMessages(
      app.db,
      ids.map((id) => ({ tenant, id })),
    )
    const changed = await Promise.all(
      messages.flatMap((message) => {
        const fence = fences.get(message.id)
        return fence ? [cancelWaiting(app, message, fence)] : []
      }),
    )
    cancelled += changed.filter(Boolean).length
  }
  return { id, cancelled }
}

/** Fails a message whose job no node has; one that was taken meanwhile has another attempt, and goes its way. */
async function cancelWaiting(app: App, message: StoredMessage, { job, attempt }: Waiting): Promise<boolean> {
  const change = changeOf(app, message, 'failed', 'CANCELLED')
  const verdict = await app.commit(storeFailed, {
    ...tenantOf(message),
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

/** Records the cancellation of a batch in the audit log, and returns its rest. */
export async function noteCancelled(
  tx: Tx,
  caller: Caller,
  { id, cancelled }: CancelledBatch,
): Promise<Static<typeof BatchRecord>> {
  await record(tx, caller, 'sms.cancel_batch', idOf('smsBatch', id), { after: { cancelled } })
  const found = await findBatch(tx, caller.tenant, id)
  if (!found) throw noSuchBatch()
  return found.record
}

export function noSuchBatch(): AppError {
  return new AppError('NOT_FOUND', 'there is no such batch')
}
