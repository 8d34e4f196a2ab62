// SPDX-License-Identifier: Apache-2.0
// Erasure of the recordings of calls with one person, also of those whom another call rang.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, statement } from '../../../platform/db.ts'
import type { Erasable } from '../../../platform/operator/erasing.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { eraseRecording, filesOf, lockRecording } from './store.ts'

const recordingsWith = statement.tenant<Tenant & { phones: readonly string[] }, { id: string }>(
  'voice.recordings_with',
  `select distinct unnest(r.recordings) as id from voice.calls t
     join voice.calls r on r.bucket = t.bucket and r.account_id = t.account_id and r.environment = t.environment
      and r.id = any(array[t.id, t.parent])
    where t.bucket = $bucket and t.account_id = $account and t.environment = $environment
      and (t.from_number = any($phones::text[]) or t.to_number = any($phones::text[]))`,
)

/** Asked before the calls lose the number by which recordings are found. */
export const eraseRecordings: Erasable<App> = {
  kind: 'recordings',
  async erase(app, tx, { tenant: { bucket, account, environment } }, { phones }) {
    const tenant = { bucket, account, environment }
    const resources: string[] = []
    let [done, kept] = [0, 0]
    for (const { id } of await tx.query(recordingsWith, { ...tenant, phones })) {
      const row = await maybe(tx.query(lockRecording, { ...tenant, id }))
      if (row === null || row.status === 'deleted') continue
      const erased = await maybe(tx.query(eraseRecording, { ...tenant, id, reason: 'deleted' }))
      if (!erased) {
        kept++
        continue
      }
      await app.storage.drop(tx, tenant, filesOf(row))
      resources.push(idOf('recording', id), idOf('voicemail', id))
      done++
    }
    const reason = kept > 0 ? 'recordings of calls that go on are kept until they end' : null
    return { kind: 'recordings', erased: done, kept, reason, resources }
  },
}
