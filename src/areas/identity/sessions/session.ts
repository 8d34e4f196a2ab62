// SPDX-License-Identifier: Apache-2.0
// Capture session: its record, its states, and the events of its changes. It follows the verification that its pictures
// make: a failure that a better picture can mend leaves it open while there are tries left.
import qrcode from 'qrcode-generator'
import { type Static, Type } from 'typebox'
import Value from 'typebox/value'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { secretName } from '../../../platform/web/secret-name.ts'
import { FailureReason, type Outcome } from '../verify/schema.ts'
import type { VerificationRow } from '../verify/store.ts'
import { whenMoved } from '../verify/transition.ts'
import { type Session, type SessionEvent, type SessionStatus, sessionEvents } from './schema.ts'
import { dropParts, findSession, findSessionOf, moveSession, type SessionRow } from './store.ts'

/** Path of the pages of sessions, before their secret names. */
export const sessionPath = '/verify'
const open: readonly SessionStatus[] = ['created', 'opened', 'capturing']

const Person = Type.Object({ external_id: Type.Optional(Type.String()) })
export type Person = Static<typeof Person>

export function personPlace(id: string): string {
  return `identity.sessions.person_sealed:${id}`
}

/** Who the account says that the person is; nothing once that was erased. */
export async function personOf(app: App, { id, person_sealed, ...row }: SessionRow): Promise<Person> {
  if (!person_sealed) return {}
  const text = await app.secrets.open(tenantOf(row), personPlace(id), person_sealed)
  return Value.Parse(Person, JSON.parse(text.toString('utf8')))
}

export async function requireSession(queryable: Queryable, tenant: Tenant, name: string): Promise<SessionRow> {
  const id = uuidOf('identitySession', name)
  const row = id && (await maybe(queryable.query(findSession, { ...tenant, id })))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such session; ids begin with ids_')
  return row
}

/** Status of a session; lists filter by the same rule in SQL. */
export function statusOf({ status, expires_at }: SessionRow, nowMs: number): SessionStatus {
  return open.includes(status) && expires_at.getTime() <= nowMs ? 'expired' : status
}

const Reasons = Type.Array(FailureReason)

export function reasonsOf({ failure_reasons }: SessionRow): Static<typeof Reasons> {
  return Value.Check(Reasons, failure_reasons) ? failure_reasons : []
}

export async function sessionOf(app: App, row: SessionRow, nowMs: number): Promise<Session> {
  const told = await toldOf(app, row, nowMs)
  const isUsable = open.includes(told.status)
  const token = isUsable ? secretName(row) : null
  const url = token && `${app.publicUrl}${sessionPath}/${token}`
  const { document_types, country, redirect_url, language } = row
  return { ...told, url, token, qr: url && qrOf(url), document_types, country, redirect_url, language }
}

async function toldOf(app: App, row: SessionRow, nowMs: number): Promise<SessionEvent> {
  const { external_id = null } = await personOf(app, row)
  return {
    session_id: idOf('identitySession', row.id),
    status: statusOf(row, nowMs),
    verification_id: row.verification_id && idOf('verification', row.verification_id),
    external_id,
    checks: row.checks,
    tries_left: Math.max(0, row.tries_allowed - row.tries),
    failure_reasons: reasonsOf(row),
    created_at: row.created_at,
    expires_at: row.expires_at,
    opened_at: row.opened_at,
    submitted_at: row.submitted_at,
    completed_at: row.completed_at,
  }
}

/** An address as a QR code: one path of squares, with the quiet zone that readers want. */
export function qrOf(url: string): string {
  const code = qrcode(0, 'M')
  code.addData(url)
  code.make()
  const [count, quiet] = [code.getModuleCount(), 4]
  let path = ''
  for (let row = 0; row < count; row++)
    for (let column = 0; column < count; column++)
      if (code.isDark(row, column)) path += `M${column + quiet} ${row + quiet}h1v1h-1z`
  const side = count + 2 * quiet
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path d="${path}"/></svg>`
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}

/** Tells the account of a change. */
export async function tellSession(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SessionRow,
  event: keyof typeof sessionEvents,
): Promise<void> {
  const told = await toldOf(app, row, occasion.nowMs)
  await app.outbox.emit(tx, sessionEvents[event], occasion, told.session_id, told)
}

/** Ends a session that is still open: cancelled, or past its time. Null when it is not open. */
export async function endSession(
  app: App,
  tx: Tx,
  occasion: Occasion,
  id: string,
  to: 'cancelled' | 'expired' | 'rejected',
): Promise<SessionRow | null> {
  const { tenant, nowMs } = occasion
  const moved = { ...tenant, id, from: open, to, at: new Date(nowMs), reasons: null, completed: to !== 'expired' }
  const row = await maybe(tx.query(moveSession, moved))
  if (!row) return null
  await dropPictures(app, tx, tenant, id)
  if (to === 'expired') await tellSession(app, tx, occasion, row, 'expired')
  if (to === 'rejected') await tellSession(app, tx, occasion, row, 'completed')
  return row
}

/** Deletes the pictures on their way. */
export async function dropPictures(app: App, tx: Tx, tenant: Tenant, session: string): Promise<void> {
  const parts = await tx.query(dropParts, { ...tenant, session })
  if (parts.length > 0)
    await app.storage.drop(
      tx,
      tenant,
      parts.map(({ file_id }) => file_id),
    )
}

whenMoved(followVerification)

/** Takes over what became of a verification, in its transaction: the person is done, or may try again. */
async function followVerification(
  app: App,
  tx: Tx,
  occasion: Occasion,
  { id: verification, status, stage }: VerificationRow,
  outcome: Outcome | null,
): Promise<void> {
  const isReview = stage === 'awaiting_review'
  if (stage !== 'done' && !isReview) return
  const { tenant, nowMs } = occasion
  const row = await maybe(tx.query(findSessionOf, { ...tenant, verification }))
  if (!row || (row.status !== 'submitted' && row.status !== 'review')) return
  const reasons = isReview ? [] : (outcome?.failure_reasons ?? [])
  const isBetter = reasons.length > 0 && reasons.every(({ retryable }) => retryable) && row.tries < row.tries_allowed
  const isAgain = row.status === 'submitted' && isBetter && row.expires_at.getTime() > nowMs
  const to = isReview ? 'review' : status === 'verified' ? 'verified' : isAgain ? 'capturing' : 'rejected'
  const moved = await maybe(
    tx.query(moveSession, {
      ...tenant,
      id: row.id,
      from: [row.status],
      to,
      at: new Date(nowMs),
      reasons: JSON.stringify(reasons),
      completed: !isAgain,
    }),
  )
  // Who waits for a reviewer is done: the decision is told of the verification.
  if (moved && !isAgain && row.status === 'submitted') await tellSession(app, tx, occasion, moved, 'completed')
}
