// SPDX-License-Identifier: Apache-2.0
// Process of the engines: decodes pictures and runs networks, one task at a time. The optional first argument is an
// operator's face model.
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import Value from 'typebox/value'
import { serveTasks } from '../../../platform/compute/serve.ts'
import { type Barcode, readBarcodes } from './barcodes.ts'
import { descriptorFrom, type Face, findFaces } from './faces/faces.ts'
import { measuresOf } from './faces/mesh.ts'
import { cutEdges, type Flaw, flawsOf } from './flaws.ts'
import { type Box, clip, crop, decode, encode, type Grey, greyOf, type Image, threeChannels, turned } from './image.ts'
import { type MrzOnPage, readMrz } from './mrz/read.ts'
import { readText, type TextLine } from './ocr.ts'
import { EngineProblem } from './problem.ts'
import { qualityOf } from './quality.ts'
import { looksRecaptured } from './recapture.ts'
import type { Region } from './tasks.ts'

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
        const flaws = use === 'document' ? await flawsOf(image) : []
        examined.push({ type: findings.type, quality, editor: findings.editor, faces, flaws, clean })
      }
      return { pictures: examined }
    },
    readDocument: async (input) => {
      const { front, back, wantsPortrait } = Value.Parse(inputs.readDocument, input)
      const { image: held, findings } = await decoded(front, documentSide, 0)
      const { image, faces, turn, ...onFront } = await readFront(held)
      const other = back && (await decoded(back, documentSide, 1)).image
      const onBack = other && (await readBack(other))
      return {
        mrz: onFront.mrz ?? onBack?.mrz ?? null,
        lines: [...onFront.lines, ...(onBack?.lines ?? [])],
        barcodes: [...onFront.barcodes, ...(onBack?.barcodes ?? [])],
        faces,
        quality: await qualityOf(image, 'document'),
        flaws: {
          document_front: await flawsOfSide(held, onFront),
          document_back: other && onBack ? await flawsOfSide(other, onBack) : [],
        },
        isRecaptured: looksRecaptured(greyOf(held)),
        editor: findings.editor,
        portrait: wantsPortrait ? await portraitOf(image, faces[0]) : null,
        ...(faces[0] ? { portraitRegion: regionOf('document_front', held, turn, faces[0].box) } : {}),
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

/** Decodes a picture; an error names its index. */
async function decoded(bytes: Uint8Array, maxSide: number, picture: number) {
  try {
    return await decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), maxSide)
  } catch (problem) {
    if (!(problem instanceof EngineProblem)) throw problem
    throw new EngineProblem(problem.code, problem.message, { cause: problem, picture })
  }
}

type Turn = MrzOnPage['turn']

interface Side {
  readonly mrz: (MrzOnPage & { readonly region: Region }) | null
  readonly lines: (TextLine & { readonly region: Region })[]
  readonly barcodes: Barcode[]
}

/** The side with the face: its zone says which way it was held, or else the face does. */
async function readFront(held: Image) {
  const mrz = await readMrz(greyOf(held))
  const { image, turn, found } = mrz ? await facesAt(held, mrz.turn) : await upright(held)
  const side = await readSide('document_front', held, image, turn, mrz)
  return { image, turn, faces: await described(image, found), ...side }
}

async function facesAt(held: Image, turn: Turn) {
  const image = turned(held, turn)
  return { image, turn, found: await findFaces(image) }
}

/** A picture the way round in which its face is seen best: an upside-down one is seen too, but less surely. */
async function upright(held: Image) {
  const certainty = ({ found }: { found: readonly Face[] }) => found[0]?.certainty ?? 0
  let best = await facesAt(held, 0)
  for (const turn of [90, 180, 270] as const) {
    const other = await facesAt(held, turn)
    if (certainty(other) > certainty(best)) best = other
  }
  return best
}

async function readBack(held: Image): Promise<Side> {
  const mrz = await readMrz(greyOf(held))
  const turn = mrz?.turn ?? 0
  return readSide('document_back', held, turned(held, turn), turn, mrz)
}

