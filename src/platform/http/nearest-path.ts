// SPDX-License-Identifier: Apache-2.0
// Nearest operation to a request for one that does not exist, for "did you mean". The cost is bounded: operations are a
// fixed number, and only the beginning of what was asked for is compared.
import { editDistance, maxMistakes } from '../../kernel/spelling.ts'

/** Operation that may have been meant. */
export interface Candidate {
  readonly method: string
  /** Path of a route, such as `/v1/sms/:id`. */
  readonly pattern: string
}

const maxSegments = 8
const maxLetters = 32
/** Costs of a segment that was left out, of one too many, of another method, and of anything that stands for an id. */
const costs = { missing: 2, surplus: 3, otherMethod: 1.5, parameter: 0.5 }
/** Cost from which on an operation is not near. */
const tooFar = 3

/** Distance of a word that was asked for from a segment of a route; Infinity where they are different words. */
type Distance = (word: string, segment: string) => number

export class NearestPath {
  readonly #paths: readonly { candidate: Candidate; segments: readonly string[] }[]
  readonly #words: ReadonlySet<string>

  constructor(candidates: readonly Candidate[]) {
    this.#paths = candidates.map((candidate) => ({ candidate, segments: withoutPrefix(candidate.pattern.split('/')) }))
    this.#words = new Set(this.#paths.flatMap(({ segments }) => segments.filter((segment) => !isParameter(segment))))
  }

  /** Operation that was probably meant; null when none is near. `isSameMethod`: only those with the method asked for. */
  to(method: string, path: string, { isSameMethod }: { isSameMethod: boolean }): Candidate | null {
    const asked = withoutPrefix(path.slice(0, maxSegments * maxLetters).split('/'))
    if (asked.length === 0 || asked.length > maxSegments) return null
    const words = asked.map((segment) => segment.slice(0, maxLetters).toLowerCase())
    const distance = this.#distance()
    let best: Candidate | null = null
    let least: number = tooFar
    for (const { candidate, segments } of this.#paths) {
      const hasMethod = candidate.method === method || (method === 'HEAD' && candidate.method === 'GET')
      // Where the path exists, only its neighbours are near: what begins with the same word.
      if (isSameMethod && (!hasMethod || distance(words[0] ?? '', segments[0] ?? '') === Infinity)) continue
      const cost = (hasMethod ? 0 : costs.otherMethod) + pathCost(words, segments, distance)
      if (cost >= least) continue
      least = cost
      best = candidate
    }
    return best
  }

  /** Distances for one request, each of which is computed once. */
  #distance(): Distance {
    const known = new Map<string, number>()
    return (word, segment) => {
      if (isParameter(segment)) return word === '' || this.#words.has(word) ? Infinity : costs.parameter
      if (word === segment) return 0
      const allowed = maxMistakes(segment)
      if (Math.abs(word.length - segment.length) > allowed) return Infinity
      const key = `${word} ${segment}`
      const distance = known.get(key) ?? editDistance(word, segment)
      known.set(key, distance)
      return distance <= allowed && distance < segment.length ? distance : Infinity
    }
  }
}

/** Cost of turning what was asked for into a path: the cheapest alignment of their segments. */
function pathCost(words: readonly string[], segments: readonly string[], distance: Distance): number {
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
        (row[j] ?? Infinity) + distance(word, segment),
        (row[j + 1] ?? Infinity) + costs.surplus,
        (next[j] ?? Infinity) + costs.missing,
      )
    row = next
  }
  return row[segments.length] ?? Infinity

  function isWordOf(word: string, segment: string): boolean {
    return !isParameter(segment) && distance(word, segment) < Infinity
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
