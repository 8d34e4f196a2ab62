// SPDX-License-Identifier: Apache-2.0
// Sends a message: validates it into a draft, then accepts the draft.

import type { Static } from 'typebox'
import type { Keyed } from '../../../platform/api/idempotency.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { checkCallback } from '../../../platform/outbound/callback-url.ts'
import { callersCurrency } from '../prices.ts'
import type { EmailAccepted, EmailSend } from '../schema.ts'
import { accept } from './accept.ts'
import { draftOf, type Sending } from './draft.ts'

export async function send(
  app: App,
  input: Static<typeof EmailSend>,
  caller: Caller,
  keyed: Keyed,
): Promise<Static<typeof EmailAccepted>> {
  const sending = sendingOf(caller)
  const draft = await draftOf(app, sending, input)
  await checkCallback(app, caller.tenant, draft.callbackUrl)
  return accept(app, draft, sending, keyed)
}

export function sendingOf(caller: Caller): Sending {
  const { tenant, receivedMs, nowMs, requestId, actor, ip } = caller
  return { tenant, receivedMs, nowMs, requestId, actor, ip, currency: callersCurrency(caller) }
}
