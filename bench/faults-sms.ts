// SPDX-License-Identifier: Apache-2.0
// Random kills of the node that sends texts, with receipts early, doubled and in disorder: one text lost, charged twice,
// or not told of as it happened ends the benchmark. Then how long texts take to find their way past a centre that is gone.
import { chooseSeed, randomFrom } from '../test/faults/harness.ts'
import { Texts } from '../test/faults/texts.ts'
import type { Figure } from './report.ts'

export async function faultsSms({ short }: { short: boolean }): Promise<Figure[]> {
  const seed = chooseSeed()
  const rounds = short ? 2 : 100
  const texts = await Texts.start(randomFrom(seed))
  try {
    for (let round = 0; round < rounds; round++) await texts.round()
    const { accepted, arrivedAgain, problems } = await texts.examine()
    if (problems.length > 0) throw new Error(`seed ${seed}: ${problems.join('\n')}`)
    const failoverMs = await texts.failover()
    const waits = (await Promise.all(texts.installation.resumptions)).filter((ms) => ms !== null)
    return [
      { name: 'rounds', value: rounds, unit: '' },
      { name: 'accepted texts', value: accepted, unit: '' },
      { name: 'texts lost', value: 0, unit: '' },
      { name: 'texts charged twice', value: 0, unit: '' },
      { name: 'changes told of twice, or in disorder', value: 0, unit: '' },
      { name: 'texts that arrived more than once', value: arrivedAgain, unit: '' },
      { name: 'jobs of a killed node resumed, longest', value: Math.max(0, ...waits) / 1000, unit: 's' },
      { name: 'texts past a centre that is gone, longest', value: failoverMs / 1000, unit: 's' },
    ]
  } finally {
    await texts.stop()
  }
}
