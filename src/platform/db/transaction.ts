// SPDX-License-Identifier: Apache-2.0
// Transactions: what runs inside one, where, and what is left to be done after its commit. `Database` in db.ts opens them.

import { answerWithin, type Cell } from './cell.ts'
import { bucketsIn, type Statement, type Value } from './statement.ts'

/** Runs statements: the pool for single reads, a transaction for what belongs together. */
export interface Queryable {
  query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: NoInfer<P>,
  ): Promise<R[]>
  /** Parts of items that one statement writes: one part for each cell, and for none of no items. */
  apart<T>(items: readonly T[], bucketOf: (item: T) => number): readonly (readonly T[])[]
}

declare const insideTransaction: unique symbol

/**
 * Transaction in progress. A function that takes one cannot be called without it, and cannot open its own. A tenant's
 * transaction runs that tenant's statements and reads home tables, of which every cell would have a copy.
 */
export interface Tx extends Queryable {
  readonly [insideTransaction]: true
  query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R, 'tenant' | 'home'>,
    parameters: NoInfer<P>,
  ): Promise<R[]>
  /**
   * Appends rows of a tenant with COPY, which costs half of what an insert does. Rows are lines with a tab between their fields,
   * see `copyField`.
   */
  copyIn(bucket: number, table: string, columns: readonly string[], rows: readonly string[]): Promise<void>
  /** Runs a callback after the commit; never after a rollback. */
  afterCommit(run: () => void): void
}

/** Transaction over several tenants, or over a tenant and the installation. */
export interface AcrossTx extends Tx {
  query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: NoInfer<P>,
  ): Promise<R[]>
}

/** Place of a transaction: a bucket's cell, home, or both. */
export type Place = number | 'home' | 'across'

export interface TxOptions {
  lockTimeoutMs?: number
  statementTimeoutMs?: number
}

/** What a transaction leaves to be done after its commit. */
export class Done {
  readonly callbacks: (() => void)[] = []
  /** Whether it wrote what cells have copies of. */
  changedHome = false

  notice(statement: Written): void {
    if (isCopied(statement)) this.changedHome = true
  }
}

type Written = Pick<Statement<never, object>, 'where' | 'changes' | 'isOfNodes'>

/** Whether a statement writes what cells have copies of, which are waited for. */
export function isCopied({ where, changes, isOfNodes = false }: Written): boolean {
  return where === 'home' && changes && !isOfNodes
}

export function answerMsOf({ answerMs }: Cell, { statementTimeoutMs }: TxOptions): number {
  return statementTimeoutMs === undefined ? answerMs : answerWithin(statementTimeoutMs)
}

export function beginWith({ lockTimeoutMs, statementTimeoutMs }: TxOptions): string {
  return [
    'begin',
    ...(lockTimeoutMs === undefined ? [] : [`set local lock_timeout = ${lockTimeoutMs}`]),
    ...(statementTimeoutMs === undefined ? [] : [`set local statement_timeout = ${statementTimeoutMs}`]),
  ].join('; ')
}

/** Checks that a statement runs at its place: between cells, a row written elsewhere would be lost silently. */
export function requirePlace(
  place: Place,
  { name, where, changes }: Statement<never, object>,
  parameters: object,
): void {
  if (place === 'across') return
  if (where === 'tenant') return requireBuckets(place, name, bucketsIn(parameters))
  const isHere = where === 'home' && (place === 'home' || !changes)
  if (!isHere) throw new Error(`${name} runs ${where}, and not in this transaction: see acrossTx in db.ts`)
}

export function requireBuckets(place: Place, what: string, buckets: readonly number[]): void {
  if (place === 'across' || buckets.every((bucket) => bucket === place)) return
  throw new Error(`${what} is about buckets ${buckets.join()}, and this is a transaction of ${place}`)
}

/** The mark exists for the compiler only. */
const mark: Pick<Tx, typeof insideTransaction> = Object.create(null)

/** A transaction of what it runs its statements with. */
export function transactionOf(own: Omit<AcrossTx, typeof insideTransaction>): AcrossTx {
  return Object.assign(own, mark)
}
