// SPDX-License-Identifier: Apache-2.0
// Schema files: migrations (`src/migrations/2026-11-17_<area>.sql`) for tables, and SQL functions, one file each under
// their own name (`src/migrations/functions/sms.receipt.sql`). A function's file may begin with the types only it
// takes.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import { StartError } from '../../kernel/start-error.ts'

export class MigrationError extends StartError {}

export interface Migration {
  name: string
  text: string
  checksum: string
}

export interface SqlFunction {
  /** Function name and file name, such as `sms.receipt`. */
  name: string
  /** SQL of its types; empty for most. */
  types: string
  text: string
  checksum: string
  /** Hash of types, arguments and results: while unchanged, the function is replaced in place. */
  signature: string
}

export interface SchemaFiles {
  migrations: Migration[]
  functions: SqlFunction[]
  /** Version of the program they belong to; without it any may follow any. */
  version?: string
}

/** Reads the migrations and functions of folders, sorted by name within each. */
export function schemaFiles(...folders: URL[]): SchemaFiles {
  return {
    migrations: folders.flatMap((folder) => textsIn(folder).map(({ name, text }) => migration(name, text))),
    functions: folders.flatMap((folder) =>
      textsIn(new URL('functions/', folder)).map(({ name, text }) => sqlFunction(name, text)),
    ),
  }
}

function migration(name: string, text: string): Migration {
  return { name, text, checksum: hash(text) }
}

function sqlFunction(name: string, whole: string): SqlFunction {
  const at = whole.search(/^create or replace function /m)
  if (!whole.slice(at).startsWith(`create or replace function ${name}(`))
    throw new MigrationError(`functions/${name}.sql must hold "create or replace function ${name}(": correct it.`)
  const [types, text] = [whole.slice(0, at), whole.slice(at)]
  const head = `${types}${text.slice(0, text.search(/\blanguage\b/))}`
  return {
    name,
    types: typeNames(types).length > 0 ? types : '',
    text,
    checksum: hash(whole),
    signature: hash(withoutComments(head).replace(/\s+/g, ' ').trim()),
  }
}

/** Names of the types that SQL creates, in order. */
export function typeNames(sql: string): string[] {
  return [...sql.matchAll(/^create type ([\w.]+)/gm)].map(([, name = '']) => name)
}

/** Functions a migration calls, directly or through others: they are applied before it. */
export function calledBy(text: string, functions: readonly SqlFunction[]): SqlFunction[] {
  const found = new Set<SqlFunction>()
  const collect = (sql: string) => {
    for (const [, name] of withoutComments(sql).matchAll(/\b([a-z_]+\.[a-z_0-9]+)\(/g)) {
      const called = functions.find((known) => known.name === name)
      if (!called || found.has(called)) continue
      found.add(called)
      collect(called.text)
    }
  }
  collect(text)
  return [...found]
}

/** Whether a list of what was applied exists. Asked before it is read: a node that only checks creates nothing. */
export async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [name])
  return rows[0]?.there === true
}

function textsIn(folder: URL): { name: string; text: string }[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file.replace(/\.sql$/, ''), text: readFileSync(new URL(file, folder), 'utf8') }))
}

function withoutComments(sql: string): string {
  return sql.replace(/--.*$/gm, '')
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
