// SPDX-License-Identifier: Apache-2.0
// Wishes about mail that the account was told: no mail, no bulk mail, or mail again.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import { deleteSuppression, findSuppression, insertSuppressions, type SuppressionRow } from './store.ts'

/** Reasons that are a wish of the recipient, which they can take back. */
const wishes: ReadonlySet<SuppressionRow['reason']> = new Set(['unsubscribe', 'manual'])

/** Stops mail to an address: bulk mail, or all of it. A wider suppression stands. */
export async function stopMail(tx: Tx, caller: Caller, email: string, appliesTo: 'all' | 'bulk'): Promise<void> {
  const known = await maybe(tx.query(findSuppression, { ...caller.tenant, email }))
  if (known && (known.applies_to === 'all' || appliesTo === 'bulk')) return
  if (known) await tx.query(deleteSuppression, { ...caller.tenant, email })
  await tx.query(insertSuppressions, {
    ...{ ...caller.tenant, ids: [newUuid(caller.receivedMs)], emails: [email], appliesTo },
    ...{ reason: appliesTo === 'bulk' ? 'unsubscribe' : 'manual', detail: null },
    ...{ at: new Date(caller.nowMs), expiresAt: null },
  })
  await record(tx, caller, 'email_suppression.create', 'email_suppressions', { after: { added: 1 } })
}

/** Lets an address have mail again. Returns the reason that only DELETE /v1/email/suppressions takes back, null for none. */
export async function allowMail(tx: Tx, caller: Caller, email: string): Promise<SuppressionRow['reason'] | null> {
  const known = await maybe(tx.query(findSuppression, { ...caller.tenant, email }))
  if (!known) return null
  if (!wishes.has(known.reason)) return known.reason
  await tx.query(deleteSuppression, { ...caller.tenant, email })
  await record(tx, caller, 'email_suppression.delete', idOf('suppression', known.id), {
    before: { reason: known.reason },
  })
  return null
}
