// SPDX-License-Identifier: Apache-2.0
// Flaws of pictures, drawn: a reflection, a finger, print out of focus, and none of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutEdges, flawsOf } from './flaws.ts'
import type { Image } from './image.ts'

type Paint = (x: number, y: number) => readonly [number, number, number]

const [width, height] = [960, 640]

function painted(paint: Paint): Image {
  const data = new Uint8Array(width * height * 3)
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) data.set(paint(x, y), (y * width + x) * 3)
  return { width, height, data }
}

/** Fine print on a green page. */
const page: Paint = (x, y) => ((x >> 1) % 3 === 0 && y % 24 < 12 ? [40, 50, 45] : [200, 215, 200])
const flaws = async (paint: Paint) =>
  (await flawsOf(painted(paint))).map(({ problem, box }) => ({
    problem,
    box: box.map((part) => Math.round(part * 10) / 10),
  }))

test('a clear page has no flaws, on a table of any colour', async () => {
  assert.deepEqual(await flaws(page), [])
  const onWood: Paint = (x, y) => (x < 90 || y < 90 || x > 870 || y > 550 ? [150, 100, 70] : page(x, y))
  assert.deepEqual(await flaws(onWood), [])
})

test('reflections, fingers and what is out of focus are found where they are', async () => {
  const shiny: Paint = (x, y) => (Math.hypot(x - 720, y - 160) < 90 ? [255, 255, 255] : page(x, y))
  assert.deepEqual(await flaws(shiny), [{ problem: 'glare', box: [0.7, 0.2, 0.2, 0.2] }])
  for (const skin of [
    [224, 172, 138],
    [141, 85, 60],
    [88, 56, 42],
  ] as const) {
    const held: Paint = (x, y) => (y > 450 && Math.abs(x - 300) < 70 ? skin : page(x, y))
    const [found, ...more] = await flaws(held)
    assert.deepEqual([found?.problem, more], ['covered', []], skin.join())
    const [left, top = 0] = found?.box ?? []
    assert.ok(left === 0.3 && top >= 0.7, found?.box.join())
  }
  const wave = (x: number) => 128 + 90 * Math.sin(x / 14)
  const soft: Paint = (x, y) => (x > 480 ? [wave(x), wave(x), wave(x)] : page(x, y))
  const [blurred] = await flaws(soft)
  assert.equal(blurred?.problem, 'blurred')
  assert.ok((blurred?.box[0] ?? 0) >= 0.5)
})

test('print at the edge of a picture is cut off there', () => {
  const image = { width, height, data: new Uint8Array() }
  const box = (x: number, y: number) => ({ x, y, width: 100, height: 20 })
  assert.deepEqual(cutEdges([box(20, 20), box(500, 300)], image), [])
  assert.deepEqual(cutEdges([box(860, 300), box(20, 619)], image), [
    { problem: 'cut_off', box: [0.97, 0, 0.03, 1] },
    { problem: 'cut_off', box: [0, 0.97, 1, 0.03] },
  ])
})
