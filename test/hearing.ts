// SPDX-License-Identifier: Apache-2.0
// Tones of test calls: a hum that lasts as long as its call, and whether somebody hears one. Samples are judged frame by frame, since a
// machine that is late leaves frames out, and a tone jumps from one frame to the next.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { speechPackage } from '../src/areas/voice/engines/tasks.ts'
import { frameSamples } from '../src/protocols/audio/g711.ts'
import { rms, share, tone } from '../src/protocols/audio/tones.ts'

/** Half a second. */
const lastFrames = 25
/** A tenth of a second. */
const leastFrames = 5
const leastRms = 200
/** Of a tone among three others that speak at once. */
const leastShare = 0.15

/** A second of a tone, which a phone that says it with `endless` repeats until its call is over. */
export function hum(hertz: number): Int16Array {
  return tone([hertz], 1_000)
}

export const endless = 0

/** Frames of 20 ms in which there is a tone. */
export function framesWith(samples: Int16Array, hertz: number): number {
  let count = 0
  for (let at = 0; at + frameSamples <= samples.length; at += frameSamples) {
    const frame = samples.subarray(at, at + frameSamples)
    if (rms(frame) > leastRms && share(frame, hertz) > leastShare) count++
  }
  return count
}

/** Whether a tone was heard for a tenth of a second in all, at any time. */
export function hasHeard(samples: Int16Array, hertz: number): boolean {
  return framesWith(samples, hertz) >= leastFrames
}

/** Whether a tone is in the last half second: null when it has just begun or ended. */
export function hearsNow(samples: Int16Array, hertz: number): boolean | null {
  const last = samples.subarray(-lastFrames * frameSamples)
  if (last.length < lastFrames * frameSamples) return null
  const count = framesWith(last, hertz)
  return count >= leastFrames ? true : count === 0 ? false : null
}

/** Reason that nothing can be said here; false where the system's program or the package speaks. */
export function withoutVoice(): string | false {
  return spawnSync('espeak-ng', ['--version']).status === 0 ? false : withoutPackage()
}

export function withoutPackage(name = speechPackage): string | false {
  try {
    createRequire(import.meta.url).resolve(name)
    return false
  } catch {
    return `${name} is not installed`
  }
}
