// SPDX-License-Identifier: Apache-2.0
// Search by id, phone number or reference, through a finder per area: of operators across accounts, and of an account in its own
// records. Each account is queried by its own index, so that no table is scanned.
import { type Kind, uuidOf } from '../../kernel/ids.ts'
import { type Database, type Statement, statement } from '../db.ts'
import type { Environment } from '../tenant.ts'

export const maxFound = 20

/** All accounts, as two columns. */
interface EveryAccount {
  readonly accounts: readonly string[]
  readonly buckets: readonly number[]
}

interface FoundRow {
  account_id: string
  environment: Environment
  id: string
  status: string | null
  /** Parent id, where the path needs it. */
  parent: string | null
  /** What tells it apart from others of its kind: a number, a subject. */
  label: string | null
}

export interface Found extends FoundRow {
  readonly kind: string
  /** Scope by which the account reads it. */
  readonly scope: string
  readonly prefix: Kind
  /** Path after `/v1`, as the account uses it. */
  readonly path: string
}

export interface Finder {
  find(db: Database, text: string, among: EveryAccount): Promise<Found[]>
}

/** Location of a kind of resource: its table, and the columns it is found by. */
interface Whereabouts {
  /** Kind in results: `message`, `payment`. */
  readonly kind: string
  /** Id prefix. */
  readonly prefix: Kind
  readonly table: string
  /** Scope by which the account reads it, such as `sms:read`. */
  readonly scope: string
  /** Status column. */
  readonly status: string
  /** Column that tells it apart from others of its kind. */
  readonly label: string
  /** Parent column. */
  readonly parent?: string
  /** Condition on rows with such ids. */
  readonly only?: string
  /** Text columns customers know it by, each indexed after the three tenant columns. */
  readonly words?: readonly string[]
  /** Further search statements. */
  readonly others?: readonly Elsewhere[]
  path(id: string, parent: string | null): string
}

type Elsewhere = Statement<EveryAccount & { text: string; most: number }, FoundRow, 'everywhere'>

export function finder(where: Whereabouts): Finder {
  const { kind, prefix, scope, table, words = [], others = [] } = where
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
      for (const asked of wordy) found.push(...(await db.query(asked, { ...among, text, most: maxFound })))
      return found.map((row) => ({ ...row, kind, prefix, scope, path: where.path(row.id, row.parent) }))
    },
  }
}

/** Searches by a value that is not a column of the resource's table. */
export function elsewhere(name: string, text: string): Elsewhere {
  return statement.everywhere(name, text)
}

/** Beginning of a statement that queries each account's rows, `t`. */
function askingEach({ table, status, label, parent = 'null::uuid', only }: Whereabouts): string {
  return `select t.account_id, t.environment, t.id, ${status}::text as status, ${parent} as parent, ${label}::text as label
     from unnest($accounts::uuid[], $buckets::smallint[]) as a(id, bucket)
    cross join unnest(array['test', 'live']) as e(name)
     join ${table} t on t.bucket = a.bucket and t.account_id = a.id and t.environment = e.name${only ? ` and ${only}` : ''}`
}
