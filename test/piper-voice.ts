// SPDX-License-Identifier: Apache-2.0
// A Piper voice small enough to be written down here: each phoneme is a tone of its own for a tenth of a second.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { attribute, constant, float, floats, input, int64, longs, model, node, output } from './onnx.ts'

/** What the phonemes of the voice sound like, in hertz. */
export const phonemeHertz = { a: 600, i: 800, '.': 1_200 } as const
export const phonemeSamples = 800

const rate = 22_050

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
  return model(
    node('Cast', ['input'], 'hertz', attribute('to', float)),
    node('Reshape', ['hertz', 'column'], 'rows'),
    node('MatMul', ['rows', 'times'], 'phases'),
    node('Sin', ['phases'], 'tones'),
    node('Reshape', ['tones', 'line'], 'output'),
    constant('column', int64, [2], longs(-1, 1)),
    constant('line', int64, [4], longs(1, 1, 1, -1)),
    constant('times', float, [1, times.length], floats(times)),
    input('input', int64, null, null),
    input('input_lengths', int64, null),
    input('scales', float, null),
    output('output', float, null, null, null, null),
  )
}
