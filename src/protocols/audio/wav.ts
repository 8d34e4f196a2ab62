// SPDX-License-Identifier: Apache-2.0
// WAV files: those that customers give (PCM of 8, 16, 24 or 32 bits, G.711, any rate, one or two channels) become telephone
// audio; recordings are written as 16-bit PCM. Lengths in the file are not believed beyond its end.
import { decode, type G711Codec, sampleRate } from './g711.ts'
import { resample } from './resample.ts'

const formats = { pcm: 1, aLaw: 6, muLaw: 7, extensible: 0xfffe } as const

interface Format {
  tag: number
  channels: number
  rate: number
  bits: number
}

/** Telephone audio of a WAV file, or a sentence that says why it cannot be. */
export function readWav(file: Buffer): Int16Array | string {
  if (file.length < 12 || file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE')
    return 'it is not a WAV file'
  let format: Format | null = null
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at, at + 4)
    const length = file.readUInt32LE(at + 4)
    const chunk = file.subarray(at + 8, Math.min(at + 8 + length, file.length))
    if (name === 'fmt ' && chunk.length >= 16) format = readFormat(chunk)
    if (name === 'data') return format ? toTelephone(chunk, format) : 'its format is not stated before its sound'
    at += 8 + length + (length % 2)
  }
  return 'it holds no sound'
}

function readFormat(chunk: Buffer): Format {
  const tag = chunk.readUInt16LE(0)
  return {
    tag: tag === formats.extensible && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag,
    channels: chunk.readUInt16LE(2),
    rate: chunk.readUInt32LE(4),
    bits: chunk.readUInt16LE(14),
  }
}

function toTelephone(data: Buffer, { tag, channels, rate, bits }: Format): Int16Array | string {
  if (channels < 1 || channels > 2) return 'it has more than two channels'
  if (rate < 4_000 || rate > 192_000) return 'its sample rate is not between 4 and 192 kHz'
  const samples = readSamples(data, tag, bits)
  if (samples === null) return 'its encoding is not PCM of 8, 16, 24 or 32 bits, nor G.711'
  return resample(channels === 2 ? mono(samples) : samples, rate, sampleRate)
}

function readSamples(data: Buffer, tag: number, bits: number): Int16Array | null {
  if ((tag === formats.muLaw || tag === formats.aLaw) && bits === 8) {
    const codec: G711Codec = tag === formats.muLaw ? 'PCMU' : 'PCMA'
    const samples = new Int16Array(data.length)
    decode(codec, data, samples)
    return samples
  }
  if (tag !== formats.pcm) return null
  if (bits === 8) return Int16Array.from(data, (byte) => (byte - 128) << 8)
  if (bits === 16) return samplesIn(data)
  if (bits === 24)
    return Int16Array.from({ length: Math.floor(data.length / 3) }, (_, i) => data.readInt16LE(3 * i + 1))
  if (bits === 32) return Int16Array.from({ length: data.length >> 2 }, (_, i) => data.readInt16LE(4 * i + 2))
  return null
}

/** Samples of 16 bits, copied as they lie: little-endian, like every machine that this runs on. */
function samplesIn(data: Buffer): Int16Array {
  const samples = new Int16Array(data.length >> 1)
  data.copy(Buffer.from(samples.buffer), 0, 0, 2 * samples.length)
  return samples
}

function mono(samples: Int16Array): Int16Array {
  return Int16Array.from(
    { length: samples.length >> 1 },
    (_, i) => ((samples[2 * i] ?? 0) + (samples[2 * i + 1] ?? 0)) >> 1,
  )
}

/** The head of a recording whose length is known. */
export function wavHeader(dataBytes: number, channels: number): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + dataBytes, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(formats.pcm, 20)
  head.writeUInt16LE(channels, 22)
  head.writeUInt32LE(sampleRate, 24)
  head.writeUInt32LE(sampleRate * channels * 2, 28)
  head.writeUInt16LE(channels * 2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(dataBytes, 40)
  return head
}

export function writeWav(channels: readonly Int16Array[]): Buffer {
  const length = Math.max(0, ...channels.map((channel) => channel.length))
  const data = Buffer.alloc(length * channels.length * 2)
  channels.forEach((channel, c) => {
    for (let i = 0; i < channel.length; i++) data.writeInt16LE(channel[i] ?? 0, 2 * (i * channels.length + c))
  })
  return Buffer.concat([wavHeader(data.length, channels.length), data])
}
