// SPDX-License-Identifier: Apache-2.0
// Flaws of a picture of a document, with their places: reflections, blur, fingers over it, and print cut off by the edge. They
// help a person to take a better picture, and refuse nothing.
import { type Box, type Grey, greyOf, type Image, resize } from './image.ts'

export const flawNames = ['glare', 'blurred', 'covered', 'cut_off'] as const

export interface Flaw {
  readonly problem: (typeof flawNames)[number]
  /** Left, top, width and height, as parts of the sides of the picture. */
  readonly box: readonly [number, number, number, number]
}

const lookedAtWidth = 960
const cell = 32

interface Cell {
  readonly isBurnt: boolean
  readonly isSkin: boolean
  readonly isSoft: boolean
}

interface Grid {
  readonly columns: number
  readonly rows: number
  readonly cells: readonly Cell[]
}

/** Flaws that can be seen without reading: at most a few of each kind, largest first. */
export async function flawsOf(image: Image): Promise<Flaw[]> {
  const height = Math.max(cell, Math.round((image.height * lookedAtWidth) / image.width))
  const grid = gridOf(await resize(image, lookedAtWidth, height))
  const area = grid.columns * grid.rows
  const burnt = patchesOf(grid, ({ isBurnt }) => isBurnt).filter(
    ({ count }) => count >= leastGlare && count < area * paper,
  )
  const soft = patchesOf(grid, ({ isSoft }) => isSoft).filter(({ count }) => count >= area * leastSoft)
  const skin = patchesOf(grid, ({ isSkin }) => isSkin).filter((patch) => isFinger(patch, grid))
  return [...named('glare', burnt, grid), ...named('blurred', soft, grid), ...named('covered', skin, grid)]
}

/** Print or a zone that reaches the edge of the picture, where something of it is missing. */
export function cutEdges(boxes: readonly Box[], { width, height }: Image): Flaw[] {
  const near = (at: number, side: number) => at < side * edge
  const sides = [
    { isCut: boxes.some(({ x }) => near(x, width)), box: [0, 0, strip, 1] },
    { isCut: boxes.some(({ y }) => near(y, height)), box: [0, 0, 1, strip] },
    { isCut: boxes.some((box) => near(width - box.x - box.width, width)), box: [1 - strip, 0, strip, 1] },
    { isCut: boxes.some((box) => near(height - box.y - box.height, height)), box: [0, 1 - strip, 1, strip] },
  ] as const
  return sides.flatMap(({ isCut, box }) => (isCut ? [{ problem: 'cut_off' as const, box }] : []))
}

const edge = 0.004
const strip = 0.03
/** Cells of a reflection; and the share of the picture from which it is white paper. */
const leastGlare = 3
const paper = 0.6
/** Share of the picture out of focus; a portrait has less, which is soft as well. */
const leastSoft = 0.2
const most = 4

function named(problem: Flaw['problem'], patches: readonly Patch[], { columns, rows }: Grid): Flaw[] {
  const part = (value: number) => Math.round(value * 10_000) / 10_000
  return [...patches]
    .sort((a, b) => b.count - a.count)
    .slice(0, most)
    .map(({ left, top, right, bottom }) => ({
      problem,
      box: [
        part(left / columns),
        part(top / rows),
        part((right - left) / columns),
        part((bottom - top) / rows),
      ] as const,
    }))
}

function gridOf(image: Image): Grid {
  const [columns, rows] = [Math.floor(image.width / cell), Math.floor(image.height / cell)]
  const grey = greyOf(image)
  const cells = Array.from({ length: columns * rows }, (_, i) =>
    cellOf(image, grey, (i % columns) * cell, Math.floor(i / columns) * cell),
  )
  return { columns, rows, cells }
}

const burntTone = 250
/** Variance of tones from which something is drawn in a cell, and the least share of edges in it when it is sharp. */
const drawn = 150
const sharp = 0.04

function cellOf({ data, width }: Image, { data: tones }: Grey, left: number, top: number): Cell {
  const colour = [0, 0, 0]
  let [sum, squares, edges, burnt] = [0, 0, 0, 0]
  for (let y = top + 1; y < top + cell - 1; y++)
    for (let x = left + 1; x < left + cell - 1; x++) {
      const at = y * width + x
      const here = tones[at] ?? 0
      const around = (tones[at - 1] ?? 0) + (tones[at + 1] ?? 0) + (tones[at - width] ?? 0) + (tones[at + width] ?? 0)
      const across = around - 4 * here
      for (const channel of [0, 1, 2]) colour[channel] = (colour[channel] ?? 0) + (data[at * 3 + channel] ?? 0)
      sum += here
      squares += here * here
      edges += across * across
      burnt += here >= burntTone ? 1 : 0
    }
  const count = (cell - 2) ** 2
  const variance = squares / count - (sum / count) ** 2
  const [red = 0, green = 0, blue = 0] = colour.map((value) => value / count)
  return {
    isBurnt: burnt > count * 0.9,
    isSoft: variance > drawn && edges / count < variance * sharp,
    isSkin: variance < 4 * drawn && isSkin(red, green, blue),
  }
}

/** Chroma of skin, which is much the same from dark to light. */
function isSkin(red: number, green: number, blue: number): boolean {
  const cb = 128 - 0.169 * red - 0.331 * green + 0.5 * blue
  const cr = 128 + 0.5 * red - 0.419 * green - 0.081 * blue
  return red > 40 && cr > 138 && cr < 175 && cb > 85 && cb < 125
}

interface Patch {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
  readonly count: number
  /** Cells at the edge of the picture. */
  readonly atEdge: number
}

/** A finger comes in over an edge, and is narrow: a table of its colour is all around. */
function isFinger({ left, top, right, bottom, count, atEdge }: Patch, { columns, rows }: Grid): boolean {
  const [wide, high] = [right - left, bottom - top]
  const isNarrow = atEdge > 0 && atEdge <= Math.min(columns, rows) * 0.4
  return (
    isNarrow && Math.max(wide, high) >= 3 && count >= 6 && count > wide * high * 0.45 && wide < columns && high < rows
  )
}

/** Connected cells. */
function patchesOf({ columns, rows, cells }: Grid, isIn: (cell: Cell) => boolean): Patch[] {
  const seen = new Set<number>()
  const has = (at: number) => !seen.has(at) && cells[at] !== undefined && isIn(cells[at])
  const patches: Patch[] = []
  for (let start = 0; start < cells.length; start++) {
    if (!has(start)) continue
    let patch: Patch = { left: columns, top: rows, right: 0, bottom: 0, count: 0, atEdge: 0 }
    const stack = [start]
    seen.add(start)
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const [x, y] = [at % columns, Math.floor(at / columns)]
      const isAtEdge = x === 0 || y === 0 || x === columns - 1 || y === rows - 1
      patch = {
        left: Math.min(patch.left, x),
        top: Math.min(patch.top, y),
        right: Math.max(patch.right, x + 1),
        bottom: Math.max(patch.bottom, y + 1),
        count: patch.count + 1,
        atEdge: patch.atEdge + (isAtEdge ? 1 : 0),
      }
      const next = [x > 0 && at - 1, x < columns - 1 && at + 1, at - columns, at + columns]
      for (const one of next)
        if (one !== false && has(one)) {
          seen.add(one)
          stack.push(one)
        }
    }
    patches.push(patch)
  }
  return patches
}
