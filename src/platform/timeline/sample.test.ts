// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sample } from './sample.ts'

const startMs = Date.parse('2026-03-01T12:00:00Z')

for (const { name, perSecond, seconds, from, to } of [
  { name: 'a person who tries things', perSecond: 2, seconds: 600, from: 1_200, to: 1_200 },
  { name: 'a trickle', perSecond: 10, seconds: 600, from: 6_000, to: 6_000 },
  { name: 'a test suite', perSecond: 250, seconds: 1, from: 250, to: 250 },
  { name: 'a load test', perSecond: 1_000, seconds: 60, from: 850, to: 910 },
])
  test(`the sample of ${name}: ${perSecond} a second for ${seconds} s`, () => {
    let nowMs = startMs
    const sample = new Sample(() => nowMs)
    let chosen = 0
    for (let i = 0; i < perSecond * seconds; i++) {
      if (sample.has('ada', `sms_${i}`)) chosen++
      nowMs = startMs + ((i + 1) * 1_000) / perSecond
    }
    assert.ok(chosen >= from && chosen <= to, `${chosen} chosen`)
  })

test('a resource is recorded whole or not at all, and a busy account takes nothing from another', () => {
  const sample = new Sample(() => startMs)
  const first = Array.from({ length: 1_000 }, (_, i) => sample.has('ada', `sms_${i}`))
  const again = Array.from({ length: 1_000 }, (_, i) => sample.has('ada', `sms_${i}`))
  assert.deepEqual(again, first)
  assert.deepEqual([first.filter(Boolean).length, sample.has('ben', 'pay_1')], [300, true])
  assert.deepEqual([sample.count('sms_0'), sample.count('sms_0')], [1, 2])
})

test('many busy accounts together have a limit of their own', () => {
  const sample = new Sample(() => startMs)
  let chosen = 0
  for (let i = 0; i < 10_000; i++) if (sample.has(`account ${i % 100}`, `sms_${i}`)) chosen++
  assert.equal(chosen, 3_000)
})
