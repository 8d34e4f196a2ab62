// SPDX-License-Identifier: Apache-2.0
// Text to speech: the voice of a file that was asked for, or else the first engine that is installed, and a cache by what was
// said. Speech is bounded in seconds, made outside of the event loop, and accounts take turns at the engine.
import { createHash } from 'node:crypto'
import { Gatherer } from '../../../platform/concurrency/gather.ts'
import { sampleRate } from '../../../protocols/audio/g711.ts'
import { silence } from '../../../protocols/audio/tones.ts'
import { maxSpeechSeconds } from '../engines/tasks.ts'
import { type SpeechEngine, tooLong, Unspeakable } from './engine.ts'
import { type FileSpeech, sentencesOf } from './file-speech.ts'
import { readingOf } from './reading.ts'
import { ssmlProblem } from './ssml.ts'
import type { FileVoice } from './voice-files.ts'
import { engineVoiceOf } from './voices.ts'

export interface Utterance {
  text: string
  language: string
  style?: number
  voice?: string
  /** Account that pays for it; accounts take turns at the engine. */
  account?: string
}

const maxRunning = 4
const maxRunningOfAccount = 2
const maxWaitingOfAccount = 100
const maxCachedSamples = 8_000 * 60 * 30

export class Speaker {
  readonly #cache = new Map<string, Int16Array>()
  #cachedSamples = 0
  /** Texts that the engine is saying or is about to, by their key in the cache. */
  readonly #underWay = new Map<string, Promise<Int16Array>>()
  readonly #waiting = new Map<string, number>()
  readonly #turns = new Gatherer<() => Promise<Int16Array>, Int16Array>({
    most: 1,
    atOnce: maxRunning,
    ofHolder: maxRunningOfAccount,
    run: (all) => Promise.all(all.map((work) => work())),
  })
  #found: SpeechEngine | null = null
  readonly #engines: readonly SpeechEngine[]
  readonly #files: FileSpeech | null

  /** `engines` in the order in which they are looked for. */
  constructor(engines: readonly SpeechEngine[], files: FileSpeech | null = null) {
    this.#engines = engines
    this.#files = files
  }

  /** Voices of the operator's folder. */
  async fileVoices(): Promise<readonly FileVoice[]> {
    return (await this.#files?.files.all()) ?? []
  }

  /** The engine that speaks; looked for once, and again while there is none. */
  async engine(): Promise<SpeechEngine | null> {
    for (const engine of this.#found ? [] : this.#engines)
      if (await engine.isInstalled()) {
        this.#found ??= engine
        break
      }
    return this.#found
  }

  /** Telephone audio of a text, plain or SSML. */
  async speak(utterance: Utterance): Promise<Int16Array> {
    const pieces: Int16Array[] = []
    let length = 0
    for (const part of await this.parts(utterance)) {
      const samples = await part()
      pieces.push(samples)
      length += samples.length
      if (length > maxSpeechSeconds * sampleRate) throw new Unspeakable('VALIDATION_ERROR', tooLong)
    }
    return joined(pieces, length)
  }

  /** Parts of a text in their order, each made when it is called: the sentences of a voice from a file, or all of it. */
  async parts(utterance: Utterance): Promise<readonly (() => Promise<Int16Array>)[]> {
    const { text, language, voice, style = 0, account = '' } = utterance
    const problem = ssmlProblem(text)
    if (problem) throw new Unspeakable('VALIDATION_ERROR', `text: ${problem}`)
    const files = style === 0 ? this.#files : null
    const file = (await files?.files.voiceFor(language, voice)) ?? null
    if (!files || !file) return [() => this.#byEngine(utterance)]
    const say = (sentence: string) => this.#once(`${file.path}\0${sentence}`, account, () => files.say(sentence, file))
    return sentencesOf(language, text).map((sentence) => async () => {
      const pause = silence(sentence.pauseMs)
      if (sentence.text === '') return pause
      // A voice that the operator chose may be broken; a caller who did not ask for it still hears the text.
      const samples = await say(sentence.text).catch((problem) => {
        if (file.name === voice) throw problem
        return this.#byEngine({ ...utterance, text: sentence.text })
      })
      return joined([samples, pause], samples.length + pause.length)
    })
  }

  async #byEngine({ text, language, style = 0, voice, account = '' }: Utterance): Promise<Int16Array> {
    const engineVoice = engineVoiceOf(language, style, voice)
    const reading = readingOf(language, text)
    const engine = await this.engine()
    if (!engine) {
      const names = this.#engines.map(({ name }) => name).join(' or ')
      throw new Unspeakable('PROVIDER_UNAVAILABLE', `no speech engine is installed: install ${names}`)
    }
    const what = `${engine.name}\0${engineVoice}\0${reading.text}`
    return this.#once(what, account, () => engine.say(reading, engineVoice))
  }

  /** What was said before is not said again, and what is being said is waited for. */
  async #once(what: string, account: string, say: () => Promise<Int16Array>): Promise<Int16Array> {
    const key = createHash('sha256').update(what).digest('base64')
    const known = this.#cache.get(key)
    if (known) return known
    const running = this.#underWay.get(key)
    if (running) return running
    const speaking = this.#inTurn(account, say)
    this.#underWay.set(key, speaking)
    try {
      const samples = await speaking
      this.#keep(key, samples)
      return samples
    } finally {
      this.#underWay.delete(key)
    }
  }

  #keep(key: string, samples: Int16Array): void {
    this.#cache.set(key, samples)
    this.#cachedSamples += samples.length
    for (const [oldest, sound] of this.#cache) {
      if (this.#cachedSamples <= maxCachedSamples) break
      this.#cache.delete(oldest)
      this.#cachedSamples -= sound.length
    }
  }

  /** A few at a time, and of one account fewer; the others wait for their turn. */
  async #inTurn(account: string, work: () => Promise<Int16Array>): Promise<Int16Array> {
    const waiting = this.#waiting.get(account) ?? 0
    if (waiting >= maxWaitingOfAccount)
      throw new Unspeakable('PROVIDER_UNAVAILABLE', `${waiting} texts of this account wait for the speech engine`)
    this.#waiting.set(account, waiting + 1)
    try {
      return await this.#turns.join(work, account)
    } finally {
      const left = (this.#waiting.get(account) ?? 1) - 1
      if (left > 0) this.#waiting.set(account, left)
      else this.#waiting.delete(account)
    }
  }
}

function joined(pieces: readonly Int16Array[], length: number): Int16Array {
  const [only] = pieces
  if (only && pieces.length === 1) return only
  const whole = new Int16Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
