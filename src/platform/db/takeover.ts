// SPDX-License-Identifier: Apache-2.0
// Databases of the history before 17 November 2026: 57 numbered migrations, which became one file for each area. One that
// has all of them is what those files make, so they count as applied. A later release may leave this file out.
import type pg from 'pg'
import { type Migration, MigrationError } from './schema-files.ts'

const lastOfHistory = '0079_collections_by_account'
const baseline = /^2026-11-16_\d\d_/
const numbered = '^00[0-9]{2}_'

/** Whether a migration of the database is one of that history, which is not there as a file any more. */
export function isHistory(name: string, migrations: readonly Migration[]): boolean {
  return new RegExp(numbered).test(name) && migrations.some((file) => baseline.test(file.name))
}

/** Puts the files of today in the place of the history, in the database's list of what was applied. */
export async function takeOver(client: pg.Client, migrations: readonly Migration[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select name from public.pamoja_migrations')
  const history = rows.filter(({ name }) => isHistory(name, migrations))
  if (history.length === 0) return
  if (!history.some(({ name }) => name === lastOfHistory))
    throw new MigrationError(
      `The database was made by a version that this one cannot take over: first start the version that brings ${lastOfHistory}.`,
    )
  const files = migrations.filter(({ name }) => baseline.test(name))
  await client.query(
    `with gone as (delete from public.pamoja_migrations where name ~ $1)
     insert into public.pamoja_migrations (name, checksum) select * from unnest($2::text[], $3::text[])`,
    [numbered, files.map(({ name }) => name), files.map(({ checksum }) => checksum)],
  )
}
