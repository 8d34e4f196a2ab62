// SPDX-License-Identifier: Apache-2.0
// Commits of what follows from a request that was accepted. When one fails, whoever asked must not hear "come back later",
// which frees the key of the request: it was accepted, and a job goes on with it.
import type { App } from '../../platform/app.ts'
import type { Columns, Operation, RowOf } from '../../platform/commit.ts'

export async function commitLater<Item extends Columns, Verdict extends Columns>(
  app: App,
  operation: Operation<Item, Verdict>,
  item: RowOf<Item>,
): Promise<RowOf<Verdict>> {
  try {
    return await app.commit(operation, item)
  } catch (cause) {
    throw new Error(`${operation.name} was not committed`, { cause })
  }
}
