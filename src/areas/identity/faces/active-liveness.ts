// SPDX-License-Identifier: Apache-2.0
// Active liveness: whether one person performed the requested steps in order before the camera. It stops photographs
// and recorded video, not a deepfake injected in place of a camera.
import type { Frame } from '../engines/tasks.ts'
import { distanceOf } from './match.ts'

const stepNames = ['turn_left', 'turn_right', 'nod', 'blink', 'smile', 'open_mouth'] as const
export type Step = (typeof stepNames)[number]

type Measures = NonNullable<Frame['measures']>

interface StepRule {
  /** Difference from the frontal frame; from 1 on the step counts. */
  made(frame: Measures, frontal: Measures): number
  /** Measures shown in the result. */
  measure(frame: Measures): Record<string, number>
}

/** Thresholds come from drawn and warped faces; no video of people was at hand. */
const rules: Readonly<Record<Step, StepRule>> = {
  turn_left: { made: (f, front) => (front.yaw - f.yaw) / 0.17, measure: ({ yaw }) => ({ yaw }) },
  turn_right: { made: (f, front) => (f.yaw - front.yaw) / 0.17, measure: ({ yaw }) => ({ yaw }) },
  nod: { made: (f, front) => Math.abs(f.pitch - front.pitch) / 0.15, measure: ({ pitch }) => ({ pitch }) },
  blink: {
    made: (f, front) => (1 - f.eyeOpen / front.eyeOpen) / 0.12,
    measure: ({ eyeOpen }) => ({ eye_open: eyeOpen }),
  },
  smile: {
    made: (f, front) => (f.mouthWidth / front.mouthWidth - 1) / 0.1,
    measure: ({ mouthWidth }) => ({ mouth_width: mouthWidth }),
  },
  open_mouth: {
    made: (f, front) => (f.mouthOpen - front.mouthOpen) / 0.1,
    measure: ({ mouthOpen }) => ({ mouth_open: mouthOpen }),
  },
}

/** Three steps in random order, none twice. */
export function randomSteps(random: (below: number) => number): Step[] {
  const left = [...stepNames]
  return Array.from({ length: 3 }, () => left.splice(random(left.length), 1)[0] ?? 'turn_left')
}

export interface TimedFrame {
  readonly step: string
  readonly atMs: number
  readonly frame: Frame
}

interface StepResult {
  readonly step: string
  readonly passed: boolean
  readonly measure: Record<string, number>
}

export interface ActiveResult {
  readonly passed: boolean
  readonly confidence: number
  readonly steps: readonly StepResult[]
  readonly signals: {
    readonly same_person: boolean
    readonly frames_distinct: boolean
    readonly in_order: boolean
    readonly background_motion: 'consistent' | 'changed'
  }
  /** Index of the frontal frame, best for a comparison. */
  readonly frontal: number
}

const samePerson = 0.55
const span = { leastMs: 1_500, mostMs: 60_000 }
/** A frame has returned from a step below this share of it. */
const returned = 0.6
const sameBackground = 60

export function judgeActive(steps: readonly string[], frames: readonly TimedFrame[]): ActiveResult {
  const frontal = Math.max(
    0,
    frames.findIndex(({ step }) => step === 'frontal'),
  )
  const front = frames[frontal]?.frame
  const results = steps.map((step) => judgeStep(step, frames, front))
  const signals = {
    same_person: isOnePerson(frames, front),
    frames_distinct: new Set(frames.map(({ frame }) => frame.hash)).size === frames.length,
    in_order: isInOrder(steps, frames),
    background_motion: isSameBackground(frames) ? ('consistent' as const) : ('changed' as const),
  }
  const passed =
    results.every((result) => result.passed) && signals.same_person && signals.frames_distinct && signals.in_order
  const made = results.filter((result) => result.passed).length / Math.max(1, results.length)
  const confidence = passed ? (signals.background_motion === 'consistent' ? 96 : 88) : Math.round(made * 40)
  return { passed, confidence, steps: results, signals, frontal }
}

/** A step counts when a frame crosses the threshold and a later one has returned. */
function judgeStep(name: string, frames: readonly TimedFrame[], front: Frame | undefined): StepResult {
  const step = stepNames.find((one) => one === name)
  const frontal = front?.measures
  const own = frames.filter((frame) => frame.step === name && frame.frame.measures)
  if (!step || !frontal || own.length === 0) return { step: name, passed: false, measure: {} }
  const rule = rules[step]
  const madeIn = ({ frame }: TimedFrame) => (frame.measures ? rule.made(frame.measures, frontal) : 0)
  const best = own.reduce((top, frame) => (madeIn(frame) > madeIn(top) ? frame : top))
  const isBack = frames.some((frame) => frame.atMs > best.atMs && frame.frame.measures && madeIn(frame) < returned)
  const measure = best.frame.measures ? rounded(rule.measure(best.frame.measures)) : {}
  return { step: name, passed: madeIn(best) >= 1 && isBack, measure }
}

function rounded(measure: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(measure).map(([name, value]) => [name, Math.round(value * 1000) / 1000]))
}

function isOnePerson(frames: readonly TimedFrame[], front: Frame | undefined): boolean {
  const mine = front?.faces[0]?.descriptor
  if (!mine) return false
  return frames.every(({ frame }) => {
    const [face, second] = frame.faces
    if (!face?.descriptor || (second && second.box.width > face.box.width / 2)) return false
    return distanceOf(mine, face.descriptor) < samePerson
  })
}

/** Whether the frontal frame comes first, times rise within the span, and steps are in the requested order. */
function isInOrder(steps: readonly string[], frames: readonly TimedFrame[]): boolean {
  const [first, last] = [frames[0], frames.at(-1)]
  if (first?.step !== 'frontal' || !last) return false
  const isRising = frames.every(({ atMs }, i) => i === 0 || atMs > (frames[i - 1]?.atMs ?? 0))
  const lasted = last.atMs - first.atMs
  const seen = frames.map(({ step }) => step).filter((step, i, all) => step !== 'frontal' && step !== all[i - 1])
  return isRising && lasted >= span.leastMs && lasted <= span.mostMs && seen.join() === steps.join()
}

function isSameBackground(frames: readonly TimedFrame[]): boolean {
  return [0, 1].every((corner) => {
    const tones = frames.map(({ frame }) => frame.corners[corner] ?? 0)
    return Math.max(...tones) - Math.min(...tones) < sameBackground
  })
}

/** Cap of the passive liveness score: no model tried tells a print from a person. */
const passiveCap = 80

export function judgePassive(frame: Frame): { passed: boolean; confidence: number } {
  const [face, ...others] = frame.faces
  if (!face) return { passed: false, confidence: 0 }
  const isClean = frame.quality.problems.length === 0 && frame.isRecaptured !== true && others.length === 0
  return { passed: isClean, confidence: isClean ? Math.round(Math.min(passiveCap, 50 + 30 * face.score)) : 20 }
}
