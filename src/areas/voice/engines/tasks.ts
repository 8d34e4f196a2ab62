// SPDX-License-Identifier: Apache-2.0
// What is asked of the engines of sound, and what their answers look like. Both ends are checked, since the files and the
// voices that go in are strangers'.
import { type Static, Type } from 'typebox'
import { task } from '../../../platform/compute.ts'

const Guess = Type.Object({
  text: Type.String({ maxLength: 2_000 }),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
})
export type Guess = Static<typeof Guess>

export const Samples = Type.Refine(Type.Unsafe<Int16Array>({}), (value) => value instanceof Int16Array)
export const Bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array)

/** Longest piece of sound that is recognised at once. */
export const longestUtteranceMs = 62_000

/** What was said, best first; phrases of the context are scored each. */
export const recognise = task<{ samples: Int16Array; context: readonly string[] }>()({
  name: 'recognise',
  answer: Type.Object({ guesses: Type.Array(Guess, { maxItems: 101 }) }),
  timeoutMs: 60_000,
})

/** Telephone audio of a file, or why there is none. */
export const readSound = task<{ file: Uint8Array }>()({
  name: 'readSound',
  answer: Type.Union([Type.Object({ samples: Samples }), Type.Object({ problem: Type.String({ maxLength: 200 }) })]),
  timeoutMs: 60_000,
})
