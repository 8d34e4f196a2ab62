// SPDX-License-Identifier: Apache-2.0
// Verification object of the API.
import { Type } from 'typebox'
import Value from 'typebox/value'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { RecordKey } from './record-key.ts'
import { Claims, Findings, type VerificationRecord } from './schema.ts'
import { findVerification, type VerificationRow } from './store.ts'
import { outcomeOf } from './transition.ts'

export async function verificationWith(queryable: Queryable, tenant: Tenant, id: string): Promise<VerificationRow> {
  const uuid = uuidOf('verification', id)
  const row = uuid && (await maybe(queryable.query(findVerification, { ...tenant, id: uuid })))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such verification; ids begin with ver_')
  return row
}

export async function recordOf(app: App, tenant: Tenant, row: VerificationRow): Promise<VerificationRecord> {
  const key = await keyOf(app, tenant, row)
  const findings = key && findingsIn(row, key)
  return {
    ...listedRecord(row),
    consent: key && consentIn(row, key),
    document: findings?.document ?? null,
    checks: findings?.checks ?? [],
    readings: findings?.readings ?? null,
    regions: findings?.regions ?? [],
    pictures: Object.keys(imagesOf(row)).sort(),
  }
}

/** Findings on the document; null before the verdict and after erasure. */
export async function findingsOf(app: App, tenant: Tenant, row: VerificationRow): Promise<Findings | null> {
  const key = await keyOf(app, tenant, row)
  return key && findingsIn(row, key)
}

/** Key of what is sealed; null after erasure. */
async function keyOf(app: App, tenant: Tenant, { id, record_key }: VerificationRow): Promise<RecordKey | null> {
  return record_key && RecordKey.open(app, tenant, id, record_key)
}

function findingsIn({ findings_sealed: sealed }: VerificationRow, key: RecordKey): Findings | null {
  return sealed && Value.Parse(Findings, key.unseal('findings_sealed', sealed))
}

function consentIn({ claims_sealed: sealed }: VerificationRow, key: RecordKey): VerificationRecord['consent'] {
  if (!sealed) return null
  const { consent } = Value.Parse(Claims, key.unseal('claims_sealed', sealed))
  if (!consent) return null
  return { ...consent, granted_at: consent.granted_at === null ? null : new Date(consent.granted_at) }
}

const Images = Type.Record(Type.String(), Type.String())

/** Stored pictures of a verification by the field they came in; none once they are erased. */
export function imagesOf({ images }: Pick<VerificationRow, 'images'>): Readonly<Record<string, string>> {
  return Value.Check(Images, images) ? images : {}
}

type Personal = 'consent' | 'document' | 'checks' | 'readings' | 'regions' | 'pictures'

/** Verification without personal data, for lists. */
export function listedRecord(row: VerificationRow): Omit<VerificationRecord, Personal> {
  const outcome = outcomeOf(row)
  return {
    verification_id: idOf('verification', row.id),
    status: row.status,
    checks_performed: outcome?.checks_performed ?? [],
    results: outcome?.results ?? {
      document_authentic: null,
      face_match: null,
      liveness_passed: null,
      overall_risk: null,
    },
    created_at: row.created_at,
    completed_at: row.completed_at,
    stage: row.stage,
    reference: row.reference,
    face_match: outcome?.face_match ?? null,
    liveness: outcome?.liveness ?? null,
    risk_assessment: outcome?.risk_assessment ?? null,
    failure_reasons: outcome?.failure_reasons ?? [],
    doubt: outcome?.doubt ?? null,
    review: outcome?.review ?? null,
    previous_verification_id: row.previous && idOf('verification', row.previous),
    metadata: row.metadata,
    retention: { images_erased_at: row.images_until, record_erased_at: row.record_until },
    erased_at: row.erased_at,
    engine: outcome?.engine ?? null,
    cost: row.cost,
    currency: row.currency,
  }
}
