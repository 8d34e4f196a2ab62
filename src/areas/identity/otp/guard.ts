// SPDX-License-Identifier: Apache-2.0
// Guard against traffic pumping: fraudsters who earn from texts to their own numbers request codes they never enter. It
// runs before sending; missing signals do not count.
import { AppError } from '../../../kernel/errors.ts'
import { factsOf } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { one, type Queryable } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { isBlocked } from '../../voice/area.ts'
import type { Policy } from '../policy.ts'
import { countOtps } from './store.ts'

const costlyTypes: readonly string[] = ['premium_rate', 'shared_cost', 'uan', 'pager', 'voicemail']
const limits = { phoneHour: 3, phoneDay: 10, ipHour: 10, prefixHour: 20, prefixVerified: 0.1 }
const hourMs = 3_600_000

/** Sandbox numbers that trigger the guard. */
const pumpingNumber = '+254700000002'

export interface Judged {
  readonly tenant: Tenant
  readonly phone: string
  readonly phoneIndex: Buffer
  readonly prefixIndex: Buffer
  readonly ipIndex: Buffer | null
  readonly channel: string
  readonly nowMs: number
}

/** Guard of a one-time code: throws OTP_BLOCKED with its reason; the policy `monitor` lets everything pass. */
export async function guard(app: App, queryable: Queryable, policy: Policy, judged: Judged): Promise<void> {
  const reason = await reasonAgainst(app, queryable, policy, judged)
  if (reason && policy.otp_guard === 'block')
    throw new AppError('OTP_BLOCKED', sentences[reason], { extra: { reason } })
}

const sentences = {
  number_type: 'codes are not sent to numbers that cost the caller extra',
  use_voice: 'this is a fixed line, which takes no texts; use the channel voice',
  country_not_allowed: 'codes are not sent to this country; see otp_countries of the policy',
  phone_hourly_limit: 'this number was sent 3 codes within an hour',
  phone_daily_limit: 'this number was sent 10 codes within a day',
  ip_hourly_limit: 'this address asked for 10 codes within an hour',
  pumping_suspected: 'many codes went to numbers like this one, and hardly any was entered',
  account_daily_limit: 'the account has sent as many codes as it may in a day',
} as const

/** Numbers that cost extra: by their type, of no country, of no range that is in use, and those that nobody may call. */
function isCostly(app: App, phone: string): boolean {
  const { type, country, network } = factsOf(phone)
  if (country === null || isBlocked(app, phone)) return true
  return type === null ? network === null : costlyTypes.includes(type)
}

async function reasonAgainst(
  app: App,
  queryable: Queryable,
  policy: Policy,
  judged: Judged,
): Promise<keyof typeof sentences | null> {
  const { tenant, phone, channel, nowMs } = judged
  const { type, country } = factsOf(phone)
  if (isCostly(app, phone)) return 'number_type'
  if (channel === 'sms' && type === 'fixed_line') return 'use_voice'
  if (policy.otp_countries.length > 0 && !policy.otp_countries.includes(country ?? '')) return 'country_not_allowed'
  if (tenant.environment === 'test' && phone === pumpingNumber) return 'pumping_suspected'
  const counts = await one(
    queryable.query(countOtps, {
      ...tenant,
      phone: judged.phoneIndex,
      prefix: judged.prefixIndex,
      ip: judged.ipIndex,
      hour: new Date(nowMs - hourMs),
      day: new Date(nowMs - 24 * hourMs),
      most: policy.otp_daily_limit,
    }),
  )
  if (counts.by_hour >= limits.phoneHour) return 'phone_hourly_limit'
  if (counts.by_day >= limits.phoneDay) return 'phone_daily_limit'
  if (counts.by_ip >= limits.ipHour) return 'ip_hourly_limit'
  const isUnused = counts.prefix_verified < limits.prefixVerified * counts.by_prefix
  if (counts.by_prefix >= limits.prefixHour && isUnused) return 'pumping_suspected'
  return counts.by_account >= policy.otp_daily_limit ? 'account_daily_limit' : null
}
