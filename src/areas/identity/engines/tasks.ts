// SPDX-License-Identifier: Apache-2.0
// Tasks of the engines: inputs and results. Pictures go in as bytes and come back as base64 without metadata.
import { type Static, Type } from 'typebox'
import { task } from '../../../platform/compute.ts'
import { Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { flawNames } from './flaws.ts'
import type { Use } from './quality.ts'

const Box = Type.Object({ x: Type.Number(), y: Type.Number(), width: Type.Number(), height: Type.Number() })

/** Place on a picture as it is stored: left, top, width and height as parts of its sides. */
const Region = Type.Object({
  image: OneOf(['document_front', 'document_back']),
  box: Type.Array(Type.Number(), { minItems: 4, maxItems: 4 }),
})
export type Region = Static<typeof Region>

const Quality = Type.Object({
  sharpness: Type.Number(),
  brightness: Type.Number(),
  glare: Type.Number(),
  width: Type.Integer(),
  height: Type.Integer(),
  problems: Type.Array(Type.String({ maxLength: 20 }), { maxItems: 8 }),
})

/** What is wrong at a place of a picture: left, top, width and height as parts of its sides. */
export const Flaws = Type.Array(
  Type.Object({
    problem: OneOf(flawNames, { description: 'Kind of problem' }),
    box: Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'Left, top, width and height, as fractions of the sides of the submitted picture',
    }),
  }),
  { maxItems: 24 },
)
export type Flaws = Static<typeof Flaws>

const maxDescriptor = 2048

const FoundFace = Type.Object({
  box: Box,
  score: Type.Number(),
  eyeDistance: Type.Number(),
  isCut: Type.Boolean(),
  /** Descriptor of the largest face only. */
  descriptor: Nullable(Type.Array(Type.Number(), { maxItems: maxDescriptor })),
})
export type FoundFace = Static<typeof FoundFace>

const Faces = Type.Array(FoundFace, { maxItems: 20 })

const Examined = Type.Object({
  type: Type.String(),
  quality: Quality,
  editor: Nullable(Type.String({ maxLength: 40 })),
  /** Faces in the picture; null for documents, whose faces are found when they are read. */
  faces: Nullable(Faces),
  /** Places where something is wrong; none for faces. */
  flaws: Flaws,
  /** The picture again, upright and without metadata, as a JPEG in base64. */
  clean: Type.String(),
})
export type Examined = Static<typeof Examined>

export const examine = task<{ pictures: readonly { bytes: Uint8Array; use: Use }[] }>()({
  name: 'examine',
  answer: Type.Object({ pictures: Type.Array(Examined) }),
  timeoutMs: 120_000,
})

const Mrz = Type.Object({
  format: OneOf(['TD1', 'TD2', 'TD3', 'MRVA', 'MRVB']),
  lines: Type.Array(Type.String({ maxLength: 44 }), { minItems: 2, maxItems: 3 }),
  status: OneOf(['read', 'repaired', 'invalid']),
  failing: Type.Array(Type.String({ maxLength: 40 }), { maxItems: 90 }),
  confidence: Type.Number(),
  box: Box,
  region: Type.Optional(Region),
})

const TextLine = Type.Object({
  text: Type.String({ maxLength: 400 }),
  confidence: Type.Number(),
  box: Box,
  region: Type.Optional(Region),
})
export type TextLine = Static<typeof TextLine>

const ReadDocument = Type.Object({
  mrz: Nullable(Mrz),
  lines: Type.Array(TextLine, { maxItems: 120 }),
  barcodes: Type.Array(
    Type.Object({
      format: Type.String(),
      text: Type.String({ maxLength: 4000 }),
      /** Content that is no text, in base64. */
      bytes: Type.Optional(Type.String({ maxLength: 6000 })),
    }),
    { maxItems: 8 },
  ),
  faces: Faces,
  quality: Quality,
  /** Places where something is wrong, of either side. */
  flaws: Type.Object({ document_front: Flaws, document_back: Flaws }),
  isRecaptured: Nullable(Type.Boolean()),
  editor: Nullable(Type.String()),
  portrait: Nullable(Type.String()),
  portraitRegion: Type.Optional(Region),
  ocrEngine: Type.String(),
  faceEngine: Type.String(),
})
export type ReadDocument = Static<typeof ReadDocument>

export const readDocument = task<{ front: Uint8Array; back: Uint8Array | null; wantsPortrait: boolean }>()({
  name: 'readDocument',
  answer: ReadDocument,
  timeoutMs: 120_000,
})

const Frame = Type.Object({
  faces: Faces,
  measures: Nullable(
    Type.Object({
      yaw: Type.Number(),
      pitch: Type.Number(),
      eyeOpen: Type.Number(),
      mouthOpen: Type.Number(),
      mouthWidth: Type.Number(),
    }),
  ),
  /** Equal for pictures that look the same. */
  hash: Type.String({ maxLength: 16 }),
  /** Mean red, green and blue of the middle of the face, and of what is behind it; null without a face. */
  tones: Nullable(
    Type.Object({
      face: Type.Array(Type.Number(), { minItems: 3, maxItems: 3 }),
      behind: Type.Array(Type.Number(), { minItems: 3, maxItems: 3 }),
    }),
  ),
  /** Mean tones of the upper corners, behind the person. */
  corners: Type.Array(Type.Number(), { maxItems: 2 }),
  isRecaptured: Nullable(Type.Boolean()),
  quality: Quality,
})
export type Frame = Static<typeof Frame>

export const measureFrames = task<{ frames: readonly Uint8Array[] }>()({
  name: 'measureFrames',
  answer: Type.Object({ frames: Type.Array(Frame, { maxItems: 30 }), faceEngine: Type.String() }),
  timeoutMs: 120_000,
})
