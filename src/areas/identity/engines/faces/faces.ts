// SPDX-License-Identifier: Apache-2.0
// Face pipeline: detector, landmarks, descriptor. Networks are loaded at first use.
import { readFile } from 'node:fs/promises'
import { type Box, clip, type Image, toBlob } from '../image.ts'
import { lazily } from '../inference.ts'
import { buildModel, descriptorNet, detectorNet, landmarksNet } from '../nets/face-nets.ts'
import { type Network, openNetwork } from '../nets/runtime.ts'
import { EngineProblem } from '../problem.ts'
import { detect } from './detect.ts'
import { alignedBox, distance, eyesOf, findLandmarks, type Landmarks } from './landmarks.ts'
import { findMesh, type MeshPoint } from './mesh.ts'

export interface Face {
  readonly box: Box
  readonly score: number
  readonly eyeDistance: number
  /** The box crosses the edge of the picture: a cut face does not identify its owner. */
  readonly isCut: boolean
  readonly landmarks: Landmarks
  readonly mesh: readonly MeshPoint[]
  /** How sure both models are of it, 0 to 1: most where it is upright. */
  readonly certainty: number
}

/** Face descriptor: a vector whose Euclidean distance separates people on the bundled engine's scale. */
export interface Descriptor {
  readonly name: string
  describe(image: Image, face: Face): Promise<Float32Array | null>
}

const detector = lazily(async () => openNetwork(detectorNet.manifest, await buildModel(detectorNet), 'input'))
const landmarks = lazily(async () => openNetwork(landmarksNet.manifest, await buildModel(landmarksNet), 'input'))
const bundled = lazily(async () => openNetwork(descriptorNet.manifest, await buildModel(descriptorNet), 'input'))

/** Detector input size; at 224 only a fifth of the faces in group pictures were found. */
const detectorSide = 416

/** The detector also finds faces in stripes and bars, where the mesh sees none: 0.00 there, and 1.00 in every specimen. */
const leastMesh = 0.2

/** Faces of a picture, largest first. */
export async function findFaces(image: Image): Promise<Face[]> {
  const found = await detect(await detector(), image, detectorSide)
  const network = await landmarks()
  const faces: Face[] = []
  for (const { box, score } of found) {
    const points = await findLandmarks(network, image, box)
    const mesh = points && (await findMesh(image, box))
    if (!mesh || mesh.score < leastMesh) continue
    const { leftEye, rightEye } = eyesOf(points)
    const eyeDistance = distance(leftEye, rightEye)
    const certainty = score * mesh.score
    faces.push({ box, score, eyeDistance, isCut: isCut(box, image), landmarks: points, mesh: mesh.points, certainty })
  }
  return faces.sort((a, b) => b.box.width * b.box.height - a.box.width * a.box.height)
}

/** A face with a tenth of its box outside was 0.21 away from itself (median of 173), one with a fifth 0.42. */
const tolerableCut = 0.03

function isCut({ x, y, width, height }: Box, image: Image): boolean {
  const room = tolerableCut * Math.max(width, height)
  return x < -room || y < -room || x + width > image.width + room || y + height > image.height + room
}

const dlib: Descriptor = {
  name: 'dlib-resnet-128',
  async describe(image, face) {
    const box = clip(alignedBox(face.landmarks), image)
    if (!box) return null
    const side = descriptorNet.side ?? 150
    const outputs = await (await bundled()).run(toBlob(image, box, side, descriptorNet.mean, true), [1, 3, side, side])
    return outputs('output').data
  },
}

const ownSide = 112

/**
 * An operator's own ArcFace-style model: 112 x 112, (value - 127.5) / 127.5, any number of outputs. Its vectors are
 * brought to length one and halved, so that the distance of two lies between 0 and 1 and is calibrated like the bundled one's.
 */
function ownDescriptor(file: string): Descriptor {
  const network: () => Promise<Network> = lazily(async () => openNetwork(file, await readModel(file), 'input'))
  return {
    name: `own:${file.split('/').at(-1)}`,
    async describe(image, face) {
      const box = clip(alignedBox(face.landmarks), image)
      if (!box) return null
      const blob = toBlob(image, box, ownSide, [127.5, 127.5, 127.5], true).map((value) => value * 2)
      const { data } = (await (await network()).run(blob, [1, 3, ownSide, ownSide]))('output')
      const length = Math.hypot(...data) || 1
      return data.map((value) => value / length / 2)
    },
  }
}

async function readModel(file: string): Promise<Buffer> {
  return readFile(file).catch((cause) => {
    throw new EngineProblem('model_damaged', `the face model ${file} cannot be read`, { cause })
  })
}

/** Descriptor in use: the operator's model file, or the bundled one. */
export function descriptorFrom(file: string | null): Descriptor {
  return file ? ownDescriptor(file) : dlib
}
