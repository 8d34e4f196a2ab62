// SPDX-License-Identifier: Apache-2.0
// Twice and half the sample rate for audio of a call in progress, piece by piece: a half-band filter, of which every second
// weight is zero. What is heard comes a millisecond later.
const arms = 8

/** Weights of the odd distances 1, 3, 5… from the middle, whose own weight is a half. */
const weights = weightsOf(arms)

function weightsOf(count: number): Float64Array {
  const reach = 2 * count
  const raw = Float64Array.from({ length: count }, (_, i) => {
    const distance = 2 * i + 1
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach)
    return (Math.sin((Math.PI * distance) / 2) / (Math.PI * distance)) * window
  })
  // Weights are scaled so that a constant signal passes unchanged.
  const sum = 2 * raw.reduce((total, weight) => total + weight, 0)
  return raw.map((weight) => (weight * 0.5) / sum)
}

/** Upsampler from 8,000 to 16,000 samples a second. */
export class Doubler {
  #recent = new Int16Array(2 * arms)

  run(samples: Int16Array): Int16Array {
    const all = joined(this.#recent, samples)
    const out = new Int16Array(2 * samples.length)
    for (let i = 0; i < samples.length; i++) {
      const middle = i + arms - 1
      let between = 0
      for (let k = 0; k < arms; k++)
        between += (weights[k] ?? 0) * ((all[middle - k] ?? 0) + (all[middle + 1 + k] ?? 0))
      out[2 * i] = all[middle] ?? 0
      out[2 * i + 1] = clip(2 * between)
    }
    this.#recent = all.slice(all.length - 2 * arms)
    return out
  }
}

/** Downsampler from 16,000 to 8,000 samples a second. Pieces may have an odd number of samples. */
export class Halver {
  #recent = new Int16Array(4 * arms - 2)

  run(samples: Int16Array): Int16Array {
    const all = joined(this.#recent, samples)
    const reach = 2 * arms - 1
    const length = Math.max(0, Math.ceil((all.length - 2 * reach) / 2))
    const out = new Int16Array(length)
    for (let i = 0; i < length; i++) {
      const middle = 2 * i + reach
      let sum = 0.5 * (all[middle] ?? 0)
      for (let k = 0; k < arms; k++) {
        const distance = 2 * k + 1
        sum += (weights[k] ?? 0) * ((all[middle - distance] ?? 0) + (all[middle + distance] ?? 0))
      }
      out[i] = clip(sum)
    }
    this.#recent = all.slice(2 * length)
    return out
  }
}

function joined(first: Int16Array, second: Int16Array): Int16Array<ArrayBuffer> {
  const all = new Int16Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

function clip(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : Math.round(value)
}
