// SPDX-License-Identifier: Apache-2.0
// Images: type detection by signature, size from the header, decoding upright without metadata, cropping and scaling.
// Runs in the engines' process only, because decoders are exposed to hostile files.
import type { Sharp, SharpOptions } from 'sharp'
import { lazily } from './inference.ts'
import { EngineProblem } from './problem.ts'

/** Pixels row by row, three bytes each: red, green, blue. */
export interface Image {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

/** Pixels row by row, one byte each. */
export type Grey = Image

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Most pixels that are read, which a telephone's camera of 12 megapixels has. */
const maxPixels = 12_600_000
/** JPEG and WebP pictures are made smaller while they are read, so that larger ones cost little more. */
const maxShrunkPixels = 50_500_000
const minSide = 32
/** Images with this profile are already sRGB: converting changed no pixel and took twice as long as decoding. */
const srgbProfile = 'sRGB IEC61966'

const signatures: readonly { type: string; matches(bytes: Buffer): boolean }[] = [
  { type: 'image/jpeg', matches: (bytes) => bytes.readUIntBE(0, 3) === 0xffd8ff },
  { type: 'image/png', matches: (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex')) },
  {
    type: 'image/webp',
    matches: (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
  },
]

/** Type of a file by signature; null when not supported. */
function sniff(bytes: Buffer): string | null {
  if (bytes.length < 16) return null
  return signatures.find(({ matches }) => matches(bytes))?.type ?? null
}

const decoder = lazily(async () => {
  const { default: sharp } = await import('sharp').catch((cause) => {
    throw new EngineProblem('package_missing', 'The package sharp is not installed. Run: npm install sharp', { cause })
  })
  sharp.cache(false)
  sharp.concurrency(1)
  // Allow only the three supported formats of the many sharp reads.
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
  })
  return sharp
})

/** Metadata traces of programs and cameras. */
interface Findings {
  readonly type: string
  /** Stored size, before rotation. */
  readonly width: number
  readonly height: number
  /** Editor named in the metadata. */
  readonly editor: string | null
}

export interface Decoded {
  readonly image: Image
  readonly findings: Findings
}

/** Decodes upright (EXIF), without transparency, as sRGB, at most `maxSide` on the longest side. */
export async function decode(bytes: Buffer, maxSide: number): Promise<Decoded> {
  const type = sniff(bytes)
  if (!type) throw new EngineProblem('image_type', 'not a JPEG, PNG or WebP picture')
  const sharp = await decoder()
  const { width, height, icc, exif, xmp } = await headerOf(sharp, bytes)
  const most = type === 'image/png' ? maxPixels : maxShrunkPixels
  if (width * height > most)
    throw new EngineProblem('image_too_large', `${width} x ${height} is more than ${most / 1e6} million pixels`)
  if (Math.min(width, height) < minSide)
    throw new EngineProblem('image_too_small', `${width} x ${height} is too small to show anything`)
  const ignoreIcc = icc?.includes(srgbProfile) ?? false
  const picture = sharp(bytes, { failOn: 'error', limitInputPixels: most, ignoreIcc, pages: 1 })
    .autoOrient()
    .resize(maxSide, maxSide, { fit: 'inside', withoutEnlargement: true })
  return { image: await pixels(picture), findings: { type, width, height, editor: editorOf(exif, xmp) } }
}

async function headerOf(sharp: (file: Buffer, options?: SharpOptions) => Sharp, bytes: Buffer) {
  try {
    return await sharp(bytes, { limitInputPixels: false, pages: 1 }).metadata()
  } catch (cause) {
    throw new EngineProblem('image_unreadable', 'the header of the picture cannot be read', { cause })
  }
}

async function pixels(picture: Sharp): Promise<Image> {
  try {
    const { data, info } = await picture
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true })
    return { width: info.width, height: info.height, data: info.channels === 3 ? data : threeChannels(data) }
  } catch (cause) {
    throw new EngineProblem('image_unreadable', 'the picture is damaged or cut short', { cause })
  }
}

/** A grey picture with the three channels that networks want. */
export function threeChannels(data: Uint8Array): Uint8Array {
  const out = new Uint8Array(data.length * 3)
  for (let i = 0; i < data.length; i++) out.fill(data[i] ?? 0, i * 3, i * 3 + 3)
  return out
}

const editors = /Photoshop|GIMP|Affinity|Pixelmator|Lightroom|Canva|PicsArt|Snapseed|Paint\.NET|Inkscape|Figma/

function editorOf(exif: Buffer | undefined, xmp: Buffer | undefined): string | null {
  const text = `${exif?.toString('latin1') ?? ''}${xmp?.toString('latin1') ?? ''}`
  return editors.exec(text)?.[0] ?? null
}

/** JPEG without metadata. */
export async function encode({ data, width, height }: Image, quality = 92): Promise<Buffer> {
  const sharp = await decoder()
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer()
}

/** Resizes to exactly this size. */
export async function resize(image: Image, width: number, height: number): Promise<Image> {
  const sharp = await decoder()
  const raw = { width: image.width, height: image.height, channels: channelsOf(image) }
  const { data } = await sharp(image.data, { raw })
    .resize(width, height, { fit: 'fill' })
    .raw()
    .toBuffer({ resolveWithObject: true })
  return channelsOf(image) === 1 && data.length === width * height * 3
    ? greyOf({ width, height, data })
    : { width, height, data }
}

