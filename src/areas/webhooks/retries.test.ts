// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { maxAttempts, nextAttemptMs, retryAfterMs } from './retries.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** The times of all attempts when each fails after `tookMs`, with this chance each time. */
function attemptsOf(random: () => number, tookMs = 0): number[] {
  const times = [0]
  for (;;) {
    const failedMs = (times.at(-1) ?? 0) + tookMs
    const next = nextAttemptMs({ attempts: times.length, createdMs: 0, failedMs, askedForMs: null, random: random() })
    if (next === null) return times
    times.push(next)
  }
}

describe('retries', () => {
  it('follow the table when chance stays in the middle', () => {
    assert.deepEqual(
      attemptsOf(() => 0.5),
      [
        0,
        5 * second,
        35 * second,
        2 * minute + 35 * second,
        12 * minute + 35 * second,
        42 * minute + 35 * second,
        hour + 42 * minute + 35 * second,
        3 * hour + 42 * minute + 35 * second,
        7 * hour + 42 * minute + 35 * second,
        14 * hour + 42 * minute + 35 * second,
        day,
      ],
    )
  })

  it('are ten, the last of them exactly a day after the event, whatever chance and slow receivers do', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 11, maxLength: 11 }),
        fc.integer({ min: 0, max: 6_000 }),
        (chances, tookMs) => {
          let n = 0
          const times = attemptsOf(() => chances[n++] ?? 0.5, tookMs)
          assert.equal(times.length, maxAttempts)
          assert.equal(times.at(-1), day)
          for (const [i, time] of times.slice(1).entries()) assert.ok(time > (times[i] ?? 0) + tookMs)
        },
      ),
    )
  })

  it('stay within a tenth of the table', () => {
    for (const random of [0, 1]) {
      const next = nextAttemptMs({ attempts: 4, createdMs: 0, failedMs: hour, askedForMs: null, random })
      assert.equal(next, hour + 10 * minute * (random === 0 ? 0.9 : 1.1))
    }
  })

  const asked: [name: string, askedForMs: number, expected: number][] = [
    ['later than planned', hour, hour],
    ['sooner than planned', second, 5 * second],
    ['at the very end of the day', day, day],
    ['after the day', day + 1, 5 * second],
  ]
  for (const [name, askedForMs, expected] of asked)
    it(`heed a receiver that asks for a time ${name}`, () => {
      assert.equal(nextAttemptMs({ attempts: 1, createdMs: 0, failedMs: 0, askedForMs, random: 0.5 }), expected)
    })

  it('end with the eleventh attempt, and with the day', () => {
    const failure = { createdMs: 0, askedForMs: null, random: 0.5 }
    assert.equal(nextAttemptMs({ ...failure, attempts: 11, failedMs: hour }), null)
    assert.equal(nextAttemptMs({ ...failure, attempts: 1, failedMs: day }), null)
    assert.equal(nextAttemptMs({ ...failure, attempts: 3, failedMs: day - 1 }), day)
  })
})

describe('Retry-After', () => {
  const now = Date.parse('2026-03-01T09:15:30Z')
  const rows: [header: string | undefined, expected: number | null][] = [
    [undefined, null],
    ['120', 120_000],
    [' 0 ', 0],
    ['Sun, 01 Mar 2026 09:16:30 GMT', minute],
    ['Sunday, 01-Mar-26 09:16:30 GMT', minute],
    ['Sun Mar  1 09:16:30 2026 GMT', minute],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 0],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['2026', 2_026_000],
    ['99999999999', null],
    ['', null],
  ]
  for (const [header, expected] of rows)
    it(`of ${JSON.stringify(header)} asks for ${expected}`, () => assert.equal(retryAfterMs(header, now), expected))
})
