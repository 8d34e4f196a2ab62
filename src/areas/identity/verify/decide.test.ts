// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { likenessAt } from '../faces/match.ts'
import type { Policy } from '../policy.ts'
import { decide, type Found } from './decide.ts'

const policy: Policy = {
  manual_review: true,
  registry_on_outage: 'retry',
  consent_required: false,
  four_eyes: true,
  accept_passive_liveness: 'low_risk',
  minimum_age: 18,
  capture_tries: 3,
  privacy_notice_url: null,
  image_days: 30,
  record_days: 365,
  otp_guard: 'block',
  otp_countries: [],
  otp_daily_limit: 10_000,
}

const good: Found = {
  requested: ['document_verification', 'face_match', 'liveness_detection'],
  checks: [{ check: 'mrz_check_digits', result: 'pass', weight: 'critical', detail: '' }],
  likeness: likenessAt(0.35),
  liveness: { passed: true, confidence: 96, method: 'active' },
  registry: null,
  duplicates: [],
  blocked: [],
  ageYears: 30,
  contact: [],
  engine: { version: '', ocr: '', face: '', threshold: 0.7 },
}

const expired = { check: 'document_not_expired', result: 'fail', weight: 'critical', detail: '' } as const
const warned = { check: 'number_format', result: 'warn', weight: 'major', detail: '' } as const

const unknown = { check: 'document_recognised', result: 'warn', weight: 'major', detail: '' } as const

test('each finding leads to the state that the contract names', () => {
  const rows: [string, Partial<Found>, string, string][] = [
    ['all good', {}, 'verified', 'done'],
    ['no faces to compare although that was asked for', { likeness: null }, 'rejected', 'done'],
    ['nobody living looked for although that was asked for', { liveness: null }, 'rejected', 'done'],
    ['a document that nothing is known about', { checks: [unknown] }, 'pending', 'awaiting_review'],
    ['one that a registry knows', { checks: [unknown], registry: 'match' }, 'verified', 'done'],
    ['grey face', { likeness: likenessAt(0.55) }, 'pending', 'awaiting_review'],
    ['another face', { likeness: likenessAt(0.7) }, 'rejected', 'done'],
    ['only expired', { checks: [expired] }, 'expired', 'done'],
    ['expired and another face', { checks: [expired], likeness: likenessAt(0.7) }, 'rejected', 'done'],
    ['a warning on a major check', { checks: [warned] }, 'pending', 'awaiting_review'],
    ['registry down', { registry: 'down' }, 'pending', 'awaiting_registry'],
    ['registry mismatch', { registry: 'mismatch' }, 'rejected', 'done'],
    ['seen before', { duplicates: ['face'] }, 'pending', 'awaiting_review'],
    ['too young', { ageYears: 17 }, 'rejected', 'done'],
    ['not alive', { liveness: { passed: false, confidence: 10, method: 'active' } }, 'rejected', 'done'],
    ['one picture', { liveness: { passed: true, confidence: 80, method: 'passive' } }, 'verified', 'done'],
  ]
  for (const [name, found, status, stage] of rows) {
    const verdict = decide({ ...good, ...found }, policy)
    assert.deepEqual([verdict.status, verdict.stage], [status, stage], name)
  }
})

test('nobody waits where nobody reviews, and a verified person has no reasons against them', () => {
  const result = fc.constantFrom('pass', 'fail', 'warn', 'skipped', 'unavailable')
  const weight = fc.constantFrom('critical', 'major', 'minor')
  const check = fc.record({
    check: fc.constantFrom('mrz_check_digits', 'document_not_expired', 'number_format', 'claims_match'),
    result,
    weight,
    detail: fc.constant(''),
  })
  fc.assert(
    fc.property(
      fc.array(check, { maxLength: 4 }),
      fc.double({ min: 0, max: 1.2, noNaN: true }),
      fc.constantFrom(null, 'match', 'mismatch', 'not_found', 'review'),
      fc.boolean(),
      (checks, distance, registry, manual_review) => {
        const verdict = decide(
          { ...good, checks, likeness: likenessAt(distance), registry },
          { ...policy, manual_review },
        )
        if (!manual_review) assert.notEqual(verdict.stage, 'awaiting_review')
        if (verdict.status === 'verified') {
          assert.deepEqual(verdict.outcome.failure_reasons, [])
          assert.equal(verdict.outcome.results.face_match, true)
        }
        assert.equal(verdict.status === 'pending', verdict.stage !== 'done')
      },
    ),
  )
})

test('what is no document, and what no registry knows, is never a low risk', () => {
  const none = { check: 'document_present', result: 'fail', weight: 'critical', detail: '' } as const
  const { status, outcome } = decide({ ...good, checks: [none] }, policy)
  assert.deepEqual(
    [status, outcome.results.overall_risk, outcome.risk_assessment?.flags],
    ['rejected', 'high', ['NO_DOCUMENT']],
  )
  for (const registry of ['not_found', 'mismatch'] as const)
    assert.equal(decide({ ...good, registry }, policy).outcome.results.overall_risk, 'high')
})
