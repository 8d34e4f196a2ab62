// SPDX-License-Identifier: Apache-2.0
// Changes the sample rate of a whole sound by a windowed sinc, so that nothing above half of the lower rate folds back. For
// prompts and for recognition, which happen once; audio of a call in progress is never resampled. The distances between samples
// of the two rates repeat, so that the weights are worked out once for each of them.
const lobes = 12
/** Rates without a common measure are taken to the nearest of so many places between two samples. */
const maxPhases = 1_024

export function resample(samples: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return samples
  const ratio = from / to
  const phases = Math.min(maxPhases, to / commonMeasure(from, to))
  const { weights, reach, taps } = table(ratio, phases)
  const out = new Int16Array(Math.floor(samples.length / ratio))
  for (let i = 0; i < out.length; i++) {
    const place = Math.round(i * ratio * phases)
    const centre = Math.floor(place / phases)
    const row = (place - centre * phases) * taps
    const first = centre - reach
    const begin = first < 0 ? -first : 0
    const end = Math.min(taps, samples.length - first)
    let sum = 0
    for (let k = begin; k < end; k++) sum += (samples[first + k] ?? 0) * (weights[row + k] ?? 0)
    out[i] = clip(sum)
  }
  return out
}

function table(ratio: number, phases: number): { weights: Float64Array; reach: number; taps: number } {
  const cutoff = Math.min(1, 1 / ratio)
  const reach = Math.ceil(lobes / cutoff)
  const taps = 2 * reach + 1
  const weights = new Float64Array(phases * taps)
  for (let phase = 0; phase < phases; phase++)
    for (let k = 0; k < taps; k++) weights[phase * taps + k] = kernel(k - reach - phase / phases, cutoff, reach)
  return { weights, reach, taps }
}

function kernel(distance: number, cutoff: number, reach: number): number {
  if (Math.abs(distance) >= reach) return 0
  const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach)
  if (Math.abs(distance) < 1e-9) return cutoff * window
  return (Math.sin(Math.PI * cutoff * distance) / (Math.PI * distance)) * window
}

function commonMeasure(a: number, b: number): number {
  return b === 0 ? a : commonMeasure(b, a % b)
}

function clip(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : Math.round(value)
}
