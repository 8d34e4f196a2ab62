// SPDX-License-Identifier: Apache-2.0
// SQL of templates.
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import { type Environment, mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Component, TemplateStatus } from './template.ts'

export interface TemplateRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  name: string
  language: string
  category: string
  status: TemplateStatus
  components: Component[]
  rejected_reason: string | null
  quality: string
  provider_id: string | null
  created_at: Date
  updated_at: Date
}

const columns = `bucket, account_id, environment, id, name, language, category, status, components, rejected_reason, quality,
  provider_id, created_at, updated_at`

const findByName = statement.tenant<Tenant & { name: string; language: string }, TemplateRow>(
  'messenger.find_template_by_name',
  `select ${columns} from messenger.templates where ${mine} and name = $name and language = $language`,
)

export function findTemplateByName(
  queryable: Queryable,
  { bucket, account, environment }: Tenant,
  name: string,
  language: string,
): Promise<TemplateRow | null> {
  return maybe(queryable.query(findByName, { bucket, account, environment, name, language }))
}

export const findTemplate = statement.tenant<One, TemplateRow>(
  'messenger.find_template',
  `select ${columns} from messenger.templates where ${mine} and id = $id for update`,
)

export const addTemplate = statement.tenant<
  One & {
    name: string
    language: string
    category: string
    status: string
    components: string
    reason: string | null
    providerId: string | null
    at: Date
  },
  TemplateRow
>(
  'messenger.add_template',
  `insert into messenger.templates (bucket, account_id, environment, id, name, language, category, status, components,
     rejected_reason, provider_id, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $name, $language, $category, $status, $components::jsonb, $reason,
     $providerId, $at, $at)
   on conflict (bucket, account_id, environment, name, language) do nothing
   returning ${columns}`,
)

export const changeTemplate = statement.tenant<
  One & { status: string; components: string | null; reason: string | null; providerId: string | null; at: Date },
  TemplateRow
>(
  'messenger.change_template',
  `update messenger.templates
      set status = $status, components = coalesce($components::jsonb, components), rejected_reason = $reason,
          provider_id = coalesce($providerId, provider_id), updated_at = $at
    where ${mine} and id = $id returning ${columns}`,
)

export const deleteTemplate = statement.tenant<One, { id: string }>(
  'messenger.delete_template',
  `delete from messenger.templates where ${mine} and id = $id returning id`,
)

export const listTemplates = statement.tenant<
  Tenant & {
    name: string | null
    status: string | null
    language: string | null
    after: string | null
    descending: boolean
    limit: number
  },
  TemplateRow
>(
  'messenger.list_templates',
  `select ${columns} from messenger.templates
    where ${mine} and ($name::text is null or name = $name) and ($status::text is null or status = $status)
      and ($language::text is null or language = $language)
      and ($after::uuid is null or case when $descending::boolean then id < $after else id > $after end)
    order by case when $descending then id end desc, case when not $descending then id end
    limit $limit::int + 1`,
)

/** Finds by the provider's id. An account has few templates, so no index is needed. */
export const findByProviderId = statement.tenant<Tenant & { providerId: string }, TemplateRow>(
  'messenger.find_template_by_provider_id',
  `select ${columns} from messenger.templates where ${mine} and provider_id = $providerId`,
)

/** Accounts with templates whose decision is pending or may be revoked. */
export const findFollowed = statement.everywhere<
  { buckets: readonly number[] },
  { bucket: number; account_id: string; environment: Environment }
>(
  'messenger.find_followed_templates',
  `select distinct bucket, account_id, environment from messenger.templates
    where bucket = any($buckets::smallint[]) and environment = 'live' and status <> 'DISABLED' and provider_id is not null`,
)