/** A picture rotated clockwise by degrees, on a larger canvas, around its middle. */
export async function rotated(image: Image, degrees: number): Promise<Image> {
  const sharp = await decoder()
  const raw = { width: image.width, height: image.height, channels: channelsOf(image) }
  const { data, info } = await sharp(image.data, { raw })
    .rotate(degrees, { background: '#808080' })
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, data }
}

function channelsOf({ width, height, data }: Image): 1 | 3 {
  return data.length === width * height ? 1 : 3
}

/** Luminance (ITU-R BT.601). */
export function greyOf({ width, height, data }: Image): Grey {
  const out = new Uint8Array(width * height)
  for (let i = 0, from = 0; i < out.length; i++, from += 3)
    out[i] = (299 * (data[from] ?? 0) + 587 * (data[from + 1] ?? 0) + 114 * (data[from + 2] ?? 0)) / 1000
  return { width, height, data: out }
}

/** Whole pixels of a box that lie inside the picture; null if none do. */
export function clip(box: Box, image: Image): Box | null {
  const left = Math.max(box.x, 0)
  const top = Math.max(box.y, 0)
  const width = Math.floor(Math.min(box.x + box.width - left, image.width - left))
  const height = Math.floor(Math.min(box.y + box.height - top, image.height - top))
  return width > 0 && height > 0 ? { x: Math.floor(left), y: Math.floor(top), width, height } : null
}

/** The part of a picture inside a clipped box. */
export function crop(image: Image, { x, y, width, height }: Box): Image {
  const channels = channelsOf(image)
  const data = new Uint8Array(width * height * channels)
  for (let row = 0; row < height; row++) {
    const from = ((y + row) * image.width + x) * channels
    data.set(image.data.subarray(from, from + width * channels), row * width * channels)
  }
  return { width, height, data }
}

/** The picture turned clockwise. */
export function turned(image: Image, degrees: 0 | 90 | 180 | 270): Image {
  if (degrees === 0) return image
  const { width, height, data } = image
  const channels = channelsOf(image)
  const isSideways = degrees !== 180
  const [newWidth, newHeight] = isSideways ? [height, width] : [width, height]
  const out = new Uint8Array(data.length)
  for (let y = 0, from = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [column, row] =
        degrees === 90 ? [height - 1 - y, x] : degrees === 180 ? [width - 1 - x, height - 1 - y] : [y, width - 1 - x]
      const to = (row * newWidth + column) * channels
      for (let channel = 0; channel < channels; channel++) out[to + channel] = data[from++] ?? 0
    }
  return { width: newWidth, height: newHeight, data: out }
}

/**
 * Cuts a clipped box out of a picture, makes it square with black, scales it to `side` and normalises it:
 * (value - mean) / 255, all red first, then green, then blue. `isCentred` puts half of the black on either side, otherwise
 * all of it lies right or below. Scaling is bilinear between the two nearest pixels, measured from pixel corners and
 * without smoothing, because that is how the networks' figures were measured.
 */
export function toBlob(
  { data, width }: Image,
  box: Box,
  side: number,
  mean: readonly number[],
  isCentred: boolean,
): Float32Array {
  const square = Math.max(box.width, box.height)
  const columns = taps(box.x, box.width, square, side, isCentred)
  const rows = taps(box.y, box.height, square, side, isCentred)
  const plane = side * side
  const out = new Float32Array(3 * plane)
  const stride = width * 3
  for (const channel of [0, 1, 2]) {
    const shift = mean[channel] ?? 0
    for (let y = 0, to = channel * plane; y < side; y++) {
      const row = rows[y] ?? nothing
      const top = row.first * stride + channel
      const bottom = row.second * stride + channel
      for (let x = 0; x < side; x++, to++) {
        const column = columns[x] ?? nothing
        const left = column.first * 3
        const right = column.second * 3
        const above = (data[top + left] ?? 0) * column.firstPart + (data[top + right] ?? 0) * column.secondPart
        const below = (data[bottom + left] ?? 0) * column.firstPart + (data[bottom + right] ?? 0) * column.secondPart
        out[to] = (above * row.firstPart + below * row.secondPart - shift) / 255
      }
    }
  }
  return out
}

/** Two source positions around a target position with their weights. */
interface Tap {
  readonly first: number
  readonly second: number
  readonly firstPart: number
  readonly secondPart: number
}

const nothing: Tap = { first: 0, second: 0, firstPart: 0, secondPart: 0 }

/** For each target position its sources; black has no part. */
function taps(start: number, length: number, square: number, side: number, isCentred: boolean): Tap[] {
  const before = isCentred ? square - length - Math.round((square - length) / 2) : 0
  const step = square / side
  const isInside = (position: number) => position >= before && position < before + length
  return Array.from({ length: side }, (_, i) => {
    const position = i * step
    const low = Math.floor(position)
    const high = Math.min(low + 1, square - 1)
    const part = position - low
    return {
      first: isInside(low) ? start + low - before : 0,
      second: isInside(high) ? start + high - before : 0,
      firstPart: isInside(low) ? 1 - part : 0,
      secondPart: isInside(high) ? part : 0,
    }
  })
}
