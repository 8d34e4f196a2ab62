// SPDX-License-Identifier: Apache-2.0
// An API key as its owner sees it: states, scopes, the record. Pure.

import { isAddressRange } from '../../config/setting.ts'
import { type AddressRange, isPartOf, parseAddressRange } from '../../kernel/addresses.ts'
import { AppError, invalid } from '../../kernel/errors.ts'
import type { Id } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import { allows, isScope } from '../../platform/auth/scopes.ts'
import type { CallbackEvents, Envelope, KeyFacts } from '../../platform/auth.ts'
import type { Environment } from '../../platform/tenant.ts'

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
  member_id: Id<'member'> | null
  last_used_at: Date | null
  last_used_ip: string | null
  expires_at: Date | null
  rotated_from: Id<'apiKey'> | null
  rotation_due_at: Date
  allowed_ips: string[]
  rate_limit_per_second: number | null
  exposed_at: Date | null
  strict: boolean
  callback_events: CallbackEvents | null
  envelope: Envelope
  door: string | null
}

export function statusOf(expiresAt: Date | null, revokedAt: Date | null, nowMs: number): ApiKey['status'] {
  if (revokedAt) return 'revoked'
  if (!expiresAt) return 'active'
  return expiresAt.getTime() <= nowMs ? 'expired' : 'expiring'
}

export function rotationDueAt(createdAt: Date): Date {
  return new Date(createdAt.getTime() + rotationDueMs)
}

/** Scopes of a new key: known ones, and none that its maker lacks. */
export function grantable(wanted: readonly string[] | undefined, maker: ReadonlySet<string>): string[] {
  if (wanted === undefined) return [...maker].filter((scope) => scope !== 'operator')
  const unknown = wanted.filter((scope) => !isScope(scope))
  if (unknown.length > 0)
    throw invalid('scopes', `must list scopes such as sms:write, or *, not "${unknown.join(', ')}"`)
  requireCovered(wanted, maker)
  return [...new Set(wanted)]
}

/** Keys are made, changed, rotated and revoked only by a key that may do all they may. */
export function requireCovered(scopes: readonly string[], maker: ReadonlySet<string>): void {
  const missing = scopes.filter((scope) => !allows(maker, scope))
  if (missing.length === 0) return
  throw new AppError('FORBIDDEN', `a key cannot give, change or take scopes it lacks: ${missing.join(', ')}`, {
    extra: { required_scope: missing[0] ?? '' },
  })
}

type Maker = Pick<KeyFacts, 'expiresAt' | 'allowedIps'>

/** End of a key: never later than the key that makes or changes it; without a wish, the same. */
export function endWithin(wanted: Date | null, { expiresAt }: Maker): Date | null {
  if (expiresAt === null || wanted === null) return wanted ?? expiresAt
  if (wanted.getTime() <= expiresAt.getTime()) return wanted
  throw new AppError('FORBIDDEN', `this key ends on ${expiresAt.toISOString()}; one that it makes cannot end later`)
}

/** Addresses of a key: all of them among those of the key that makes or changes it; without a wish, the same. */
export function rangesWithin(wanted: readonly string[], { allowedIps }: Maker): string[] {
  if (allowedIps.length === 0 || wanted.length === 0) return [...(wanted.length > 0 ? wanted : allowedIps)]
  const outer = allowedIps.map(parseAddressRange)
  const isWithin = (range: AddressRange | null) =>
    range !== null && outer.some((known) => known !== null && isPartOf(range, known))
  const wider = wanted.find((range) => !isWithin(parseAddressRange(range)))
  if (wider === undefined) return [...wanted]
  throw new AppError('FORBIDDEN', `this key may not be used from ${wider}, so a key that it makes may not either`)
}

export function checkedRanges(ranges: readonly string[]): string[] {
  const bad = ranges.find((range) => !isAddressRange(range))
  if (bad !== undefined) throw invalid('allowed_ips', `must list addresses or CIDR ranges, not "${bad.slice(0, 60)}"`)
  return [...ranges]
}
