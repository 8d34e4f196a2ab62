// SPDX-License-Identifier: Apache-2.0
// Start: from the command to the first answer of /healthz, cold (nothing there) and warm (second start), against starting Node
// alone. Packages are installed already.
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '../test/client.ts'
import { end } from './children.ts'
import { type Cpu, cpuMeter, lesser } from './cpu.ts'
import type { Figure } from './report.ts'

const main = fileURLToPath(new URL('../program/main.js', import.meta.url))

export async function start({ short }: { short: boolean }): Promise<Figure[]> {
  const rounds = short ? 1 : 5
  const cold: Started[] = []
  const warm: Started[] = []
  const bare: number[] = []
  for (let round = 0; round < rounds; round++) {
    const home = await mkdtemp(join(tmpdir(), 'pamoja-start-'))
    // The database may run as another user, who must be able to come in.
    await chmod(home, 0o755)
    bare.push(await timed(() => bareNode()))
    cold.push(await untilHealthy(home))
    warm.push(await untilHealthy(home))
    await rm(home, { recursive: true, force: true })
  }
  const figure = (name: string, starts: readonly Started[]): Figure => ({
    name,
    value: median(starts.map(({ tookMs }) => tookMs)),
    unit: 'ms',
    cpu: starts.map(({ cpu }) => cpu).reduce(lesser),
  })
  const again = figure('warm start', warm)
  return [
    { name: 'node -e 0', value: median(bare), unit: 'ms' },
    figure('cold start', cold),
    again,
    { name: 'ratio, warm start to node alone', value: again.value / median(bare), unit: '' },
  ]
}

interface Started {
  tookMs: number
  cpu: Cpu
}

async function untilHealthy(home: string): Promise<Started> {
  const port = await freePort()
  const meter = cpuMeter()
  const startedAt = performance.now()
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [main], {
    env: { PATH, HOME, PAMOJA_HOME: home, PAMOJA_PORT: String(port) },
    stdio: 'ignore',
  })
  // The certificate authority is new each time; only the answer matters here.
  const client = new Client(`https://localhost:${port}`, null, null, undefined, { rejectUnauthorized: false })
  while ((await client.get('/healthz').catch(() => null))?.status !== 200) {
    if (child.exitCode !== null) throw new Error(`the program ended with code ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const started = { tookMs: performance.now() - startedAt, cpu: meter.per(1) }
  client.close()
  await end(child)
  return started
}

function bareNode(): Promise<void> {
  return new Promise((resolve, reject) => {
    spawn(process.execPath, ['-e', '0'])
      .once('exit', () => resolve())
      .once('error', reject)
  })
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
