// SPDX-License-Identifier: Apache-2.0
// Batches of single questions about tenants, those of each cell apart, so that a cell that is away fails nobody else's.
import { gathered } from '../concurrency/gather.ts'
import type { Database } from '../db.ts'
import type { Cell } from './cell.ts'

/** Turns a batch query into a function for one question; concurrent calls about tenants of one cell share a query. */
export function gatheredByCell<Question extends { readonly tenant: { readonly bucket: number } }, Answer>(
  db: Pick<Database, 'cellOf'>,
  lookAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  const lookups = new Map<Cell, (question: Question) => Promise<Answer>>()
  return (question) => {
    try {
      const cell = db.cellOf(question.tenant.bucket)
      const lookup = lookups.get(cell) ?? gathered(lookAll)
      lookups.set(cell, lookup)
      return lookup(question)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
