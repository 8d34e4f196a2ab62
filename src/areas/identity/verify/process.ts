// SPDX-License-Identifier: Apache-2.0
// Job of a verification: reads the document, compares faces, asks the registry, searches duplicates and stores the
// verdict. Retried at most three times after a lost engine or node.
import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import Value from 'typebox/value'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, statement } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job, Outcome as JobOutcome, Run } from '../../../platform/work.ts'
import { appendAudit, worker } from '../audit-chain.ts'
import { blockedAmong } from '../blocklist.ts'
import { entryFor } from '../catalogue.ts'
import { isDocument, type Judgement, judgeDocument } from '../documents/judge.ts'
import { printedFields } from '../documents/visual-zone.ts'
import { engine } from '../engines/engines.ts'
import { examine, type ReadDocument, readDocument } from '../engines/tasks.ts'
import { type Likeness, likeness, matchThreshold, reviewThreshold } from '../faces/match.ts'
import { imageFile } from '../pictures.ts'
import { ageOf, policyOf } from '../policy.ts'
import { type RegistryVerdict, registryClientOf } from '../registry/adapter.ts'
import { registryFor } from '../registry/registries.ts'
import { choosesAnswer } from '../registry/simulated.ts'
import { contactSigns } from '../signals/contact.ts'
import type { Raised } from '../signals/risk-score.ts'
import { decide, type Found, type Verdict } from './decide.ts'
import { type Duplicates, findDuplicates } from './duplicates.ts'
import { imagesOf } from './record.ts'
import { RecordKey } from './record-key.ts'
import { Claims, type Findings } from './schema.ts'
import { claimVerification, findVerification, type VerificationRow } from './store.ts'
import { move } from './transition.ts'
import { verdictWaits } from './waiting.ts'

const Payload = Type.Object({ verification: Type.String(), clockOffsetMs: Type.Number() })

const maxTries = 3
const registryRetryMs = 60_000
const registryPatienceMs = dayMs

/** Current clock offset of the account: waiting for a registry may take days. */
const clockOffset = statement.home<{ account: string; environment: string }, { ms: bigint }>(
  'identity.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as ms',
)

export const verifyJob: Job<App, typeof Payload> = {
  lane: 'identity.verify',
  role: 'dispatch',
  payload: Payload,
  concurrency: 4,
  retrySeconds: [1, 5, 20, 60, 300, 900],
  handle: lookAt,
}

async function lookAt(app: App, { tenant, payload, failures }: Run<Static<typeof Payload>>): Promise<JobOutcome> {
  if (!tenant) throw new Error('a verification belongs to an account')
  const { account, environment } = tenant
  const { ms } = await one(app.db.query(clockOffset, { account, environment }))
  const occasion = occasionNow(app.clock, tenant, Math.max(payload.clockOffsetMs, Number(ms)))
  const row = await claim(app, occasion, payload.verification)
  if (!row?.record_key || !row.claims_sealed) return { kind: 'done' }
  const key = await RecordKey.open(app, tenant, row.id, row.record_key)
  const claims = Value.Parse(Claims, key.unseal('claims_sealed', row.claims_sealed))
  try {
    const seen = await see(app, tenant, row)
    return await conclude(app, occasion, row, key, claims, seen)
  } catch (problem) {
    // A full engine queue is not a failure of the verification.
    if (problem instanceof AppError && problem.code === 'PROVIDER_UNAVAILABLE' && failures + 1 < maxTries)
      return { kind: 'retry', reason: problem.details }
    if (!(problem instanceof AppError)) throw problem
    await giveUp(app, occasion, row)
    return { kind: 'done' }
  }
}

async function claim(app: App, occasion: Occasion, id: string): Promise<VerificationRow | null> {
  const { tenant, receivedMs, nowMs } = occasion
  return app.db.tx(tenant, async (tx) => {
    const row = await maybe(tx.query(claimVerification, { ...tenant, id }))
    if (row)
      await appendAudit(app, tx, tenant, {
        resourceId: idOf('verification', id),
        action: 'verification.claimed',
        actor: worker,
        details: { tries: row.tries },
        receivedMs,
        nowMs,
      })
    return row
  })
}

async function see(app: App, tenant: Tenant, row: VerificationRow): Promise<ReadDocument> {
  const front = await pictureOf(app, tenant, row, 'document_front')
  if (!front) throw new AppError('DOCUMENT_UNREADABLE', 'the picture of the document was erased')
  const back = await pictureOf(app, tenant, row, 'document_back')
  return engine(app, { tenant }, readDocument, { front, back, wantsPortrait: true }, [
    'document_front',
    'document_back',
  ])
}

async function pictureOf(app: App, tenant: Tenant, row: VerificationRow, field: string): Promise<Buffer | null> {
  const id = imagesOf(row)[field]
  const opened = id === undefined ? null : await app.storage.open(tenant, id)
  if (!opened) return null
  const parts: Buffer[] = []
  for await (const part of opened.read()) parts.push(part)
  return Buffer.concat(parts)
}

