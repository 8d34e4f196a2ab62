// SPDX-License-Identifier: Apache-2.0
// Identity checks on the specimens, one engine process: milliseconds for each operation, how late timers of this process, which
// stands for the API's, come while the engine works, and what the engine makes of damaged pictures. And one-time codes that are
// sent, over HTTPS, each to another number.
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { examine, measureFrames, readDocument } from '../src/areas/identity/engines/tasks.ts'
import { Compute, ComputeRefusedError } from '../src/platform/compute.ts'
import { root } from '../src/platform/program/root.ts'
import { startInstallation } from '../test/faults/harness.ts'
import { load, post } from './load.ts'
import type { Figure } from './report.ts'

const codeConnections = 32
const specimen = (name: string) => readFileSync(new URL(`src/areas/identity/specimens/${name}.jpg`, root))

export async function identity({ short }: { short: boolean }): Promise<Figure[]> {
  const compute = new Compute({
    program: new URL('dist/src/areas/identity/engines/program.js', root),
    processes: 1,
    maxWaitMs: 600_000,
    maxWaiting: 10,
    log: { warn: () => undefined },
  })
  try {
    const looked = await lookedAt(compute, short ? 2 : 20)
    return [...looked, ...(await damaged(compute, short ? 20 : 10_000)), await codes(short ? 500 : 5_000)]
  } finally {
    compute.stop()
  }
}

async function lookedAt(compute: Compute, runs: number): Promise<Figure[]> {
  const [passport, face, frame] = [specimen('passport_ke'), specimen('face_a'), specimen('frame_blink')]
  const operations: readonly [string, () => Promise<unknown>][] = [
    ['identity, passport page', () => compute.run(readDocument, { front: passport, back: null, wantsPortrait: false })],
    ['identity, face found and described', () => compute.run(examine, { pictures: [{ bytes: face, use: 'face' }] })],
    ['identity, liveness frame', () => compute.run(measureFrames, { frames: [frame] })],
  ]
  const figures: Figure[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (const [name, run] of operations) {
    // The first one loads the networks.
    await run()
    delay.enable()
    const times: number[] = []
    for (let i = 0; i < runs; i++) {
      const startedMs = performance.now()
      await run()
      times.push(performance.now() - startedMs)
    }
    delay.disable()
    times.sort((a, b) => a - b)
    figures.push({ name, value: Math.round(times[times.length >> 1] ?? 0), unit: 'ms' })
  }
  const page = () => compute.run(readDocument, { front: passport, back: null, wantsPortrait: false })
  const [before, startedMs] = [processorMs(compute), performance.now()]
  delay.enable()
  for (let i = 0; i < runs; i++) await Promise.all([page(), page(), page(), page()])
  delay.disable()
  const fourMs = (performance.now() - startedMs) / runs
  figures.push({ name: 'identity, four passport pages at once', value: Math.round(fourMs), unit: 'ms' })
  const after = processorMs(compute)
  if (before !== null && after !== null)
    figures.push({
      name: 'identity, passport page, processor time',
      value: Math.round((after - before) / runs / 4),
      unit: 'ms',
    })
  const lag = Math.round(delay.percentile(99) / 1e4) / 100
  return [...figures, { name: 'identity, event-loop lag p99', value: lag, unit: 'ms' }]
}

const tickMs = 10

/** Processor time that the engine took since it was started; null where the system does not tell. */
function processorMs(compute: Compute): number | null {
  const [pid] = compute.pids()
  if (process.platform !== 'linux' || pid === undefined) return null
  // Fields behind the name of the program, which may have spaces: the 12th and 13th are its own time and the system's.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

/** Pictures with changed and missing bytes: each is judged or refused, and none takes the engine down. */
async function damaged(compute: Compute, many: number): Promise<Figure[]> {
  const whole = specimen('face_b')
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  let deaths = 0
  const beganMs = performance.now()
  for (let i = 0; i < many; i++) {
    const bytes = Buffer.from(whole.subarray(0, random(3) > 0 ? whole.length : 20 + random(whole.length - 20)))
    for (let k = random(30); k >= 0; k--) bytes[random(bytes.length)] = random(256)
    await compute.run(examine, { pictures: [{ bytes, use: 'document' }] }).catch((problem: unknown) => {
      if (!(problem instanceof ComputeRefusedError)) deaths += 1
    })
  }
  const perSecond = (many / (performance.now() - beganMs)) * 1000
  return [
    { name: `identity, ${many.toLocaleString('en')} damaged pictures`, value: perSecond, unit: 'pictures/s' },
    { name: 'identity, engines that died of them', value: deaths, unit: '' },
  ]
}

async function codes(durationMs: number): Promise<Figure> {
  const installation = await startInstallation({ nodes: 1, environment: { PAMOJA_RATE_LIMITS: 'off' } })
  try {
    const { key } = await installation.account()
    await installation.client(0, key).patch('/v1/identity/policy', { otp_daily_limit: 1_000_000 })
    let n = 100
    // Numbers that differ before their last four digits, or the guard would suspect pumping.
    const next = (): Buffer => {
      n += 1
      const phone = `+2547${String(n % 10_000).padStart(4, '0')}${String(1_000 + Math.floor(n / 10_000))}`
      return post('/v1/identity/phone/send-otp', key, JSON.stringify({ phone }))
    }
    const port = Number(new URL(installation.origin(0)).port)
    const result = await load({ port, ca: installation.ca, connections: codeConnections, durationMs, next })
    if (result.statuses['200'] !== result.requests)
      throw new Error(`codes were answered ${JSON.stringify(result.statuses)}`)
    const { perSecond: value, p50Ms, p99Ms, cpu } = result
    return { name: `identity, codes sent, ${codeConnections} connections`, value, unit: 'codes/s', p50Ms, p99Ms, cpu }
  } finally {
    await installation.stop()
  }
}
