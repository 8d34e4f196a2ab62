// SPDX-License-Identifier: Apache-2.0
// 68 landmarks of a face, and the aligned square for the descriptor.
import { type Box, clip, type Image, toBlob } from '../image.ts'
import { landmarksNet } from '../nets/face-nets.ts'
import type { Network } from '../nets/runtime.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

/** Points in the usual order: jaw 0-16, brows 17-26, nose 27-35, eyes 36-41 and 42-47, mouth 48-67. */
export interface Landmarks {
  readonly points: readonly Point[]
  /** Part of the picture that was searched. */
  readonly crop: Box
}

const side = 112

/**
 * Finds the points of a face in its box; null if no pixel of the box lies in the picture. Points are counted from the box,
 * not from the whole pixels that were cut out: thresholds were measured so.
 */
export async function findLandmarks(network: Network, image: Image, box: Box): Promise<Landmarks | null> {
  const crop = clip(box, image)
  if (!crop) return null
  const outputs = await network.run(toBlob(image, crop, side, landmarksNet.mean, true), [1, 3, side, side])
  return { points: toPoints(outputs('output').data, crop, box), crop }
}

/** Maps the network's output back to picture coordinates, without the padding. */
function toPoints(parts: Float32Array, crop: Box, from: Point): Point[] {
  const square = Math.max(crop.width, crop.height)
  const blackX = (square - crop.width) / 2
  const blackY = (square - crop.height) / 2
  return Array.from({ length: parts.length / 2 }, (_, i) => ({
    x: (parts[2 * i] ?? 0) * square - blackX + from.x,
    y: (parts[2 * i + 1] ?? 0) * square - blackY + from.y,
  }))
}

/** Eyes and mouth sit at these parts of the square the descriptor is taken from (dlib's convention). */
const centreX = 0.5
const centreY = 0.43
const eyesToMouth = 0.45

/** The square around a face in which eyes and mouth have their usual places. It is not turned upright. */
export function alignedBox(landmarks: Landmarks): Box {
  const { leftEye, rightEye } = eyesOf(landmarks)
  const mouth = centre(landmarks.points.slice(48, 68))
  const size = Math.floor((distance(leftEye, mouth) + distance(rightEye, mouth)) / 2 / eyesToMouth)
  const middle = centre([leftEye, rightEye, mouth])
  const x = Math.floor(Math.max(0, middle.x - centreX * size))
  const y = Math.floor(Math.max(0, middle.y - centreY * size))
  const { crop } = landmarks
  return { x, y, width: Math.min(size, crop.width + x), height: Math.min(size, crop.height + y) }
}

/** Centres of the eyes; left and right as seen in the picture. */
export function eyesOf({ points }: Landmarks): { leftEye: Point; rightEye: Point } {
  return { leftEye: centre(points.slice(36, 42)), rightEye: centre(points.slice(42, 48)) }
}

function centre(points: readonly Point[]): Point {
  const sum = points.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }), { x: 0, y: 0 })
  return { x: sum.x / points.length, y: sum.y / points.length }
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