async function conclude(
  app: App,
  occasion: Occasion,
  row: VerificationRow,
  key: RecordKey,
  claims: Claims,
  read: ReadDocument,
): Promise<JobOutcome> {
  const { tenant, nowMs } = occasion
  const policy = await policyOf(app.db, tenant)
  const entry = entryFor(row.document_type, row.country)
  const said = { ...claims.subject, ...claimedNumber(tenant, row, claims) }
  const judged = judgeDocument(entry, read, said, nowMs)
  // Without a document nothing is charged, so no registry is asked either.
  const isAsked = row.checks.includes('registry_lookup') && isDocument(read, row.document_type)
  const registry = isAsked ? await askRegistry(app, tenant, row, claims, judged) : null
  const duplicates = await duplicatesOf(app, tenant, row, claims, judged)
  const found: Found = {
    requested: row.checks,
    checks: [...judged.checks, registryCheck(registry, row.checks.includes('registry_lookup'))],
    likeness: likenessOf(row, claims, read),
    liveness: row.checks.includes('liveness_detection') ? claims.liveness : null,
    registry,
    duplicates: duplicates.kinds,
    blocked: await blockedAmong(app, app.db, tenant, knownOf(claims, judged)),
    ageYears: ageOf(judged.fields.date_of_birth, nowMs),
    contact: row.checks.includes('risk_score') ? await contactOf(app, occasion, row, claims) : [],
    engine: { version: 'identity-1', ocr: read.ocrEngine, face: read.faceEngine, threshold: matchThreshold },
  }
  const verdict = orReview(decide(found, policy), row, nowMs)
  const findings: Findings = {
    document: {
      document_type: entry.type,
      country: entry.country,
      ...judged.fields,
      sources: judged.sources,
      mrz: zoneOf(read),
    },
    checks: [...found.checks],
    readings: judged.readings,
    regions: regionsOf(read),
  }
  const template =
    row.checks.includes('duplicate_check') && claims.selfie
      ? key.seal('template_sealed', claims.selfie.descriptor)
      : null
  const portrait = await keepPortrait(app, occasion, row, read)
  const isMoved = await app.db.tx(tenant, async (tx) => {
    const moved = await move(
      app,
      tx,
      occasion,
      row,
      {
        ...verdict,
        ...(portrait ? { images: { portrait: portrait.id } } : {}),
        findings: key.seal('findings_sealed', findings),
        template,
        numberIndex: duplicates.numberIndex,
        expiresOn: judged.fields.expiry_date,
        ...(verdict.stage === 'awaiting_registry' && !row.registry_until
          ? { registryUntil: new Date(nowMs + registryPatienceMs) }
          : {}),
      },
      worker,
    )
    if (moved && portrait) await app.storage.keep(tx, portrait)
    return moved
  })
  if (!isMoved && portrait) await app.storage.discard(portrait)
  verdictWaits.of(app).happened(row.id)
  return verdict.stage === 'awaiting_registry' ? { kind: 'again', afterMs: registryRetryMs } : { kind: 'done' }
}

/** Stores the face that is cut out of the document, once, as evidence beside the pictures. */
async function keepPortrait(app: App, { tenant, nowMs }: Occasion, row: VerificationRow, { portrait }: ReadDocument) {
  const images = imagesOf(row)
  if (!portrait || images.portrait !== undefined || images.document_front === undefined) return null
  const bytes = Readable.from([Buffer.from(portrait, 'base64')])
  return app.storage.put(imageFile, { tenant, type: 'image/jpeg', name: null, bytes, nowMs })
}

/** A registry that stays down beyond the wait leads to a review. */
function orReview(verdict: Verdict, row: VerificationRow, nowMs: number): Verdict {
  if (verdict.stage !== 'awaiting_registry' || !row.registry_until || row.registry_until.getTime() > nowMs)
    return verdict
  const doubt = {
    code: 'REGISTRY_UNAVAILABLE',
    check: 'registry',
    message: 'the registry did not answer',
    retryable: true,
  }
  return { ...verdict, stage: 'awaiting_review', outcome: { ...verdict.outcome, doubt } }
}

function likenessOf(row: VerificationRow, { selfie }: Claims, { faces }: ReadDocument): Likeness | 'none' | null {
  if (!row.checks.includes('face_match') || !selfie) return null
  const portrait = faces[0]?.descriptor
  return portrait ? likeness(portrait, selfie.descriptor) : 'none'
}

/** Where zone, portrait and printed fields are on the pictures, and what is wrong where. */
function regionsOf({ mrz, portraitRegion, lines, flaws }: ReadDocument): NonNullable<Findings['regions']> {
  const printed = Object.entries(printedFields(lines)).map(([name, { region }]) => ({ name, region }))
  const all = [{ name: 'zone', region: mrz?.region }, { name: 'portrait', region: portraitRegion }, ...printed]
  const wrong = (['document_front', 'document_back'] as const).flatMap((image) =>
    flaws[image].map(({ problem: name, box }) => ({ name, image, box })),
  )
  return [...all.flatMap(({ name, region }) => (region ? [{ name, ...region }] : [])), ...wrong]
}

