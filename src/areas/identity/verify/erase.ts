// SPDX-License-Identifier: Apache-2.0
// Erasure: the keys of a record and its pictures are destroyed, so that no copy can be decrypted. The verdict, its
// times and the audit stay; they are not personal.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, statement, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Erasable } from '../../../platform/operator/erasing.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Actor, appendAudit } from '../audit-chain.ts'
import { settle } from '../charging.ts'
import { imagesOf } from './record.ts'
import { forgetImages, lockVerification, shredVerification, type VerificationRow } from './store.ts'

export interface Erased {
  readonly verification_id: string
  readonly status: VerificationRow['status']
  readonly erased_at: Date
  readonly legal_hold: false
}

export async function eraseRecord(
  app: App,
  tx: Tx,
  occasion: Occasion,
  id: string,
  actor: Actor,
  reason: 'request' | 'retention',
): Promise<Erased | null> {
  const { tenant, nowMs, receivedMs } = occasion
  const row = await maybe(tx.query(lockVerification, { ...tenant, id }))
  if (!row) return null
  const resourceId = idOf('verification', id)
  if (row.is_held) throw new AppError('LEGAL_HOLD', 'this record is under legal hold')
  const erased_at = row.erased_at ?? new Date(nowMs)
  if (!row.erased_at) {
    await dropImages(app, tx, occasion, row)
    if (row.status === 'pending' && row.stage !== 'awaiting_review') await settle(tx, tenant, row, false, receivedMs)
    await tx.query(shredVerification, { ...tenant, id, at: erased_at })
    await appendAudit(app, tx, tenant, {
      resourceId,
      action: 'record.erased',
      actor,
      details: { reason },
      receivedMs,
      nowMs,
    })
  }
  return { verification_id: resourceId, status: row.status, erased_at, legal_hold: false }
}

/** Erases pictures whose retention ended. */
export async function eraseImages(app: App, tx: Tx, occasion: Occasion, id: string, actor: Actor): Promise<void> {
  const { tenant, nowMs, receivedMs } = occasion
  const row = await maybe(tx.query(lockVerification, { ...tenant, id }))
  if (!row || row.is_held) return
  await dropImages(app, tx, occasion, row)
  await tx.query(forgetImages, { ...tenant, id, at: new Date(nowMs) })
  const resourceId = idOf('verification', id)
  await appendAudit(app, tx, tenant, { resourceId, action: 'images.erased', actor, receivedMs, nowMs })
}

async function dropImages(app: App, tx: Tx, { tenant }: Occasion, row: VerificationRow): Promise<void> {
  const ids = Object.values(imagesOf(row))
  if (ids.length > 0) await app.storage.drop(tx, tenant, ids)
}

const checksOf = statement.tenant<Tenant & { phones: readonly string[] }, { id: string }>(
  'identity.checks_of_phones',
  `select t.id from identity.verifications t
    where t.bucket = $bucket and t.account_id = $account and t.environment = $environment and t.metadata ? 'phone'
      and t.metadata ->> 'phone' = any($phones::text[]) and t.erased_at is null`,
)

/** Erases the checks of a person whose number is among their notes. */
export const eraseChecks: Erasable<App> = {
  kind: 'identity_checks',
  async erase(app, tx, occasion, { phones }) {
    const { bucket, account, environment } = occasion.tenant
    const tenant = { bucket, account, environment }
    const resources: string[] = []
    let kept = 0
    for (const { id } of await tx.query(checksOf, { ...tenant, phones })) {
      const row = await maybe(tx.query(lockVerification, { ...tenant, id }))
      if (row?.is_held) kept++
      else {
        await eraseRecord(app, tx, occasion, id, { type: 'system', id: null, ip: null }, 'request')
        resources.push(idOf('verification', id))
      }
    }
    const reason = 'verdicts, times and their audit stay; records under legal hold are kept'
    return { kind: 'identity_checks', erased: resources.length, kept, reason, resources }
  },
}
