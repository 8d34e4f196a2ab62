// SPDX-License-Identifier: Apache-2.0
// Line finder: from the network's map to straightened line images, 32 pixels high. The map gives, for each cell of 4 x
// 4 pixels, the probability of a line of the zone; lines may be tilted, curved and broken by glare.
import type { Grey } from '../image.ts'

/** Centre line y = a + b u + c u² with u = (x - middle) / half, from left to right, with letters of height `cap`. */
export interface Line {
  readonly left: number
  readonly right: number
  readonly middle: number
  readonly half: number
  readonly a: number
  readonly b: number
  readonly c: number
  readonly cap: number
  readonly weight: number
}

/** Connected cells. */
interface Blob {
  readonly cells: readonly { x: number; y: number; p: number }[]
  readonly left: number
  readonly right: number
  readonly weight: number
}

const threshold = 0.4

/** Lines that are looked at: those of the zone, and other print close to it. */
const maxLines = 6

/** Lines that may be of the zone, top to bottom, in cells; empty when there is none. */
export function findLines(map: Float32Array, width: number, height: number): Line[] {
  const blobs = joinPieces(blobsOf(map, width, height).sort((p, q) => q.weight - p.weight))
  const lines = blobs.map(fit).filter((line): line is Line => line !== null && line.right - line.left > 9 * line.cap)
  const longest = Math.max(0, ...lines.map((line) => line.right - line.left))
  return lines
    .filter((line) => line.right - line.left > 0.6 * longest)
    .sort((p, q) => q.weight - p.weight)
    .slice(0, maxLines)
    .sort((p, q) => heightAt(p, p.middle) - heightAt(q, q.middle))
}

function blobsOf(map: Float32Array, width: number, height: number): Blob[] {
  const seen = new Uint8Array(width * height)
  const blobs: Blob[] = []
  for (let i = 0; i < seen.length; i++) {
    if (seen[i] || (map[i] ?? 0) < threshold) continue
    const blob = flood(map, width, height, i, seen)
    if (blob.right - blob.left >= 4 && blob.weight >= 5) blobs.push(blob)
  }
  return blobs
}

function flood(map: Float32Array, width: number, height: number, start: number, seen: Uint8Array): Blob {
  const cells: { x: number; y: number; p: number }[] = []
  const stack = [start]
  seen[start] = 1
  for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
    const x = cell % width
    const y = (cell - x) / width
    cells.push({ x, y, p: map[cell] ?? 0 })
    for (let down = -1; down <= 1; down++)
      for (let right = -1; right <= 1; right++) {
        const [nextX, nextY] = [x + right, y + down]
        if (nextX < 0 || nextY < 0 || nextX >= width || nextY >= height) continue
        const next = nextY * width + nextX
        if (seen[next] || (map[next] ?? 0) < threshold) continue
        seen[next] = 1
        stack.push(next)
      }
  }
  return blobOf(cells)
}

function blobOf(cells: Blob['cells']): Blob {
  let [left, right, weight] = [Number.POSITIVE_INFINITY, 0, 0]
  for (const { x, p } of cells) {
    left = Math.min(left, x)
    right = Math.max(right, x + 1)
    weight += p
  }
  return { cells, left, right, weight }
}

/** Joins pieces of one line that glare or folds broke. */
function joinPieces(blobs: readonly Blob[]): Blob[] {
  const joined = [...blobs]
  for (let i = 0; i < joined.length; i++)
    for (let j = i + 1; j < joined.length; j++) {
      const [first, second] = [joined[i], joined[j]]
      if (!first || !second || !isContinued(first, second)) continue
      joined[i] = blobOf([...first.cells, ...second.cells])
      joined.splice(j, 1)
      j = i
    }
  return joined
}

function isContinued(first: Blob, second: Blob): boolean {
  const line = fit(first)
  if (!line || first.right - first.left < 12) return false
  if (Math.min(first.right, second.right) - Math.max(first.left, second.left) > 2) return false
  const count = second.cells.length
  const x = second.cells.reduce((sum, cell) => sum + cell.x + 0.5, 0) / count
  const y = second.cells.reduce((sum, cell) => sum + cell.y + 0.5, 0) / count
  const expected = line.a + (line.b / line.half) * (x - line.middle)
  return Math.abs(expected - y) <= Math.max(1.2, line.cap * 0.8)
}

/** Least squares, weighted by probability; the bend is held back a little. */
function fit({ cells, left, right, weight }: Blob): Line | null {
  const middle = (left + right) / 2
  const half = Math.max(1, (right - left) / 2)
  const matrix = [0, 1, 2].map(() => [0, 0, 0, 0])
  for (const { x, y, p } of cells) {
    const u = (x + 0.5 - middle) / half
    const terms = [1, u, u * u, y + 0.5]
    for (const [r, row] of matrix.entries())
      for (const [k, value] of row.entries()) row[k] = value + p * (terms[r] ?? 0) * (terms[k] ?? 0)
  }
  const last = matrix[2]
  if (last) last[2] = (last[2] ?? 0) + weight * 0.02
  const solved = solveThree(matrix)
  if (!solved) return null
  const [a = 0, b = 0, c = 0] = solved
  const cap = weight / (right - left) / Math.sqrt(1 + (b / half) ** 2)
  return { left, right, middle, half, a, b, c, cap, weight }
}

