// SPDX-License-Identifier: Apache-2.0
// Sending one message, through a group commit: it is there exactly when it was paid for, and its job is there exactly when
// it is. Many recipients go the way of a bulk.
import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Keyed } from '../../platform/idempotency.ts'
import { sendToMany } from './bulk.ts'
import { checkCallback } from './callbacks.ts'
import {
  type Draft,
  draftOf,
  itemOf,
  jobOf,
  metadataOf,
  optedOut,
  refusalOf,
  scheduledAt,
  submit,
  textOf,
  tooExpensive,
} from './draft.ts'
import { currencyOf } from './pricing.ts'
import { type MessageSend, mostValiditySeconds, type SendReply } from './schema.ts'

export async function send(
  app: App,
  input: Static<typeof MessageSend>,
  caller: Caller,
  keyed: Keyed,
): Promise<Static<typeof SendReply>> {
  const { to } = input
  const common = {
    from: input.from,
    text: textOf(input.message, input.encoding, input.max_segments),
    scheduledAt: scheduledAt(input.scheduled_at, caller.nowMs),
    type: input.type ?? 'transactional',
    validity: input.validity ?? mostValiditySeconds,
    metadata: metadataOf(input.metadata),
    reference: input.reference ?? null,
    callbackUrl: input.callback_url ?? null,
  }
  if (common.callbackUrl !== null) await checkCallback(app, caller.tenant, common.callbackUrl)
  return typeof to === 'string'
    ? sendOne(app, draftOf(app, caller, { to, ...common }), caller, keyed)
    : sendToMany(app, to, common, caller, keyed)
}

async function sendOne(app: App, draft: Draft, caller: Caller, keyed: Keyed): Promise<Static<typeof SendReply>> {
  const refusal = refusalOf(draft, caller)
  if (refusal === 'INSUFFICIENT_BALANCE') throw tooExpensive(caller, draft.cost)
  if (refusal === 'OPTED_OUT') throw optedOut(draft)
  const job = jobOf(app, draft, caller, 0)
  const reply = replyOf(draft, caller)
  const own = { batch: null, batch_index: null, refusal: null, audit: newUuid(caller.receivedMs) }
  const item = Object.assign(itemOf(draft, job, caller), own, keyed.columns(reply))
  const { seen, verdict, existing } = await app.commit(submit, item)
  keyed.settle(seen)
  if (verdict === 'insufficient') throw tooExpensive(caller, draft.cost)
  if (verdict === 'opted_out') throw optedOut(draft)
  if (verdict === 'duplicate')
    throw new AppError('DUPLICATE_REFERENCE', `the reference ${draft.reference} was used before`, {
      extra: { existing_id: existing && idOf('sms', existing) },
    })
  app.work.begin(job)
  return reply
}

function replyOf(draft: Draft, caller: Caller): Static<typeof SendReply> {
  return {
    status: 'queued',
    message_id: idOf('sms', draft.uuid),
    to: draft.to,
    from: draft.from,
    segments: draft.text.segments,
    cost: draft.cost,
    currency: currencyOf(caller),
    timestamp: new Date(caller.nowMs),
    encoding: draft.text.encoding,
    country: draft.place.country,
    network: draft.place.network,
    scheduled_at: draft.scheduledAt,
  }
}
