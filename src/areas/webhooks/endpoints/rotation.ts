// SPDX-License-Identifier: Apache-2.0
// Replacing secrets without losing a delivery: for some hours both sign, so that a receiver can change over whenever it
// likes. Hours pass by the account's own clock.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { hourMs } from '../../../kernel/time.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import {
  type CallbackSecret,
  defaultOverlapHours,
  type RotatedCallbackSecret,
  type RotatedSecret,
  type SecretRotate,
} from '../schema.ts'
import { type EndpointRow, lockCallbackSecret, lockEndpoint, updateCallbackSecret, updateSecrets } from '../store.ts'
import { endpointUuid, hasPendingSecret, noSuchWebhook, type Webhook } from './endpoint.ts'
import { announce, describe, existing } from './register.ts'
import { callbackSecret, inForce, newSecret, type StoredSecrets, sealCallbackSecret, sealSecret } from './secrets.ts'

type Overlap = Static<typeof SecretRotate>

export interface Successor {
  secret: string
  sealed: Buffer
}

export async function prepareSuccessor(app: App, id: string, caller: Caller): Promise<Successor> {
  const row = await existing(app.db, id, caller)
  const secret = newSecret()
  return { secret, sealed: await sealSecret(app, caller.tenant, row.id, secret) }
}

/** A second rotation during an overlap replaces the secret that waits; the current one signs on. */
export async function rotateSecret(
  app: App,
  tx: Tx,
  id: string,
  input: Overlap,
  caller: Caller,
  successor: Successor,
): Promise<Static<typeof RotatedSecret>> {
  const row = await locked(tx, id, caller)
  const { stored, activatesAt } = succeeded(row, successor.sealed, input, caller.nowMs)
  await tx.query(updateSecrets, { ...caller.tenant, id: row.id, ...stored, at: new Date(caller.nowMs) })
  const webhookId = idOf('webhook', row.id)
  await record(tx, caller, 'webhook.rotate_secret', webhookId, { after: { activates_at: activatesAt } })
  await announce(app, tx, row.id)
  return { id: webhookId, secret: successor.secret, activates_at: activatesAt }
}

export async function activateSecret(app: App, tx: Tx, id: string, caller: Caller): Promise<Webhook> {
  const row = await locked(tx, id, caller)
  if (row.next_secret === null || !hasPendingSecret(row, caller.nowMs))
    throw new AppError('NO_PENDING_SECRET', 'the webhook has one secret only; rotate it first')
  const at = new Date(caller.nowMs)
  const changed = await one(
    tx.query(updateSecrets, {
      ...caller.tenant,
      id: row.id,
      secret: row.next_secret,
      next: null,
      activatesAt: null,
      at,
    }),
  )
  await record(tx, caller, 'webhook.activate_secret', idOf('webhook', row.id), {
    before: { activates_at: row.activates_at },
  })
  await announce(app, tx, row.id)
  return describe(app, tx, changed, caller)
}

export async function readCallbackSecret(app: App, { tenant, nowMs }: Caller): Promise<Static<typeof CallbackSecret>> {
  const secrets = await callbackSecret(app, tenant)
  const { current, next } = inForce(secrets, nowMs)
  return { secret: current, next_secret: next, activates_at: next === null ? null : secrets.activatesAt }
}

/** Next callback secret of an account; makes the first one too, so that there is one to replace. */
export async function prepareCallbackSuccessor(app: App, { tenant }: Caller): Promise<Successor> {
  await callbackSecret(app, tenant)
  const secret = newSecret()
  return { secret, sealed: await sealCallbackSecret(app, tenant, secret) }
}

export async function rotateCallbackSecret(
  app: App,
  tx: Tx,
  input: Overlap,
  caller: Caller,
  successor: Successor,
): Promise<Static<typeof RotatedCallbackSecret>> {
  const { tenant } = caller
  const row = await one(tx.query(lockCallbackSecret, tenant))
  const { stored, activatesAt } = succeeded(row, successor.sealed, input, caller.nowMs)
  await tx.query(updateCallbackSecret, { ...tenant, ...stored })
  await record(tx, caller, 'webhook.rotate_callback_secret', caller.accountId, { after: { activates_at: activatesAt } })
  await app.signals.send(tx, 'webhooks', `callback:${tenant.account}:${tenant.environment}`)
  return { secret: successor.secret, activates_at: activatesAt }
}

async function locked(tx: Tx, id: string, { tenant }: Caller): Promise<EndpointRow> {
  const row = await maybe(tx.query(lockEndpoint, { ...tenant, id: endpointUuid(id) }))
  if (!row) throw noSuchWebhook()
  return row
}

/** Columns of a rotation: the secret in force now, and the one that follows. */
function succeeded(
  { secret, next_secret, activates_at }: StoredSecrets,
  successor: Buffer,
  { overlap_hours = defaultOverlapHours }: Overlap,
  nowMs: number,
): { stored: { secret: Buffer; next: Buffer | null; activatesAt: Date | null }; activatesAt: Date } {
  const activatesAt = new Date(nowMs + overlap_hours * hourMs)
  if (overlap_hours === 0) return { stored: { secret: successor, next: null, activatesAt: null }, activatesAt }
  const { current } = inForce({ secret, next: next_secret, activatesAt: activates_at }, nowMs)
  return { stored: { secret: current, next: successor, activatesAt }, activatesAt }
}