function zoneOf({ mrz }: ReadDocument): Findings['document']['mrz'] {
  return mrz && { format: mrz.format, valid: mrz.failing.length === 0, lines: mrz.lines }
}

/** Claimed number to compare with the document. With a test key it may only select the simulator's answer. */
function claimedNumber({ environment }: Tenant, { checks }: VerificationRow, { document_number }: Claims) {
  if (document_number === undefined) return {}
  const isForRegistry = environment === 'test' && checks.includes('registry_lookup') && choosesAnswer(document_number)
  return isForRegistry ? {} : { document_number }
}

function knownOf({ subject, device, document_number }: Claims, { fields }: Judgement) {
  const { phone, email, external_id } = subject
  return { document: fields.document_number ?? document_number, phone, email, external_id, device: device.device_id }
}

async function askRegistry(
  app: App,
  tenant: Tenant,
  row: VerificationRow,
  claims: Claims,
  { fields }: Judgement,
): Promise<RegistryVerdict> {
  const registry = await registryFor(app, tenant.environment, row.country, row.document_type)
  const id_number = claims.document_number ?? fields.document_number
  if (!registry || !id_number) return 'down'
  const { verdict, photo } = await registryClientOf(app).lookup(registry, {
    country: row.country,
    id_type: row.document_type,
    id_number,
    first_name: fields.first_name,
    last_name: fields.last_name,
    date_of_birth: fields.date_of_birth,
  })
  const isPerson = photo === null || !claims.selfie || (await isSameFace(app, tenant, photo, claims.selfie.descriptor))
  return isPerson ? verdict : 'mismatch'
}

/** Compares with the registry's photo; an unusable one does not count. */
async function isSameFace(app: App, tenant: Tenant, photo: string, descriptor: readonly number[]): Promise<boolean> {
  try {
    const pictures = [{ bytes: Buffer.from(photo, 'base64'), use: 'face' as const }]
    const examined = await engine(app, { tenant }, examine, { pictures }, ['registry'])
    const found = examined.pictures[0]?.faces?.[0]?.descriptor
    return !found || likeness(found, descriptor).similarity >= reviewThreshold
  } catch (problem) {
    if (problem instanceof AppError && problem.code !== 'PROVIDER_UNAVAILABLE') return true
    throw problem
  }
}

function registryCheck(answer: Found['registry'], isRequested: boolean) {
  const base = { check: 'registry', weight: 'major' } as const
  if (answer === null)
    return {
      ...base,
      result: 'skipped',
      detail: isRequested ? 'there is no document to ask about' : 'not requested',
    } as const
  if (answer === 'match') return { ...base, result: 'pass', detail: 'found, all fields match' } as const
  if (answer === 'down') return { ...base, result: 'unavailable', detail: 'the registry does not answer' } as const
  return { ...base, result: answer === 'review' ? 'warn' : 'fail', detail: answer } as const
}

async function contactOf(
  app: App,
  { tenant, nowMs }: Occasion,
  { country }: VerificationRow,
  { subject, device }: Claims,
): Promise<readonly Raised[]> {
  const { phone, email, external_id } = subject
  const { ip, device_id } = device
  const reached = { phone, email, ip, device_id, user_id: external_id, country }
  const { raised } = await app.db.tx(tenant, (tx) => contactSigns(app, tx, { tenant, nowMs }, reached))
  return raised
}

async function duplicatesOf(
  app: App,
  tenant: Tenant,
  row: VerificationRow,
  claims: Claims,
  { fields }: Judgement,
): Promise<Duplicates> {
  return findDuplicates(app, tenant, row, claims, fields.document_number, row.checks.includes('duplicate_check'))
}

const failed = { document_authentic: null, face_match: null, liveness_passed: null, overall_risk: null }

/** Engine failed: reject with a reason that allows another attempt. */
async function giveUp(app: App, occasion: Occasion, row: VerificationRow): Promise<void> {
  const { tenant } = occasion
  await app.db.tx(tenant, async (tx) => {
    const now = await maybe(tx.query(findVerification, { ...tenant, id: row.id }))
    if (!now) return
    const reason = { code: 'PROCESSING_FAILED', check: null, message: 'it could not be looked at', retryable: true }
    const outcome = {
      results: failed,
      checks_performed: [],
      face_match: null,
      liveness: null,
      risk_assessment: null,
      failure_reasons: [reason],
      review: null,
      engine: { version: 'identity-1', ocr: '', face: '', threshold: matchThreshold },
    }
    await move(app, tx, occasion, now, { status: 'rejected', stage: 'done', outcome }, worker)
  })
  verdictWaits.of(app).happened(row.id)
}
