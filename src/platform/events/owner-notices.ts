// SPDX-License-Identifier: Apache-2.0
// Notices to an account's owners. The causing transaction writes the job; the email area registers `ownerNotice` as its
// handler.
import { Type } from 'typebox'
import type { App } from '../app.ts'
import type { Tx } from '../db.ts'
import type { Tenant } from '../tenant.ts'

export const ownerNotice = {
  lane: 'platform.tell_owners',
  payload: Type.Object({
    subject: Type.String(),
    /** Paragraphs. */
    text: Type.Array(Type.String()),
    /** Idempotency key of the occasion. */
    key: Type.String(),
  }),
}

export interface OwnerNotice {
  readonly subject: string
  readonly text: readonly string[]
  readonly key: string
}

export async function tellOwners(app: App, tx: Tx, tenant: Tenant, { text, ...notice }: OwnerNotice): Promise<void> {
  const job = app.work.prepare(ownerNotice, tenant, { ...notice, text: [...text] })
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
}
