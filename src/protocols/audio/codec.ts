// SPDX-License-Identifier: Apache-2.0
// Codecs of telephones: G.711 in both forms and G.722. Each has a byte a sample, at 8,000 samples a second inside the program.
import { decode, encode, type G711Codec } from './g711.ts'
import { G722Decoder, G722Encoder } from './g722.ts'

export type Codec = G711Codec | 'G722'

/** One direction of a stream: what it decodes or encodes next may depend on what it did before. */
export interface AudioDecoder {
  decode(bytes: Uint8Array, into: Int16Array): void
}

export interface AudioEncoder {
  encode(samples: Int16Array, into: Uint8Array, at: number): void
}

export function decoderOf(codec: Codec): AudioDecoder {
  if (codec === 'G722') return new G722Decoder()
  return { decode: (bytes, into) => decode(codec, bytes, into) }
}

export function encoderOf(codec: Codec): AudioEncoder {
  if (codec === 'G722') return new G722Encoder()
  return { encode: (samples, into, at) => encode(codec, samples, into, at) }
}
