// SPDX-License-Identifier: Apache-2.0
// Face match on a scale independent of the engine. The curve was fitted on the published figures of the bundled engine
// (38 pairs of one person, 262 of two, mostly of US celebrities): calibrate it on your own people.
import { Type } from 'typebox'

/**
 * Similarity from which two faces match: 1 of 58,653 pairs of two people reached it, which is at most 0.8 in 10,000 with a confidence
 * of 95 % (tools/face-threshold.mjs). At 0.58 it was 24 in 10,000.
 */
export const matchThreshold = 0.7
/** Between this and the threshold a review is needed. */
export const reviewThreshold = 0.5
/** Similarity from which a face may be that of a person who was verified before: below a match, since a person decides what follows. */
export const duplicateThreshold = 0.58

const farthest = 1.2
/** Distance at which a match is as likely as not, and the slope there. */
const curve = { middle: 0.6, steepness: 20 }

/** Confidence in a reply, beside the similarity. */
export const Confidence = Type.Number({
  description: `Likelihood from 0 to 100 that both are one person. It does not decide: at a similarity of ${reviewThreshold} it is 50, and from 0.65 above 97, while faces match from ${matchThreshold}.`,
})

export interface Likeness {
  /** 0 to 1. */
  readonly similarity: number
  /** Probability in percent that both are one person. */
  readonly confidence: number
}

export function likeness(a: readonly number[], b: readonly number[]): Likeness {
  return likenessAt(distanceOf(a, b))
}

export function likenessAt(distance: number): Likeness {
  return {
    similarity: round(1 - Math.min(distance, farthest) / farthest, 1000),
    confidence: round(100 / (1 + Math.exp(curve.steepness * (distance - curve.middle))), 10),
  }
}

export function distanceOf(a: readonly number[], b: readonly number[]): number {
  // Descriptors of two engines cannot be compared.
  if (a.length !== b.length) return farthest
  return Math.sqrt(a.reduce((sum, value, i) => sum + (value - (b[i] ?? 0)) ** 2, 0))
}

function round(value: number, per: number): number {
  return Math.round(value * per) / per
}
