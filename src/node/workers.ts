// SPDX-License-Identifier: Apache-2.0
// Everything of a node that runs beside requests. Each start adds its stop.
import type { Dispatcher } from '../areas/webhooks/area.ts'
import { packPrices } from '../ledger/prices.ts'
import { proveLedger } from '../ledger/proof.ts'
import { ledgerPartitions, rollUp } from '../ledger/rollups.ts'
import type { App } from '../platform/app.ts'
import type { Area } from '../platform/area.ts'
import { askShared, closeForwarding } from '../platform/http/forward.ts'
import {
  type Chore,
  type Partitioned,
  platformChores,
  platformPartitions,
  runMaintenance,
} from '../platform/nodes/maintenance.ts'
import { joinNodes } from '../platform/nodes/nodes.ts'
import { trafficChore } from '../platform/operator/tallies.ts'
import { troublesOf } from '../platform/operator/troubles.ts'
import { queues, strandedLanes } from '../platform/work/queues.ts'
import { watchFigures } from './figures.ts'
import type { Stops } from './stops.ts'
import { watchOver } from './watch.ts'

/** Time that running jobs have when the node stops. */
const finishJobsMs = 10_000
const keyUseFlushMs = 10_000
const ledgerProofMs = 60 * 60_000
const tokenCareMs = 5 * 60_000

export async function startWorkers(
  app: App,
  areas: readonly Area[],
  dispatcher: Dispatcher,
  stops: Stops,
): Promise<void> {
  await app.signals.start()
  stops.push(() => app.signals.stop())
  await app.tokens.start()
  await app.prices.start()
  stops.push(() => app.prices.stop())
  app.limits.start()
  stops.push(() => app.limits.stop())
  app.requestLog.start()
  stops.push(() => app.requestLog.stop())
  app.timeline.start()
  stops.push(() => app.timeline.stop())
  stops.push(() => app.committer.stop())
  stops.push(() => app.leases.stop())
  stops.push(await joinNodes(app))
  stops.push(() => closeForwarding(app))
  await app.sandbox.start((address) => askShared(app, address))
  stops.push(noteKeyUse(app))
  stops.push(careForTokens(app))
  const chores = [
    ...platformChores(partitionsOf(areas)),
    ...ledgerChores(app),
    jobsChore,
    trafficChore,
    ...areas.flatMap((area) => area.chores ?? []),
  ]
  if (app.config.PAMOJA_ROLES.includes('timers')) stops.push(runMaintenance(app, chores))
  stops.push(() => app.outbound.close())
  stops.push(() => app.carrierOutbound.close())
  // A node listens for what requests of others wait for, from the start.
  for (const waits of areas.flatMap((area) => area.waits ?? [])) waits.of(app)
  for (const area of areas) {
    const stop = await area.start?.(app)
    if (stop) stops.push(stop)
  }
  stops.push(() => app.work.stop(finishJobsMs))
  // Stopped before its leases are handed back, so that no other node delivers what is still under way here.
  dispatcher.start(app)
  stops.push(() => dispatcher.stop())
  watchFigures(app)
  stops.push(watchOver(app, areas))
}

/** Jobs that need a person, told to the operator. */
const jobsChore: Chore = {
  name: 'jobs that need a person',
  everyMs: 60_000,
  run: async (app) => {
    const [lanes, stranded] = await Promise.all([queues(app.db), strandedLanes(app.db)])
    const waiting = [...lanes.map(({ lane, failed }) => ({ lane, jobs: failed })), ...stranded].filter(
      ({ jobs }) => jobs > 0,
    )
    const listed = waiting.slice(0, 10).map(({ lane, jobs }) => `${jobs} of ${lane}`)
    const problem = `Jobs wait for a person: ${listed.join(', ')}. GET /v1/operator/jobs lists them.`
    troublesOf(app).note('jobs', waiting.length > 0 ? problem : null, true)
    await troublesOf(app).settle()
  },
}

/** Tables partitioned by time. */
export function partitionsOf(areas: readonly Pick<Area, 'partitions'>[]): Partitioned[] {
  return [...platformPartitions, ...ledgerPartitions, ...areas.flatMap((area) => area.partitions ?? [])]
}

/** Ledger chores: roll-ups, and every hour a proof of the ledger, whose gauge is the one to alert on. */
function ledgerChores({ metrics }: App): Chore[] {
  let problems: number | null = null
  metrics.gauge(
    'pamoja_ledger_imbalance',
    'Problems that the last verification of the ledger found; must be 0.',
    () => problems,
  )
  return [
    { name: 'ledger roll-ups', run: ({ db, clock }) => rollUp(db, clock) },
    { name: 'price list', run: ({ db }) => packPrices(db) },
    {
      name: 'ledger verification',
      everyMs: ledgerProofMs,
      run: async (app) => {
        const found = await proveLedger(app.db, app.clock)
        problems = found.problems.length
        const trouble = `The ledger does not add up in ${problems} places: run \`npm start -- ledger verify\`.`
        troublesOf(app).note('ledger', found.ok ? null : trouble, true)
        await troublesOf(app).settle()
        if (!found.ok)
          app.log.error(
            { problems: found.problems.slice(0, 10) },
            'ledger does not balance: run `npm start -- ledger verify` and stop payouts until it balances',
          )
      },
    },
  ]
}

/** Rotation of signing keys on every node: one of them makes the next key, all publish it before it signs. */
function careForTokens(app: App): () => void {
  const timer = setInterval(() => {
    app.tokens
      .rotate()
      .catch((error) =>
        app.log.warn(
          { error },
          'signing keys not rotated: tried again in five minutes; check the database if this repeats',
        ),
      )
  }, tokenCareMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Last use of API keys, stored in batches and once more at the end. */
function noteKeyUse(app: App): () => Promise<void> {
  const flush = async (): Promise<void> => {
    await app.authenticator
      .noteUses()
      .catch((error) =>
        app.log.warn({ error }, 'last use of API keys not stored: tried again; check the database if this repeats'),
      )
  }
  const timer = setInterval(() => void flush(), keyUseFlushMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await flush()
  }
}
