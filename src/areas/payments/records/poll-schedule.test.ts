// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextPollMs, type PollSchedule } from './poll-schedule.ts'

const polls: PollSchedule = [10, 20, 60, 600, 3_600]

const rows = [
  [0, true, 10, 'it was just sent'],
  [0, false, 10, 'that nothing was heard does not make the first look later'],
  [10, true, 10, 'as the table says'],
  [10.3, true, 9.7, 'a moment late, and the next one is on time'],
  [18, true, 42, 'so late that the next one would follow at once: one look is enough'],
  [60, true, 540, 'as the table says'],
  [60, false, 30, 'nothing was heard: sooner than the table says'],
  [500, true, 100, 'a node that was down goes on with what lies ahead'],
  [800, false, 200, 'a provider that is away is asked ever more rarely'],
  [3_500, false, 100, 'and never later than the table says'],
  [3_596, true, null, 'the last look may come a moment early'],
  [3_600, false, null, 'that was the last one'],
  [90_000, true, null, 'long after the last one'],
] as const

for (const [quiet, isAnswered, expected, why] of rows)
  test(`${quiet} s after it was sent, ${isAnswered ? 'answered' : 'not answered'}: ${why}`, () => {
    for (const scale of [1, 0.5]) {
      const waitMs = nextPollMs(polls, quiet * 1_000 * scale, isAnswered, scale)
      assert.equal(waitMs && Math.round(waitMs), expected && expected * 1_000 * scale)
    }
  })

test('where time passes fast nobody is asked in a rush', () => {
  assert.equal(nextPollMs(polls, 0, true, 0.001), 100)
})

test('a provider that never answers is asked a bounded number of times', () => {
  let [times, quietMs] = [0, 0]
  for (let waitMs = nextPollMs(polls, 0, false, 1); waitMs !== null; waitMs = nextPollMs(polls, quietMs, false, 1)) {
    quietMs += waitMs
    times++
  }
  assert.equal(times, 23)
})
