// SPDX-License-Identifier: Apache-2.0
// One answer of the rows of several cells, for statements that run everywhere: pages by id, sums, and the best row.

interface Page {
  readonly descending: boolean
  readonly limit: number
}

/** Page of a list by id, with one row more that tells of a next page. */
export function pageById<R extends object>(idOf: (row: R) => string) {
  return (rows: R[], { descending, limit }: Page): R[] => sorted(rows, idOf, descending).slice(0, limit + 1)
}

/** First rows by a text that sorts as PostgreSQL's bytes do, such as an id. */
export function firstBy<R extends object, P extends object>(
  keyOf: (row: R) => string,
  maxOf: (parameters: P) => number,
  descending = false,
) {
  return (rows: R[], parameters: P): R[] => sorted(rows, keyOf, descending).slice(0, maxOf(parameters))
}

/** Rows of the same key as one, with all other numbers added up. */
export function summed<R extends object>(keyOf: (row: R) => string, add: (a: R, b: R) => R) {
  return (rows: R[]): R[] => {
    const groups = new Map<string, R>()
    for (const row of rows) {
      const known = groups.get(keyOf(row))
      groups.set(keyOf(row), known === undefined ? row : add(known, row))
    }
    return [...groups.values()]
  }
}

/** Number of rows that one round of a purge took. */
export const gone = {
  merge: (rows: { gone: number }[]) => [{ gone: rows.reduce((total, row) => total + row.gone, 0) }],
}

function sorted<R extends object>(rows: readonly R[], keyOf: (row: R) => string, descending: boolean): R[] {
  const sign = descending ? -1 : 1
  return [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -sign : keyOf(a) > keyOf(b) ? sign : 0))
}
