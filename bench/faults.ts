// SPDX-License-Identifier: Apache-2.0
// Random kills under load, round after round on one database: nodes, PostgreSQL, both, one of two. A round ends when
// the jobs of the dead are done, every note was read back and a webhook has heard of it; one write lost, charged twice or
// not told of ends the benchmark.
import { examine, type Findings } from '../test/faults/examine.ts'
import { chooseSeed, randomFrom, startInstallation } from '../test/faults/harness.ts'
import { Hearing, unfinished } from '../test/faults/hearing.ts'
import { Load } from '../test/faults/load.ts'
import { strike, strikes } from '../test/faults/strikes.ts'
import type { Figure } from './report.ts'

export async function faults({ short }: { short: boolean }): Promise<Figure[]> {
  const seed = chooseSeed()
  const random = randomFrom(seed)
  const rounds = short ? 2 : 30
  // A killed node's share of a rate limit stays taken for a while, which would be most of what is measured here.
  const installation = await startInstallation({ nodes: 2, environment: { PAMOJA_RATE_LIMITS: 'off' } })
  const hearing = await Hearing.start()
  let acknowledged = 0
  let longestOutageMs = 0
  try {
    for (let round = 0; round < rounds; round++) {
      const accounts = [await installation.account(), await installation.account(), await installation.account()]
      for (const account of accounts) await hearing.subscribe(installation, account)
      const load = new Load({ installation, accounts, random })
      load.start()
      const what = strikes[short ? (round % 2) + 2 : Math.floor(random() * strikes.length)] ?? 'one node'
      await strike(what, installation, load, random)
      const findings = await examine(installation, load)
      refuse(
        [
          ...load.unexpected,
          ...installation.crashes,
          ...problemsIn(findings),
          ...(await unfinished(installation)).map((delivery) => `never delivered: ${delivery}`),
          ...hearing.missed(load.writes).map((write) => `not heard of once: ${write}`),
        ],
        `round ${round + 1} (${what}, seed ${seed})`,
      )
      acknowledged += load.acknowledged
      longestOutageMs = Math.max(longestOutageMs, load.longestOutageMs)
    }
    const [kept] = await installation.sql<{ notes: number }>('select count(*)::int as notes from notes.notes')
    refuse(
      kept?.notes === acknowledged ? [] : [`${acknowledged} notes were acknowledged, ${kept?.notes} are there`],
      `seed ${seed}`,
    )
    const events = [...hearing.events().values()]
    const waits = (await Promise.all(installation.resumptions)).filter((ms) => ms !== null)
    return [
      { name: 'rounds', value: rounds, unit: '' },
      { name: 'acknowledged writes', value: acknowledged, unit: '' },
      { name: 'acknowledged writes lost', value: 0, unit: '' },
      { name: 'writes charged twice', value: 0, unit: '' },
      { name: 'events delivered', value: events.length, unit: '' },
      { name: 'events lost', value: 0, unit: '' },
      { name: 'events delivered more than once', value: events.filter(({ times }) => times > 1).length, unit: '' },
      { name: 'killed nodes that held jobs', value: waits.length, unit: `of ${installation.resumptions.length}` },
      { name: 'jobs of a killed node resumed, longest', value: Math.max(0, ...waits) / 1000, unit: 's' },
      { name: 'outage seen by customers, longest', value: longestOutageMs / 1000, unit: 's' },
    ]
  } finally {
    await installation.stop()
    await hearing.stop()
  }
}

function problemsIn({ unanswered, lost, unpublished, miscounted, stuck, ledger }: Findings): string[] {
  return [
    ...unanswered.map((write) => `never answered: ${write}`),
    ...lost.map((write) => `lost: ${write}`),
    ...unpublished.map((write) => `never published: ${write}`),
    ...miscounted,
    ...stuck.map((job) => `stuck: ${job}`),
    ...ledger.problems,
  ]
}

function refuse(problems: readonly string[], when: string): void {
  if (problems.length > 0) throw new Error(`${when}: ${problems.slice(0, 20).join('\n')}`)
}
