// SPDX-License-Identifier: Apache-2.0
// Moonshine, a neural network for speech recognition: an encoder for audio and a decoder for tokens. English is in a package, of
// which only the models are used, none of its code; other languages are in folders of the operator. Expected phrases are scored by
// their decoder likelihood, which finds words on a telephone line that free transcription misses.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Value } from 'onnxruntime-node'
import { InferenceProblem, lazily, type OpenNetwork, openSession } from '../../../platform/compute/inference.ts'
import { resample } from '../../../protocols/audio/resample.ts'
import { keeping } from './kept.ts'
import {
  descriptionFile,
  englishTokensPerSecond,
  modelFiles,
  modelPackage,
  readDescription,
} from './recognition-model.ts'
import type { Guess } from './tasks.ts'
import { readTokenizer, type Tokenizer } from './tokenizer.ts'

const modelRate = 16_000
const telephoneRate = 8_000
const startToken = 1
const endToken = 2
const fewestTokens = 6
/** Phrases scored per batch; each needs a copy of the encoder output. */
const phrasesAtOnce = 12
/**
 * Mean log probability per token at which an expected phrase is as likely said as not, and the slope there; fitted on
 * expected and unexpected words over a telephone line.
 */
const evenLogarithm = -2.3
const sharpness = 1.4
/** Minimum confidence of a phrase. */
const leastConfidence = 0.2
/** Minimum length for the encoder; shorter audio is padded with silence. */
const leastSamples = modelRate / 2

const maxKept = 2

interface Model {
  readonly encoder: OpenNetwork
  readonly decoder: OpenNetwork
  readonly tokenizer: Tokenizer
  readonly tokensPerSecond: number
}

/** Model of the package. */
export const openEnglish = lazily(async () => {
  const { default: llama } = await installed('llama-tokenizer-js', () => import('llama-tokenizer-js'))
  const folder = await installed(
    modelPackage,
    async () => new URL('model/tiny/quantized/', import.meta.resolve(modelPackage)),
  )
  const open = async (name: string) => {
    const model = await installed(modelPackage, () => readFile(new URL(name, folder)))
    return openSession(name, model)
  }
  const [encoder, decoder] = [await open('encoder_model.onnx'), await open('decoder_model_merged.onnx')]
  const tokenizer = {
    encode: (text: string) => llama.encode(text, false, true),
    decode: (tokens: readonly number[]) => llama.decode(tokens, false, false).trim(),
  }
  return new Moonshine({ encoder, decoder, tokenizer, tokensPerSecond: englishTokensPerSecond })
})

/** Model in a folder of the operator. */
export const openModel = keeping(maxKept, async (folder) => {
  try {
    const { tokensPerSecond } = readDescription(await readFile(join(folder, descriptionFile), 'utf8'))
    const tokenizer = readTokenizer(await readFile(join(folder, modelFiles.tokenizer), 'utf8'))
    const open = async (name: string) => openSession(join(folder, name), await readFile(join(folder, name)))
    const [encoder, decoder] = [await open(modelFiles.encoder), await open(modelFiles.decoder)]
    return new Moonshine({ encoder, decoder, tokenizer, tokensPerSecond })
  } catch (cause) {
    if (cause instanceof InferenceProblem) throw cause
    throw new InferenceProblem('model_refused', `the recognition model ${folder} cannot be read`, cause)
  }
})

async function installed<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    const message = `The package ${name} is not installed. Run: npm install ${name}`
    throw new InferenceProblem('package_missing', message, cause)
  }
}

class Moonshine {
  readonly #model: Model
  /** Inputs of the decoder that hold its past, with the number and the size of their heads. */
  readonly #past: readonly { name: string; heads: number; size: number }[]

