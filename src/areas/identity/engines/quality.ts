// SPDX-License-Identifier: Apache-2.0
// Image quality: whether a picture can be judged at all. Sharpness is the variance of the Laplacian after contrast
// stretching; otherwise dark but readable pictures would count as blurred.
import { type Grey, greyOf, type Image, resize } from './image.ts'

export interface Quality {
  readonly sharpness: number
  /** Mean brightness, 0 to 1. */
  readonly brightness: number
  /** Share of the picture overexposed in one patch. */
  readonly glare: number
  readonly width: number
  readonly height: number
  readonly problems: readonly string[]
}

export type Use = 'document' | 'face'

interface Limits {
  readonly shortSide: number
  readonly sharpness: number
  readonly dark: number
  readonly bright: number
  readonly glare: number
}

/** Rendered passports had 660 to 1900 sharp, 130 to 180 blurred but readable, 6 to 10 lost (Gaussian of 4 pixels). */
const limits: Readonly<Record<Use, Limits>> = {
  document: { shortSide: 480, sharpness: 60, dark: 0.12, bright: 0.97, glare: 0.12 },
  face: { shortSide: 240, sharpness: 8, dark: 0.1, bright: 0.96, glare: 0.35 },
}

const measuredWidth = 1000

export async function qualityOf(image: Image, use: Use): Promise<Quality> {
  const { width, height } = image
  const grey = greyOf(image)
  const scale = Math.min(1, measuredWidth / width)
  const small = scale < 1 ? await resize(grey, measuredWidth, Math.max(1, Math.round(height * scale))) : grey
  const { low, high, mean } = toneOf(small)
  const sharpness = Math.round(laplacianVariance(small, 255 / Math.max(32, high - low)))
  const brightness = round(mean / 255)
  const glare = round(burntPart(small))
  const limit = limits[use]
  const problems = [
    Math.min(width, height) < limit.shortSide && 'too_small',
    sharpness < limit.sharpness && 'blurred',
    brightness < limit.dark && 'too_dark',
    brightness > limit.bright && 'too_bright',
    glare > limit.glare && 'glare',
  ].filter((problem) => problem !== false)
  return { sharpness, brightness, glare, width, height, problems }
}

/** Two percent from either end of the tones, and their mean. */
function toneOf({ data }: Grey): { low: number; high: number; mean: number } {
  const counts = new Uint32Array(256)
  let sum = 0
  for (const value of data) {
    counts[value] = (counts[value] ?? 0) + 1
    sum += value
  }
  const toneAt = (part: number) => {
    let rest = part * data.length
    return counts.findIndex((count) => {
      rest -= count
      return rest < 0
    })
  }
  return { low: toneAt(0.02), high: toneAt(0.98), mean: sum / data.length }
}

function laplacianVariance({ data, width, height }: Grey, gain: number): number {
  let [sum, squares, count] = [0, 0, 0]
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      const at = y * width + x
      const around = (data[at - 1] ?? 0) + (data[at + 1] ?? 0) + (data[at - width] ?? 0) + (data[at + width] ?? 0)
      const value = (around - 4 * (data[at] ?? 0)) * gain
      sum += value
      squares += value * value
      count += 1
    }
  return count === 0 ? 0 : squares / count - (sum / count) ** 2
}

const glareBlock = 16
const burntTone = 252

/** Overexposed blocks with a darker neighbourhood: white paper is not glare. */
function burntPart({ data, width, height }: Grey): number {
  const columns = Math.floor(width / glareBlock)
  const rows = Math.floor(height / glareBlock)
  const isBurnt = (row: number, column: number) => {
    for (let y = row * glareBlock; y < (row + 1) * glareBlock; y += 4)
      for (let x = column * glareBlock; x < (column + 1) * glareBlock; x += 4)
        if ((data[y * width + x] ?? 0) < burntTone) return false
    return true
  }
  let burnt = 0
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) burnt += isBurnt(row, column) ? 1 : 0
  const part = burnt / Math.max(1, rows * columns)
  return part > 0.6 ? 0 : part
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
