// SPDX-License-Identifier: Apache-2.0
// The other side of the wire for an installation that has none yet: every simulator there is, on free ports of this machine.
// What they remember is kept in the home, so that what was under way when the program ended comes to its end.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Area } from '../platform/area.ts'
import type { Clock } from '../platform/clock.ts'
import { Simulators } from '../platform/program/simulators.ts'
import type { Logger } from '../platform/telemetry/log.ts'
import { simulatedMail } from './mail.ts'
import { simulatedMessageCentre } from './message-centre.ts'
import { simulatedMessenger } from './messenger.ts'
import { simulatedPayments } from './payments.ts'
import { simulatedRegistry } from './registry.ts'
import type { Starter } from './starter.ts'
import { simulatedTelephones } from './telephones.ts'
import { simulatedUssdNetwork } from './ussd-network.ts'

/** A new simulator is one line here, and is declared by its area. */
const starters: readonly Starter[] = [
  simulatedMessageCentre,
  simulatedPayments,
  simulatedTelephones,
  simulatedMail,
  simulatedMessenger,
  simulatedUssdNetwork,
  simulatedRegistry,
]

type Stops = (() => Promise<void> | void)[]

interface Node {
  config: Config
  home: string
  clock: Clock
  log: Logger
  /** The certificate authority of this node, which simulators call back. */
  caFile: string | null
  /** Certificate and key of this node. */
  identity: { key: string; cert: string }
  /** Fulfilled when the node answers. */
  ready: Promise<void>
  stops: Stops
}

/** Starts the simulators that the areas declare, where the node has the role for it. */
export async function simulate(areas: readonly Pick<Area, 'simulators'>[], node: Node): Promise<Simulators> {
  const { config, home, clock, log, caFile, identity, ready, stops } = node
  const simulators = new Simulators()
  if (!config.PAMOJA_ROLES.includes('sandbox')) return simulators
  const dir = join(home, 'simulators')
  const isOurs = await takeAlone(dir, stops)
  const surroundings = {
    clock,
    sharedHost: config.PAMOJA_SANDBOX_HOST,
    timeScale: config.PAMOJA_SANDBOX_TIME_SCALE,
    ca: caFile === null ? undefined : await readFile(caFile, 'utf8'),
    identity,
    ready,
    journalOf: (name: string) => (isOurs ? join(dir, `${name}.journal`) : null),
    onProblem: (error: unknown) =>
      log.warn(
        { error },
        'simulator failed, or cannot write its journal and forgets it when it stops: check the disk of PAMOJA_HOME',
      ),
  }
  for (const simulator of areas.flatMap((area) => area.simulators ?? [])) {
    const starter = starters.find((one) => one.simulator === simulator)
    if (!starter) throw new Error(`src/simulation/simulation.ts does not start the simulator ${simulator.name}`)
    stops.push(await starter.start(surroundings, simulators))
  }
  return simulators
}

/**
 * Nodes may share a home: the first keeps the books, simulators of the others have only memory. The first is the one
 * that listens on an abstract socket name, which the kernel frees with the process; where there are no such names
 * (outside Linux), all count as first.
 */
async function takeAlone(dir: string, stops: Stops): Promise<boolean> {
  if (process.platform !== 'linux') return true
  const lock = createServer((socket) => socket.destroy())
  const name = createHash('sha256').update(dir).digest('hex').slice(0, 16)
  try {
    lock.listen({ path: `\0pamoja-simulators-${name}`, exclusive: true })
    await once(lock, 'listening')
  } catch {
    return false
  }
  lock.unref()
  stops.push(() => void lock.close())
  return true
}
