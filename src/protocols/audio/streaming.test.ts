// SPDX-License-Identifier: Apache-2.0
// Audio of a call in progress, piece by piece: twice and half the rate, and what waits to be heard.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Doubler, Halver } from './half-band.ts'
import { SampleQueue } from './sample-queue.ts'
import { rms, share, tone } from './tones.ts'

/** Runs a sound through a filter in pieces of these lengths, over and over. */
function inPieces(filter: Doubler | Halver, sound: Int16Array, lengths: readonly number[]): Int16Array {
  const out: number[] = []
  for (let at = 0, i = 0; at < sound.length; i++) {
    const length = lengths[i % lengths.length] ?? 1
    out.push(...filter.run(sound.subarray(at, at + length)))
    at += length
  }
  return Int16Array.from(out)
}

test('a hum passes both ways as it was, whatever the pieces', () => {
  for (const hertz of [300, 1_000, 2_500, 3_000]) {
    const sound = tone([hertz], 1_000)
    const doubled = inPieces(new Doubler(), sound, [160])
    assert.equal(doubled.length, 2 * sound.length)
    const back = inPieces(new Halver(), doubled, [1, 7, 320, 33, 2])
    assert.ok(Math.abs(back.length - sound.length) <= 16, `${back.length} samples came back`)
    const middle = back.subarray(2_000, 6_000)
    assert.ok(share(middle, hertz) > 0.98, `${hertz} Hz is a pure hum`)
    assert.ok(Math.abs(rms(middle) / rms(sound.subarray(2_000, 6_000)) - 1) < 0.05, `${hertz} Hz is as loud`)
  }
})

test('what the lower rate cannot hold does not fold back into it', () => {
  const sound = Int16Array.from({ length: 16_000 }, (_, i) => 8_000 * Math.sin((2 * Math.PI * 6_500 * i) / 16_000))
  const halved = inPieces(new Halver(), sound, [320])
  assert.ok(rms(halved.subarray(1_000)) < 80, `${rms(halved.subarray(1_000))} is left of 5,657`)
})

test('a queue gives back what was put into it in order, and keeps no more than its bound', () => {
  const step = fc.oneof(
    fc.record({ put: fc.integer({ min: 0, max: 300 }) }),
    fc.record({ take: fc.integer({ min: 0, max: 300 }) }),
    fc.constant({ clear: true }),
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.array(step, { maxLength: 60 }), (most, steps) => {
      const queue = new SampleQueue(most)
      let [model, number]: [number[], number] = [[], 0]
      for (const what of steps) {
        if ('put' in what) {
          const samples = Int16Array.from({ length: what.put }, () => ++number % 30_000)
          model.push(...samples)
          assert.equal(queue.put(samples), Math.max(0, model.length - most))
          model = model.slice(-most)
        } else if ('take' in what) {
          const into = new Int16Array(what.take).fill(-1)
          const taken = model.splice(0, what.take)
          assert.equal(queue.take(into), taken.length)
          assert.deepEqual([...into], [...taken, ...Array(what.take - taken.length).fill(0)])
        } else {
          queue.clear()
          model = []
        }
        assert.equal(queue.length, model.length)
      }
    }),
  )
})
