// SPDX-License-Identifier: Apache-2.0
// Tasks of the audio engines with their results. Both are validated, because files and audio come from outside.
import { type Static, Type } from 'typebox'
import { task } from '../../../platform/compute.ts'

const Guess = Type.Object({
  text: Type.String({ maxLength: 2_000 }),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
})
export type Guess = Static<typeof Guess>

export const Samples = Type.Refine(Type.Unsafe<Int16Array>({}), (value) => value instanceof Int16Array)
export const Bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array)

/** Longest audio recognised in one task. */
export const longestUtteranceMs = 62_000

/** Recognises speech: texts best first; each phrase of the context is scored. English of the package where there is no folder. */
export const recognise = task<{ samples: Int16Array; context: readonly string[]; folder: string | null }>()({
  name: 'recognise',
  answer: Type.Object({ guesses: Type.Array(Guess, { maxItems: 101 }) }),
  timeoutMs: 60_000,
})

/** Longest speech of one text. */
export const maxSpeechSeconds = 300
export const wordsPerMinute = 150

/** Package that speaks where the system has no program for it. */
export const speechPackage = '@echogarden/espeak-ng-emscripten'

/** Telephone audio of a text; null when it would be too long. */
export const say = task<{ markup: string; voice: string }>()({
  name: 'say',
  answer: Type.Object({ samples: Type.Union([Samples, Type.Null()]) }),
  timeoutMs: 30_000,
})

/** Telephone audio of a sentence, by the Piper voice in a file. */
export const sayByFile = task<{ sentence: string; path: string }>()({
  name: 'sayByFile',
  answer: Type.Object({ samples: Samples }),
  timeoutMs: 30_000,
})

/** Telephone audio of a file, or the reason for failure. */
export const readSound = task<{ file: Uint8Array }>()({
  name: 'readSound',
  answer: Type.Union([Type.Object({ samples: Samples }), Type.Object({ problem: Type.String({ maxLength: 200 }) })]),
  timeoutMs: 60_000,
})
