// SPDX-License-Identifier: Apache-2.0
// Tones that a telephone makes: the beep before a recording, the pair of a key, ringing; and the ear that finds a single tone.
import { sampleRate } from './g711.ts'

export function tone(frequencies: readonly number[], ms: number, amplitude = 8_000): Int16Array {
  const length = Math.round((ms * sampleRate) / 1_000)
  const ramp = Math.min(40, length >> 1)
  const each = amplitude / frequencies.length
  return Int16Array.from({ length }, (_, i) => {
    const fade = Math.min(1, i / ramp, (length - i) / ramp)
    const sum = frequencies.reduce((total, hertz) => total + Math.sin((2 * Math.PI * hertz * i) / sampleRate), 0)
    return Math.round(each * sum * fade)
  })
}

export const silence = (ms: number): Int16Array => new Int16Array(Math.round((ms * sampleRate) / 1_000))

/** 425 Hz, one second on and four off, as most of Africa and Europe hear it. */
export const ringback = (): Int16Array => {
  const sound = new Int16Array(5 * sampleRate)
  sound.set(tone([425], 1_000, 4_000))
  return sound
}

const notes = [262, 330, 392, 523, 392, 330, 294, 349, 440, 587, 440, 349]

/** Hold music of six seconds, made of plain notes, so that no licence is needed. */
export const tune = (): Int16Array =>
  Int16Array.from(notes.flatMap((hertz) => [...tone([hertz, 2 * hertz], 500, 3_000)]))

const rows = [697, 770, 852, 941]
const columns = [1_209, 1_336, 1_477, 1_633]
const keys = ['123A', '456B', '789C', '*0#D']

/** Tones of a key, and the pause after it. */
export function keyTones(key: string, ms: number, pauseMs: number): Int16Array<ArrayBuffer> {
  const row = keys.findIndex((all) => all.includes(key))
  const pair = [rows[row] ?? 0, columns[keys[row]?.indexOf(key) ?? 0] ?? 0]
  return Int16Array.from([...tone(pair, ms, 12_000), ...silence(pauseMs)])
}

/** Power of one frequency in a frame, against the power of all of it: near 1 for a pure tone (Goertzel). */
export function share(samples: Int16Array, hertz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hertz) / sampleRate)
  let [last, before, energy] = [0, 0, 0]
  for (const sample of samples) {
    const next = sample + coefficient * last - before
    before = last
    last = next
    energy += sample * sample
  }
  if (energy === 0) return 0
  return (2 * (last * last + before * before - coefficient * last * before)) / (energy * samples.length)
}

/** The key whose two tones fill a frame; null if it is speech or silence. */
export function keyIn(samples: Int16Array, leastRms = 200): string | null {
  if (rms(samples) < leastRms) return null
  const shares = (all: readonly number[]) => all.map((hertz) => share(samples, hertz))
  const [low, high] = [shares(rows), shares(columns)]
  const row = low.indexOf(Math.max(...low))
  const column = high.indexOf(Math.max(...high))
  const [a, b] = [low[row] ?? 0, high[column] ?? 0]
  return a > 0.2 && b > 0.2 && a + b > 0.8 ? (keys[row]?.[column] ?? null) : null
}

export function rms(samples: Int16Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length)
}
