// SPDX-License-Identifier: Apache-2.0
// Confidence of an active check: measured from how clearly each step was made, who made it, and what is behind them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Frame } from '../engines/tasks.ts'
import { judgeActive, type TimedFrame } from './active-liveness.ts'

const still = { yaw: 0, pitch: 0, eyeOpen: 0.3, mouthOpen: 0.1, mouthWidth: 0.7 }
const steps = ['turn_left', 'nod', 'open_mouth']

/** Frames of somebody who makes each step `times` as far as is asked, `apart` from their first face. */
function framesOf({ times = 1.5, apart = 0.3, corner = 0 }): TimedFrame[] {
  const moved = [{ yaw: -0.17 * times }, { pitch: 0.15 * times }, { mouthOpen: still.mouthOpen + 0.1 * times }]
  const shown = [{}, ...moved.flatMap((change) => [change, {}])]
  return shown.map((change, i) => {
    const isStep = i % 2 === 1
    return {
      step: isStep ? (steps[(i - 1) / 2] ?? '') : 'frontal',
      atMs: i * 700,
      frame: frameOf({ ...still, ...change }, isStep ? apart : 0, 100 + (isStep ? corner : 0), i),
    }
  })
}

function frameOf(measures: NonNullable<Frame['measures']>, apart: number, tone: number, i: number): Frame {
  const box = { x: 0, y: 0, width: 100, height: 100 }
  return {
    faces: [{ box, score: 1, eyeDistance: 60, isCut: false, descriptor: [apart, 0] }],
    measures,
    hash: `${i}`,
    tones: null,
    corners: [tone, tone],
    isRecaptured: false,
    quality: { sharpness: 100, brightness: 0.5, glare: 0, width: 480, height: 480, problems: [] },
  }
}

const judged = (how: Parameters<typeof framesOf>[0]) =>
  judgeActive({ steps, lights: null, withinMs: null }, framesOf(how))

test('the clearer each measure, the surer the answer; none is the same whatever was seen', () => {
  const usual = judged({})
  assert.ok(usual.passed && usual.confidence > 70 && usual.confidence < 99, `${usual.confidence}`)
  assert.ok(judged({ times: 2 }).confidence > usual.confidence)
  assert.ok(judged({ times: 1.05 }).confidence < usual.confidence)
  assert.ok(judged({ apart: 0.2 }).confidence > usual.confidence)
  assert.ok(judged({ apart: 0.5 }).confidence < usual.confidence)
  assert.ok(judged({ corner: 50 }).confidence < usual.confidence)
})

test('steps that were half made are worth little, and none at all nothing', () => {
  const half = judged({ times: 0.5 })
  assert.deepEqual([half.passed, half.confidence], [false, 10])
  assert.deepEqual([judged({ times: 0 }).confidence, judged({ apart: 0.9 }).passed], [0, false])
  assert.ok(judged({ apart: 0.9 }).confidence <= 40)
})

/** Lights on a face that is tinted by `seen`, before a grey wall, with a camera whose white balance wanders. */
function lit(lights: readonly string[], seen: readonly string[], strength = 0.1) {
  const frames = framesOf({}).map((one) => ({ ...one }))
  let frontal = 0
  const tinted = frames.map((one, i) => {
    if (one.step !== 'frontal') return one
    const colour = ['red', 'green', 'blue'].indexOf(seen[frontal++] ?? '')
    const balance = [1 + 0.02 * (i % 3), 1, 1 - 0.02 * (i % 2)]
    const face = [150, 110, 90].map((value, c) => value * (balance[c] ?? 1) * (c === colour ? 1 + strength : 1))
    const behind = [120, 120, 118].map((value, c) => value * (balance[c] ?? 1))
    return { ...one, frame: { ...one.frame, tones: { face, behind } } }
  })
  return judgeActive({ steps, lights, withinMs: null }, tinted)
}

test('each frontal frame has to show the colour that the screen shone', () => {
  const lights = ['white', 'red', 'blue', 'green']
  const live = lit(lights, lights)
  assert.deepEqual([live.passed, live.signals.light], [true, 'seen'])
  const replayed = lit(lights, ['white', 'green', 'red', 'blue'])
  assert.deepEqual([replayed.passed, replayed.signals.light], [false, 'other'])
  assert.ok(replayed.confidence <= 40)
  const injected = lit(lights, ['white', 'white', 'white', 'white'])
  assert.deepEqual([injected.signals.light, injected.confidence <= 75], ['faint', true])
  assert.equal(lit(lights, lights, 0.01).signals.light, 'faint', 'in the sun')
})

test('frames that take longer than the challenge is old were taken before it', () => {
  const within = (withinMs: number) => judgeActive({ steps, lights: null, withinMs }, framesOf({})).signals.in_order
  assert.deepEqual([within(4_300), within(3_000)], [true, false])
})