  constructor(model: Model) {
    this.#model = model
    this.#past = model.decoder.session.inputMetadata.flatMap((input) => {
      if (!input.isTensor || !input.name.startsWith('past_key_values.')) return []
      const [, heads, , size] = input.shape
      if (typeof heads !== 'number' || typeof size !== 'number')
        throw new InferenceProblem('model_refused', `the decoder does not say the size of ${input.name}`, null)
      return [{ name: input.name, heads, size }]
    })
  }

  async close(): Promise<void> {
    await this.#model.encoder.session.release()
    await this.#model.decoder.session.release()
  }

  /** Recognised texts, best first; empty for silence. */
  async recognise(samples: Int16Array, context: readonly string[]): Promise<Guess[]> {
    const heard = await this.#encode(samples)
    const phrases = await this.#score(heard, context)
    const written = await this.#write(heard, samples.length / telephoneRate)
    const isExpected = written && phrases.some(({ text }) => plain(text) === plain(written.text))
    const guesses = written && !isExpected ? [...phrases, written] : phrases
    return guesses.sort((a, b) => b.confidence - a.confidence)
  }

  async #encode(samples: Int16Array): Promise<Value> {
    const { session, Tensor } = this.#model.encoder
    const wide = resample(samples, telephoneRate, modelRate)
    const sound = new Float32Array(Math.max(leastSamples, wide.length))
    for (let i = 0; i < wide.length; i++) sound[i] = (wide[i] ?? 0) / 32_768
    return named(
      await session.run({ input_values: new Tensor('float32', sound, [1, sound.length]) }),
      'last_hidden_state',
    )
  }

  /** Greedy decoding, token by token. */
  async #write(heard: Value, seconds: number): Promise<Guess | null> {
    const { session, Tensor } = this.#model.decoder
    const tokens: number[] = []
    let past = this.#emptyPast()
    let logarithms = 0
    const most = Math.max(fewestTokens, Math.ceil(seconds * this.#model.tokensPerSecond))
    for (let i = 0; i < most; i++) {
      const last = BigInt64Array.of(BigInt(tokens.at(-1) ?? startToken))
      const output = await session.run({
        input_ids: new Tensor('int64', last, [1, 1]),
        encoder_hidden_states: heard,
        use_cache_branch: new Tensor('bool', [i > 0], [1]),
        ...past,
      })
      const logits = numbers(named(output, 'logits'))
      const next = likeliest(logits)
      logarithms += logarithmOf(logits, next)
      if (next === endToken) break
      tokens.push(next)
      past = nextPast(past, output, i === 0)
    }
    const text = this.#model.tokenizer.decode(tokens)
    // Silence decodes to nothing or to punctuation.
    return plain(text) === '' ? null : { text, confidence: Math.exp(logarithms / (tokens.length + 1)) }
  }

  /** Score each phrase, written as a sentence like the network's own output. */
  async #score(heard: Value, context: readonly string[]): Promise<Guess[]> {
    const guesses: Guess[] = []
    for (let i = 0; i < context.length; i += phrasesAtOnce) {
      const some = context.slice(i, i + phrasesAtOnce)
      const scores = await this.#scoreSome(heard, some)
      some.forEach((text, k) => {
        const distance = (scores[k] ?? Number.NEGATIVE_INFINITY) - evenLogarithm
        const confidence = 1 / (1 + Math.exp(-sharpness * distance))
        if (confidence >= leastConfidence) guesses.push({ text, confidence })
      })
    }
    return guesses
  }

  /** Mean log probability of the tokens of each phrase. */
  async #scoreSome(heard: Value, phrases: readonly string[]): Promise<number[]> {
    const { session, Tensor } = this.#model.decoder
    const rows = phrases.map((phrase) => [startToken, ...this.#model.tokenizer.encode(sentence(phrase)), endToken])
    const length = Math.max(...rows.map((row) => row.length)) - 1
    const ids = new BigInt64Array(rows.length * length)
    rows.forEach((row, r) => {
      for (let i = 0; i < length; i++) ids[r * length + i] = BigInt(row[i] ?? endToken)
    })
    const output = await session.run({
      input_ids: new Tensor('int64', ids, [rows.length, length]),
      encoder_hidden_states: repeated(heard, rows.length, Tensor),
      use_cache_branch: new Tensor('bool', [false], [1]),
      ...this.#emptyPast(),
    })
    const logits = numbers(named(output, 'logits'))
    const size = logits.length / (rows.length * length)
    return rows.map((row, r) => {
      let sum = 0
      for (let i = 0; i + 1 < row.length; i++) {
        const at = (r * length + i) * size
        sum += logarithmOf(logits.subarray(at, at + size), row[i + 1] ?? endToken)
      }
      return sum / (row.length - 1)
    })
  }

  #emptyPast(): Record<string, Value> {
    const { Tensor } = this.#model.decoder
    const past: Record<string, Value> = {}
    for (const { name, heads, size } of this.#past)
      past[name] = new Tensor('float32', new Float32Array(0), [0, heads, 1, size])
    return past
  }
}

/** Decoder cache of past tokens; the cache of the audio stays fixed after the first step. */
function nextPast(past: Record<string, Value>, output: Readonly<Record<string, Value>>, isFirst: boolean) {
  const next = { ...past }
  for (const name of Object.keys(past))
    if (isFirst || name.includes('.decoder.')) next[name] = named(output, name.replace('past_key_values', 'present'))
  return next
}

function named(output: Readonly<Record<string, Value>>, name: string): Value {
  const value = output[name]
  if (!value) throw new InferenceProblem('model_refused', `the model has no output ${name}`, null)
  return value
}

function numbers({ data }: Value): Float32Array {
  if (data instanceof Float32Array) return data
  throw new InferenceProblem('model_refused', 'the model does not answer numbers', null)
}

function repeated(heard: Value, times: number, Tensor: OpenNetwork['Tensor']): Value {
  const one = numbers(heard)
  const all = new Float32Array(one.length * times)
  for (let i = 0; i < times; i++) all.set(one, i * one.length)
  const [, ...sides] = heard.dims
  return new Tensor('float32', all, [times, ...sides])
}

function likeliest(logits: Float32Array): number {
  let best = 0
  for (let i = 1; i < logits.length; i++) if ((logits[i] ?? 0) > (logits[best] ?? 0)) best = i
  return best
}

/** Log probability of a token. */
function logarithmOf(logits: Float32Array, token: number): number {
  let most = Number.NEGATIVE_INFINITY
  for (const logit of logits) if (logit > most) most = logit
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - most)
  return (logits[token] ?? Number.NEGATIVE_INFINITY) - most - Math.log(sum)
}

function sentence(phrase: string): string {
  const text = phrase.trim()
  const begun = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}

/** Text in lower case without punctuation. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} ]/gu, '')
    .trim()
}
