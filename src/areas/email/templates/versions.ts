// SPDX-License-Identifier: Apache-2.0
// Cache of template versions, which are immutable.
import type { App } from '../../../platform/app.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'

const maxRemembered = 1_000

export interface VersionRow {
  version: number
  subject: string
  html: string
  text: string | null
  description: string | null
  defaults: Record<string, unknown>
}

const select = statement.tenant<Tenant & { template: string; version: number }, VersionRow>(
  'email.find_template_version',
  `select version, subject, html, text, description, defaults from email.template_versions
    where ${mine} and template_id = $template and version = $version`,
)

const versions = onePerApp(() => new Map<string, VersionRow>())

export async function loadVersion(
  app: App,
  tenant: Tenant,
  template: string,
  version: number,
): Promise<VersionRow | null> {
  const known = versions(app)
  const key = `${tenant.account} ${tenant.environment} ${template} ${version}`
  const found = known.get(key)
  if (found) return found
  const row = await maybe(app.db.query(select, { ...tenant, template, version }))
  const [oldest] = known.size >= maxRemembered ? known.keys() : []
  if (oldest !== undefined) known.delete(oldest)
  if (row) known.set(key, row)
  return row
}
