// SPDX-License-Identifier: Apache-2.0
// Requests at the same moment. In a race some may be refused, and none may fail: an answer of 500 or more says that a function
// looked first and wrote afterwards ("insert where not exists") where it should have written and looked what came back.
import assert from 'node:assert/strict'

/** Makes so many requests at once; refuses answers of 500 and more. Gives the answers. */
export async function atOnce<Answer extends { status: number; body: unknown }>(
  many: number,
  request: (i: number) => Promise<Answer>,
): Promise<Answer[]> {
  const answers = await Promise.all(Array.from({ length: many }, (_, i) => request(i)))
  const failed = answers.filter(({ status }) => status >= 500)
  assert.deepEqual(
    failed.map(({ status, body }) => ({ status, body })),
    [],
    `${failed.length} of ${many} requests at once failed`,
  )
  return answers
}

/** Number of answers with each status. */
export function statusesOf(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Does something with each of a list, a few at a time: what waits for one is used by another. */
export async function forEachOf<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<unknown>,
  together = 4,
): Promise<void> {
  const waiting = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) await work(item, index)
  }
  await Promise.all(Array.from({ length: together }, worker))
}
