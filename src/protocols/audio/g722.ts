// SPDX-License-Identifier: Apache-2.0
// The lower band of the codec G.722 (ITU-T, 64 kbit/s), which is all that audio of 8,000 samples a second has: 50 to 4,000 Hz,
// at one byte a sample. What the other side says above that is left out, and the upper band that is sent is silent. The names
// in the predictor are those of the standard, whose blocks it follows.
const wl = [-60, -30, 58, 172, 334, 538, 1_198, 3_042]
const rl42 = [0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0]
const ilb = Array.from({ length: 32 }, (_, i) => Math.round(2_048 * 2 ** (i / 32)))
const qm4 = [
  0, -20_456, -12_896, -8_968, -6_288, -4_240, -2_584, -1_200, 20_456, 12_896, 8_968, 6_288, 4_240, 2_584, 1_200, 0,
]
const levels = [
  24_808, 21_904, 19_008, 16_704, 14_984, 13_512, 12_280, 11_192, 10_232, 9_360, 8_576, 7_856, 7_192, 6_576, 6_000,
  5_456, 4_944, 4_464, 4_008, 3_576, 3_168, 2_776, 2_400, 2_032, 1_688, 1_360, 1_040, 728,
]
const qm6 = [-136, -136, -136, -136, ...levels.map((level) => -level), ...levels, 432, 136, -432, -136]
/** Borders between the 30 steps of the quantiser. */
const q6 = [
  0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1_023, 1_121, 1_219, 1_339,
  1_458, 1_612, 1_765, 1_980, 2_195, 2_557, 2_919,
]
/** Bits of the upper band that mean the least of it. */
const silentUpperBand = 0xc0

function saturated(value: number): number {
  return Math.max(-32_768, Math.min(32_767, value))
}

/** Adaptive quantiser and predictor of the lower band: the same on both sides. */
class LowerBand {
  #nb = 0
  det = 32
  /** Predicted sample. */
  s = 0
  #sz = 0
  #r = [0, 0, 0]
  #a = [0, 0, 0]
  #p = [0, 0, 0]
  #d = [0, 0, 0, 0, 0, 0, 0]
  #b = [0, 0, 0, 0, 0, 0, 0]

  /** Learns from the upper four bits of a code. */
  adapt(code: number): void {
    const d = (this.det * (qm4[code] ?? 0)) >> 15
    const nb = ((this.#nb * 127) >> 7) + (wl[rl42[code] ?? 0] ?? 0)
    this.#nb = Math.max(0, Math.min(18_432, nb))
    const scale = ilb[(this.#nb >> 6) & 31] ?? 0
    const shift = 8 - (this.#nb >> 11)
    this.det = (shift < 0 ? scale << -shift : scale >> shift) << 2
    this.#predict(d)
  }

  #predict(d: number): void {
    const [r, a, p, zeros, b] = [this.#r, this.#a, this.#p, this.#d, this.#b]
    zeros[0] = d
    r[0] = saturated(this.s + d)
    p[0] = saturated(this.#sz + d)
    const [p0, p1, p2] = p.map((value) => value >> 15)
    const [a1 = 0, a2 = 0] = [a[1], a[2]]
    const grown = saturated(a1 << 2)
    const turned = Math.min(32_767, p0 === p1 ? -grown : grown)
    const second = (p0 === p2 ? 128 : -128) + (turned >> 7) + ((a2 * 32_512) >> 15)
    a[2] = Math.max(-12_288, Math.min(12_288, second))
    const limit = saturated(15_360 - a[2])
    a[1] = Math.max(-limit, Math.min(limit, saturated((p0 === p1 ? 192 : -192) + ((a1 * 32_640) >> 15))))
    const step = d === 0 ? 0 : 128
    for (let i = 1; i < 7; i++) {
      const isAlike = (zeros[i] ?? 0) >> 15 === d >> 15
      b[i] = saturated((isAlike ? step : -step) + (((b[i] ?? 0) * 32_640) >> 15))
    }
    zeros.copyWithin(1, 0, 6)
    r.copyWithin(1, 0, 2)
    p.copyWithin(1, 0, 2)
    const poles = [1, 2].map((i) => ((a[i] ?? 0) * saturated(2 * (r[i] ?? 0))) >> 15)
    let sz = 0
    for (let i = 1; i < 7; i++) sz += ((b[i] ?? 0) * saturated(2 * (zeros[i] ?? 0))) >> 15
    this.#sz = saturated(sz)
    this.s = saturated(saturated((poles[0] ?? 0) + (poles[1] ?? 0)) + this.#sz)
  }
}

export class G722Decoder {
  readonly #band = new LowerBand()

  decode(bytes: Uint8Array, into: Int16Array): void {
    for (let i = 0; i < Math.min(bytes.length, into.length); i++) {
      const code = (bytes[i] ?? 0) & 0x3f
      const value = this.#band.s + ((this.#band.det * (qm6[code] ?? 0)) >> 15)
      into[i] = 2 * Math.max(-16_384, Math.min(16_383, value))
      this.#band.adapt(code >> 2)
    }
  }
}

export class G722Encoder {
  readonly #band = new LowerBand()

  encode(samples: Int16Array, into: Uint8Array, at: number): void {
    for (let i = 0; i < samples.length; i++) {
      const code = this.#codeOf((samples[i] ?? 0) >> 1)
      this.#band.adapt(code >> 2)
      into[at + i] = silentUpperBand | code
    }
  }

  #codeOf(sample: number): number {
    const error = saturated(sample - this.#band.s)
    const size = error >= 0 ? error : -(error + 1)
    let step = 1
    while (step < q6.length && size >= ((q6[step] ?? 0) * this.#band.det) >> 12) step++
    // Codes fall from 61 for positive steps and from 63 for negative ones, of which those from 31 on have a bit less.
    if (error >= 0) return 62 - step
    return step < 3 ? 64 - step : 34 - step
  }
}
