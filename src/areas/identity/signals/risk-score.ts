// SPDX-License-Identifier: Apache-2.0
// Risk score: 100 x (1 - the product of (1 - weight) of each flag), so that each flag's share is known.
export const riskLevels = ['low', 'medium', 'high', 'very_high'] as const
type RiskLevel = (typeof riskLevels)[number]

export interface Raised {
  readonly flag: string
  readonly detail: string
}

interface Factor extends Raised {
  readonly weight: number
}

export interface Assessment {
  readonly risk_score: number
  readonly risk_level: RiskLevel
  readonly factors: readonly Factor[]
}

/** Flag -> weight. */
const weights: Readonly<Record<string, number>> = {
  phone_invalid: 0.4,
  phone_not_mobile: 0.15,
  phone_voip: 0.2,
  phone_premium: 0.5,
  phone_country_mismatch: 0.15,
  sim_swap_recent: 0.45,
  phone_ported_recent: 0.2,
  phone_velocity_high: 0.25,
  device_velocity_high: 0.3,
  ip_velocity_high: 0.25,
  email_invalid: 0.3,
  email_disposable: 0.3,
  email_no_mx: 0.25,
  email_role: 0.05,
  ip_country_mismatch: 0.15,
  ip_hosting: 0.2,
  ip_tor: 0.4,
  impossible_travel: 0.35,
  NO_DOCUMENT: 0.65,
  document_expired: 0.3,
  document_tampered: 0.6,
  document_number_invalid: 0.4,
  mrz_invalid: 0.6,
  registry_not_found: 0.6,
  registry_mismatch: 0.6,
  face_mismatch: 0.7,
  face_grey: 0.25,
  liveness_failed: 0.7,
  liveness_passive_only: 0.05,
  duplicate_document: 0.6,
  duplicate_face: 0.7,
  duplicate_device: 0.3,
  otp_failures: 0.2,
  otp_unverified: 0.1,
  age_under_minimum: 0.5,
  name_mismatch: 0.3,
  subject_blocklisted: 1,
}

export function assess(raised: readonly Raised[]): Assessment {
  const factors = raised.map(({ flag, detail }) => ({ flag, detail, weight: weights[flag] ?? 0 }))
  const left = factors.reduce((product, { weight }) => product * (1 - weight), 1)
  const risk_score = Math.round(100 * (1 - left))
  return { risk_score, risk_level: levelOf(risk_score), factors }
}

function levelOf(score: number): RiskLevel {
  if (score < 30) return 'low'
  if (score < 60) return 'medium'
  return score < 80 ? 'high' : 'very_high'
}