/** Gaussian elimination of three rows of four. */
function solveThree(matrix: readonly number[][]): number[] | null {
  const rows = matrix.map((row) => [...row])
  for (let i = 0; i < 3; i++) {
    const pivot = rows.slice(i).reduce((best, row) => (Math.abs(row[i] ?? 0) > Math.abs(best[i] ?? 0) ? row : best))
    const at = rows.indexOf(pivot)
    const here = rows[i]
    if (!here || Math.abs(pivot[i] ?? 0) < 1e-9) return null
    rows[at] = here
    rows[i] = pivot
    for (const row of rows) {
      if (row === pivot) continue
      const factor = (row[i] ?? 0) / (pivot[i] ?? 1)
      for (const [k, value] of pivot.entries()) row[k] = (row[k] ?? 0) - factor * value
    }
  }
  return rows.map((row, i) => (row[3] ?? 0) / (row[i] ?? 1))
}

function heightAt(line: Line, x: number): number {
  const u = (x - line.middle) / line.half
  return line.a + line.b * u + line.c * u * u
}

/** Cells to pixels of the page. */
export function scaleLine(line: Line, x: number, y: number): Line {
  const { left, right, middle, half, a, b, c, cap } = line
  return {
    ...line,
    left: left * x,
    right: right * x,
    middle: middle * x,
    half: half * x,
    a: a * y,
    b: b * y,
    c: c * y,
    cap: cap * y,
  }
}

export const lineHeight = 32
const arcParts = 256

/** Crop of a line: height over letter height (1.3 to 2.4 were trained for), shift in letter heights. */
export interface Look {
  readonly ratio: number
  readonly shift: number
  readonly isUpsideDown: boolean
}

/** The straightened line, grey 0 to 1, its width a multiple of 4. */
export function cutLine(page: Grey, line: Line, look: Look): { data: Float32Array; width: number } {
  const crop = line.cap * look.ratio
  const step = crop / lineHeight
  const arc = arcOf(line)
  const width = Math.max(16, Math.round(arc.total / step / 4) * 4)
  const out = new Float32Array(lineHeight * width)
  const samples = Math.max(1, Math.min(4, Math.round(step)))
  for (let column = 0; column < width; column++)
    for (let part = 0; part < samples; part++) {
      const x = arc.xAt(((column + (part + 0.5) / samples) / width) * arc.total)
      const y = heightAt(line, x)
      const slope = (line.b + (2 * line.c * (x - line.middle)) / line.half) / line.half
      const norm = Math.sqrt(1 + slope * slope)
      for (let row = 0; row < lineHeight; row++) {
        let sum = 0
        for (let sample = 0; sample < samples; sample++) {
          const off = ((row + (sample + 0.5) / samples) / lineHeight - 0.5) * crop + look.shift * line.cap
          sum += pixelAt(page, x - (slope / norm) * off - 0.5, y + off / norm - 0.5)
        }
        const to = look.isUpsideDown ? (lineHeight - 1 - row) * width + width - 1 - column : row * width + column
        out[to] = (out[to] ?? 0) + sum / (255 * samples * samples)
      }
    }
  return { data: out, width }
}

/** The length along the line, with a margin on either side. */
function arcOf(line: Line): { total: number; xAt(length: number): number } {
  const margin = 1.3 * line.cap
  const [from, to] = [line.left - margin, line.right + margin]
  const xs = Array.from({ length: arcParts + 1 }, (_, i) => from + ((to - from) * i) / arcParts)
  const lengths = [0]
  for (let i = 1; i <= arcParts; i++) {
    const [x, before] = [xs[i] ?? 0, xs[i - 1] ?? 0]
    lengths.push((lengths[i - 1] ?? 0) + Math.hypot(x - before, heightAt(line, x) - heightAt(line, before)))
  }
  let k = 0
  return {
    total: lengths[arcParts] ?? 0,
    // Called in rising order, so the search continues from the last position.
    xAt(length) {
      while (k < arcParts - 1 && (lengths[k + 1] ?? 0) < length) k++
      const [start, end] = [lengths[k] ?? 0, lengths[k + 1] ?? 0]
      const part = (length - start) / Math.max(1e-9, end - start)
      return (xs[k] ?? 0) + part * ((xs[k + 1] ?? 0) - (xs[k] ?? 0))
    },
  }
}

/** Bilinear, with the edge repeated. */
function pixelAt({ data, width, height }: Grey, x: number, y: number): number {
  const left = Math.min(Math.max(x, 0), width - 1.001)
  const top = Math.min(Math.max(y, 0), height - 1.001)
  const [column, row] = [left | 0, top | 0]
  const [right, down] = [left - column, top - row]
  const at = row * width + column
  const above = (data[at] ?? 0) * (1 - right) + (data[at + 1] ?? 0) * right
  const below = (data[at + width] ?? 0) * (1 - right) + (data[at + width + 1] ?? 0) * right
  return above * (1 - down) + below * down
}
