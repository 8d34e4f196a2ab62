// SPDX-License-Identifier: Apache-2.0
// The other side of the wire for whoever has none yet: a message centre and payment providers on free ports of this machine.
// What they remember is kept in the home, so that what was under way when the program ended comes to its end.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Config } from './config.ts'
import type { App, SimulatedSmsc } from './platform/app.ts'
import type { Clock } from './platform/clock.ts'
import type { Logger } from './platform/log.ts'
import { type Bookkeeping, simulatePayments } from './simulated-payments.ts'
import { SmscSimulator } from './simulators/smsc.ts'

type Stops = (() => Promise<void> | void)[]

interface Surroundings {
  config: Config
  home: string
  clock: Clock
  log: Logger
  /** The certificate authority of this node, which simulators call back. */
  caFile: string | null
  /** Fulfilled when the node answers. */
  ready: Promise<void>
  stops: Stops
}

export async function simulate(surroundings: Surroundings): Promise<App['simulators']> {
  const { config, home, clock, log, caFile, ready, stops } = surroundings
  if (!config.PAMOJA_ROLES.includes('sandbox')) return { smsc: null, payments: {} }
  const dir = join(home, 'simulators')
  const isOurs = await takeAlone(dir, stops)
  const books: Bookkeeping = {
    fileOf: (name) => (isOurs ? join(dir, `${name}.journal`) : null),
    ready,
    onProblem: (error) =>
      log.warn(
        { error },
        'a simulator could not do something, or cannot write its books and forgets them when it stops',
      ),
  }
  return {
    smsc: await simulateSmsc(clock, books, stops),
    payments: await simulatePayments(config.PAMOJA_SANDBOX_TIME_SCALE, clock, caFile, stops, books),
  }
}

/**
 * Nodes may share a home: the first keeps the books, simulators of the others have only their memory. Whoever listens on a
 * name that the kernel forgets with its process is the first; where there are no such names (outside Linux), all are.
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

/** A message centre on a free port of this machine, which takes test messages. */
async function simulateSmsc(clock: Clock, books: Bookkeeping, stops: Stops): Promise<SimulatedSmsc> {
  const host = '127.0.0.1'
  // Short, because SMPP allows no more than eight characters.
  const password = randomBytes(4).toString('hex')
  const simulator = await SmscSimulator.start({
    host,
    accounts: { 'sandbox-1': password, 'sandbox-2': password },
    now: () => clock.nowMs(),
    journalFile: books.fileOf('message-centre'),
    onProblem: books.onProblem,
  })
  stops.push(() => simulator.stop())
  return {
    host,
    port: simulator.port,
    password,
    inbound: (from, to, text) => simulator.inbound(from, to, text),
    recover: (account, stillOut) => simulator.recover(account, stillOut),
    waitsFor: (account) => simulator.waitsFor(account),
    moveClock: (account, offsetMs) => simulator.moveClock(account, offsetMs),
  }
}
