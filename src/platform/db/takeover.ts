// SPDX-License-Identifier: Apache-2.0
// Takeover of databases from before 17 November 2026: 57 numbered migrations became one file per area. A database with
// all of them counts those files as applied. A later release may drop this.
import type pg from 'pg'
import { type Migration, MigrationError } from './schema-files.ts'

const lastOfHistory = '0079_collections_by_account'
const baseline = /^2026-11-16_\d\d_/
const numbered = '^00[0-9]{2}_'

/** Whether an applied migration is from that history, whose files are gone. */
export function isHistory(name: string, migrations: readonly Migration[]): boolean {
  return new RegExp(numbered).test(name) && migrations.some((file) => baseline.test(file.name))
}

/** Replaces the history by today's files in the list of applied migrations. */
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
