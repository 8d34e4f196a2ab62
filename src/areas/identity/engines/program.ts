// SPDX-License-Identifier: Apache-2.0
// Process of the engines: decodes pictures and runs networks, one task at a time. The optional first argument is an
// operator's face model.
import { Type } from 'typebox'
import Value from 'typebox/value'
import { serveTasks } from '../../../platform/compute/serve.ts'
import { type Barcode, readBarcodes } from './barcodes.ts'
import { descriptorFrom, type Face, findFaces } from './faces/faces.ts'
import { findMesh, measure } from './faces/mesh.ts'
import { clip, crop, decode, encode, type Grey, greyOf, type Image, resize } from './image.ts'
import { type MrzOnPage, readMrz } from './mrz/read.ts'
import { readText, type TextLine } from './ocr.ts'
import { EngineProblem } from './problem.ts'
import { qualityOf } from './quality.ts'
import { looksRecaptured } from './recapture.ts'

/** Longest side for reading documents: a larger one does not help. */
const documentSide = 2_000
const faceSide = 1_600

const descriptor = descriptorFrom(process.argv[2] || null)

const Bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array)
const inputs = {
  examine: Type.Object({
    pictures: Type.Array(Type.Object({ bytes: Bytes, use: Type.Enum(['document', 'face']) })),
  }),
  readDocument: Type.Object({
    front: Bytes,
    back: Type.Union([Bytes, Type.Null()]),
    wantsPortrait: Type.Boolean(),
  }),
  measureFrames: Type.Object({ frames: Type.Array(Bytes) }),
}

serveTasks(
  {
    examine: async (input) => {
      const { pictures } = Value.Parse(inputs.examine, input)
      const examined = []
      for (const [i, { bytes, use }] of pictures.entries()) {
        const { image, findings } = await decoded(bytes, use === 'face' ? faceSide : documentSide, i)
        const quality = await qualityOf(image, use)
        // The size is judged as sent, not as scaled.
        const faces = use === 'face' ? await described(image) : null
        const clean = (await encode(image)).toString('base64')
        examined.push({ type: findings.type, quality, editor: findings.editor, faces, clean })
      }
      return { pictures: examined }
    },
    readDocument: async (input) => {
      const { front, back, wantsPortrait } = Value.Parse(inputs.readDocument, input)
      const { image, findings } = await decoded(front, documentSide, 0)
      const grey = greyOf(image)
      const onFront = await readSide(image, grey)
      const other = back && (await decoded(back, documentSide, 1)).image
      const onBack = other && (await readSide(other, greyOf(other)))
      const faces = await described(image)
      return {
        mrz: onFront.mrz ?? onBack?.mrz ?? null,
        lines: [...onFront.lines, ...(onBack?.lines ?? [])],
        barcodes: [...onFront.barcodes, ...(onBack?.barcodes ?? [])],
        faces,
        quality: await qualityOf(image, 'document'),
        isRecaptured: looksRecaptured(grey),
        editor: findings.editor,
        portrait: wantsPortrait ? await portraitOf(image, faces[0]) : null,
        ocrEngine: 'mrz-1, ppocr-v4-mobile',
        faceEngine: descriptor.name,
      }
    },
    measureFrames: async (input) => {
      const frames = []
      for (const [i, bytes] of Value.Parse(inputs.measureFrames, input).frames.entries())
        frames.push(await measureFrame((await decoded(bytes, faceSide, i)).image))
      return { frames, faceEngine: descriptor.name }
    },
  },
  (problem) => {
    if (!(problem instanceof EngineProblem)) return null
    if (problem.code === 'package_missing') endSoon()
    return { code: problem.code, message: problem.message, picture: problem.picture }
  },
)

/** Node caches failed package lookups: exit, so that the next process finds a newly installed one. */
function endSoon(): void {
  setTimeout(() => process.exit(0), 100)
}

/** Decode a picture; an error names its index. */
async function decoded(bytes: Uint8Array, maxSide: number, picture: number) {
  try {
    return await decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), maxSide)
  } catch (problem) {
    if (!(problem instanceof EngineProblem)) throw problem
    throw new EngineProblem(problem.code, problem.message, { cause: problem, picture })
  }
}

/** The zone is read first: its lines are left out of OCR, which takes most of the time. */
async function readSide(
  image: Image,
  grey: Grey,
): Promise<{ mrz: MrzOnPage | null; lines: TextLine[]; barcodes: Barcode[] }> {
  const mrz = await readMrz(grey)
  return { mrz, lines: await readText(image, mrz?.box ?? null), barcodes: await readBarcodes(image) }
}

/** Faces of a picture with descriptors, largest first. */
async function described(image: Image) {
  const faces = await findFaces(image)
  const largest = faces[0] && (await descriptor.describe(image, faces[0]))
  return faces.map(({ box, score, eyeDistance, isCut }, i) => ({
    box,
    score,
    eyeDistance,
    isCut,
    descriptor: i === 0 && largest ? [...largest] : null,
  }))
}

async function portraitOf(image: Image, face: Pick<Face, 'box'> | undefined): Promise<string | null> {
  if (!face) return null
  const { x, y, width, height } = face.box
  const box = clip({ x: x - width * 0.25, y: y - height * 0.35, width: width * 1.5, height: height * 1.6 }, image)
  return box && (await encode(crop(image, box))).toString('base64')
}

async function measureFrame(image: Image) {
  const grey = greyOf(image)
  const faces = await described(image)
  const points = faces[0] ? await findMesh(image, faces[0].box) : null
  return {
    faces,
    measures: points && measure(points),
    hash: await perceptualHash(grey),
    corners: cornersOf(grey),
    isRecaptured: looksRecaptured(grey),
    quality: await qualityOf(image, 'face'),
  }
}

/** Perceptual hash: 64 comparisons of neighbours on a 9 x 8 grid, in hexadecimal; equal for similar pictures. */
async function perceptualHash(grey: Grey): Promise<string> {
  const { data } = await resize(grey, 9, 8)
  let bits = 0n
  for (let row = 0; row < 8; row++)
    for (let column = 0; column < 8; column++)
      bits = (bits << 1n) | ((data[row * 9 + column] ?? 0) < (data[row * 9 + column + 1] ?? 0) ? 1n : 0n)
  return bits.toString(16).padStart(16, '0')
}

function cornersOf(grey: Grey): number[] {
  const side = Math.max(1, Math.floor(Math.min(grey.width, grey.height) / 8))
  return [0, grey.width - side].map((x) => {
    const { data } = crop(grey, { x, y: 0, width: side, height: side })
    return data.reduce((sum, value) => sum + value, 0) / data.length
  })
}
