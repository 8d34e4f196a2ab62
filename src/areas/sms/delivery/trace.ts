// SPDX-License-Identifier: Apache-2.0
// Frames of a message for its timeline. Its text is kept in test only, and never that of a one-time password.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import type { OutboundMessage, Receipt } from '../carrier.ts'
import type { StoredMessage } from './load.ts'

type Traced = Pick<StoredMessage, 'id' | 'bucket' | 'account_id' | 'environment' | 'clock_offset_ms' | 'type'>

export function traceOf(app: App, message: Traced): NonNullable<OutboundMessage['trace']> | null {
  if (!app.timeline.keeps(message.environment)) return null
  const note = app.timeline.of(tenantOf(message), idOf('sms', message.id), Number(message.clock_offset_ms))
  return note && { note, masksText: masksText(message) }
}

/** Notes the frame in which a receipt came. */
export function noteReceipt(app: App, message: Traced, { frame }: Receipt): void {
  if (frame) traceOf(app, message)?.note(frame(masksText(message)))
}

function masksText({ environment, type }: Traced): boolean {
  return environment === 'live' || type === 'otp'
}
