// SPDX-License-Identifier: Apache-2.0
// The faults themselves: something is killed at a random moment, started again, and customers are served again.
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import type { Installation } from './harness.ts'
import type { Load } from './load.ts'

export const strikes = ['every node', 'PostgreSQL', 'PostgreSQL and every node', 'one node'] as const
type Strike = (typeof strikes)[number]

const calmMs = { least: 300, most: 1_200 }
const recoverWithinMs = 60_000

/** Kills under load at a random moment, starts again what was killed, and waits until writes are acknowledged again. */
export async function strike(
  what: Strike,
  installation: Installation,
  load: Load,
  random: () => number,
): Promise<void> {
  await pause(calmMs.least + random() * (calmMs.most - calmMs.least))
  const everyNode = Array.from({ length: installation.nodeCount }, (_, index) => index)
  const nodes =
    what === 'PostgreSQL' ? [] : what === 'one node' ? [Math.floor(random() * installation.nodeCount)] : everyNode
  const postgres = what === 'PostgreSQL' || what === 'PostgreSQL and every node'
  await Promise.all([
    ...nodes.map((index) => installation.killNode(index)),
    ...(postgres ? [installation.killPostgres()] : []),
  ])
  if (postgres) await installation.startPostgres()
  await Promise.all(nodes.map((index) => installation.startNode(index)))
  const before = load.acknowledged
  await eventually(
    async () => load.acknowledged > before,
    `writes to be acknowledged after the death of ${what}`,
    recoverWithinMs,
  )
}
