// SPDX-License-Identifier: Apache-2.0
// MP3 files, as far as they are told from others and begun; what reads and writes their sound is an engine in a process of
// its own.
import { sampleRate } from './g711.ts'

/** Whether a file begins as MP3 does: with a tag, or with the mark of a frame. */
export function looksLikeMp3(file: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = file
  const isTag = first === 0x49 && second === 0x44 && third === 0x33
  return isTag || (first === 0xff && (second & 0xe6) === 0xe2)
}

/** Samples of a frame of MPEG-2.5, layer III. */
const mp3FrameSamples = 576
/** Samples by which LAME's sound comes later than what it was given. */
const delaySamples = 576
/** Samples that LAME adds before and after, before it fills the last frame. */
const addedSamples = 2 * mp3FrameSamples
/** Number of each bitrate in the head of a frame. */
const bitrateNumbers = { 32: 4, 64: 8 } as const

/** Thousand bits a second of a recording. */
export function kbitsOf(channels: number): 32 | 64 {
  return channels === 2 ? 64 : 32
}

/**
 * First frame of a recording (`Info`, as LAME writes it): how many frames follow and which samples are not of the sound, so
 * that players know the exact duration and seek. Its own sound is silence.
 */
export function infoFrame(samples: number, channels: number): Buffer {
  const kbits = kbitsOf(channels)
  const frameBytes = (mp3FrameSamples / 8) * ((1_000 * kbits) / sampleRate)
  const frames = Math.ceil((samples + addedSamples) / mp3FrameSamples)
  const padding = frames * mp3FrameSamples - delaySamples - samples
  const frame = Buffer.alloc(frameBytes)
  // MPEG-2.5, layer III, no checksum; bitrate and 8 kHz; one channel, or two that share what they have in common.
  frame.set([0xff, 0xe3, (bitrateNumbers[kbits] << 4) | (2 << 2), channels === 2 ? 0x44 : 0xc4])
  let at = 4 + (channels === 2 ? 17 : 9)
  at += frame.write('Info', at, 'latin1')
  // All four fields follow: frames, bytes, places to seek to, quality.
  at = frame.writeUInt32BE(0x0f, at)
  at = frame.writeUInt32BE(frames, at)
  at = frame.writeUInt32BE((frames + 1) * frameBytes, at)
  for (let percent = 0; percent < 100; percent++) at = frame.writeUInt8(Math.floor((percent * 256) / 100), at)
  at = frame.writeUInt32BE(50, at)
  at += frame.write('LAME3.100', at, 'latin1')
  // Constant bitrate; 4 kHz; nothing of loudness; the bitrate.
  at += frame.write('012800000000000000000000', at, 'hex')
  frame.writeUInt8(kbits, at - 1)
  at = frame.writeUIntBE((delaySamples << 12) | padding, at, 3)
  // No word of what was recorded from; no gain, no preset.
  at += 4
  at = frame.writeUInt32BE((frames + 1) * frameBytes, at)
  // The checksum of the sound, which is not known yet.
  at += 2
  frame.writeUInt16BE(checksum(frame.subarray(0, at)), at)
  return frame
}

/** CRC-16 with the polynomial 0x8005, lowest bit first. */
function checksum(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let i = 0; i < 8; i++) crc = crc & 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1
  }
  return crc
}
