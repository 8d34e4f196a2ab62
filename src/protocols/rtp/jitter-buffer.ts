// SPDX-License-Identifier: Apache-2.0
// Evens out packets that come early, late, twice or not at all into one frame every 20 ms. The depth follows what the line
// does: an empty buffer makes it deeper, one that stays too full gives a frame up. A lost frame is the last one, fading.
import { type Codec, decode, frameSamples } from '../audio/g711.ts'

const deepest = 15
const shallowest = 2
const fadeFrames = 3
const patienceFrames = 250

export class JitterBuffer {
  private readonly frames = new Map<number, Int16Array>()
  private next: number | null = null
  private filling = true
  private depth = shallowest
  private missing = 0
  private calm = 0
  private readonly lastFrame = new Int16Array(frameSamples)
  concealed = 0

  /** Put a packet's audio in its place, by its number without wrap-around. Packets of 10 to 60 ms are taken. */
  put(sequence: number, codec: Codec, payload: Buffer): void {
    if (payload.length === 0 || payload.length > 3 * frameSamples) return
    if (this.next !== null && (sequence < this.next - deepest || sequence > this.next + 200)) this.reset()
    if (this.next !== null && sequence < this.next) {
      this.deepen()
      return
    }
    if (this.frames.size >= 4 * deepest) return
    const samples = new Int16Array(Math.max(frameSamples, payload.length))
    decode(codec, payload, samples)
    this.frames.set(sequence, samples)
  }

  private deepen(): void {
    this.depth = Math.min(deepest, this.depth + 1)
    this.calm = 0
  }

  reset(): void {
    this.frames.clear()
    this.next = null
    this.filling = true
    this.missing = 0
  }

  /** Next 20 ms; false during silence. */
  take(into: Int16Array): boolean {
    if (this.filling && !this.isReady()) {
      into.fill(0)
      return false
    }
    const next = this.next ?? 0
    const frame = this.frames.get(next)
    if (!frame) return this.conceal(into)
    into.set(frame.subarray(0, frameSamples))
    this.lastFrame.set(into)
    this.missing = 0
    // A packet of more than 20 ms is heard in several turns.
    if (frame.length > frameSamples) this.frames.set(next, padded(frame.subarray(frameSamples)))
    else this.advance(next)
    return true
  }

  private isReady(): boolean {
    if (this.frames.size < this.depth) return false
    this.next = Math.min(...this.frames.keys())
    this.filling = false
    return true
  }

  private advance(played: number): void {
    this.frames.delete(played)
    this.next = played + 1
    this.calm++
    const isTooFull = this.frames.size > this.depth + 2
    if (isTooFull || (this.calm > patienceFrames && this.depth > shallowest)) {
      if (!isTooFull) this.depth--
      this.calm = 0
      this.frames.delete(this.next)
      if (this.frames.size > 0) this.next++
    }
  }

  private conceal(into: Int16Array): boolean {
    this.missing++
    this.concealed++
    const gain = Math.max(0, 1 - this.missing / fadeFrames)
    for (let i = 0; i < frameSamples; i++) into[i] = (this.lastFrame[i] ?? 0) * gain
    if (this.frames.size > 0) this.next = (this.next ?? 0) + 1
    else if (this.missing > fadeFrames) {
      this.deepen()
      this.reset()
    }
    return true
  }
}

function padded(samples: Int16Array): Int16Array {
  if (samples.length >= frameSamples) return samples.slice()
  const whole = new Int16Array(frameSamples)
  whole.set(samples)
  return whole
}
