// SPDX-License-Identifier: Apache-2.0
// Duplicate search: another verified person of the same account with this document, device or face. Other accounts are
// never searched. Face templates are sealed, so they are compared one by one.

import { Type } from 'typebox'
import Value from 'typebox/value'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { folded } from '../documents/visual-zone.ts'
import { duplicateThreshold, likeness } from '../faces/match.ts'
import { RecordKey } from './record-key.ts'
import type { Claims } from './schema.ts'
import { findSame, findTemplates, type VerificationRow } from './store.ts'

type Kind = 'document' | 'face' | 'device'

export interface Duplicates {
  readonly kinds: readonly Kind[]
  readonly numberIndex: Buffer | null
}

/** Limit of templates compared, newest first; accounts with more people need a search of their own. */
const maxTemplates = 20_000
const pageSize = 500
const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const Descriptor = Type.Array(Type.Number())

export async function findDuplicates(
  app: App,
  tenant: Tenant,
  row: VerificationRow,
  claims: Claims,
  number: string | null,
  isWanted: boolean,
): Promise<Duplicates> {
  const index = (use: string, text: string | undefined) =>
    text === undefined ? null : app.secrets.fingerprint(`identity.${use}`, `${tenant.account} ${text}`)
  const numberIndex = number ? index('number', `${row.country} ${row.document_type} ${folded(number)}`) : null
  if (!isWanted) return { kinds: [], numberIndex }
  const subject = index('subject', claims.subject.external_id)
  const device = index('device', claims.device.device_id)
  const same = await app.db.query(findSame, { ...tenant, id: row.id, number: numberIndex, device, subject })
  const kinds = new Set<Kind>(same.map(({ is_number }) => (is_number ? 'document' : 'device')))
  if (claims.selfie && (await hasFace(app, tenant, row.id, subject, claims.selfie.descriptor))) kinds.add('face')
  return { kinds: [...kinds], numberIndex }
}

async function hasFace(
  app: App,
  tenant: Tenant,
  id: string,
  subject: Buffer | null,
  descriptor: readonly number[],
): Promise<boolean> {
  let after = lastUuid
  for (let seen = 0; seen < maxTemplates; seen += pageSize) {
    const page = await app.db.query(findTemplates, { ...tenant, id, after, subject, limit: pageSize })
    for (const { id: other, record_key, template_sealed } of page) {
      const key = await RecordKey.open(app, tenant, other, record_key)
      const template = Value.Parse(Descriptor, key.unseal('template_sealed', template_sealed))
      if (likeness(template, descriptor).similarity >= duplicateThreshold) return true
      after = other
    }
    if (page.length < pageSize) return false
  }
  return false
}
