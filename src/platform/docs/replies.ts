// SPDX-License-Identifier: Apache-2.0
// Recorded replies of examples, in replies.json: test/laws/routes.test.ts writes them and compares the file with
// today's replies. Keys and secrets are shortened.
import { readFileSync } from 'node:fs'
import type { Route } from '../api/route.ts'
import { root } from '../program/root.ts'

/** API address used in the file. */
const written = 'https://localhost:8443'

/** Members a reply needs to be shown for another operation. */
const leastMembers = 3

let known: Readonly<Record<string, unknown>> | undefined

/** Reply to an operation's first example, with this installation's address; null when there is none. */
export function realReply(operation: string, url: string): unknown {
  known ??= JSON.parse(readFileSync(new URL('src/platform/docs/replies.json', root), 'utf8').replaceAll(written, url))
  return Object(known)[operation] ?? null
}

/** Reply of an operation, or of another that returns the same kind of object. */
export function replyLike(routes: readonly Route[], { operation, reply, kind }: Route, url: string): unknown {
  const own = realReply(operation, url)
  if (own !== null) return own
  const isAlike = (one: Route) =>
    one.kind !== 'download' &&
    one.kind !== 'stream' &&
    one.reply.schema === reply.schema &&
    one.reply.list === reply.list
  // A reply that only confirms a deletion would name an object of another kind.
  if (kind === 'stream' || Object.keys(Object(Object(reply.schema).properties)).length < leastMembers) return null
  for (const one of routes.filter(isAlike)) {
    const found = realReply(one.operation, url)
    if (found !== null) return found
  }
  return null
}
