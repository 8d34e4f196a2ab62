// SPDX-License-Identifier: Apache-2.0
// A text that another area sends for an account, on its request or because something fell due: what the account itself could
// send, at its price. Under a key it is sent once, however often it is asked for.
import { AppError } from '../../../kernel/errors.ts'
import { newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { AnsweredBefore, keyed } from '../../../platform/http/idempotency.ts'
import { lengthChecked } from '../message.ts'
import { networkOf } from '../network/network.ts'
import { permissionOf } from '../senders/permissions.ts'
import {
  acceptOne,
  beyondWallet,
  type Draft,
  itemOf,
  jobOf,
  optedOut,
  refusalOf,
  type Sending,
  textOf,
  tooExpensive,
} from './draft.ts'
import { plainDraft } from './plain-draft.ts'

export interface Notice {
  readonly to: string
  readonly from: string
  readonly message: string
  /** With a space in it, which no key of a request has. */
  readonly key?: string
}

/** Throws an AppError when nobody took it; then nothing was charged. */
export async function sendNotice(app: App, sending: Sending, notice: Notice): Promise<void> {
  const draft = await draftOf(app, sending, notice)
  const refusal = refusalOf(draft, sending)
  if (refusal === 'INSUFFICIENT_BALANCE') throw tooExpensive(draft.currency, draft.cost, 0n)
  if (refusal === 'OPTED_OUT') throw optedOut(draft)
  const job = jobOf(app, draft, sending, null)
  const { key = null } = notice
  const once = keyed(key, key, 200, () => '')
  // The audit log tells of requests; what falls due by itself is none.
  const audit = sending.requestId === null ? null : newUuid(sending.receivedMs)
  const own = { batch: null, batch_index: null, refusal: null, audit }
  const item = Object.assign(itemOf(draft, job, sending), own, once.columns(null))
  const { seen, verdict } = await app.commit(acceptOne, item)
  try {
    once.settle(seen)
  } catch (error) {
    if (error instanceof AnsweredBefore) return
    throw error
  }
  if (verdict === 'insufficient') throw await beyondWallet(app.db, sending.tenant, draft.currency, draft.cost)
  if (verdict === 'opted_out') throw optedOut(draft)
  app.work.begin(job)
}

async function draftOf(app: App, sending: Sending, { to, from, message }: Notice): Promise<Draft> {
  const { tenant, receivedMs } = sending
  const text = textOf(lengthChecked(message))
  const draft = await plainDraft(app, app.db, sending, { uuid: newUuid(receivedMs), to, from, text })
  if (draft instanceof AppError) throw draft
  const problem =
    (await permissionOf(app, tenant)).problem(from, draft.place.country) ??
    networkOf(app).problem({ ...tenant, ...draft.place }, true)
  if (problem) throw problem
  return draft
}
