// SPDX-License-Identifier: Apache-2.0
// Active liveness: whether one person performed the requested steps in order before the camera. It stops photographs
// and recorded video, not a deepfake injected in place of a camera.
import type { Frame } from '../engines/tasks.ts'
import { type Light, lightOn } from './light.ts'
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

interface JudgedStep extends StepResult {
  /** Difference from the frontal frame: 1 is where the step counts. */
  readonly made: number
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
    /** Only where the challenge has lights. */
    readonly light?: Light
  }
  /** Index of the frontal frame, best for a comparison. */
  readonly frontal: number
}

const samePerson = 0.55
const span = { leastMs: 1_500, maxMs: 60_000 }
/** A frame has returned from a step below this share of it. */
const returned = 0.6
const sameBackground = 60

/** What a challenge asks for. */
interface Asked {
  readonly steps: readonly string[]
  /** Lights of the screen, one for each frontal frame; null for none. */
  readonly lights: readonly string[] | null
  /** Time since the challenge was made, within which the frames were taken; null where they come along with us. */
  readonly withinMs: number | null
}

export function judgeActive({ steps, lights, withinMs }: Asked, frames: readonly TimedFrame[]): ActiveResult {
  const frontal = Math.max(
    0,
    frames.findIndex(({ step }) => step === 'frontal'),
  )
  const front = frames[frontal]?.frame
  const judged = steps.map((step) => judgeStep(step, frames, front))
  const results = judged.map(({ step, passed, measure }) => ({ step, passed, measure }))
  const apart = furthest(frames, front)
  const change = backgroundChange(frames)
  const signals = {
    same_person: apart < samePerson,
    frames_distinct: new Set(frames.map(({ frame }) => frame.hash)).size === frames.length,
    in_order: isInOrder(steps, frames, withinMs),
    background_motion: change < sameBackground ? ('consistent' as const) : ('changed' as const),
    ...(lights ? { light: lightOn(lights, frontalsOf(frames)) } : {}),
  }
  const passed =
    results.every((result) => result.passed) &&
    signals.same_person &&
    signals.frames_distinct &&
    signals.in_order &&
    signals.light !== 'other'
  const most = signals.light === 'faint' ? faintMost : certain.most
  const confidence = passed ? Math.min(most, confidenceOf(judged, apart, change)) : doneIn(judged)
  return { passed, confidence, steps: results, signals, frontal }
}

/** Where a measure is as clear as it gets: twice the least movement, and faces as near as two pictures of one sitting. */
const clearStep = 2
const nearPerson = 0.25
const certain = { least: 70, most: 99 }
/** Most confidence where the light of the screen is not seen on the face. */
const faintMost = 75
const shares = { steps: 0.6, person: 0.3, background: 0.1 }

/** Confidence in a challenge that was passed: how far each measure is from where it would have failed, 70 to 99. */
function confidenceOf(judged: readonly JudgedStep[], apart: number, change: number): number {
  const clarity =
    shares.steps * mean(judged.map(({ made }) => part(made, 1, clearStep))) +
    shares.person * part(apart, samePerson, nearPerson) +
    shares.background * part(change, sameBackground, 0)
  return Math.round((certain.least + (certain.most - certain.least) * clarity) * 10) / 10
}

/** Confidence in one that was not: how much of its steps was done, at most 40. */
function doneIn(judged: readonly JudgedStep[]): number {
  return Math.round(mean(judged.map(({ passed, made }) => (passed ? 1 : part(made, 0, 1) / 2))) * 400) / 10
}

/** How far a value has come on its way, 0 to 1. */
function part(value: number, from: number, to: number): number {
  return Math.min(1, Math.max(0, (value - from) / (to - from)))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

/** A step counts when a frame crosses the threshold and a later one has returned. */
function judgeStep(name: string, frames: readonly TimedFrame[], front: Frame | undefined): JudgedStep {
  const step = stepNames.find((one) => one === name)
  const frontal = front?.measures
  const own = frames.filter((frame) => frame.step === name && frame.frame.measures)
  if (!step || !frontal || own.length === 0) return { step: name, passed: false, measure: {}, made: 0 }
  const rule = rules[step]
  const madeIn = ({ frame }: TimedFrame) => (frame.measures ? rule.made(frame.measures, frontal) : 0)
  const best = own.reduce((top, frame) => (madeIn(frame) > madeIn(top) ? frame : top))
  const isBack = frames.some((frame) => frame.atMs > best.atMs && frame.frame.measures && madeIn(frame) < returned)
  const measure = best.frame.measures ? rounded(rule.measure(best.frame.measures)) : {}
  const made = madeIn(best)
  return { step: name, passed: made >= 1 && isBack, measure, made }
}

function rounded(measure: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(measure).map(([name, value]) => [name, Math.round(value * 1000) / 1000]))
}

/** Distance of the face that is least like the frontal one; without end where a frame has no face, or two. */
function furthest(frames: readonly TimedFrame[], front: Frame | undefined): number {
  const mine = front?.faces[0]?.descriptor
  if (!mine) return Number.POSITIVE_INFINITY
  const distances = frames.map(({ frame }) => {
    const [face, second] = frame.faces
    if (!face?.descriptor || (second && second.box.width > face.box.width / 2)) return Number.POSITIVE_INFINITY
    return distanceOf(mine, face.descriptor)
  })
  return Math.max(0, ...distances)
}

function frontalsOf(frames: readonly TimedFrame[]): Frame[] {
  return frames.flatMap(({ step, frame }) => (step === 'frontal' ? [frame] : []))
}

/** Whether the frontal frame comes first, times rise within the span and since the challenge, and steps are in the requested order. */
function isInOrder(steps: readonly string[], frames: readonly TimedFrame[], withinMs: number | null): boolean {
  const [first, last] = [frames[0], frames.at(-1)]
  if (first?.step !== 'frontal' || !last) return false
  const isRising = frames.every(({ atMs }, i) => i === 0 || atMs > (frames[i - 1]?.atMs ?? 0))
  const lasted = last.atMs - first.atMs
  const seen = frames.map(({ step }) => step).filter((step, i, all) => step !== 'frontal' && step !== all[i - 1])
  if (withinMs !== null && lasted > withinMs) return false
  return isRising && lasted >= span.leastMs && lasted <= span.maxMs && seen.join() === steps.join()
}

/** Difference of tone between the frames in the corner that changed most. */
function backgroundChange(frames: readonly TimedFrame[]): number {
  const changes = [0, 1].map((corner) => {
    const tones = frames.map(({ frame }) => frame.corners[corner] ?? 0)
    return Math.max(...tones) - Math.min(...tones)
  })
  return Math.max(...changes)
}

/** Cap of the passive liveness score: no model tried tells a print from a person. */
const passiveCap = 80

export function judgePassive(frame: Frame): { passed: boolean; confidence: number } {
  const [face, ...others] = frame.faces
  if (!face) return { passed: false, confidence: 0 }
  const isClean = frame.quality.problems.length === 0 && frame.isRecaptured !== true && others.length === 0
  return { passed: isClean, confidence: isClean ? Math.round(Math.min(passiveCap, 50 + 30 * face.score)) : 20 }
}
