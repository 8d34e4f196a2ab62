// SPDX-License-Identifier: Apache-2.0
// A Piper voice (VITS as ONNX): a sentence becomes phonemes, their numbers, and samples.
import { readFile } from 'node:fs/promises'
import type { Value } from 'onnxruntime-node'
import { InferenceProblem, openSession } from '../../../platform/compute/inference.ts'
import { sampleRate } from '../../../protocols/audio/g711.ts'
import { resample } from '../../../protocols/audio/resample.ts'
import { keeping } from './kept.ts'
import { type PiperVoice, readPiperVoice } from './piper-voice.ts'

/** Phonemes of a text, one clause at a time. */
type Phonemes = (text: string, espeakVoice: string) => string

const maxKept = 2
/** Loudest sample, of 32,767: the line is left some room above the voice. */
const peak = 26_000
const quietest = 0.01
/** Marks of the beginning, the end and the space between two phonemes. */
const [first, last, pad] = ['^', '$', '_']

/** The voice in a file. */
export const openPiper = keeping(maxKept, open)

async function open(path: string): Promise<Piper> {
  try {
    const voice = readPiperVoice(await readFile(`${path}.json`, 'utf8'))
    return new Piper(voice, await openSession(path, await readFile(path)))
  } catch (cause) {
    if (cause instanceof InferenceProblem) throw cause
    throw new InferenceProblem('model_refused', `the voice ${path} cannot be read`, cause)
  }
}

class Piper {
  readonly #voice: PiperVoice
  readonly #network: Awaited<ReturnType<typeof openSession>>

  constructor(voice: PiperVoice, network: Awaited<ReturnType<typeof openSession>>) {
    this.#voice = voice
    this.#network = network
  }

  close(): Promise<void> {
    return this.#network.session.release()
  }

  /** Telephone audio of a sentence; none where nothing in it is spoken. */
  async say(sentence: string, phonemesOf: Phonemes): Promise<Int16Array> {
    const { audio, espeak, phoneme_type, inference = {}, num_speakers = 1 } = this.#voice
    const phonemes =
      phoneme_type === 'text' ? sentence : withPunctuation(sentence, (clause) => phonemesOf(clause, espeak.voice))
    const ids = this.#idsOf(phonemes)
    if (ids.length === 0) return new Int16Array(0)
    const { session, Tensor } = this.#network
    const { noise_scale = 0.667, length_scale = 1, noise_w = 0.8 } = inference
    const output = await session.run({
      input: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
      input_lengths: new Tensor('int64', BigInt64Array.of(BigInt(ids.length)), [1]),
      scales: new Tensor('float32', Float32Array.of(noise_scale, length_scale, noise_w), [3]),
      ...(num_speakers > 1 ? { sid: new Tensor('int64', BigInt64Array.of(0n), [1]) } : {}),
    })
    return resample(wholeNumbers(output.output), audio.sample_rate, sampleRate)
  }

  #idsOf(phonemes: string): number[] {
    const { phoneme_id_map: map } = this.#voice
    const between = map[pad] ?? []
    const spoken = [...phonemes.normalize('NFD')].flatMap((phoneme) => {
      const ids = phoneme === first || phoneme === last || phoneme === pad ? undefined : map[phoneme]
      return ids ? [...ids, ...between] : []
    })
    return spoken.length === 0 ? [] : [...(map[first] ?? []), ...between, ...spoken, ...(map[last] ?? [])]
  }
}

/** Phonemes with the punctuation that the network was taught with, which the engine of phonemes leaves out. */
function withPunctuation(sentence: string, phonemesOf: (clause: string) => string): string {
  const clauses = sentence.matchAll(/([\s\S]+?)([.,;:!?…]*)(?:(?<=[.,;:!?…])\s+|$)/g)
  return [...clauses].map(([, clause = '', end = '']) => `${cleaned(phonemesOf(clause))}${end.slice(0, 1)}`).join(' ')
}

/** Phonemes without marks of another language, such as `(en)`, and without joints. */
function cleaned(phonemes: string): string {
  return phonemes
    .replace(/\([a-z-]+\)|[_\u200d]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

function wholeNumbers(output: Value | undefined): Int16Array {
  const data = output?.data
  if (!(data instanceof Float32Array))
    throw new InferenceProblem('model_refused', 'the voice has no output of samples', null)
  let loudest = quietest
  for (const sample of data) loudest = Math.max(loudest, Math.abs(sample))
  const scale = peak / loudest
  return Int16Array.from(data, (sample) => sample * scale)
}
