// SPDX-License-Identifier: Apache-2.0
// A Piper voice small enough to be written down here: each phoneme is a tone of its own for a tenth of a second.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What the phonemes of the voice sound like, in hertz. */
export const phonemeHertz = { a: 600, i: 800, '.': 1_200 } as const
export const phonemeSamples = 800

const rate = 22_050
const [float, int64] = [1, 7]

/** Writes `name`.onnx and its description into a folder. */
export async function writePiperVoice(folder: string, name: string, code = 'sw_CD'): Promise<void> {
  const description = {
    audio: { sample_rate: rate, quality: 'low' },
    espeak: { voice: 'sw' },
    language: { code, family: 'sw' },
    inference: { noise_scale: 0.667, length_scale: 1, noise_w: 0.8 },
    phoneme_type: 'espeak',
    num_speakers: 1,
    speaker_id_map: {},
    phoneme_id_map: { _: [0], '^': [1], $: [2], a: [phonemeHertz.a], i: [phonemeHertz.i], '.': [phonemeHertz['.']] },
  }
  await writeFile(join(folder, `${name}.onnx`), network())
  await writeFile(join(folder, `${name}.onnx.json`), JSON.stringify(description))
}

/** sin(id * time) for a tenth of a second of each id, as the graph of an ONNX model. */
function network(): Buffer {
  const times = Float32Array.from({ length: rate / 10 }, (_, i) => (2 * Math.PI * i) / rate)
  const graph = [
    node('Cast', ['input'], 'hertz', [text(1, 'to'), number(3, float), number(20, 2)]),
    node('Reshape', ['hertz', 'column'], 'rows'),
    node('MatMul', ['rows', 'times'], 'phases'),
    node('Sin', ['phases'], 'tones'),
    node('Reshape', ['tones', 'line'], 'output'),
    text(2, 'tones'),
    part(5, ...constant('column', int64, [2], Buffer.from(BigInt64Array.of(-1n, 1n).buffer))),
    part(5, ...constant('line', int64, [4], Buffer.from(BigInt64Array.of(1n, 1n, 1n, -1n).buffer))),
    part(5, ...constant('times', float, [1, times.length], Buffer.from(times.buffer))),
    part(11, ...port('input', int64, 2)),
    part(11, ...port('input_lengths', int64, 1)),
    part(11, ...port('scales', float, 1)),
    part(12, ...port('output', float, 4)),
  ]
  return Buffer.concat([number(1, 8), part(7, ...graph), part(8, text(1, ''), number(2, 13))])
}

// --- protocol buffers ---

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)])
}

function part(field: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

function text(field: number, value: string): Buffer {
  return part(field, Buffer.from(value))
}

// --- parts of a graph ---

function node(operation: string, inputs: readonly string[], output: string, attribute: readonly Buffer[] = []): Buffer {
  const ends = [...inputs.map((input) => text(1, input)), text(2, output), text(4, operation)]
  return part(1, ...ends, ...(attribute.length > 0 ? [part(5, ...attribute)] : []))
}

function constant(name: string, type: number, sides: readonly number[], bytes: Buffer): Buffer[] {
  return [...sides.map((side) => number(1, side)), number(2, type), text(8, name), part(9, bytes)]
}

function port(name: string, type: number, sides: number): Buffer[] {
  const shape = Array.from({ length: sides }, (_, i) => part(1, text(2, `${name}${i}`)))
  return [text(1, name), part(2, part(1, number(1, type), part(2, ...shape)))]
}
