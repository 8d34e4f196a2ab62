// SPDX-License-Identifier: Apache-2.0
// The error that a request gets whose payment or payout was blocked.
import { AppError } from '../../../kernel/errors.ts'

/** Refusal of a payment or payout that was blocked; null when it was not. `named` is its id, as customers know it. */
export function refusalOf(
  named: Readonly<Record<string, string>>,
  failureReason: string | null,
  risk: { rule_id?: string | null; risk_score: number } | null,
): AppError | null {
  const rule_id = risk?.rule_id ?? null
  const extra = { ...named, rule_id }
  if (failureReason === 'BLACKLISTED')
    return new AppError('PAYMENT_BLOCKED', 'the payer or recipient is on a blacklist', { extra })
  if (failureReason !== 'BLOCKED_BY_RULE') return null
  const why = rule_id === null ? `a risk score of ${risk?.risk_score}` : `the rule ${rule_id}`
  return new AppError('PAYMENT_BLOCKED', `it was blocked by ${why}`, { extra })
}
