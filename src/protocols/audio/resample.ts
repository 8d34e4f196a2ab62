// SPDX-License-Identifier: Apache-2.0
// Changes the sample rate of a whole sound by a windowed sinc, so that nothing above half of the lower rate folds back. For
// prompts and for recognition, which happen once; audio of a call in progress is never resampled.
const lobes = 12

export function resample(samples: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return samples
  const ratio = from / to
  const cutoff = Math.min(1, to / from)
  const reach = Math.ceil(lobes / cutoff)
  const out = new Int16Array(Math.floor(samples.length / ratio))
  for (let i = 0; i < out.length; i++) {
    const centre = i * ratio
    const first = Math.max(0, Math.ceil(centre - reach))
    const last = Math.min(samples.length - 1, Math.floor(centre + reach))
    let sum = 0
    for (let k = first; k <= last; k++) sum += (samples[k] ?? 0) * kernel(k - centre, cutoff, reach)
    out[i] = clip(sum)
  }
  return out
}

function kernel(distance: number, cutoff: number, reach: number): number {
  const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach)
  if (Math.abs(distance) < 1e-9) return cutoff * window
  return (Math.sin(Math.PI * cutoff * distance) / (Math.PI * distance)) * window
}

function clip(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : Math.round(value)
}
