// SPDX-License-Identifier: Apache-2.0
// Face detector; results by confidence.
import { type Box, type Image, toBlob } from '../image.ts'
import { detectorNet } from '../nets/face-nets.ts'
import type { Network } from '../nets/runtime.ts'

export interface Detection {
  readonly box: Box
  readonly score: number
}

/** Width and height of the five boxes each cell may propose, in cells. */
const anchors = [
  [1.603231, 2.094468],
  [6.041143, 7.080126],
  [2.882459, 3.518061],
  [4.266906, 5.178857],
  [9.041765, 10.66308],
] as const
const numbersPerBox = 5
const maxOverlap = 0.4
const minScore = 0.5
/** Limit of faces; more are a crowd. */
const maxFaces = 20

/** Detects faces. `side` is the scaled size, a multiple of 32: a larger one finds smaller faces. */
export async function detect(network: Network, image: Image, side: number): Promise<Detection[]> {
  const whole = { x: 0, y: 0, width: image.width, height: image.height }
  const outputs = await network.run(toBlob(image, whole, side, detectorNet.mean, false), [1, 3, side, side])
  return withoutOverlaps(candidates(outputs('output').data, side, image)).slice(0, maxFaces)
}

/** Decodes the network's output (25 planes of cells) into boxes in pixels. */
function candidates(planes: Float32Array, side: number, image: Image): Detection[] {
  const cells = side / 32
  const area = cells * cells
  const longest = Math.max(image.width, image.height)
  // The used part of the square is rounded to whole pixels; boxes are scaled back accordingly.
  const scaleX = (side / Math.round((image.width * side) / longest)) * (image.width / cells)
  const scaleY = (side / Math.round((image.height * side) / longest)) * (image.height / cells)
  const found: Detection[] = []
  for (let cell = 0; cell < area; cell++)
    for (const [anchor, [anchorWidth, anchorHeight]] of anchors.entries()) {
      const read = (number: number) => planes[(anchor * numbersPerBox + number) * area + cell] ?? 0
      const score = sigmoid(read(4))
      if (score <= minScore) continue
      const width = Math.exp(read(2)) * anchorWidth * scaleX
      const height = Math.exp(read(3)) * anchorHeight * scaleY
      const x = ((cell % cells) + sigmoid(read(0))) * scaleX - width / 2
      const y = (Math.floor(cell / cells) + sigmoid(read(1))) * scaleY - height / 2
      found.push({ box: { x, y, width, height }, score })
    }
  return found
}

/** Non-maximum suppression. */
function withoutOverlaps(detections: readonly Detection[]): Detection[] {
  const kept: Detection[] = []
  for (const next of [...detections].sort((a, b) => b.score - a.score))
    if (kept.every(({ box }) => overlap(box, next.box) <= maxOverlap)) kept.push(next)
  return kept
}

/** Intersection over union. */
function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  if (width <= 0 || height <= 0) return 0
  const common = width * height
  return common / (a.width * a.height + b.width * b.height - common)
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}
