// SPDX-License-Identifier: Apache-2.0
// Actor of the audit log for what members do outside the API, such as signing in.
import { bucketOf, idOf, newUuid } from '../../../kernel/ids.ts'
import type { AuditAs } from '../../../platform/api/audit.ts'
import type { HookCall } from '../../../platform/api/hook.ts'

export type From = Pick<HookCall, 'ip' | 'requestId' | 'receivedMs' | 'headers'>

export function memberActing(member: { id: string; account_id: string }, from: From, nowMs: number): AuditAs {
  const account = member.account_id
  const tenant = { bucket: bucketOf(account), account, environment: 'live' } as const
  const actor = `member:${idOf('member', member.id)}`
  return { tenant, id: newUuid(nowMs), actor, ip: from.ip, requestId: from.requestId }
}
