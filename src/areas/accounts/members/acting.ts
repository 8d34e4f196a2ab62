// SPDX-License-Identifier: Apache-2.0
// A member who does something outside the API, such as signing in, and how that stands in the audit log.
import { bucketOf, idOf, newUuid } from '../../../kernel/ids.ts'
import type { AuditAs } from '../../../platform/audit.ts'
import type { HookCall } from '../../../platform/hook.ts'

export type From = Pick<HookCall, 'ip' | 'requestId' | 'receivedMs' | 'headers'>

export function memberActing(member: { id: string; account_id: string }, from: From, nowMs: number): AuditAs {
  const account = member.account_id
  const tenant = { bucket: bucketOf(account), account, environment: 'live' } as const
  const actor = `member:${idOf('member', member.id)}`
  return { tenant, id: newUuid(nowMs), actor, ip: from.ip, requestId: from.requestId }
}
