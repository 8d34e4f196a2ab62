// SPDX-License-Identifier: Apache-2.0
// Finds a template by name or id, with its latest version.
import { AppError } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { VersionRow } from './versions.ts'

export interface FoundTemplate extends VersionRow {
  id: string
  name: string
  created_at: Date
  updated_at: Date
}

const find = statement.tenant<Tenant & { id: string | null; name: string }, FoundTemplate>(
  'email.find_template',
  `select t.id, t.name, t.created_at, t.updated_at, v.version, v.subject, v.html, v.text, v.description, v.defaults
     from email.templates t
     join email.template_versions v on v.bucket = t.bucket and v.account_id = t.account_id and v.environment = t.environment
                                   and v.template_id = t.id and v.version = t.version
    where t.bucket = $bucket and t.account_id = $account and t.environment = $environment and (t.id = $id::uuid or t.name = $name)`,
)

export async function findTemplate({ db }: { db: Queryable }, tenant: Tenant, named: string): Promise<FoundTemplate> {
  const row = await maybe(db.query(find, { ...tenant, id: uuidOf('emailTemplate', named), name: named }))
  if (!row) throw new AppError('TEMPLATE_NOT_FOUND', `there is no template ${named.slice(0, 100)}`)
  return row
}