/** The lines of the zone are left out of OCR, which takes most of the time. */
async function readSide(
  name: Region['image'],
  held: Image,
  image: Image,
  turn: Turn,
  mrz: MrzOnPage | null,
): Promise<Side> {
  const region = (box: Box) => regionOf(name, held, turn, box)
  const { straight, lines, back } = await readText(image, mrz?.box ?? null)
  return {
    mrz: mrz && { ...mrz, region: region(mrz.box) },
    lines: lines.map((line) => ({ ...line, region: region(back(line.box)) })),
    // The page of a passport has none that matters.
    barcodes: mrz?.format === 'TD3' ? [] : await readBarcodes(straight),
  }
}

/** What is wrong on a side as it was held, with the edges that cut its print. */
async function flawsOfSide(held: Image, { mrz, lines }: Side): Promise<Flaw[]> {
  const regions = [...(mrz ? [mrz.region] : []), ...lines.map(({ region }) => region)]
  const boxes = regions.map(({ box: [x = 0, y = 0, width = 0, height = 0] }) => ({
    ...{ x: x * held.width, y: y * held.height },
    ...{ width: width * held.width, height: height * held.height },
  }))
  return [...(await flawsOf(held)), ...cutEdges(boxes, held)]
}

/** Where a box of a turned picture lies on the picture as it was held. */
function regionOf(image: Region['image'], held: Image, turn: Turn, { x, y, width, height }: Box): Region {
  const isSideways = turn === 90 || turn === 270
  const [across, down] = isSideways ? [held.height, held.width] : [held.width, held.height]
  const [left, top, wide, high] = [x / across, y / down, width / across, height / down]
  const box = {
    0: [left, top, wide, high],
    90: [top, 1 - left - wide, high, wide],
    180: [1 - left - wide, 1 - top - high, wide, high],
    270: [1 - top - high, left, high, wide],
  }[turn]
  return { image, box: box.map((part) => Math.round(Math.min(1, Math.max(0, part)) * 10_000) / 10_000) }
}

/** Faces of a picture with descriptors, largest first. */
async function described(image: Image, found?: readonly Face[]) {
  const faces = found ?? (await findFaces(image))
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
  const inColour = await findFaces(image)
  // The detector does not see a face on which the screen shines green: its shape is the same without colours.
  const found = inColour.length > 0 ? inColour : await findFaces({ ...grey, data: threeChannels(grey.data) })
  const [largest] = found
  return {
    faces: await described(image, found),
    measures: largest ? await measuresOf(image, largest.mesh) : null,
    hash: hashOf(grey),
    tones: largest ? tonesOf(image, largest.box) : null,
    corners: cornersOf(grey),
    isRecaptured: looksRecaptured(grey),
    quality: await qualityOf(image, 'face'),
  }
}

/** Hash of what is shown: equal for one picture that is sent twice, and for no two of a camera, however still one sits. */
function hashOf({ data }: Grey): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 16)
}

/** Mean colours of the middle of a face, and of the upper corners of the picture. */
function tonesOf(image: Image, { x, y, width, height }: Box) {
  const middle = clip({ x: x + width * 0.2, y: y + height * 0.25, width: width * 0.6, height: height * 0.5 }, image)
  const side = Math.max(1, Math.floor(Math.min(image.width, image.height) / 8))
  const corners = [0, image.width - side].map((left) => crop(image, { x: left, y: 0, width: side, height: side }))
  const [left, right] = corners.map(meanColour)
  return middle && left && right
    ? { face: meanColour(crop(image, middle)), behind: left.map((value, i) => (value + (right[i] ?? 0)) / 2) }
    : null
}

function meanColour({ data }: Image): number[] {
  const sums = [0, 0, 0]
  for (let i = 0; i < data.length; i++) sums[i % 3] = (sums[i % 3] ?? 0) + (data[i] ?? 0)
  return sums.map((sum) => sum / (data.length / 3))
}

function cornersOf(grey: Grey): number[] {
  const side = Math.max(1, Math.floor(Math.min(grey.width, grey.height) / 8))
  return [0, grey.width - side].map((x) => {
    const { data } = crop(grey, { x, y: 0, width: side, height: side })
    return data.reduce((sum, value) => sum + value, 0) / data.length
  })
}
