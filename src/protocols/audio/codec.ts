// SPDX-License-Identifier: Apache-2.0
// Codecs of telephones: G.711 in both forms, G.722 and Opus. Inside the program audio has 8,000 samples a second.
import { decode, encode, frameSamples } from './g711.ts'
import { G722Decoder, G722Encoder } from './g722.ts'
import { noWishes, OpusDecoder, OpusEncoder, type OpusWishes } from './opus.ts'

/** Names of codecs in session descriptions. */
export const codecs = ['PCMU', 'PCMA', 'G722', 'opus'] as const
export type Codec = (typeof codecs)[number]

/** One direction of a stream: what it decodes or encodes next may depend on what it did before. */
export interface AudioDecoder {
  decode(packet: Uint8Array): Int16Array
  /** Sound in place of a lost packet; `next` is the one after it where that has come. Absent where the codec has none. */
  conceal?(next: Uint8Array | null, samples: number): Int16Array
  close?(): void
}

export interface AudioEncoder {
  /** Longest packet of 20 ms. */
  readonly maxBytes: number
  /** Writes a packet of 20 ms; gives its length, 0 for none. */
  encode(samples: Int16Array, into: Uint8Array, at: number): number
  /** Hears how many packets the other side lost. */
  lost?(percent: number): void
  close?(): void
}

/** Rate of the timestamps of a codec, which is not always that of its samples. */
export function clockOf(codec: Codec): number {
  return codec === 'opus' ? 48_000 : 8_000
}

export function decoderOf(codec: Codec): AudioDecoder {
  if (codec === 'opus') return new OpusDecoder()
  if (codec === 'G722') return byteBySample(new G722Decoder())
  return byteBySample({ decode: (bytes, into) => decode(codec, bytes, into) })
}

export function encoderOf(codec: Codec, wishes: OpusWishes = noWishes): AudioEncoder {
  if (codec === 'opus') return new OpusEncoder(wishes)
  const bytes: Bytes = codec === 'G722' ? new G722Encoder() : { encode: (...sound) => encode(codec, ...sound) }
  return {
    maxBytes: frameSamples,
    encode: (samples, into, at) => {
      bytes.encode(samples, into, at)
      return samples.length
    },
  }
}

interface Bytes {
  encode(samples: Int16Array, into: Uint8Array, at: number): void
}

/** Decoder of a codec with a byte for each sample. */
function byteBySample(bytes: { decode(bytes: Uint8Array, into: Int16Array): void }): AudioDecoder {
  return {
    decode: (packet) => {
      const samples = new Int16Array(packet.length)
      bytes.decode(packet, samples)
      return samples
    },
  }
}
