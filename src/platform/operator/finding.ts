// SPDX-License-Identifier: Apache-2.0
// Search across accounts: an operator was told an id, a phone number or a reference, and every area
// says where it would be. Each account is asked by the leading columns of its own index, so that no table is read whole.
import { type Kind, uuidOf } from '../../kernel/ids.ts'
import { type Database, type Statement, statement } from '../db.ts'
import type { Environment } from '../tenant.ts'

export const mostFound = 20

/** Every account there is, as two columns. */
interface EveryAccount {
  readonly accounts: readonly string[]
  readonly buckets: readonly number[]
}

interface FoundRow {
  account_id: string
  environment: Environment
  id: string
  status: string | null
  /** What it belongs to, where its address names that. */
  parent: string | null
}

export interface Found extends FoundRow {
  readonly kind: string
  readonly prefix: Kind
  /** After `/v1`, as the account reads it itself. */
  readonly path: string
}

export interface Finder {
  find(db: Database, text: string, among: EveryAccount): Promise<Found[]>
}

/** Where a kind of thing is, and what it is found by. */
interface Whereabouts {
  /** In a result: `message`, `payment`. */
  readonly kind: string
  /** The prefix of its ids. */
  readonly prefix: Kind
  readonly table: string
  /** Column that says how far it is. */
  readonly status: string
  /** Column of what it belongs to. */
  readonly parent?: string
  /** A condition on rows that have such ids. */
  readonly only?: string
  /** Columns, each of them indexed behind the three of the tenant, that hold a word customers know it by. */
  readonly words?: readonly string[]
  /** Statements that find it in another way. */
  readonly others?: readonly Elsewhere[]
  path(id: string, parent: string | null): string
}

type Elsewhere = Statement<EveryAccount & { text: string; most: number }, FoundRow, 'everywhere'>

export function finder(where: Whereabouts): Finder {
  const { kind, prefix, table, words = [], others = [] } = where
  const byId = statement.everywhere<EveryAccount & { id: string }, FoundRow>(
    `${table}_found_by_id`,
    `${askingEach(where)} where t.id = $id`,
  )
  const byWord = words.map((word) =>
    elsewhere(`${table}_found_by_${word}`, `${askingEach(where)} where t.${word} = $text limit $most::int`),
  )
  return {
    async find(db, text, among) {
      const id = uuidOf(prefix, text)
      const found = id === null ? [] : await db.query(byId, { ...among, id })
      const wordy = id === null ? [...byWord, ...others] : []
      for (const asked of wordy) found.push(...(await db.query(asked, { ...among, text, most: mostFound })))
      return found.map((row) => ({ ...row, kind, prefix, path: where.path(row.id, row.parent) }))
    },
  }
}

/** A way to find things by a word that is not a column of their own table. */
export function elsewhere(name: string, text: string): Elsewhere {
  return statement.everywhere(name, text)
}

/** The beginning of a statement that asks each account for its rows, `t`. */
function askingEach({ table, status, parent = 'null::uuid', only }: Whereabouts): string {
  return `select t.account_id, t.environment, t.id, ${status}::text as status, ${parent} as parent
     from unnest($accounts::uuid[], $buckets::smallint[]) as a(id, bucket)
    cross join unnest(array['test', 'live']) as e(name)
     join ${table} t on t.bucket = a.bucket and t.account_id = a.id and t.environment = e.name${only ? ` and ${only}` : ''}`
}
