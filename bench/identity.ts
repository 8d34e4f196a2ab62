// SPDX-License-Identifier: Apache-2.0
// Identity checks on the specimens, one engine process: milliseconds for each operation, and how late timers of this process,
// which stands for the API's, come while the engine works.
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { examine, measureFrames, readDocument } from '../src/areas/identity/engines/tasks.ts'
import { Compute } from '../src/platform/compute.ts'
import { root } from '../src/platform/root.ts'
import type { Figure } from './report.ts'

const specimen = (name: string) => readFileSync(new URL(`src/areas/identity/specimens/${name}.jpg`, root))

export async function identity({ short }: { short: boolean }): Promise<Figure[]> {
  const compute = new Compute({
    program: new URL('dist/src/areas/identity/engines/program.js', root),
    processes: 1,
    maxWaitMs: 600_000,
    maxWaiting: 10,
    log: { warn: () => undefined },
  })
  const [passport, face, frame] = [specimen('passport_ke'), specimen('face_a'), specimen('frame_blink')]
  const operations: readonly [string, () => Promise<unknown>][] = [
    ['identity, passport page', () => compute.run(readDocument, { front: passport, back: null, wantsPortrait: false })],
    ['identity, face found and described', () => compute.run(examine, { pictures: [{ bytes: face, use: 'face' }] })],
    ['identity, liveness frame', () => compute.run(measureFrames, { frames: [frame] })],
  ]
  const runs = short ? 3 : 20
  const figures: Figure[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  try {
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
    figures.push({
      name: 'identity, event-loop lag p99',
      value: Math.round(delay.percentile(99) / 1e4) / 100,
      unit: 'ms',
    })
    return figures
  } finally {
    compute.stop()
  }
}
