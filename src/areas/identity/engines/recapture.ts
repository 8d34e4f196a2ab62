// SPDX-License-Identifier: Apache-2.0
// Recapture hint: a picture of a screen shows moiré peaks among the middle frequencies. Weak (55 % of screens at 13 %
// false alarms in a trial) and set conservatively: it may warn and never decides.
import type { Grey } from './image.ts'

const side = 256
/** Ring of frequencies, in cycles over the cut: below it is the picture itself, above it the noise of the sensor. */
const ring = { from: 40, to: 120 }
/** Amplitude of a peak over the median of its ring: portraits had 13 to 51, drawn pages up to 420. */
const peakRatio = 600

/** Whether a picture looks recaptured; null when it is too small to tell. */
export function looksRecaptured(grey: Grey): boolean | null {
  if (Math.min(grey.width, grey.height) < side) return null
  const power = spectrum(grey)
  const values: number[] = []
  for (let v = 0; v < side; v++)
    for (let u = 0; u < side / 2; u++) {
      const radius = Math.hypot(u, v < side / 2 ? v : v - side)
      // The axes hold the edges of the picture and of its print.
      if (radius >= ring.from && radius <= ring.to && u > 3 && v > 3 && v < side - 3)
        values.push(power[v * side + u] ?? 0)
    }
  values.sort((a, b) => a - b)
  const median = values[values.length >> 1] ?? 0
  return (values.at(-1) ?? 0) > peakRatio * peakRatio * Math.max(median, 1e-9)
}

/** Power of the middle of the picture, under a Hann window. */
function spectrum({ data, width, height }: Grey): Float64Array {
  const [left, top] = [(width - side) >> 1, (height - side) >> 1]
  const real = new Float64Array(side * side)
  const imaginary = new Float64Array(side * side)
  const hann = Float64Array.from({ length: side }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / (side - 1)))
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++)
      real[y * side + x] = (data[(top + y) * width + left + x] ?? 0) * (hann[x] ?? 0) * (hann[y] ?? 0)
  for (let row = 0; row < side; row++) transform(real, imaginary, row * side, 1)
  for (let column = 0; column < side; column++) transform(real, imaginary, column, side)
  return real.map((value, i) => value ** 2 + (imaginary[i] ?? 0) ** 2)
}

/** Fourier transform in place of `side` values, `step` apart. */
function transform(real: Float64Array, imaginary: Float64Array, offset: number, step: number): void {
  for (let i = 0, j = 0; i < side; i++) {
    if (i < j) {
      swap(real, offset + i * step, offset + j * step)
      swap(imaginary, offset + i * step, offset + j * step)
    }
    let bit = side >> 1
    for (; j & bit; bit >>= 1) j ^= bit
    j |= bit
  }
  for (let size = 2; size <= side; size *= 2)
    for (let start = 0; start < side; start += size)
      for (let k = 0; k < size / 2; k++) butterfly(real, imaginary, offset, step, start + k, size, k)
}

function swap(values: Float64Array, a: number, b: number): void {
  const kept = values[a] ?? 0
  values[a] = values[b] ?? 0
  values[b] = kept
}

function butterfly(
  real: Float64Array,
  imaginary: Float64Array,
  offset: number,
  step: number,
  index: number,
  size: number,
  k: number,
): void {
  const angle = (-2 * Math.PI * k) / size
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  const a = offset + index * step
  const b = offset + (index + size / 2) * step
  const [realB, imaginaryB] = [real[b] ?? 0, imaginary[b] ?? 0]
  const [turnedReal, turnedImaginary] = [realB * cos - imaginaryB * sin, realB * sin + imaginaryB * cos]
  const [realA, imaginaryA] = [real[a] ?? 0, imaginary[a] ?? 0]
  real[a] = realA + turnedReal
  imaginary[a] = imaginaryA + turnedImaginary
  real[b] = realA - turnedReal
  imaginary[b] = imaginaryA - turnedImaginary
}
