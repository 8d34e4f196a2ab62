// SPDX-License-Identifier: Apache-2.0
// Allowed methods of paths, for 405 replies. The router holds routes only: an entry per refused method would make up
// three of four entries, and a quarter of the start time.
import { type Candidate, NearestPath } from './nearest-path.ts'

interface Path {
  readonly pattern: string
  readonly segments: readonly string[]
  readonly methods: string[]
}

export class Methods {
  readonly #paths = new Map<string, Path>()
  /** Paths by number of segments, fixed ones before parameters like the router. Built at first use. */
  #byLength: Map<number, Path[]> | null = null
  #nearest: NearestPath | null = null

  add(pattern: string, method: string): void {
    const known = this.#paths.get(pattern)
    if (known) known.methods.push(method)
    else this.#paths.set(pattern, { pattern, segments: segmentsOf(pattern), methods: [method] })
    this.#byLength = null
    this.#nearest = null
  }

  /** Operation that was probably meant by one that does not exist; where the path does, another with the same method. */
  nearestTo(method: string, url: string): Candidate | null {
    this.#nearest ??= new NearestPath(
      [...this.#paths.values()].flatMap(({ pattern, methods }) => methods.map((one) => ({ method: one, pattern }))),
    )
    const path = url.split('?', 1)[0] ?? ''
    return this.#nearest.to(method, path, { isSameMethod: this.allowedAt(url) !== null })
  }

  /** Allows header of a URL's path; null when it is unknown. */
  allowedAt(url: string): string | null {
    const segments = segmentsOf(url.split('?', 1)[0] ?? '').map(decoded)
    const path = this.#withAsMany(segments).find((one) => isTakenFor(segments, one.segments))
    return path ? allowOf(path) : null
  }

  /** Paths with a method of another path the router would match: `GET /v1/sms/send` is not a message named send. */
  *mistakable(): Generator<{ pattern: string; method: string; allow: string }> {
    for (const path of this.#paths.values()) {
      const others = this.#withAsMany(path.segments).filter(
        (other) => other.pattern.includes(':') && other !== path && isTakenFor(path.segments, other.segments),
      )
      const methods = new Set(others.flatMap(takenBy))
      for (const method of methods)
        if (!takenBy(path).includes(method)) yield { pattern: path.pattern, method, allow: allowOf(path) }
    }
  }

  #withAsMany({ length }: readonly string[]): readonly Path[] {
    this.#byLength ??= byLength([...this.#paths.values()])
    return this.#byLength.get(length) ?? []
  }
}

function byLength(paths: readonly Path[]): Map<number, Path[]> {
  const groups = new Map<number, Path[]>()
  for (const path of paths) {
    const group = groups.get(path.segments.length)
    if (group) group.push(path)
    else groups.set(path.segments.length, [path])
  }
  for (const group of groups.values()) group.sort(byPrecedence)
  return groups
}

function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/').slice(1)
}

const isParameter = (segment: string): boolean => segment.startsWith(':')

function isTakenFor(segments: readonly string[], pattern: readonly string[]): boolean {
  return pattern.every((one, at) => (isParameter(one) ? segments[at] !== '' : one === segments[at]))
}

function byPrecedence(a: Path, b: Path): number {
  const at = a.segments.findIndex((segment, i) => isParameter(segment) !== isParameter(b.segments[i] ?? ''))
  return at < 0 ? 0 : Number(isParameter(a.segments[at] ?? '')) - Number(isParameter(b.segments[at] ?? ''))
}

/** Paths with GET also allow HEAD. */
function takenBy({ methods }: Path): readonly string[] {
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods
}

function allowOf(path: Path): string {
  return takenBy(path).join(', ')
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
