// SPDX-License-Identifier: Apache-2.0
// Speech to text: which languages are understood here, an utterance in a call, and a whole recording cut into utterances. A language
// without an engine is said to be unavailable; nothing is ever guessed in another.
import type { App } from '../../../platform/app.ts'
import { frameSamples, sampleRate } from '../../../protocols/audio/g711.ts'
import { Listener } from '../../../protocols/media/taps.ts'
import { askEngine, type EngineFault } from '../engines/engines.ts'
import { type Guess, recognise } from '../engines/tasks.ts'
import { recognitionModelsOf } from './recognition-models.ts'

export type SpeechFault = 'language_unavailable' | EngineFault

export interface Understood {
  readonly results: readonly Guess[]
  /** Model that listened; null where none understands the language. */
  readonly model: string | null
  readonly fault: SpeechFault | null
  /** Advice to an operator or a developer. */
  readonly message: string | null
}

/** A caller who has spoken waits this long at most. */
const patienceMs = 15_000
const maxResults = 10
const frameMs = 20

export async function understand(
  app: App,
  samples: Int16Array,
  {
    language,
    context = [],
    withinMs = patienceMs,
  }: { language: string; context?: readonly string[]; withinMs?: number },
): Promise<Understood> {
  const model = await recognitionModelsOf(app).modelFor(language)
  if (model === null)
    return { results: [], model, fault: 'language_unavailable', message: `no model here understands ${language}` }
  const { name, folder } = model
  const heard = await askEngine(app, recognise, { samples, context, folder }, withinMs)
  if (heard.kind === 'fault') return { results: [], model: name, fault: heard.fault, message: heard.message }
  const results = heard.answer.guesses.slice(0, maxResults).map(rounded)
  return { results, model: name, fault: null, message: null }
}

function rounded({ text, confidence }: Guess): Guess {
  return { text, confidence: Math.round(confidence * 1_000) / 1_000 }
}

export interface Utterance {
  /** Seconds from the beginning of the sound. */
  readonly start: number
  readonly end: number
  readonly samples: Int16Array
}

/** Pause after which something new is said, and the longest that is recognised at once. */
const cutting = { endOnSilenceMs: 700, startTimeoutMs: Number.POSITIVE_INFINITY, maxMs: 25_000 }
const leastUtterance = sampleRate / 5

/** Cuts a sound that comes piece by piece into what was said without a pause. */
export class UtteranceCutter {
  #listener = new Listener(cutting)
  #rest = new Int16Array(0)
  #frames = 0

  take(piece: Int16Array): Utterance[] {
    const found: Utterance[] = []
    const whole = joined(this.#rest, piece)
    let at = 0
    for (; at + frameSamples <= whole.length; at += frameSamples) {
      this.#frames++
      const { end } = this.#listener.take(whole.subarray(at, at + frameSamples))
      if (end !== null) this.#cut(found)
    }
    this.#rest = whole.slice(at)
    return found
  }

  /** Utterance in progress when the sound ended. */
  end(): Utterance[] {
    const found: Utterance[] = []
    this.#cut(found)
    return found
  }

  #cut(found: Utterance[]): void {
    const samples = this.#listener.heard()
    this.#listener = new Listener(cutting)
    if (samples.length < leastUtterance) return
    const end = (this.#frames * frameMs) / 1_000
    found.push({ start: Math.max(0, end - samples.length / sampleRate), end, samples })
  }
}

function joined(first: Int16Array, second: Int16Array): Int16Array {
  if (first.length === 0) return second
  const whole = new Int16Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
