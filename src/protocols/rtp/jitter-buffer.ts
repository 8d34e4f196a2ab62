// SPDX-License-Identifier: Apache-2.0
// Evens out packets that come early, late, twice or not at all into one frame every 20 ms. The depth follows what the line
// does: an empty buffer makes it deeper, one that stays too full gives a frame up. A lost frame is the last one, fading. A
// telephone that falls silent sends how loud its surroundings are instead, and is heard as noise of that level (RFC 3389). A codec
// that conceals losses itself does so, from the packet after the lost one where that carries a copy.
import type { AudioDecoder } from '../audio/codec.ts'
import { frameSamples } from '../audio/g711.ts'

const deepest = 15
const shallowest = 2
const fadeFrames = 3
const patienceFrames = 250
/** Longest payload of a datagram; of G.711 that is more than any telephone sends. */
const maxPayloadBytes = 1_500

/** What a packet brought: audio as it was encoded, or the level of silence. */
type Packet = { payload: Buffer; decoder: AudioDecoder } | { noise: number }

export class JitterBuffer {
  readonly #packets = new Map<number, Packet>()
  #next: number | null = null
  #filling = true
  #depth = shallowest
  #missing = 0
  #calm = 0
  /** Samples that were decoded and are still to be heard. */
  #rest: Int16Array = new Int16Array(0)
  #decoder: AudioDecoder | null = null
  /** Samples of the last packet. */
  #packetSamples = frameSamples
  #noise = 0
  readonly #lastFrame = new Int16Array(frameSamples)
  concealed = 0

  /** Puts a packet's audio in its place, by its number without wrap-around. Packets of 10 to 60 ms are taken. */
  put(sequence: number, decoder: AudioDecoder, payload: Buffer): void {
    if (payload.length === 0 || payload.length > maxPayloadBytes) return
    this.#keep(sequence, { payload, decoder })
  }

  /** Puts silence in its place, whose first byte is how far its noise is below the loudest, in decibels. */
  putSilence(sequence: number, payload: Buffer): void {
    const below = (payload[0] ?? 127) & 0x7f
    this.#keep(sequence, { noise: 32_768 * 10 ** (-below / 20) })
  }

  #keep(sequence: number, packet: Packet): void {
    if (this.#next !== null && (sequence < this.#next - deepest || sequence > this.#next + 200)) this.reset()
    if (this.#next !== null && sequence < this.#next) return this.#deepen()
    if (this.#packets.size < 4 * deepest) this.#packets.set(sequence, packet)
  }

  #deepen(): void {
    this.#depth = Math.min(deepest, this.#depth + 1)
    this.#calm = 0
  }

  reset(): void {
    this.#packets.clear()
    this.#pauseAfter(null)
  }

  /** Waits for as many packets as the line needs, which play from the first of them. */
  #pauseAfter(sequence: number | null): void {
    if (sequence !== null) for (const old of this.#packets.keys()) if (old <= sequence) this.#packets.delete(old)
    this.#rest = new Int16Array(0)
    this.#next = null
    this.#filling = true
    this.#missing = 0
  }

  /** Next 20 ms; false during silence. */
  take(into: Int16Array): boolean {
    if (this.#rest.length >= frameSamples) return this.#play(into)
    if (this.#filling && !this.#isReady()) {
      for (let i = 0; i < frameSamples; i++) into[i] = this.#noise === 0 ? 0 : (2 * Math.random() - 1) * this.#noise
      return false
    }
    const next = this.#next ?? 0
    const packet = this.#packets.get(next)
    if (!packet) return this.#conceal(into)
    if ('noise' in packet) {
      this.#noise = packet.noise
      this.#pauseAfter(next)
      return this.take(into)
    }
    this.#noise = 0
    this.#missing = 0
    this.#decoder = packet.decoder
    const samples = packet.decoder.decode(packet.payload)
    this.#packetSamples = samples.length
    this.#rest = this.#rest.length === 0 ? samples : Int16Array.of(...this.#rest, ...samples)
    this.#advance(next)
    // A packet of less than 20 ms is heard together with the next one.
    const isWhole = this.#rest.length >= frameSamples || !this.#packets.has(this.#next ?? 0)
    return isWhole ? this.#play(into) : this.take(into)
  }

  /** A packet of more than 20 ms is heard in several turns. */
  #play(into: Int16Array): true {
    into.fill(0).set(this.#rest.subarray(0, frameSamples))
    this.#rest = this.#rest.subarray(frameSamples)
    this.#lastFrame.set(into)
    return true
  }

  #isReady(): boolean {
    const first = Math.min(...this.#packets.keys())
    const packet = this.#packets.get(first)
    // Silence that follows silence need not wait: it only changes the level of the noise.
    if (this.#packets.size < this.#depth && !(packet && 'noise' in packet)) return false
    this.#next = first
    this.#filling = false
    return true
  }

  #advance(played: number): void {
    this.#packets.delete(played)
    this.#next = played + 1
    this.#calm++
    const isTooFull = this.#packets.size > this.#depth + 2
    if (isTooFull || (this.#calm > patienceFrames && this.#depth > shallowest)) {
      if (!isTooFull) this.#depth--
      this.#calm = 0
      this.#packets.delete(this.#next)
      if (this.#packets.size > 0) this.#next++
    }
  }

  #conceal(into: Int16Array): boolean {
    this.#missing++
    this.concealed++
    const isLost = this.#packets.size > 0
    const following = this.#packets.get((this.#next ?? 0) + 1)
    const next = following && 'payload' in following ? following.payload : null
    const made = this.#decoder?.conceal?.(next, isLost ? this.#packetSamples : frameSamples)
    if (made) {
      this.#rest = made
      this.#play(into)
    } else this.#fade(into)
    if (isLost) this.#next = (this.#next ?? 0) + 1
    else if (this.#missing > fadeFrames) {
      this.#deepen()
      this.reset()
    }
    return true
  }

  #fade(into: Int16Array): void {
    const gain = Math.max(0, 1 - this.#missing / fadeFrames)
    for (let i = 0; i < frameSamples; i++) into[i] = (this.#lastFrame[i] ?? 0) * gain
    this.#rest = new Int16Array(0)
  }
}
