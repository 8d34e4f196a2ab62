// SPDX-License-Identifier: Apache-2.0
// Registry of a document: the simulator for test keys, the operator's connection for live ones.
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import type { Environment } from '../../../platform/tenant.ts'
import type { Registry } from './adapter.ts'
import { simulatedRegistry } from './simulated.ts'

const findFor = statement.home<
  { country: string; type: string },
  { id: string; name: string; url: string; sealed: Buffer }
>(
  'identity.registry_for',
  `select id, name, url, sealed from identity.registries
    where country = $country and (id_types = '{}' or $type::text = any(id_types)) order by created_at limit 1`,
)

const countries = statement.home<Record<never, never>, { country: string; id_types: string[] }>(
  'identity.registry_countries',
  'select country, id_types from identity.registries',
)

export function registryPlace(id: string): string {
  return `identity.registries.sealed:${id}`
}

/** Finds the registry of a document; null when there is none. */
export async function registryFor(
  app: App,
  environment: Environment,
  country: string,
  type: string,
): Promise<Registry | null> {
  if (environment === 'test') {
    const simulator = simulatedRegistry.shared(app)
    return simulator && { ...simulator, id: 'simulated', name: 'simulated', isSimulated: true }
  }
  const row = await maybe(app.db.query(findFor, { country, type }))
  if (!row) return null
  const token = app.secrets.openForInstallation(registryPlace(row.id), row.sealed).toString('utf8')
  return { id: row.id, name: row.name, url: row.url, token, isSimulated: false }
}

/** Whether a document has a registry. */
export async function registered(
  queryable: Queryable,
  environment: Environment,
): Promise<(country: string, type: string) => boolean> {
  if (environment === 'test') return () => true
  const rows = await queryable.query(countries, {})
  return (country, type) =>
    rows.some((row) => row.country === country && (row.id_types.length === 0 || row.id_types.includes(type)))
}
