// SPDX-License-Identifier: Apache-2.0
// Finds faces in a picture, surest first.
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
/** More faces than this are a crowd, and no answer depends on the rest. */
const maxFaces = 20

/** `side` is what the picture is scaled to, a multiple of 32: a larger one finds smaller faces. */
export async function detect(network: Network, image: Image, side: number): Promise<Detection[]> {
  const whole = { x: 0, y: 0, width: image.width, height: image.height }
  const outputs = await network.run(toBlob(image, whole, side, detectorNet.mean, false), [1, 3, side, side])
  return withoutOverlaps(candidates(outputs('output').data, side, image)).slice(0, maxFaces)
}

/** Turns the raw numbers (25 planes of cells) into boxes in pixels of the picture. */
function candidates(planes: Float32Array, side: number, image: Image): Detection[] {
  const cells = side / 32
  const area = cells * cells
  const longest = Math.max(image.width, image.height)
  // The used part of the square is rounded to whole pixels, and boxes are stretched by what that loses.
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

/** Keeps the surest of boxes that cover each other. */
function withoutOverlaps(detections: readonly Detection[]): Detection[] {
  const kept: Detection[] = []
  for (const next of [...detections].sort((a, b) => b.score - a.score))
    if (kept.every(({ box }) => overlap(box, next.box) <= maxOverlap)) kept.push(next)
  return kept
}

/** Common area over joint area. */
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
