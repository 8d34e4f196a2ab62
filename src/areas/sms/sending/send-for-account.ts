// SPDX-License-Identifier: Apache-2.0
// A text that another area sends for an account, on its request or because something fell due: what the account itself could
// send, at its price. Under a key it is sent once, however often it is asked for.
import { AppError } from '../../../kernel/errors.ts'
import { type Id, idOf, newUuid } from '../../../kernel/ids.ts'
import { AnsweredBefore, keyed } from '../../../platform/api/idempotency.ts'
import type { App } from '../../../platform/app.ts'
import { lengthChecked } from '../message.ts'
import { networkOf } from '../network/network.ts'
import { maxValiditySeconds } from '../schema.ts'
import { permissionOf } from '../senders/permissions.ts'
import { accept, type Sending } from './accept.ts'
import { type Draft, plainDraft, textOf } from './draft.ts'

export interface AccountText {
  readonly to: string
  readonly from: string
  readonly message: string
  /** The UUID that it gets, for an area that wants to name it afterwards. */
  readonly id?: string
  /** Idempotency key, with a space in it, which no key of a request has. */
  readonly key?: string
  /** Time to send it; null or absent is now. */
  readonly scheduledAt?: Date | null
  /** Seconds after which it is no longer worth delivering. */
  readonly validity?: number
}

/** Sends a text; returns the id of the message. Throws an AppError when it is refused; then nothing was charged. */
export async function sendForAccount(app: App, sending: Sending, text: AccountText): Promise<Id<'sms'>> {
  const draft = await permittedDraft(app, sending, text)
  const { key = null } = text
  const once = keyed(key === null ? null : { ...sending.tenant, key, hash: key }, 200, () => '')
  try {
    await accept(app, draft, sending, once, null)
  } catch (error) {
    if (!(error instanceof AnsweredBefore)) throw error
  }
  return idOf('sms', draft.uuid)
}

async function permittedDraft(app: App, sending: Sending, wanted: AccountText): Promise<Draft> {
  const { tenant, receivedMs } = sending
  const { to, from, message, id, scheduledAt = null, validity = maxValiditySeconds } = wanted
  const text = textOf(lengthChecked(message))
  const draft = await plainDraft(app, app.db, sending, { uuid: id ?? newUuid(receivedMs), to, from, text })
  if (draft instanceof AppError) throw draft
  const problem =
    (await permissionOf(app, tenant)).problem(from, draft.place.country) ??
    networkOf(app).problem({ ...tenant, ...draft.place }, scheduledAt === null)
  if (problem) throw problem
  return { ...draft, scheduledAt, validity }
}
