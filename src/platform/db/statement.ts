// SPDX-License-Identifier: Apache-2.0
// Named statements with named parameters. SQL stays SQL; `statement` turns `$name` into `$1` once at start and ties the text
// to its types.

export type Value = string | number | bigint | boolean | Date | Buffer | null | readonly string[] | readonly number[]

/**
 * Where a statement runs, once an installation has several databases ("cells") and each bucket lives in one of them:
 *   tenant      where the bucket lives that its parameters name;
 *   home        where the installation keeps what belongs to no tenant: accounts, keys, prices, binds;
 *   everywhere  in every cell: what operators list, chores do, and workers claim.
 */
export type Where = 'tenant' | 'home' | 'everywhere'

/** Named, prepared statement. `P` are its parameters, `R` is a result row. */
export interface Statement<P extends object, R extends object, W extends Where = Where> {
  readonly name: string
  readonly text: string
  readonly where: W
  /** Whether it writes or locks rows. */
  readonly changes: boolean
  /** Writes at home what nobody looks for in the copy of a cell at once: its end does not wait for the copies. */
  readonly isOfNodes?: boolean
  /** Joins tenant rows with installation rows, which is impossible between cells. */
  readonly joinsHome: boolean
  /** May be some seconds late, so that a replica answers it where there is one. Never what something is decided on. */
  readonly mayBeLate?: boolean
  /**
   * Planned for each call instead of once: a plan for any value of the parameters cannot know the order of the rows, and reads and
   * sorts all of a tenant's for one page.
   */
  readonly isPlannedEachTime?: boolean
  /** Its effect comes with the commit: a transaction of another cell runs it after its own. */
  readonly isAtCommit?: boolean
  readonly parameters: readonly (keyof P & string)[]
  /** Makes one answer of the rows of several cells; without it they are put one behind the other. */
  merge?(rows: R[], parameters: P): R[]
  /** Types only; never set. */
  readonly row?: R
}

/** All statements, for the test that has PostgreSQL describe each of them. */
export const statements = new Map<string, Statement<never, object>>()

/** Bucket or buckets of a tenant statement; the text need not use them. */
type OfTenant = { readonly bucket: number } | { readonly buckets: readonly number[] }

interface Traits {
  readonly joinsHome?: boolean
  readonly mayBeLate?: boolean
}

interface EverywhereTraits<P, R> extends Traits {
  merge?(rows: R[], parameters: P): R[]
}

/** Declares a statement. `$name` in the text is the parameter `name`, and may occur several times. */
export const statement = {
  tenant: <P extends OfTenant, R extends object>(name: string, text: string, traits?: Traits) =>
    declared<P, R, 'tenant'>('tenant', name, text, traits),
  home: <P extends object, R extends object>(name: string, text: string, traits?: { readonly isAtCommit?: boolean }) =>
    declared<P, R, 'home'>('home', name, text, traits),
  everywhere: <P extends object, R extends object>(name: string, text: string, traits?: EverywhereTraits<P, R>) =>
    declared<P, R, 'everywhere'>('everywhere', name, text, traits),
}

interface AllTraits<P, R> extends EverywhereTraits<P, R> {
  readonly isAtCommit?: boolean
}

const changing = /\b(insert into|update|delete from|merge into|lock table)\b|\bfor (no key )?(update|share)\b|^lock\b/

/** What nodes write of themselves all the time. A lease that is renewed late is lost. */
const ofNodes = /\bplatform\.(leases|nodes|rate_slots|lease_slots|traffic|traffic_counted|sandbox)\b/

const orderedByParameter = /\border by case when \$/

function declared<P extends object, R extends object, W extends Where>(
  where: W,
  name: string,
  text: string,
  { joinsHome = false, mayBeLate = false, isAtCommit = false, merge }: AllTraits<P, R> = {},
): Statement<P, R, W> {
  if (statements.has(name)) throw new Error(`two statements are named ${name}`)
  const parameters: (keyof P & string)[] = []
  const numbered = text.replace(/\$([a-z][a-zA-Z0-9_]*)/g, (_, parameter: keyof P & string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter)
    return `$${parameters.indexOf(parameter) + 1}`
  })
  const written = numbered.trim()
  const made: Statement<P, R, W> = {
    name,
    text: written,
    where,
    changes: changing.test(written),
    isOfNodes: ofNodes.test(written),
    joinsHome,
    mayBeLate,
    isPlannedEachTime: orderedByParameter.test(written),
    isAtCommit,
    parameters,
    ...(merge ? { merge } : {}),
  }
  if (mayBeLate && made.changes) throw new Error(`${name} writes, and so cannot be late`)
  statements.set(name, made)
  return made
}

/** Bucket or buckets that the parameters of a tenant statement name. */
export function bucketsIn(parameters: {
  readonly bucket?: number
  readonly buckets?: readonly number[]
}): readonly number[] {
  return parameters.buckets ?? [parameters.bucket ?? -1]
}
