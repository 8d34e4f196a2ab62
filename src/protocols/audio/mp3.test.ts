// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { infoFrame, kbitsOf, looksLikeMp3 } from './mp3.ts'

test('the first frame of a recording says how long it is', () => {
  const table: [samples: number, channels: number, frames: number, padding: number][] = [
    [480_000, 1, 836, 960],
    [480_000, 2, 836, 960],
    [1, 1, 3, 1_151],
    [576, 1, 3, 576],
    [577, 2, 4, 1_151],
  ]
  for (const [samples, channels, frames, padding] of table) {
    const frame = infoFrame(samples, channels)
    assert.ok(looksLikeMp3(frame))
    assert.equal(frame.length, 9 * kbitsOf(channels))
    const at = frame.indexOf('Info')
    assert.equal(at, channels === 2 ? 21 : 13)
    assert.deepEqual([frame.readUInt32BE(at + 8), frame.readUInt32BE(at + 12)], [frames, (frames + 1) * frame.length])
    const lame = frame.indexOf('LAME')
    assert.equal(lame, at + 120)
    assert.equal(frame.readUInt8(lame + 20), kbitsOf(channels))
    assert.equal(frame.readUIntBE(lame + 21, 3), (576 << 12) | padding)
  }
})
