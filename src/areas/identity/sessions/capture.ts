// SPDX-License-Identifier: Apache-2.0
// Steps of a person on the page of a capture session: open it, agree, upload pictures in parts, and submit them. The session is
// bound to the browser in which the person agreed; other browsers see that it is in use.
import { createHash, timingSafeEqual } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import Value from 'typebox/value'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { HookCall } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { fileKind } from '../../../platform/storage/file-kind.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import type { Language } from '../../../platform/web/language.ts'
import { entryFor } from '../catalogue.ts'
import { ActiveSubmission, makeChallenge, slowChallengeMs } from '../faces/frames.ts'
import { policyOf } from '../policy.ts'
import { admit, create, type Requester } from '../verify/create.ts'
import { checkNames, type VerifyId } from '../verify/schema.ts'
import { dropPictures, endSession, personOf, statusOf, tellSession } from './session.ts'
import {
  addPart,
  bindSession,
  countBytes,
  lockSession,
  moveSession,
  partsOf,
  receivedOf,
  refuseSession,
  submitSession,
  type VisitedRow,
} from './store.ts'

/** Session as a visitor of its page finds it. */
export interface Visit {
  readonly tenant: Tenant
  readonly row: VisitedRow
  readonly occasion: Occasion
}

/** A picture after it was made smaller in the browser. */
export const maxCaptureBytes = 1_572_864
/** Bytes of one part: a few seconds over a slow network. */
export const partBytes = 131_072
const maxSessionBytes = 40 * 1_024 * 1_024
/** Pictures that may be refused before they are judged. */
const maxRefusals = 20

const partFile = fileKind({ name: 'identity.part', types: { 'application/octet-stream': partBytes }, keepDays: 1 })

/** Occasion of a visit, by the account's clock. */
export function visitOf(call: Pick<HookCall, 'receivedMs' | 'requestId'>, row: VisitedRow): Visit {
  const tenant = tenantOf(row)
  const { receivedMs, requestId } = call
  return { tenant, row, occasion: { tenant, receivedMs, nowMs: receivedMs + Number(row.clock_offset_ms), requestId } }
}

/** Notes that somebody sees the page. The page's script asks for it, so that previews of links do not count. */
export async function openPage(app: App, { tenant, row, occasion }: Visit): Promise<void> {
  if (statusOf(row, occasion.nowMs) !== 'created') return
  await app.db.tx(tenant, async (tx) => {
    const at = new Date(occasion.nowMs)
    const to = { from: ['created'], to: 'opened', at, reasons: null, completed: false } as const
    const moved = await maybe(tx.query(moveSession, { ...tenant, id: row.id, ...to }))
    if (moved) await tellSession(app, tx, occasion, moved, 'opened')
  })
}

