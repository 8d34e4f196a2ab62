// SPDX-License-Identifier: Apache-2.0
// The second factor of a member: begun with a secret for the authenticator, in force once a first code was typed, and given
// up again. Ten recovery codes stand in for it, each once.
import { createHash, randomBytes } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, idOf } from '../../../kernel/ids.ts'
import { base32Of, stepOf, totpUri } from '../../../kernel/totp.ts'
import { recordAs } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type From, memberActing } from './acting.ts'
import type { SessionRow } from './store.ts'
import { beginTotp, confirmTotp, dropTotp, pendingTotp, useRecoveryCode, useStep } from './team-store.ts'

const secretBytes = 20
const recoveryCodes = 10
const recoveryBytes = 10

interface Holder {
  id: string
  account_id: string
  totp_secret: Buffer | null
  totp_step: bigint
  recovery_hashes: readonly string[]
}

/** Marks a code as used, in the transaction that signs the member in. */
type UseUp = (tx: Tx) => Promise<void>

/**
 * Checks a second factor; throws when the code is missing or wrong. The returned function throws when another sign-in
 * used the same code meanwhile.
 */
export async function secondFactor(app: App, member: Holder, code: string | null, nowMs: number): Promise<UseUp> {
  const { id, totp_secret: sealed, totp_step: used, recovery_hashes: codes } = member
  if (sealed === null) return async () => undefined
  if (code === null)
    throw new AppError('UNAUTHORIZED', 'the code of your authenticator is needed as well', {
      extra: { confirm: 'totp' },
    })
  const secret = await app.secrets.open(tenantOf(member.account_id), placeOf(member.id), sealed)
  const step = stepOf(secret, code.replaceAll(' ', ''), nowMs, Number(used))
  if (step !== null)
    return async (tx) => {
      if (!(await maybe(tx.query(useStep, { id, step: BigInt(step) })))) throw wrongCode()
    }
  const hash = hashed(code)
  if (!codes.includes(hash)) throw wrongCode()
  return async (tx) => {
    if (!(await maybe(tx.query(useRecoveryCode, { id, hash })))) throw wrongCode()
  }
}

function wrongCode(): AppError {
  return new AppError('UNAUTHORIZED', 'the code is wrong, or was used before', { extra: { confirm: 'totp' } })
}

/** A secret for the authenticator, which is not asked for until its first code was typed. */
export async function beginFactor(app: App, own: SessionRow): Promise<{ secret: string; uri: string }> {
  const secret = randomBytes(secretBytes)
  const sealed = await app.secrets.seal(tenantOf(own.account_id), placeOf(own.member_id), secret)
  await app.db.query(beginTotp, { id: own.member_id, sealed })
  return { secret: base32Of(secret), uri: totpUri(secret, own.email) }
}

export async function confirmFirst(
  app: App,
  own: SessionRow,
  code: string,
  from: From,
): Promise<{ recovery_codes: string[] }> {
  const nowMs = app.clock.nowMs()
  const { totp_pending: sealed } = await one(app.db.query(pendingTotp, { id: own.member_id }))
  if (sealed === null) throw new AppError('CONFLICT', 'no second factor was begun: POST /console/api/totp')
  const secret = await app.secrets.open(tenantOf(own.account_id), placeOf(own.member_id), sealed)
  const step = stepOf(secret, code.replaceAll(' ', ''), nowMs, 0)
  if (step === null) throw new AppError('VALIDATION_ERROR', 'the code does not fit: look at the clock of the phone')
  const codes = Array.from({ length: recoveryCodes }, () => base32Of(randomBytes(recoveryBytes)).toLowerCase())
  await app.db.acrossTx(async (tx) => {
    await tx.query(confirmTotp, { id: own.member_id, step: BigInt(step), codes: codes.map(hashed) })
    await app.signals.send(tx, 'accounts', own.account_id)
    await recordAs(tx, acting(own, from, nowMs), 'member.begin_totp', idOf('member', own.member_id))
  })
  return { recovery_codes: codes }
}

export async function dropFactor(app: App, own: SessionRow, from: From): Promise<void> {
  if (own.totp_required) throw new AppError('CONFLICT', 'your account requires a second factor for all members')
  await app.db.acrossTx(async (tx) => {
    await tx.query(dropTotp, { id: own.member_id })
    await recordAs(tx, acting(own, from, app.clock.nowMs()), 'member.drop_totp', idOf('member', own.member_id))
  })
}

const acting = ({ member_id: id, account_id }: SessionRow, from: From, nowMs: number) =>
  memberActing({ id, account_id }, from, nowMs)

function tenantOf(account: string): Tenant {
  return { bucket: bucketOf(account), account, environment: 'live' }
}

function placeOf(member: string): string {
  return `accounts.members.totp:${member}`
}

function hashed(code: string): string {
  return createHash('sha256').update(code.trim().toLowerCase()).digest('hex')
}
