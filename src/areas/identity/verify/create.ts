// SPDX-License-Identifier: Apache-2.0
// Accepts a verification. Pictures are checked first, so that an app can ask for better ones at once and nothing is
// stored for a refused request; then record, pictures, audit entry, event and job are stored together.
import { Readable } from 'node:stream'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { type Id, idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { dayMs, parseMoment } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { ArrivedFile } from '../../../platform/storage.ts'
import { type Actor, actorOf, appendAudit } from '../audit-chain.ts'
import { type DocumentEntry, entryFor } from '../catalogue.ts'
import { holdFor, type Payer, type Price, requireFunds } from '../charging.ts'
import { isRead } from '../documents/judge.ts'
import { engine, type Viewer, viewerOf } from '../engines/engines.ts'
import { type Examined, examine, measureFrames, readDocument } from '../engines/tasks.ts'
import { judgePassive } from '../faces/active-liveness.ts'
import { answerChallenge } from '../faces/frames.ts'
import { faceIn, imageFile, pictureOf, refusePoor } from '../pictures.ts'
import { type Policy, policyOf } from '../policy.ts'
import { registryClientOf } from '../registry/adapter.ts'
import { registryFor } from '../registry/registries.ts'
import { verifyJob } from './process.ts'
import { recordOf } from './record.ts'
import { RecordKey } from './record-key.ts'
import type { Claims, KeptConsent, VerificationRecord, VerifyId } from './schema.ts'
import { findVerification, insertVerification } from './store.ts'
import { tell } from './transition.ts'
import { verdictWaits } from './waiting.ts'

export interface Accepted {
  readonly entry: DocumentEntry
  readonly policy: Policy & { version: number }
  readonly checks: readonly string[]
  readonly claims: Claims
  readonly files: Readonly<Record<string, ArrivedFile>>
  readonly previous: string | null
  readonly price: Price
}

/** Who asks for a verification: a caller, or the account of a hosted page for the person on it. */
export type Requester = Payer & Pick<Caller, 'nowMs' | 'requestId' | 'actor' | 'ip'>

/** Validates a request and stores its pictures. */
export async function admit(app: App, caller: Requester, input: VerifyId): Promise<Accepted> {
  const entry = entryFor(input.document_type, input.country)
  const policy = await policyOf(app.db, caller.tenant)
  if (input.consent?.granted === false || (policy.consent_required && input.consent === undefined))
    throw new AppError('CONSENT_REQUIRED', 'the person has to agree: consent.granted must be true')
  if (entry.sides === 2 && input.document_back === undefined)
    throw invalid('document_back', `is needed: a ${entry.type} of ${entry.country} has two sides`)
  const previous = await previousOf(app, caller, input)
  const checks = checksOf(input)
  const price = await requireFunds(app, caller, 'verification')
  if (checks.includes('registry_lookup')) await requireRegistry(app, caller, input, entry, policy)
  const viewer = viewerOf(caller, input.wait)
  const examined = await examineAll(app, caller, viewer, input, entry)
  const claims = await claimsOf(app, caller, viewer, input, examined, checks)
  return { entry, policy, checks, claims, files: await keepPictures(app, caller, examined), previous, price }
}

/**
 * Requires the registry to be up, if the policy fails fast and a number is given; otherwise a registry that is down is
 * waited for.
 */
async function requireRegistry(app: App, { tenant }: Requester, input: VerifyId, entry: DocumentEntry, policy: Policy) {
  const { country, type } = entry
  const registry = await registryFor(app, tenant.environment, country, type)
  if (!registry)
    throw invalid(
      'checks',
      `registry_lookup is not there for a ${type} of ${country}; see GET /v1/identity/document-types`,
    )
  if (policy.registry_on_outage !== 'fail' || input.wait === 0 || input.document_number === undefined) return
  const { verdict } = await registryClientOf(app).lookup(registry, {
    ...{ country, id_type: type, id_number: input.document_number },
    ...{ first_name: null, last_name: null, date_of_birth: null },
  })
  if (verdict !== 'down') return
  const extra = { registry: registry.name }
  throw new AppError('REGISTRY_UNAVAILABLE', `the registry of ${country} does not respond`, {
    extra,
    retryAfterSeconds: 60,
  })
}

async function previousOf(app: App, { tenant }: Requester, input: VerifyId): Promise<string | null> {
  const given = input.previous_verification_id
  if (given === undefined) return null
  const id = uuidOf('verification', given)
  if (!id || !(await maybe(app.db.query(findVerification, { ...tenant, id }))))
    throw invalid('previous_verification_id', 'is not the id of a verification')
  return id
}

function checksOf({ checks, selfie, liveness }: VerifyId): readonly string[] {
  const hasPerson = selfie !== undefined || liveness !== undefined
  const usual = hasPerson ? ['face_match', 'liveness_detection'] : []
  const wanted = ['document_verification', ...(checks ?? usual)].filter((check, i, all) => all.indexOf(check) === i)
  if (!hasPerson && wanted.some((check) => check === 'face_match' || check === 'liveness_detection'))
    throw invalid('selfie', 'or liveness is needed for these checks')
  return wanted
}

type ExaminedPictures = ReadonlyMap<string, { readonly examined: Examined; readonly bytes: Buffer }>

async function examineAll(
  app: App,
  caller: Requester,
  viewer: Viewer,
  input: VerifyId,
  entry: DocumentEntry,
): Promise<ExaminedPictures> {
  const given: [string, string | undefined][] = [
    ['document_front', input.document_front],
    ['document_back', input.document_back],
    ['selfie', input.selfie],
  ]
  const fields: { field: string; bytes: Buffer; use: 'document' | 'face' }[] = []
  for (const [field, text] of given)
    if (text !== undefined)
      fields.push({
        field,
        bytes: await pictureOf(app, caller, field, text),
        use: field === 'selfie' ? 'face' : 'document',
      })
  const pictures = fields.map(({ bytes, use }) => ({ bytes, use }))
  const { pictures: found } = await engine(
    app,
    viewer,
    examine,
    { pictures },
    fields.map(({ field }) => field),
  )
  const examined = new Map<string, { examined: Examined; bytes: Buffer }>()
  for (const [i, { field }] of fields.entries()) {
    const one = found[i]
    if (!one) throw new Error('the engine examined fewer pictures than it was given')
    if (field === 'selfie') faceIn(field, one)
    else await requireReadable(app, viewer, entry, field, one)
    examined.set(field, { examined: one, bytes: Buffer.from(one.clean, 'base64') })
  }
  return examined
}

/** Refuses a poor picture of a document, unless it can be read all the same. */
async function requireReadable(
  app: App,
  viewer: Viewer,
  entry: DocumentEntry,
  field: string,
  { quality, flaws, clean }: Examined,
): Promise<void> {
  if (quality.problems.length === 0) return
  const side = { front: Buffer.from(clean, 'base64'), back: null, wantsPortrait: false }
  const read = await engine(app, viewer, readDocument, side, [field])
  if (!isRead(entry, field, read, app.clock.nowMs()))
    refusePoor(field, quality.problems, [
      ...flaws,
      ...read.flaws.document_front.filter(({ problem }) => problem === 'cut_off'),
    ])
}

async function claimsOf(
  app: App,
  caller: Requester,
  viewer: Viewer,
  input: VerifyId,
  examined: ExaminedPictures,
  checks: readonly string[],
): Promise<Claims> {
  const selfie = examined.get('selfie')
  const active = input.liveness
    ? await answerChallenge(app, caller, viewer, input.liveness.challenge_id, input.liveness.frames, 'liveness.frames')
    : null
  const shown =
    selfie?.examined.faces?.[0]?.descriptor ?? (active && (await describeFrontal(app, viewer, active.frontal)))
  return {
    subject: input.subject ?? {},
    device: input.device ?? {},
    ...(input.document_number === undefined ? {} : { document_number: input.document_number }),
    ...(input.consent === undefined ? {} : { consent: keptConsent(input.consent) }),
    selfie: shown ? { descriptor: shown, engine: 'face' } : null,
    liveness: active
      ? {
          ...{ passed: active.result.passed, confidence: active.result.confidence, method: 'active' },
          ...(active.result.signals.light ? { light: active.result.signals.light } : {}),
        }
      : checks.includes('liveness_detection') && selfie
        ? await passive(app, viewer, selfie.bytes)
        : null,
  }
}

function keptConsent({ granted_at, privacy_notice_url, language }: NonNullable<VerifyId['consent']>): KeptConsent {
  return {
    granted: true,
    granted_at: (granted_at === undefined ? null : parseMoment(granted_at))?.toISOString() ?? null,
    privacy_notice_url: privacy_notice_url ?? null,
    language: language ?? null,
  }
}

async function describeFrontal(app: App, viewer: Viewer, bytes: Buffer): Promise<number[] | null> {
  const frontal = { pictures: [{ bytes, use: 'face' as const }] }
  const { pictures } = await engine(app, viewer, examine, frontal, ['liveness.frames'])
  return pictures[0]?.faces?.[0]?.descriptor ?? null
}

async function passive(app: App, viewer: Viewer, bytes: Buffer): Promise<Claims['liveness']> {
  const { frames } = await engine(app, viewer, measureFrames, { frames: [bytes] }, ['selfie'])
  return { ...(frames[0] ? judgePassive(frames[0]) : { passed: false, confidence: 0 }), method: 'passive' }
}

/** Stores the pictures needed later, without metadata; reviewers see the selfie. */
async function keepPictures(app: App, { tenant, nowMs }: Requester, examined: ExaminedPictures) {
  const files: Record<string, ArrivedFile> = {}
  try {
    for (const [field, { bytes }] of examined)
      files[field] = await app.storage.put(imageFile, {
        tenant,
        type: 'image/jpeg',
        name: null,
        bytes: Readable.from([bytes]),
        nowMs,
      })
    return files
  } catch (problem) {
    await Promise.all(Object.values(files).map((file) => app.storage.discard(file)))
    throw problem
  }
}

export async function create(
  app: App,
  tx: Tx,
  caller: Requester,
  input: VerifyId,
  accepted: Accepted,
  actor: Actor = actorOf(caller),
): Promise<VerificationRecord> {
  const { tenant, nowMs, receivedMs, requestId } = caller
  const { entry, policy, checks, claims, files, price } = accepted
  const id = newUuid(receivedMs)
  const key = RecordKey.make(tenant, id)
  await holdFor(tx, tenant, id, price)
  for (const file of Object.values(files)) await app.storage.keep(tx, file)
  await tx.query(insertVerification, {
    ...tenant,
    id,
    type: entry.type,
    country: entry.country,
    checks,
    reference: input.reference ?? null,
    previous: accepted.previous,
    callback: input.callback_url ?? null,
    request: requestId,
    by: caller.actor,
    metadata: JSON.stringify(input.metadata ?? {}),
    key: await key.sealed(app),
    claims: key.seal('claims_sealed', claims),
    images: JSON.stringify(Object.fromEntries(Object.entries(files).map(([field, file]) => [field, file.id]))),
    subject: indexOf(app, caller, 'subject', claims.subject.external_id),
    device: indexOf(app, caller, 'device', claims.device.device_id),
    imagesUntil: new Date(nowMs + policy.image_days * dayMs),
    recordUntil: new Date(nowMs + policy.record_days * dayMs),
    at: new Date(nowMs),
    ...price,
  })
  await appendAudit(app, tx, tenant, {
    resourceId: idOf('verification', id),
    action: 'verification.created',
    actor,
    details: {
      document_type: entry.type,
      country: entry.country,
      consent: claims.consent !== undefined,
      ...(claims.consent?.granted_at ? { consent_granted_at: claims.consent.granted_at } : {}),
      policy_version: policy.version,
    },
    receivedMs,
    nowMs,
  })
  const row = await one(tx.query(findVerification, { ...tenant, id }))
  await tell(app, tx, { tenant, nowMs, receivedMs, requestId }, row)
  const job = app.work.prepare(verifyJob, tenant, { verification: id, clockOffsetMs: nowMs - receivedMs })
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
  return recordOf(app, tenant, row)
}

/** Keyed hash of a text for an account. */
export function indexOf(
  app: App,
  { tenant }: Pick<Caller, 'tenant'>,
  use: string,
  text: string | undefined,
): Buffer | null {
  return text === undefined ? null : app.secrets.fingerprint(`identity.${use}`, `${tenant.account} ${text}`)
}

const usualWaitSeconds = 10

/** Waits for the verdict until `waitSeconds` after the request came; on timeout, the record as it is. */
export async function awaitVerdict(
  app: App,
  { tenant, receivedMs }: Caller,
  id: Id<'verification'> | string,
  waitSeconds = usualWaitSeconds,
): Promise<VerificationRecord> {
  const uuid = uuidOf('verification', id)
  if (!uuid) throw new Error('a verification has an id of its kind')
  const waitMs = receivedMs + waitSeconds * 1_000 - app.clock.nowMs()
  if (waitMs > 0) await verdictWaits.of(app).until({ ...tenant, id: uuid }, waitMs).over
  return recordOf(app, tenant, await one(app.db.query(findVerification, { ...tenant, id: uuid })))
}
