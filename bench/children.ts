// SPDX-License-Identifier: Apache-2.0
// Processes that benchmarks and fault runs start: nodes of the platform and the bare server.
import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Credentials } from '../src/commands/welcome.ts'

export interface NodeProcess {
  child: ChildProcess
  nodeId: string
  url: string
  port: number
  caFile: string
  adminUrl: string
  credentials: Credentials
}

/** Option of Node with which `npm start` runs the program. */
const roomForGarbage = '--initial-old-space-size=256'

/** Starts a file of this build and waits for the first thing it says. */
export function start<Message>(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ child: ChildProcess; said: Message }> {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE: cache } = process.env
  const child = fork(path, args, {
    env: { PATH, HOME, ...(cache ? { NODE_COMPILE_CACHE: cache } : {}), ...environment },
    execArgv: ['--enable-source-maps', roomForGarbage],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return new Promise((resolve, reject) => {
    child.once('message', (said: Message) => resolve({ child, said }))
    child.once('exit', (code) => reject(new Error(`${file} ended with code ${code} before it was ready`)))
    child.once('error', reject)
  })
}

export async function startNodeProcess(environment: Readonly<Record<string, string>>): Promise<NodeProcess> {
  const { child, said } = await start<Omit<NodeProcess, 'child'>>('../program/node.js', [], {
    PAMOJA_PORT: '0',
    PAMOJA_ADMIN_PORT: '0',
    PAMOJA_LOG_FILE: '/dev/null',
    // A crowded machine is slow, not out of reach.
    PAMOJA_DATABASE_WAIT_SECONDS: '300',
    ...environment,
  })
  return { child, ...said }
}

/** Resident memory of a process. */
export function residentMb(pid: number | undefined): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) / 1024
}

/** Ends a process and waits until it is gone. */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}
