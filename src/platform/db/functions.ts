// SPDX-License-Identifier: Apache-2.0
// SQL functions, reapplied whenever the text of their file changes. One with unchanged arguments, results and types is
// replaced in place, unnoticed by running nodes; otherwise the old function and its types are dropped first.
// public.pamoja_functions keeps every text by checksum, with the version of the program that applied it: an already
// replaced text, or any other text of an older version, must not revert the newer one.
import type pg from 'pg'
import { hasTable, MigrationError, type SchemaFiles, type SqlFunction, typeNames } from './schema-files.ts'

/** Functions to apply, and the program they belong to. */
type Functions = Pick<SchemaFiles, 'functions' | 'version'>

/** Function in the database: its current text, the version that applied it, and checksums of earlier texts. */
interface Applied {
  checksum: string
  signature: string
  version: string | null
  replaced: Set<string>
}

/** Creates the list of applied functions. The caller holds the lock of migrations. */
export async function makeFunctionList(client: pg.Client): Promise<void> {
  await client.query(`create table if not exists public.pamoja_functions
    (name text, checksum text, signature text not null, applied_at timestamptz not null default now(),
     replaced_at timestamptz, version text, primary key (name, checksum))`)
  // Lists from before versions were kept.
  await client.query('alter table public.pamoja_functions add column if not exists version text')
}

/** Functions whose text differs from the applied one, or that are missing. Refused if this program is the older one. */
export async function changedFunctions(client: pg.Client, { functions, version }: Functions): Promise<SqlFunction[]> {
  const applied = await appliedFunctions(client)
  for (const { name, checksum } of functions) {
    const known = applied.get(name)
    if (!known || known.checksum === checksum) continue
    if (known.replaced.has(checksum))
      throw new MigrationError(
        `The function ${name} was replaced by a newer version of this program: update the program. (To bring an old text back on purpose, change a word of its comment.)`,
      )
    if (isOlder(version, known.version))
      throw new MigrationError(
        `The function ${name} was made by version ${known.version} of this program, and this is ${version}: update the program.`,
      )
  }
  const present = await presentFunctions(client)
  return functions.filter(({ name, checksum }) => applied.get(name)?.checksum !== checksum || !present.has(name))
}

/** Whether a version such as 1.2.0 comes before another. An unknown one does not. */
function isOlder(version: string | undefined, than: string | null): boolean {
  if (version === undefined || than === null) return false
  const [ours, theirs] = [version, than].map((one) => one.split(/[.-]/).slice(0, 3).map(Number))
  const at = ours?.findIndex((number, i) => number !== theirs?.[i]) ?? -1
  return at >= 0 && Number(ours?.[at]) < Number(theirs?.[at])
}

/** Applies functions, within the caller's transaction. */
export async function applyFunctions(client: pg.Client, files: Functions): Promise<void> {
  const { functions, version } = files
  const applied = await appliedFunctions(client)
  // Functions may call later ones, and may belong to a schema whose migration is about to call them.
  await client.query('set local check_function_bodies = off')
  for (const schema of new Set(functions.map(({ name }) => name.split('.')[0])))
    await client.query(`create schema if not exists ${schema}`)
  for (const changed of await changedFunctions(client, files))
    if (isOther(changed, applied.get(changed.name))) await attempt(changed, () => dropOld(client, changed))
  // Compare again: dropping a type drops all functions that use it.
  const changed = await changedFunctions(client, files)
  for (const one of changed) if (one.types) await attempt(one, () => makeTypes(client, one))
  for (const one of changed) await attempt(one, () => client.query(one.text))
  for (const one of changed) await note(client, one, version)
}

/** Whether a function must be recreated. One from before these files, with types of its own, is. */
function isOther({ signature, types }: SqlFunction, applied: Applied | undefined): boolean {
  return applied ? applied.signature !== signature : types !== ''
}

/** Drops a function, its types, and the functions that use them. */
async function dropOld(client: pg.Client, { name, types }: SqlFunction): Promise<void> {
  const names = typeNames(types)
  const { rows } = await client.query<{ signature: string }>(
    `select p.oid::regprocedure::text as signature from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname || '.' || p.proname = $1
         or p.oid in (select d.objid from pg_depend d
                       where d.classid = 'pg_proc'::regclass and d.refclassid = 'pg_type'::regclass
                         and d.refobjid in (select t.oid from unnest($2::text[]) m
                                              join pg_type t on t.oid = to_regtype(m) or t.typelem = to_regtype(m)))`,
    [name, names],
  )
  for (const { signature } of rows) await client.query(`drop function ${signature}`)
  for (const type of names.reverse()) await client.query(`drop type if exists ${type}`)
}

/** Existing types were created by an earlier text with the same ones. */
async function makeTypes(client: pg.Client, { types }: SqlFunction): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>('select to_regtype($1) is not null as there', [
    typeNames(types)[0],
  ])
  if (!rows[0]?.there) await client.query(types)
}

async function appliedFunctions(client: pg.Client): Promise<Map<string, Applied>> {
  const applied = new Map<string, Applied>()
  if (!(await hasTable(client, 'public.pamoja_functions'))) return applied
  // As JSON, because lists from before versions were kept have no such column.
  const { rows } = await client.query<Omit<Applied, 'replaced'> & { name: string; is_replaced: boolean }>(
    `select name, checksum, signature, to_jsonb(f) ->> 'version' as version, replaced_at is not null as is_replaced
       from public.pamoja_functions f`,
  )
  for (const { name, checksum, signature, version, is_replaced } of rows) {
    const known = applied.get(name) ?? { checksum: '', signature: '', version: null, replaced: new Set<string>() }
    if (is_replaced) known.replaced.add(checksum)
    else Object.assign(known, { checksum, signature, version })
    applied.set(name, known)
  }
  return applied
}

async function presentFunctions(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname || '.' || p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`,
  )
  return new Set(rows.map(({ name }) => name))
}

async function note(
  client: pg.Client,
  { name, checksum, signature }: SqlFunction,
  version: string | undefined,
): Promise<void> {
  await client.query(
    `update public.pamoja_functions set replaced_at = now() where name = $1 and checksum <> $2 and replaced_at is null`,
    [name, checksum],
  )
  await client.query(
    `insert into public.pamoja_functions (name, checksum, signature, version) values ($1, $2, $3, $4)
     on conflict (name, checksum) do update set applied_at = now(), version = excluded.version`,
    [name, checksum, signature, version ?? null],
  )
}

async function attempt({ name }: SqlFunction, run: () => Promise<unknown>): Promise<void> {
  try {
    await run()
  } catch (error) {
    throw new MigrationError(`The function ${name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
