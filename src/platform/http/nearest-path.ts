// SPDX-License-Identifier: Apache-2.0
// Nearest operation to a request for one that does not exist, for "did you mean". The cost is bounded: operations are a
// fixed number, and only the beginning of what was asked for is compared.
import { editDistance } from '../../kernel/spelling.ts'

export interface Candidate {
  readonly method: string
  /** Path of a route, such as `/v1/sms/:id`. */
  readonly pattern: string
}

const maxSegments = 8
const maxLetters = 32
/** A segment of the pattern that was left out, one that is too many, another method, and an id for a word. */
const costs = { missing: 2, surplus: 3, otherMethod: 1.5, parameter: 0.5 }
const tooFar = 3

export class NearestPath {
  readonly #paths: readonly { candidate: Candidate; segments: readonly string[] }[]
  readonly #words: ReadonlySet<string>

  constructor(candidates: readonly Candidate[]) {
    this.#paths = candidates.map((candidate) => ({ candidate, segments: withoutPrefix(candidate.pattern.split('/')) }))
    this.#words = new Set(this.#paths.flatMap(({ segments }) => segments.filter((segment) => !isParameter(segment))))
  }

  /** Operation that was probably meant; null when none is near. `sameMethod`: only those with the method asked for. */
  to(method: string, path: string, { sameMethod = false } = {}): Candidate | null {
    const asked = withoutPrefix(path.slice(0, maxSegments * maxLetters).split('/'))
    if (asked.length === 0 || asked.length > maxSegments) return null
    const words = asked.map((segment) => segment.slice(0, maxLetters).toLowerCase())
    const far = this.#distances()
    let best: Candidate | null = null
    let least: number = tooFar
    for (const { candidate, segments } of this.#paths) {
      const isSame = candidate.method === method || (method === 'HEAD' && candidate.method === 'GET')
      // Where the path exists, only its neighbours are near: what begins with the same word.
      if (sameMethod && (!isSame || far(words[0] ?? '', segments[0] ?? '') === Infinity)) continue
      const cost = (isSame ? 0 : costs.otherMethod) + pathCost(words, segments, far)
      if (cost >= least) continue
      least = cost
      best = candidate
    }
    return best
  }

  /** How far each word asked for is from each word of the routes; Infinity where they are different words. */
  #distances(): (word: string, segment: string) => number {
    const known = new Map<string, number>()
    return (word, segment) => {
      if (isParameter(segment)) return word === '' || this.#words.has(word) ? Infinity : costs.parameter
      if (word === segment) return 0
      const allowed = Math.max(1, Math.floor(segment.length / 4))
      if (Math.abs(word.length - segment.length) > allowed) return Infinity
      const key = `${word} ${segment}`
      const distance = known.get(key) ?? editDistance(word, segment)
      known.set(key, distance)
      return distance <= allowed && distance < segment.length ? distance : Infinity
    }
  }
}

/** Cost of turning what was asked for into a path: the cheapest alignment of their segments. */
function pathCost(
  words: readonly string[],
  segments: readonly string[],
  far: (word: string, segment: string) => number,
): number {
  // Without a word in common a path is not near, however short it is.
  if (
    Math.abs(words.length - segments.length) > 1 ||
    !words.some((word) => segments.some((one) => isWordOf(word, one)))
  )
    return Infinity
  let row = Array.from({ length: segments.length + 1 }, (_, j) => j * costs.missing)
  for (const [i, word] of words.entries()) {
    const next = [(i + 1) * costs.surplus]
    for (const [j, segment] of segments.entries())
      next[j + 1] = Math.min(
        (row[j] ?? Infinity) + far(word, segment),
        (row[j + 1] ?? Infinity) + costs.surplus,
        (next[j] ?? Infinity) + costs.missing,
      )
    row = next
  }
  return row[segments.length] ?? Infinity

  function isWordOf(word: string, segment: string): boolean {
    return !isParameter(segment) && far(word, segment) < Infinity
  }
}

const isParameter = (segment: string): boolean => segment.startsWith(':')

/** Segments after the prefix: `/api/v1`, `/sandbox/api/v1`, or what people write for it. */
function withoutPrefix(segments: readonly string[]): string[] {
  const filled = segments.filter((segment) => segment !== '')
  const first = filled.findIndex((segment) => !/^(api|sandbox)$/i.test(segment))
  if (first < 0) return []
  return filled.slice(/^v\d+$/i.test(filled[first] ?? '') ? first + 1 : first)
}
