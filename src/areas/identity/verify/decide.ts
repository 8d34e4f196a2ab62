// SPDX-License-Identifier: Apache-2.0
// Verdict on a verification from its checks. Pure: the contract's state machine as one function.
import type { Check } from '../documents/judge.ts'
import { isAuthentic, presentCheck, recognisedCheck } from '../documents/judge.ts'
import { type Likeness, matchThreshold, reviewThreshold } from '../faces/match.ts'
import { isUnderage, type Policy } from '../policy.ts'
import type { RegistryVerdict } from '../registry/adapter.ts'
import { type Assessment, assess, type Raised } from '../signals/risk-score.ts'
import type { FailureReason, Outcome } from './schema.ts'
import type { Stage, Status } from './store.ts'

export interface Found {
  readonly requested: readonly string[]
  readonly checks: readonly Check[]
  /** Likeness of selfie and portrait; null when not requested, `none` without a face on the document. */
  readonly likeness: Likeness | 'none' | null
  readonly liveness: Outcome['liveness']
  readonly registry: RegistryVerdict | null
  /** Kinds of the person's data on the blocklist. */
  readonly blocked: readonly string[]
  readonly duplicates: readonly ('document' | 'face' | 'device')[]
  readonly ageYears: number | null
  /** Flags of phone, email, address and device; none unless `risk_score` is requested. */
  readonly contact: readonly Raised[]
  readonly engine: Outcome['engine']
}

export interface Verdict {
  readonly status: Status
  readonly stage: Stage
  readonly outcome: Outcome
}

export function decide(found: Found, policy: Policy): Verdict {
  const reasons = reasonsAgainst(found, policy)
  const risk = assess(flagsOf(found, policy))
  const outcome = outcomeOf(found, reasons, risk)
  const hard = reasons.filter(({ code }) => code !== 'DOCUMENT_EXPIRED')
  if (hard.length > 0) return { status: 'rejected', stage: 'done', outcome }
  if (reasons.length > 0) return { status: 'expired', stage: 'done', outcome }
  if (found.registry === 'down') return { status: 'pending', stage: 'awaiting_registry', outcome }
  const doubt = doubtOf(found, policy, risk)
  if (!doubt) return { status: 'verified', stage: 'done', outcome }
  if (policy.manual_review) return { status: 'pending', stage: 'awaiting_review', outcome: { ...outcome, doubt } }
  return { status: 'rejected', stage: 'done', outcome: { ...outcome, failure_reasons: [doubt] } }
}

type Cause = Readonly<{ code: string; message: string; retryable: boolean }>

/** Failed critical check → failure reason. */
const causes: Readonly<Record<string, Cause>> = {
  mrz_check_digits: {
    code: 'MRZ_INVALID',
    message: 'a check digit of the machine-readable zone does not hold',
    retryable: false,
  },
  mrz_matches_visual_zone: {
    code: 'DATA_MISMATCH',
    message: 'the print and the machine-readable zone say different things',
    retryable: false,
  },
  barcode_matches: {
    code: 'DATA_MISMATCH',
    message: 'the barcode and the rest of the document say different things',
    retryable: false,
  },
  issuing_country: { code: 'INVALID_DOCUMENT_TYPE', message: 'another country issued the document', retryable: false },
  document_not_expired: {
    code: 'DOCUMENT_EXPIRED',
    message: 'the document is past its expiry date',
    retryable: false,
  },
  number_checksum: {
    code: 'DOCUMENT_NUMBER_INVALID',
    message: 'the check digit of the number does not hold',
    retryable: false,
  },
  number_embeds_birth_date_sex: {
    code: 'DATA_MISMATCH',
    message: 'the number does not belong to this birth date and sex',
    retryable: false,
  },
  number_format: {
    code: 'DOCUMENT_NUMBER_INVALID',
    message: 'the number is not written as numbers of such documents are',
    retryable: false,
  },
  claims_match: {
    code: 'DATA_MISMATCH',
    message: 'the document says something else than the person',
    retryable: false,
  },
  dates_plausible: { code: 'DOCUMENT_TAMPERED', message: 'the dates contradict each other', retryable: false },
  document_kind: { code: 'INVALID_DOCUMENT_TYPE', message: 'it is another kind of document', retryable: false },
  [presentCheck]: {
    code: 'DOCUMENT_UNREADABLE',
    message: 'no document was detected in the picture',
    retryable: true,
  },
  portrait_present: { code: 'NO_FACE_DETECTED', message: 'there is no portrait on the document', retryable: true },
}

const unreadable: Cause = {
  code: 'DOCUMENT_UNREADABLE',
  message: 'the machine-readable zone could not be read',
  retryable: true,
}

function reasonsAgainst(found: Found, policy: Policy): FailureReason[] {
  const reasons: FailureReason[] = []
  for (const { check, result, weight } of found.checks) {
    const cause =
      result === 'unavailable' && weight === 'critical' ? unreadable : result === 'fail' ? causes[check] : null
    if (cause) reasons.push({ ...cause, check })
  }
  const add = (code: string, check: string, message: string, retryable: boolean) =>
    reasons.push({ code, check, message, retryable })
  if (found.likeness === 'none' || (found.requested.includes('face_match') && !found.likeness))
    add('NO_FACE_DETECTED', 'face_match', 'there are no two faces to compare', true)
  else if (found.likeness && found.likeness.similarity < reviewThreshold)
    add('FACE_MISMATCH', 'face_match', 'the selfie shows somebody else than the document', false)
  if (found.liveness ? !found.liveness.passed : found.requested.includes('liveness_detection'))
    add('LIVENESS_FAILED', 'liveness_detection', 'the pictures do not show a living person', true)
  if (found.registry === 'not_found')
    add('REGISTRY_NOT_FOUND', 'registry', 'the registry does not know the number', false)
  if (found.registry === 'mismatch')
    add('REGISTRY_MISMATCH', 'registry', 'the registry says something else than the document', false)
  if (found.registry === 'down' && policy.registry_on_outage === 'fail')
    add('REGISTRY_UNAVAILABLE', 'registry', 'the registry does not answer', true)
  if (found.blocked.length > 0)
    add('BLOCKLISTED', 'blocklist', `on the blocklist of the account: ${found.blocked.join(', ')}`, false)
  if (isUnderage(policy, found.ageYears))
    add('UNDERAGE', 'minimum_age', `the person is younger than ${policy.minimum_age}`, false)
  return reasons
}

