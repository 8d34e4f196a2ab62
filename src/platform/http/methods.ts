// SPDX-License-Identifier: Apache-2.0
// Operations by path and method, in a tree of the segments of paths. The router of Fastify holds one entry for all of them: with
// an entry for each, and one for each method that a path refuses, adding them was a fifth of a start.
import type { CompiledRoute } from './exchange.ts'
import { type Candidate, NearestPath } from './nearest-path.ts'

interface Path {
  readonly pattern: string
  readonly segments: readonly string[]
  /** Operations by method; those that have an entry of their own in the router stand here without. */
  readonly operations: Map<string, CompiledRoute | null>
}

interface Node {
  path: Path | null
  readonly fixed: Map<string, Node>
  parameter: Node | null
}

/** A request's path, and its operation; null where the path does not take the method. */
export interface Found {
  readonly operation: CompiledRoute | null
  readonly params: Readonly<Record<string, string>>
  readonly allow: string
}

export const maxParamLength = 300

export class Methods {
  readonly #paths = new Map<string, Path>()
  readonly #root: Node = emptyNode()
  #nearest: NearestPath | null = null

  add(pattern: string, method: string, operation: CompiledRoute | null = null): void {
    const known = this.#paths.get(pattern)
    if (known) known.operations.set(method, operation)
    else {
      const path = { pattern, segments: segmentsOf(pattern), operations: new Map([[method, operation]]) }
      this.#paths.set(pattern, path)
      const node = nodeFor(this.#root, path.segments)
      if (node.path !== null)
        throw new Error(`${node.path.pattern} and ${pattern} are one path: name their parameters alike`)
      node.path = path
    }
    this.#nearest = null
  }

  /** What a request asks for; null where there is no such path. */
  find(method: string, url: string): Found | null {
    const segments = segmentsOf(urlPath(url)).map(decoded)
    const path = pathAt(this.#root, segments, 0)
    if (path === null) return null
    const operation = path.operations.get(method === 'HEAD' ? 'GET' : method) ?? null
    const params = Object.fromEntries(
      path.segments.flatMap((name, at) => (isParameter(name) ? [[name.slice(1), segments[at] ?? '']] : [])),
    )
    return { operation, params, allow: allowOf(path) }
  }

  /** Allow header of a URL's path; null when it is unknown. */
  allowedAt(url: string): string | null {
    return this.find('GET', url)?.allow ?? null
  }

  /** Operation that was probably meant by one that does not exist; where the path does, another with the same method. */
  nearestTo(method: string, url: string): Candidate | null {
    this.#nearest ??= new NearestPath(
      [...this.#paths.values()].flatMap(({ pattern, operations }) =>
        [...operations.keys()].map((method) => ({ method, pattern })),
      ),
    )
    return this.#nearest.to(method, urlPath(url), { isSameMethod: this.allowedAt(url) !== null })
  }
}

function emptyNode(): Node {
  return { path: null, fixed: new Map(), parameter: null }
}

function nodeFor(root: Node, segments: readonly string[]): Node {
  let node = root
  for (const segment of segments) {
    const next = (isParameter(segment) ? node.parameter : node.fixed.get(segment)) ?? emptyNode()
    if (isParameter(segment)) node.parameter = next
    else node.fixed.set(segment, next)
    node = next
  }
  return node
}

/** Fixed segments go before parameters. */
function pathAt(node: Node, segments: readonly string[], at: number): Path | null {
  const segment = segments[at]
  if (segment === undefined) return node.path
  const fixed = node.fixed.get(segment)
  const found = fixed ? pathAt(fixed, segments, at + 1) : null
  if (found !== null || node.parameter === null || segment === '' || segment.length > maxParamLength) return found
  return pathAt(node.parameter, segments, at + 1)
}

function urlPath(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? ''
}

function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/').slice(1)
}

const isParameter = (segment: string): boolean => segment.startsWith(':')

/** Paths with GET also allow HEAD. */
function allowOf({ operations }: Path): string {
  return [...operations.keys(), ...(operations.has('GET') ? ['HEAD'] : [])].join(', ')
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