/** Keeps that the person agreed: the browser with this secret alone goes on from here. */
export async function agree(app: App, visit: Visit, language: Language, secret: string): Promise<void> {
  await openPage(app, visit)
  const { tenant, row, occasion } = visit
  const { privacy_notice_url } = await policyOf(app.db, tenant)
  const granted_at = new Date(occasion.nowMs).toISOString()
  const consent = JSON.stringify({ granted: true, granted_at, privacy_notice_url, language })
  const bound = await maybe(app.db.query(bindSession, { ...tenant, id: row.id, browser: hashOf(secret), consent }))
  if (!bound) throw new AppError('INVALID_STATE', 'the session was opened in another browser, or has ended')
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Whether the session was begun in this browser. */
export function isBound({ browser_hash }: Pick<VisitedRow, 'browser_hash'>, secret: string | null): boolean {
  return browser_hash !== null && secret !== null && timingSafeEqual(browser_hash, hashOf(secret))
}

/** Refuses pictures of a session that takes none now. */
function requireCapturing({ row, occasion }: Visit): void {
  const status = statusOf(row, occasion.nowMs)
  if (status !== 'capturing') throw new AppError('INVALID_STATE', `no pictures are accepted: the session is ${status}`)
}

/** Name of a picture: a mark of the browser, so that another try is another picture, and how many bytes it has. */
const pictureForm = /^[a-z0-9]{8,16}-([1-9][0-9]{0,6})$/

function sizeOf(picture: string): number {
  const size = Number(pictureForm.exec(picture)?.[1] ?? 0)
  if (size === 0) throw new AppError('NOT_FOUND', 'there is no such picture')
  if (size > maxCaptureBytes) throw new AppError('IMAGE_TOO_LARGE', `a picture has at most ${maxCaptureBytes} bytes`)
  return size
}

/** Bytes of a picture that have arrived. */
export async function receivedSoFar(app: App, { tenant, row }: Visit, picture: string): Promise<number> {
  sizeOf(picture)
  return (await one(app.db.query(receivedOf, { ...tenant, session: row.id, picture }))).bytes
}

/** Takes a part of a picture; returns how many bytes have arrived, from which the browser goes on. */
export async function takePart(app: App, visit: Visit, picture: string, start: number, bytes: Buffer): Promise<number> {
  requireCapturing(visit)
  const size = sizeOf(picture)
  const received = await receivedSoFar(app, visit, picture)
  if (start !== received || bytes.length === 0) return received
  if (start + bytes.length > size) throw invalid('offset', 'is beyond the end of the picture')
  const { tenant, row, occasion } = visit
  const file = await app.storage.put(partFile, {
    ...{ tenant, type: 'application/octet-stream', name: null, nowMs: occasion.nowMs },
    bytes: Readable.from([bytes]),
  })
  const part = { ...tenant, session: row.id, picture, start, bytes: bytes.length, file: file.id }
  const isNew = await app.db.tx(tenant, async (tx) => {
    const counted = { ...tenant, id: row.id, bytes: bytes.length, most: maxSessionBytes }
    if (!(await maybe(tx.query(countBytes, counted))))
      throw new AppError('IMAGE_TOO_LARGE', 'too many pictures were sent')
    if (!(await maybe(tx.query(addPart, part)))) return false
    await app.storage.keep(tx, file)
    return true
  })
  if (!isNew) await app.storage.discard(file)
  return receivedSoFar(app, visit, picture)
}

export async function challengeFor(app: App, visit: Visit) {
  requireCapturing(visit)
  const { tenant, occasion } = visit
  const made = await app.db.tx(tenant, (tx) =>
    makeChallenge(tx, occasion, { lastsMs: slowChallengeMs, hasLight: true }),
  )
  return {
    challenge_id: made.challengeId,
    steps: made.steps,
    lights: made.lights,
    expires_at: made.expires.toISOString(),
  }
}

const name = Type.String({ maxLength: 30 })

/** Pictures by name, and what they show. */
const Submission = Type.Object({
  document_type: Type.String({ maxLength: 40 }),
  country: Type.String({ minLength: 2, maxLength: 3 }),
  document_front: name,
  document_back: Type.Optional(name),
  selfie: Type.Optional(name),
  liveness: Type.Optional(
    Type.Object({
      challenge_id: ActiveSubmission.properties.challenge_id,
      frames: Type.Array(
        Type.Object({
          picture: name,
          step: Type.String({ maxLength: 20 }),
          at_ms: Type.Integer({ minimum: 0, maximum: 600_000 }),
        }),
        { minItems: 3, maxItems: 30 },
      ),
    }),
  ),
})

/** Makes the verification of the pictures that were sent; throws what is wrong with them. */
export async function submit(app: App, visit: Visit, call: HookCall, given: unknown): Promise<void> {
  requireCapturing(visit)
  if (!Value.Check(Submission, given)) throw new AppError('INVALID_REQUEST', 'the names of the pictures are invalid')
  const { tenant, row } = visit
  const facts = await app.authenticator.factsOfAccount(tenant.account, tenant.environment)
  if (!facts) throw new AppError('NOT_FOUND', 'there is no such account')
  const requester: Requester = {
    ...{ ...visit.occasion, requestId: call.requestId, actor: row.created_by, ip: call.ip },
    principal: { facts },
  }
  const input = await inputOf(app, visit, call, given)
  try {
    const accepted = await admit(app, requester, input)
    await app.db.tx(tenant, async (tx) => {
      const now = await one(tx.query(lockSession, { ...tenant, id: row.id }))
      requireCapturing({ ...visit, row: { ...row, ...now } })
      const person = { type: 'user', id: idOf('identitySession', row.id), ip: call.ip } as const
      const { verification_id } = await create(app, tx, requester, input, accepted, person)
      const verification = uuidOf('verification', verification_id) ?? ''
      const at = new Date(visit.occasion.nowMs)
      const submitted = await one(tx.query(submitSession, { ...tenant, id: row.id, verification, at }))
      await dropPictures(app, tx, tenant, row.id)
      await tellSession(app, tx, visit.occasion, submitted, 'submitted')
    })
  } catch (problem) {
    if (problem instanceof AppError && problem.status === 422) await countRefusal(app, visit)
    throw problem
  }
}

/** Pictures that cannot be judged cost no try, but not without end. */
async function countRefusal(app: App, { tenant, row, occasion }: Visit): Promise<void> {
  await app.db.tx(tenant, async (tx) => {
    const counted = await maybe(tx.query(refuseSession, { ...tenant, id: row.id }))
    if (counted && counted.refusals >= maxRefusals) await endSession(app, tx, occasion, row.id, 'rejected')
  })
}

const Consent = Type.Object({
  granted: Type.Literal(true),
  granted_at: Type.String(),
  privacy_notice_url: Type.Union([Type.String(), Type.Null()]),
  language: Type.String(),
})

async function inputOf(
  app: App,
  visit: Visit,
  { ip, headers }: HookCall,
  given: Static<typeof Submission>,
): Promise<VerifyId> {
  const { row } = visit
  const { document_type, country, liveness } = given
  const type = entryFor(document_type, row.country ?? country)
  if (row.document_types && !row.document_types.includes(type.type))
    throw new AppError('INVALID_DOCUMENT_TYPE', `a ${type.type} is not accepted in this session`)
  const picture = (name: string) => assembled(app, visit, name)
  const { privacy_notice_url, ...agreed } = Value.Parse(Consent, row.consent)
  const { external_id } = await personOf(app, row)
  const frames: { image: string; step: string; at_ms: number }[] = []
  for (const { picture: name, ...frame } of liveness?.frames ?? [])
    frames.push({ ...frame, image: await picture(name) })
  return {
    document_type: type.type,
    country: type.country,
    document_front: await picture(given.document_front),
    ...(given.document_back === undefined ? {} : { document_back: await picture(given.document_back) }),
    ...(given.selfie === undefined ? {} : { selfie: await picture(given.selfie) }),
    ...(liveness === undefined ? {} : { liveness: { challenge_id: liveness.challenge_id, frames } }),
    checks: row.checks.filter((check) => isCheck(check)),
    subject: external_id === undefined ? {} : { external_id },
    device: { ip, user_agent: (headers['user-agent'] ?? '').slice(0, 500) || 'unknown' },
    consent: { ...agreed, ...(privacy_notice_url === null ? {} : { privacy_notice_url }) },
  }
}

function isCheck(text: string): text is NonNullable<VerifyId['checks']>[number] {
  return checkNames.some((name) => name === text)
}

/** A picture whose parts are all there, in base64. */
async function assembled(app: App, { tenant, row }: Visit, picture: string): Promise<string> {
  const size = sizeOf(picture)
  const pieces: Buffer[] = []
  for (const { file_id } of await app.db.query(partsOf, { ...tenant, session: row.id, picture })) {
    const opened = await app.storage.open(tenant, file_id)
    if (opened) for await (const piece of opened.read()) pieces.push(piece)
  }
  const bytes = Buffer.concat(pieces)
  if (bytes.length !== size)
    throw new AppError('CONFLICT', 'a picture is incomplete', { extra: { picture, offset: bytes.length } })
  return bytes.toString('base64')
}