/** Why a review is needed although nothing failed; null when there is no doubt. */
function doubtOf(found: Found, policy: Policy, risk: Assessment): FailureReason | null {
  const reason = (code: string, check: string, message: string): FailureReason => ({
    code,
    check,
    message,
    retryable: true,
  })
  if (found.likeness && found.likeness !== 'none' && found.likeness.similarity < matchThreshold)
    return reason('FACE_MISMATCH', 'face_match', 'the faces are neither clearly one person nor clearly two')
  const warned = found.checks.find(
    ({ check, result, weight }) =>
      result === 'warn' && weight !== 'minor' && !(check === recognisedCheck && found.registry === 'match'),
  )
  if (warned) return reason('DOCUMENT_UNREADABLE', warned.check, warned.detail)
  if (found.registry === 'review') return reason('REGISTRY_MISMATCH', 'registry', 'the registry wants a person to look')
  if (found.duplicates.length > 0)
    return reason(
      'DUPLICATE_IDENTITY',
      'duplicate_check',
      `seen before with another person: ${found.duplicates.join(', ')}`,
    )
  if (found.liveness?.light === 'faint')
    return reason(
      'LIVENESS_FAILED',
      'liveness_detection',
      'the light of the screen was not seen on the face: too bright around it, or no camera',
    )
  const isPassive = found.liveness?.method === 'passive'
  if (isPassive && (policy.accept_passive_liveness === 'never' || risk.risk_level !== 'low'))
    return reason(
      'LIVENESS_FAILED',
      'liveness_detection',
      'a single picture is not enough here; use an active challenge',
    )
  if (risk.risk_level === 'high' || risk.risk_level === 'very_high')
    return reason('DUPLICATE_IDENTITY', 'risk_score', 'the risk is high')
  return null
}

const flagOfCheck: Readonly<Record<string, string>> = {
  [presentCheck]: 'NO_DOCUMENT',
  mrz_check_digits: 'mrz_invalid',
  document_not_expired: 'document_expired',
  number_checksum: 'document_number_invalid',
  number_format: 'document_number_invalid',
  mrz_matches_visual_zone: 'document_tampered',
  barcode_matches: 'document_tampered',
  dates_plausible: 'document_tampered',
  claims_match: 'name_mismatch',
}

function flagsOf(found: Found, policy: Policy): Raised[] {
  const raised: Raised[] = []
  for (const { check, result, detail } of found.checks) {
    const flag = result === 'fail' ? flagOfCheck[check] : undefined
    if (flag && !raised.some((one) => one.flag === flag)) raised.push({ flag, detail })
  }
  if (found.likeness && found.likeness !== 'none') {
    if (found.likeness.similarity < reviewThreshold)
      raised.push({ flag: 'face_mismatch', detail: 'below the review band' })
    else if (found.likeness.similarity < matchThreshold)
      raised.push({ flag: 'face_grey', detail: 'in the review band' })
  }
  if (found.liveness && !found.liveness.passed) raised.push({ flag: 'liveness_failed', detail: found.liveness.method })
  else if (found.liveness?.method === 'passive') raised.push({ flag: 'liveness_passive_only', detail: 'one picture' })
  if (found.registry === 'not_found' || found.registry === 'mismatch')
    raised.push({ flag: `registry_${found.registry}`, detail: 'what the registry says of the number' })
  if (found.blocked.length > 0) raised.push({ flag: 'subject_blocklisted', detail: found.blocked.join(', ') })
  for (const kind of found.duplicates) raised.push({ flag: `duplicate_${kind}`, detail: 'in this account' })
  if (isUnderage(policy, found.ageYears))
    raised.push({ flag: 'age_under_minimum', detail: `under ${policy.minimum_age}` })
  return [...raised, ...found.contact]
}

function outcomeOf(found: Found, failure_reasons: FailureReason[], risk: Assessment): Outcome {
  const likeness = found.likeness === 'none' ? null : found.likeness
  const isMatch = likeness === null ? null : likeness.similarity >= matchThreshold
  return {
    results: {
      document_authentic: isAuthentic(found.checks),
      face_match: found.requested.includes('face_match') ? (isMatch ?? false) : null,
      liveness_passed: found.requested.includes('liveness_detection') ? (found.liveness?.passed ?? false) : null,
      overall_risk: risk.risk_level,
    },
    checks_performed: [...found.requested],
    face_match: likeness && {
      match: likeness.similarity >= matchThreshold,
      confidence: likeness.confidence,
      similarity_score: likeness.similarity,
    },
    liveness: found.liveness,
    risk_assessment: {
      risk_score: risk.risk_score,
      risk_level: risk.risk_level,
      flags: risk.factors.map(({ flag }) => flag),
    },
    failure_reasons,
    review: null,
    engine: found.engine,
  }
}
