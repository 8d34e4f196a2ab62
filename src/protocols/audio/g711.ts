// SPDX-License-Identifier: Apache-2.0
// The two telephone codecs (ITU-T G.711), by table: a sample is one array read either way. Audio inside the program is
// 16-bit PCM at 8,000 samples a second.
export const sampleRate = 8_000
/** Samples of one frame of 20 ms. */
export const frameSamples = 160

export type G711Codec = 'PCMU' | 'PCMA'

const muDecoded = new Int16Array(256).map((_, byte) => decodeMu(byte))
const aDecoded = new Int16Array(256).map((_, byte) => decodeA(byte))
const muEncoded = new Uint8Array(65_536).map((_, i) => encodeMu(i < 32_768 ? i : i - 65_536))
const aEncoded = new Uint8Array(65_536).map((_, i) => encodeA(i < 32_768 ? i : i - 65_536))

function decodeMu(byte: number): number {
  const bits = ~byte & 0xff
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 7)) - 0x84
  return bits & 0x80 ? -magnitude : magnitude
}

function encodeMu(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0
  const biased = Math.min(Math.abs(sample), 32_635) + 0x84
  const exponent = 24 - Math.clz32(biased)
  return ~(sign | (exponent << 4) | ((biased >> (exponent + 3)) & 0x0f)) & 0xff
}

function decodeA(byte: number): number {
  const bits = byte ^ 0x55
  const exponent = (bits >> 4) & 7
  const mantissa = ((bits & 0x0f) << 4) + 8
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1)
  return bits & 0x80 ? magnitude : -magnitude
}

function encodeA(sample: number): number {
  const sign = sample >= 0 ? 0x80 : 0
  const magnitude = Math.min(sample >= 0 ? sample : -sample - 1, 32_767)
  const exponent = magnitude < 256 ? 0 : 24 - Math.clz32(magnitude)
  const mantissa = (magnitude >> (exponent === 0 ? 4 : exponent + 3)) & 0x0f
  return (sign | (exponent << 4) | mantissa) ^ 0x55
}

export function decode(codec: G711Codec, bytes: Uint8Array, into: Int16Array): void {
  const table = codec === 'PCMU' ? muDecoded : aDecoded
  const length = Math.min(bytes.length, into.length)
  for (let i = 0; i < length; i++) into[i] = table[bytes[i] ?? 0] ?? 0
  into.fill(0, length)
}

export function encode(codec: G711Codec, samples: Int16Array, into: Uint8Array, at = 0): void {
  const table = codec === 'PCMU' ? muEncoded : aEncoded
  for (let i = 0; i < samples.length; i++) into[at + i] = table[(samples[i] ?? 0) & 0xffff] ?? 0
}
