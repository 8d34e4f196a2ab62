// SPDX-License-Identifier: Apache-2.0
// Seal of a backup: any damage is detected, and gunzip reads the file without knowing the seal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { seal, sealBytes, unseal } from './seal.ts'

const rows = Array.from({ length: 60 }, (_, row) => `${row % 7}\tlive\tactive\t\\N\tlong long long\n`).join('')

test('what was sealed comes out as it went in, wherever it is cut', async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)))
  await fc.assert(
    fc.asyncProperty(pieces, fc.integer({ min: 1, max: 100 }), async (content, length) => {
      const { bytes: file } = await drained(seal(each(content)))
      const chunks = Array.from({ length: Math.ceil(file.length / length) }, (_, at) =>
        file.subarray(at * length, (at + 1) * length),
      )
      const { bytes, end } = await drained(unseal(each(chunks)))
      assert.deepEqual([bytes, end], [Buffer.concat(content), true])
    }),
  )
})

test('any gunzip reads a sealed file: the seal unpacks to nothing', async () => {
  assert.equal(gunzipSync(await sealed(gzipSync(rows))).toString(), rows)
})

test('each bit counts, those too that gunzip does not look at', async () => {
  const file = await sealed(gzipSync(rows, { level: 1 }))
  let unseen = 0
  for (let bit = 0; bit < file.length * 8; bit++) {
    const wrong = flipped(file, bit)
    if (bit < (file.length - sealBytes) * 8 && unpacks(wrong)) unseen++
    assert.equal(await holds(wrong), false, `bit ${bit}`)
  }
  assert.ok(unseen > 40, 'the time in the header of gzip, for one, is in no checksum of its own')
})

test('nothing may be missing, come twice or follow', async () => {
  const file = await sealed(gzipSync(rows))
  assert.equal(await holds(file), true)
  for (let length = 0; length < file.length; length++) assert.equal(await holds(file.subarray(0, length)), false)
  const others = [
    [file, file],
    [file, Buffer.alloc(1)],
    [file.subarray(0, -sealBytes), Buffer.alloc(1), file.subarray(-sealBytes)],
  ]
  for (const pieces of others) assert.equal(await holds(Buffer.concat(pieces)), false)
})

async function* each(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}

async function drained<End>(pieces: AsyncGenerator<Buffer, End>): Promise<{ bytes: Buffer; end: End }> {
  const given: Buffer[] = []
  for (;;) {
    const next = await pieces.next()
    if (next.done) return { bytes: Buffer.concat(given), end: next.value }
    given.push(next.value)
  }
}

async function sealed(content: Buffer): Promise<Buffer> {
  return (await drained(seal(each([content])))).bytes
}

async function holds(file: Buffer): Promise<boolean> {
  return (await drained(unseal(each([file])))).end
}

function flipped(file: Buffer, bit: number): Buffer {
  const copy = Buffer.from(file)
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}

function unpacks(file: Buffer): boolean {
  try {
    return gunzipSync(file).toString() === rows
  } catch {
    return false
  }
}
