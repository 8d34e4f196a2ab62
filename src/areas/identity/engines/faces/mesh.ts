// SPDX-License-Identifier: Apache-2.0
// 468 points of a face in three dimensions, and the measures by which a turn, a nod, a blink, a smile or an open mouth is
// told. The model is the face mesh of the npm package @vladmandic/human 3.3.6.
import { join } from 'node:path'
import { type Box, clip, type Image, toBlob } from '../image.ts'
import { lazily } from '../inference.ts'
import { convertGraphModel } from '../nets/graph-model.ts'
import { openNetwork } from '../nets/runtime.ts'
import { packageFolder } from '../nets/weights.ts'

export interface MeshPoint {
  readonly x: number
  readonly y: number
  readonly z: number
}

/** Angles in radians; openings as parts of a width. A face that looks to the left of the picture has a negative yaw. */
export interface Measures {
  readonly yaw: number
  readonly pitch: number
  readonly eyeOpen: number
  readonly mouthOpen: number
  /** Width of the mouth, as a part of the distance between the outer corners of the eyes. */
  readonly mouthWidth: number
}

const meshPackage = '@vladmandic/human'
const meshSha256 = '1e20089806a7835db965d4babd67f07d93dff9965e27d92c8b40ef57653cff0f'
const side = 192
/** The model wants a quarter of the face's size around it on each side. */
const room = 1.5
const outputs = { score: 'Identity_1', points: 'Identity_2' } as const

const mesh = lazily(async () => {
  const file = join(packageFolder(meshPackage), 'models', 'facemesh.json')
  const model = await convertGraphModel(file, meshSha256, [1, 3, side, side], Object.values(outputs))
  return openNetwork('facemesh', model, 'input')
})

export interface Mesh {
  readonly points: readonly MeshPoint[]
  /** How sure the model is that there is a face at all, 0 to 1. */
  readonly score: number
}

/** Points of the face in a box, in pixels of the picture; null if no pixel of the box lies in it. */
export async function findMesh(image: Image, box: Box): Promise<Mesh | null> {
  const crop = clip(withRoom(box), image)
  if (!crop) return null
  const network = await mesh()
  const found = await network.run(toBlob(image, crop, side, [0, 0, 0], true), [1, 3, side, side])
  return { points: toPoints(found(outputs.points).data, crop), score: found(outputs.score).data[0] ?? 0 }
}

function withRoom({ x, y, width, height }: Box): Box {
  const wide = Math.max(width, height) * room
  return { x: x + width / 2 - wide / 2, y: y + height / 2 - wide / 2, width: wide, height: wide }
}

function toPoints(numbers: Float32Array, crop: Box): MeshPoint[] {
  const square = Math.max(crop.width, crop.height)
  const scale = square / side
  const left = crop.x - (square - crop.width) / 2
  const top = crop.y - (square - crop.height) / 2
  return Array.from({ length: numbers.length / 3 }, (_, i) => ({
    x: (numbers[3 * i] ?? 0) * scale + left,
    y: (numbers[3 * i + 1] ?? 0) * scale + top,
    z: (numbers[3 * i + 2] ?? 0) * scale,
  }))
}

/** Numbers of points in the mesh; left and right as seen in the picture. Eyes: corner, two above, corner, two below. */
const leftEye = [33, 160, 158, 133, 153, 144]
const rightEye = [362, 385, 387, 263, 373, 380]
const lips = { left: 61, right: 291, innerLeft: 78, innerRight: 308, upper: 13, lower: 14 }
const cheeks = { left: 234, right: 454 }
const brow = 10
const chin = 152

/**
 * Measures of a face, mean of two looks: in the box of the detector, and in the box of the points that were found there. The
 * detector's box wanders with the light, and with a single look a blink was 0.5 to 2.3 times as far as is asked.
 */
export async function measuresOf(image: Image, points: readonly MeshPoint[]): Promise<Measures> {
  const first = measure(points)
  const mesh = await findMesh(image, boxAround(points))
  const second = mesh ? measure(mesh.points) : first
  const mean = (name: keyof Measures) => (first[name] + second[name]) / 2
  return {
    yaw: mean('yaw'),
    pitch: mean('pitch'),
    eyeOpen: mean('eyeOpen'),
    mouthOpen: mean('mouthOpen'),
    mouthWidth: mean('mouthWidth'),
  }
}

function boxAround(points: readonly MeshPoint[]): Box {
  const [columns, rows] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const [x, y] = [Math.min(...columns), Math.min(...rows)]
  return { x, y, width: Math.max(...columns) - x, height: Math.max(...rows) - y }
}

function measure(points: readonly MeshPoint[]): Measures {
  const at = (index: number): MeshPoint => points[index] ?? { x: 0, y: 0, z: 0 }
  const [left, right, top, bottom] = [at(cheeks.left), at(cheeks.right), at(brow), at(chin)]
  const eyes = [leftEye, rightEye].map((eye) => opening(eye.map(at)))
  return {
    yaw: Math.atan2(right.z - left.z, right.x - left.x),
    pitch: Math.atan2(bottom.z - top.z, bottom.y - top.y),
    eyeOpen: eyes.reduce((sum, eye) => sum + eye, 0) / eyes.length,
    mouthOpen: apart(at(lips.upper), at(lips.lower)) / apart(at(lips.innerLeft), at(lips.innerRight)),
    mouthWidth: apart(at(lips.left), at(lips.right)) / apart(at(33), at(263)),
  }
}

function opening(eye: readonly MeshPoint[]): number {
  const nowhere = { x: 0, y: 0, z: 0 }
  const [corner = nowhere, above = nowhere, beside = nowhere, other = nowhere, below = nowhere, under = nowhere] = eye
  return (apart(above, under) + apart(beside, below)) / (2 * apart(corner, other))
}

/** In three dimensions, so that a turned head does not look like a narrower mouth. */
function apart(a: MeshPoint, b: MeshPoint): number {
  return Math.max(Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z), 1e-6)
}
