// SPDX-License-Identifier: Apache-2.0
// A recognition model small enough to be written down here, of the form of Moonshine: one tone is a word, another tone is another.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { attribute, bool, constant, float, floats, input, int64, longs, model, node, output } from './onnx.ts'

/** What the words sound like, in hertz. */
export const wordHertz = { Ndiyo: 600, Hapana: 1_200 } as const

const rate = 16_000
const frame = 320
const gain = 100
const pieces = ['<unk>', '<s>', '</s>', '\u2581Ndiyo', '\u2581Hapana', '.']
const [start, end, yes, no, stop] = [1, 2, 3, 4, 5]
const size = pieces.length
const pasts = ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value']

/** Writes the folder of a model. */
export async function writeRecognitionModel(folder: string, languages: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'encoder_model.onnx'), encoder())
  await writeFile(join(folder, 'decoder_model_merged.onnx'), decoder())
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer()))
  await writeFile(join(folder, 'recognition.json'), JSON.stringify({ languages, tokens_per_second: 13 }))
}

function tokenizer(): object {
  const merges = pieces.slice(yes, stop).flatMap((piece) => {
    const letters = [...piece]
    return letters.slice(1).map((letter, i) => [letters.slice(0, i + 1).join(''), letter])
  })
  const special = [0, start, end].map((id) => ({ id, content: pieces[id], special: true }))
  return {
    added_tokens: special,
    model: { type: 'BPE', vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])), merges },
  }
}

/** How loud each tone is on the whole, as the score of its word. */
function encoder(): Buffer {
  const waves = Object.values(wordHertz).flatMap((hertz) => [
    (i: number) => Math.cos((2 * Math.PI * hertz * i) / rate),
    (i: number) => Math.sin((2 * Math.PI * hertz * i) / rate),
  ])
  const kernels = waves.flatMap((wave) => Array.from({ length: frame }, (_, i) => (2 * wave(i)) / frame))
  const scores = new Float32Array(waves.length * size)
  for (const [i, word] of [yes, yes, no, no].entries()) scores[i * size + word] = gain
  return model(
    node('Reshape', ['input_values', 'line'], 'sound'),
    node('Conv', ['sound', 'kernels'], 'waves', attribute('strides', [frame])),
    node('Abs', ['waves'], 'loudness'),
    node('ReduceMean', ['loudness'], 'means', attribute('axes', [2]), attribute('keepdims', 0)),
    node('MatMul', ['means', 'scores'], 'words'),
    node('Reshape', ['words', 'one'], 'last_hidden_state'),
    constant('line', int64, [3], longs(1, 1, -1)),
    constant('one', int64, [3], longs(1, 1, size)),
    constant('kernels', float, [waves.length, 1, frame], floats(Float32Array.from(kernels))),
    constant('scores', float, [waves.length, size], floats(scores)),
    input('input_values', float, null, null),
    output('last_hidden_state', float, null, null, size),
  )
}

/** A word that was heard, a full stop, and the end. */
function decoder(): Buffer {
  const next = new Float32Array(size * size).fill(-20)
  const after = { [start]: end, [yes]: stop, [no]: stop, [stop]: end }
  for (const [token, following] of Object.entries(after)) next[Number(token) * size + following] = 0
  for (const word of [yes, no]) next[start * size + word] = -4
  const listens = Float32Array.from({ length: size }, (_, token) => (token === start ? 1 : 0))
  return model(
    node('Gather', ['next', 'input_ids'], 'following'),
    node('Gather', ['listens', 'input_ids'], 'listening'),
    node('Mul', ['listening', 'encoder_hidden_states'], 'heard'),
    node('Add', ['following', 'heard'], 'logits'),
    ...pasts.map((past) => node('Identity', [`past_key_values.0.${past}`], `present.0.${past}`)),
    constant('next', float, [size, size], floats(next)),
    constant('listens', float, [size, 1], floats(listens)),
    input('input_ids', int64, null, null),
    input('encoder_hidden_states', float, null, null, size),
    input('use_cache_branch', bool, 1),
    ...pasts.map((past) => input(`past_key_values.0.${past}`, float, null, 2, null, 4)),
    output('logits', float, null, null, null),
    ...pasts.map((past) => output(`present.0.${past}`, float, null, 2, null, 4)),
  )
}
