// SPDX-License-Identifier: Apache-2.0
// Light of the screen on the face: the page shines colours that were drawn for this challenge, and each frontal frame has to be
// tinted by its own. A recording, or a stream fed in instead of a camera, has other colours, or none.
import type { Frame } from '../engines/tasks.ts'

const colours: readonly string[] = ['red', 'green', 'blue']
const white = 'white'

/** One light for each frontal frame: white, against which the others are compared, and colours of which no two neighbours are alike. */
export function randomLights(random: (below: number) => number, frontals: number): string[] {
  const lights: string[] = [white]
  while (lights.length < frontals) {
    const others = colours.filter((colour) => colour !== lights.at(-1))
    lights.push(others[random(others.length)] ?? 'red')
  }
  return lights
}

/** `seen`: each frame is tinted as it has to be; `faint`: some are not tinted at all; `other`: one is tinted by another colour. */
export type Light = 'seen' | 'faint' | 'other'

/** Share by which a colour of the face, against what is behind it, has to rise. A screen at arm's length in a room gives 3 to 20 %. */
const leastTint = 0.02
/** Tint by another colour that cannot be noise. */
const surelyOther = 0.03

export function lightOn(lights: readonly string[], frontals: readonly Frame[]): Light {
  const [reference] = frontals
  const plain = reference && toneOf(reference)
  if (!plain || frontals.length < lights.length) return 'faint'
  let isFaint = false
  for (const [i, light] of lights.entries()) {
    const own = colours.indexOf(light)
    const tone = frontals[i] && toneOf(frontals[i])
    if (own < 0) continue
    if (!tone) return 'faint'
    const rise = tone.map((value, channel) => value - (plain[channel] ?? 0))
    const [tint = 0, most] = [rise[own], Math.max(...rise)]
    if (most > tint && most >= surelyOther) return 'other'
    if (most > tint || tint < leastTint) isFaint = true
  }
  return isFaint ? 'faint' : 'seen'
}

/**
 * Logarithms of red, green and blue of the face against those behind it, around their mean: neither exposure nor the white
 * balance of the camera changes them.
 */
function toneOf({ tones }: Frame): number[] | null {
  if (!tones) return null
  const ratios = tones.face.map((value, channel) => Math.log((value + 1) / ((tones.behind[channel] ?? 0) + 1)))
  const mean = ratios.reduce((sum, value) => sum + value, 0) / ratios.length
  return ratios.map((value) => value - mean)
}
