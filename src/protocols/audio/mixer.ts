// SPDX-License-Identifier: Apache-2.0
// A room of voices as a gain matrix: what each member hears is the sum of the others, each by the gain of its edge. Bridging,
// hold, mute, whisper and recording are changes of edges; they take effect within the next frame, by a ramp, so that nothing
// clicks. A frame costs the members plus the edges that differ from the room's ordinary gain.
import { frameSamples } from './g711.ts'

export type MemberId = string

interface Edge {
  now: number
  target: number
}

export class Mixer {
  readonly #frames = new Map<MemberId, Int16Array>()
  /** Listener -> speaker -> edge, where it is not the ordinary gain. */
  readonly #edges = new Map<MemberId, Map<MemberId, Edge>>()
  readonly #sum = new Float64Array(frameSamples)
  readonly #heard = new Float64Array(frameSamples)
  readonly #ordinary: number

  /**
   * @param ordinary Gain of every edge that is not set: 1 in a room where all speak, 0 where links are made one by one.
   */
  constructor(ordinary: 0 | 1 = 1) {
    this.#ordinary = ordinary
  }

  get members(): readonly MemberId[] {
    return [...this.#frames.keys()]
  }

  enter(member: MemberId): void {
    if (!this.#frames.has(member)) this.#frames.set(member, new Int16Array(frameSamples))
  }

  leave(member: MemberId): void {
    this.#frames.delete(member)
    this.#edges.delete(member)
    for (const speakers of this.#edges.values()) speakers.delete(member)
  }

  /** Gain with which a listener hears a speaker, from the next frame on. */
  gain(speaker: MemberId, listener: MemberId, target: number): void {
    const speakers = this.#edges.get(listener) ?? new Map<MemberId, Edge>()
    this.#edges.set(listener, speakers)
    speakers.set(speaker, { now: speakers.get(speaker)?.now ?? this.#ordinary, target })
  }

  gainOf(speaker: MemberId, listener: MemberId): number {
    return this.#edges.get(listener)?.get(speaker)?.target ?? this.#ordinary
  }

  /** Buffer for a member's next 20 ms, to be filled before `mix`. */
  frameOf(member: MemberId): Int16Array {
    const frame = this.#frames.get(member)
    if (!frame) throw new Error('nobody of this name is in the room')
    return frame
  }

  /** Adds up what was said; call it once before asking what each hears. */
  gather(): void {
    this.#sum.fill(0)
    if (this.#ordinary === 0) return
    for (const frame of this.#frames.values())
      for (let i = 0; i < frameSamples; i++) this.#sum[i] = (this.#sum[i] ?? 0) + (frame[i] ?? 0)
  }

  /** Mix for a listener in this frame; call it once per frame for each, since it moves the ramps on. */
  hear(listener: MemberId, into: Int16Array): void {
    const heard = this.#heard
    const ordinary = this.#ordinary
    const own = this.#frames.get(listener)
    for (let i = 0; i < frameSamples; i++) heard[i] = ordinary === 0 ? 0 : (this.#sum[i] ?? 0) - (own?.[i] ?? 0)
    for (const [speaker, edge] of this.#edges.get(listener) ?? []) {
      const frame = this.#frames.get(speaker)
      if (frame && speaker !== listener) addRamped(heard, frame, edge.now - ordinary, edge.target - ordinary)
      edge.now = edge.target
    }
    for (let i = 0; i < frameSamples; i++) {
      const value = heard[i] ?? 0
      into[i] = Math.max(-32_768, Math.min(32_767, Math.round(value)))
    }
  }
}

function addRamped(heard: Float64Array, frame: Int16Array, from: number, to: number): void {
  const step = (to - from) / frameSamples
  for (let i = 0; i < frameSamples; i++) heard[i] = (heard[i] ?? 0) + (frame[i] ?? 0) * (from + step * (i + 1))
}
