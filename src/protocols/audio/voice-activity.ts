// SPDX-License-Identifier: Apache-2.0
// Voice activity detection: energy over a noise floor that follows the line. A word counts only when it lasts, so that
// a click does not interrupt.
import { rms } from './tones.ts'

const frameMs = 20
const leastRms = 180
/** Sensitivity at which that level counts, and the points that make it ten times as loud or as quiet. */
const ordinarySensitivity = 90
const pointsOfTen = 80
const overNoise = 2.5
const framesToBelieve = 4

export class VoiceActivity {
  readonly #least: number
  #noise = 60
  #loud = 0
  /** Milliseconds since something was last said. */
  silentMs = 0
  /** Milliseconds of speech so far. */
  spokenMs = 0

  /** `sensitivity`, from 0 to 100, says how quiet a word may be: at 100 whispers count, at 10 only loud speech. */
  constructor(sensitivity = ordinarySensitivity) {
    this.#least = leastRms * 10 ** ((ordinarySensitivity - sensitivity) / pointsOfTen)
  }

  get hasSpoken(): boolean {
    return this.spokenMs > 0
  }

  /** Takes one frame; true during speech. */
  take(frame: Int16Array): boolean {
    const level = rms(frame)
    const isLoud = level > Math.max(this.#least, this.#noise * overNoise)
    // The floor falls at once and rises slowly, so that a long word does not become noise.
    this.#noise = isLoud ? this.#noise * 1.002 : this.#noise * 0.95 + level * 0.05
    this.#loud = isLoud ? this.#loud + 1 : 0
    const speaks = this.#loud >= framesToBelieve
    if (speaks) {
      this.spokenMs += this.#loud === framesToBelieve ? framesToBelieve * frameMs : frameMs
      this.silentMs = 0
    } else this.silentMs += frameMs
    return speaks
  }
}
