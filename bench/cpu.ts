// SPDX-License-Identifier: Apache-2.0
// CPU time by process: of this one, of all that it started and of all that those started, with those that have ended
// meanwhile. On a machine that others use too it says more than the clock: what an operation costs, however long it waited.
// Linux only; elsewhere there are no figures of it.
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { pid as ownPid } from 'node:process'

/** Microseconds of CPU by process. */
export type Cpu = Readonly<Record<string, number>>

export interface CpuMeter {
  /** CPU since the meter was made, for each of so many operations. */
  per(operations: number): Cpu
}

/** Names by the program or the file that is run; all others are called as what started them. */
const names: Readonly<Record<string, string>> = {
  'node.js': 'node',
  'main.js': 'node',
  'bare-server.js': 'bare route',
  'sms-centre.js': 'message centre',
  'sink.js': 'sink',
  postgres: 'PostgreSQL',
  bearerbox: 'Kannel',
  smsbox: 'Kannel',
  master: 'Postfix',
  opendkim: 'OpenDKIM',
}
const own = 'benchmark'
/** Unit of times in /proc, USER_HZ: 100 a second on every Linux. */
const tickMicros = 10_000
/** Field of `stat` counted from the state, which follows the name in brackets. */
const fields = { parent: 1, user: 11, system: 12, endedUser: 13, endedSystem: 14 }

/** `daemons`: processes that were started for this and have left their parent. */
export function cpuMeter(daemons: readonly number[] = []): CpuMeter {
  const before = cpuNow(daemons)
  return {
    per(operations) {
      const now = Object.entries(cpuNow(daemons))
      const spent = now.map(([name, micros]): [string, number] => [name, micros - (before[name] ?? 0)])
      return Object.fromEntries(
        spent.filter(([, micros]) => micros > 0).map(([name, micros]) => [name, micros / Math.max(1, operations)]),
      )
    },
  }
}

/** The lower of two measurements of the same work, by their sums: what disturbs a measurement only adds to it. */
export function lesser(a: Cpu, b: Cpu): Cpu {
  return sumOf(a) <= sumOf(b) ? a : b
}

/** The same for each of the parts of an operation. */
export function perEach(cpu: Cpu, parts: number): Cpu {
  return Object.fromEntries(Object.entries(cpu).map(([name, micros]) => [name, micros / parts]))
}

/** The same without some processes, which took no part in it. */
export function without(cpu: Cpu, names: readonly string[]): Cpu {
  return Object.fromEntries(Object.entries(cpu).filter(([name]) => !names.includes(name)))
}

export function sumOf(cpu: Cpu): number {
  return Object.values(cpu).reduce((sum, micros) => sum + micros, 0)
}

interface Process {
  parent: number
  name: string | null
  micros: number
}

function cpuNow(daemons: readonly number[]): Cpu {
  const processes = allProcesses()
  const cpu: Record<string, number> = {}
  for (const [pid, { micros }] of processes) {
    const name = nameOf(pid, processes, daemons)
    if (name !== null) cpu[name] = (cpu[name] ?? 0) + micros
  }
  return cpu
}

/** Null for a process that none of ours started. */
function nameOf(pid: number, processes: ReadonlyMap<number, Process>, daemons: readonly number[]): string | null {
  let named: string | null = null
  for (let at = pid; at !== ownPid; ) {
    const process = processes.get(at)
    if (process === undefined) return null
    named ??= process.name
    if (daemons.includes(at)) break
    at = process.parent
  }
  return named ?? own
}

function allProcesses(): ReadonlyMap<number, Process> {
  const processes = new Map<number, Process>()
  for (const entry of entriesOf('/proc')) {
    const process = /^\d+$/.test(entry) ? processOf(entry) : null
    if (process !== null) processes.set(Number(entry), process)
  }
  return processes
}

/** Null for one that has ended while it was looked at. */
function processOf(entry: string): Process | null {
  try {
    const stat = readFileSync(`/proc/${entry}/stat`, 'latin1')
    const [open, close] = [stat.indexOf('('), stat.lastIndexOf(')')]
    const rest = stat.slice(close + 2).split(' ')
    const at = (field: number): number => Number(rest[field] ?? 0)
    const ticks = at(fields.user) + at(fields.system) + at(fields.endedUser) + at(fields.endedSystem)
    const files = readFileSync(`/proc/${entry}/cmdline`, 'latin1').split('\0').slice(0, 6)
    const program = [stat.slice(open + 1, close), ...files.map((file) => basename(file))]
    const name = program.find((word) => Object.hasOwn(names, word))
    return {
      parent: at(fields.parent),
      name: name === undefined ? null : (names[name] ?? null),
      micros: ticks * tickMicros,
    }
  } catch {
    return null
  }
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
