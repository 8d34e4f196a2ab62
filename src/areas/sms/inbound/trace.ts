// SPDX-License-Identifier: Apache-2.0
// Frames of an inbound message for its timeline. Its text is kept in test only.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Incoming } from '../carrier.ts'
import type { Owner } from './owner.ts'

/** Notes the frame in which it came, or the last of its parts did. */
export function noteIncoming(app: App, { tenant, clockOffsetMs }: Owner, id: string, { frame }: Incoming): void {
  if (!frame) return
  const note = app.timeline.of(tenant, idOf('smsInbound', id), Number(clockOffsetMs))
  note?.(frame(tenant.environment === 'live'))
}
