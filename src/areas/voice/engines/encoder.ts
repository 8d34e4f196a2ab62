// SPDX-License-Identifier: Apache-2.0
// Process that encodes one recording as MP3, piece by piece. The encoder (LAME as WebAssembly, an optional package under
// the LGPL) is loaded here and nowhere else.
import { Type } from 'typebox'
import Value from 'typebox/value'
import { InferenceProblem } from '../../../platform/compute/inference.ts'
import { serveTasks } from '../../../platform/compute/serve.ts'
import { sampleRate } from '../../../protocols/audio/g711.ts'
import { infoFrame, kbitsOf } from '../../../protocols/audio/mp3.ts'
import { Bytes } from './tasks.ts'

const Begin = Type.Object({ channels: Type.Integer({ minimum: 1, maximum: 2 }), samples: Type.Integer({ minimum: 0 }) })
const Add = Type.Object({ bytes: Bytes })

let encoding: { encoder: Awaited<ReturnType<typeof newEncoder>>; channels: number } | null = null

serveTasks(
  {
    begin: async (input) => {
      const { channels, samples } = Value.Parse(Begin, input)
      const encoder = await newEncoder()
      encoder.configure({ sampleRate, channels: channels === 2 ? 2 : 1, bitrate: kbitsOf(channels) })
      encoding = { encoder, channels }
      return { bytes: infoFrame(samples, channels) }
    },
    add: async (input) => {
      const { bytes } = Value.Parse(Add, input)
      if (!encoding) throw new Error('nothing was begun')
      return { bytes: copyOf(encoding.encoder.encode(channelsIn(bytes, encoding.channels))) }
    },
    end: async () => {
      if (!encoding) throw new Error('nothing was begun')
      return { bytes: copyOf(encoding.encoder.finalize()) }
    },
  },
  (problem) =>
    problem instanceof InferenceProblem ? { code: problem.code, message: problem.message, picture: null } : null,
)

async function newEncoder() {
  try {
    const { createMp3Encoder } = await import('wasm-media-encoders/esnext')
    return await createMp3Encoder()
  } catch (cause) {
    const message = 'The package wasm-media-encoders is not installed. Run: npm install wasm-media-encoders'
    throw new InferenceProblem('package_missing', message, cause)
  }
}

/** Copy of the encoder's output, which its memory overwrites. */
function copyOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes)
}

/** Samples of each channel, from interleaved ones of 16 bits. */
function channelsIn(bytes: Uint8Array, channels: number): Float32Array[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const length = Math.floor(view.length / (2 * channels))
  return Array.from({ length: channels }, (_, channel) =>
    Float32Array.from({ length }, (_, i) => view.readInt16LE(2 * (i * channels + channel)) / 32_768),
  )
}
