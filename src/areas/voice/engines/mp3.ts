// SPDX-License-Identifier: Apache-2.0
// MP3 to telephone audio. The decoder (mpg123 as WebAssembly, an optional package) reads in chunks, so that a small
// file that expands to hours stops at the limit.

import { InferenceProblem } from '../../../platform/compute/inference.ts'
import { sampleRate } from '../../../protocols/audio/g711.ts'
import { resample } from '../../../protocols/audio/resample.ts'

const pieceBytes = 64 * 1_024
const longestSeconds = 20 * 60

/** Telephone audio, or the reason for failure. */
export async function readMp3(file: Uint8Array): Promise<Int16Array | string> {
  const { MPEGDecoder } = await decoders()
  const decoder = new MPEGDecoder()
  await decoder.ready
  try {
    const pieces: Int16Array[] = []
    let [rate, length] = [0, 0]
    for (let at = 0; at < file.length; at += pieceBytes) {
      const { channelData, samplesDecoded, sampleRate: found } = decoder.decode(file.subarray(at, at + pieceBytes))
      if (samplesDecoded === 0) continue
      if (rate !== 0 && found !== rate) return 'its sample rate changes'
      rate = found
      length += samplesDecoded
      if (length > rate * longestSeconds) return `it is longer than ${longestSeconds / 60} minutes`
      pieces.push(mono(channelData, samplesDecoded))
    }
    if (length === 0) return 'it holds no sound that could be read'
    return resample(joined(pieces, length), rate, sampleRate)
  } finally {
    decoder.free()
  }
}

async function decoders() {
  try {
    return await import('mpg123-decoder')
  } catch (cause) {
    const message = 'The package mpg123-decoder is not installed. Run: npm install mpg123-decoder'
    throw new InferenceProblem('package_missing', message, cause)
  }
}

function mono([left, right]: readonly Float32Array[], length: number): Int16Array {
  return Int16Array.from({ length }, (_, i) => {
    const level = right ? ((left?.[i] ?? 0) + (right[i] ?? 0)) / 2 : (left?.[i] ?? 0)
    return Math.max(-32_768, Math.min(32_767, Math.round(level * 32_768)))
  })
}

function joined(pieces: readonly Int16Array[], length: number): Int16Array {
  const whole = new Int16Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
