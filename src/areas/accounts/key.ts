// SPDX-License-Identifier: Apache-2.0
// An API key as its owner sees it: states, scopes, the record. Pure.

import { AppError, invalid } from '../../kernel/errors.ts'
import type { Id } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import { allows, isScope } from '../../platform/auth/scopes.ts'
import type { Envelope } from '../../platform/auth.ts'
import type { Environment } from '../../platform/tenant.ts'
import { isAddressRange } from '../../setting.ts'

/** A key should be replaced this long after it was made; a reminder, never enforced. */
export const rotationDueMs = 90 * dayMs

export interface ApiKey {
  id: Id<'apiKey'>
  name: string
  environment: Environment
  prefix: string
  last4: string
  scopes: string[]
  status: 'active' | 'expiring' | 'revoked' | 'expired'
  created_at: Date
  created_by: string
  last_used_at: Date | null
  last_used_ip: string | null
  expires_at: Date | null
  rotated_from: Id<'apiKey'> | null
  rotation_due_at: Date
  allowed_ips: string[]
  rate_limit_per_second: number | null
  exposed_at: Date | null
  strict: boolean
  envelope: Envelope
}

export function statusOf(expiresAt: Date | null, revokedAt: Date | null, nowMs: number): ApiKey['status'] {
  if (revokedAt) return 'revoked'
  if (!expiresAt) return 'active'
  return expiresAt.getTime() <= nowMs ? 'expired' : 'expiring'
}

export function rotationDueAt(createdAt: Date): Date {
  return new Date(createdAt.getTime() + rotationDueMs)
}

/** What a new key may carry: known scopes, and none that its maker lacks. */
export function grantable(wanted: readonly string[] | undefined, maker: ReadonlySet<string>): string[] {
  if (wanted === undefined) return [...maker].filter((scope) => scope !== 'operator')
  const unknown = wanted.filter((scope) => !isScope(scope))
  if (unknown.length > 0)
    throw invalid('scopes', `must list scopes such as sms:write, or *, not "${unknown.join(', ')}"`)
  const missing = wanted.filter((scope) => !allows(maker, scope))
  if (missing.length > 0)
    throw new AppError('FORBIDDEN', `a key cannot give scopes it lacks: ${missing.join(', ')}`, {
      extra: { required_scope: missing[0] ?? '' },
    })
  return [...new Set(wanted)]
}

export function checkedRanges(ranges: readonly string[]): string[] {
  const bad = ranges.find((range) => !isAddressRange(range))
  if (bad !== undefined) throw invalid('allowed_ips', `must list addresses or CIDR ranges, not "${bad.slice(0, 60)}"`)
  return [...ranges]
}
