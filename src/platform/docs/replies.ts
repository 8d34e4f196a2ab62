// SPDX-License-Identifier: Apache-2.0
// Replies that examples really got, in replies.json: the test of all examples (test/laws/routes.test.ts) writes them and holds
// the file against what is answered today. Keys and secrets are cut short in it.
import { readFileSync } from 'node:fs'
import { root } from '../root.ts'
import type { Route } from '../route.ts'

/** Where the file says the API is. */
const written = 'https://localhost:8443'

/** Members that make a reply worth showing for another operation. */
const leastMembers = 3

let known: Readonly<Record<string, unknown>> | undefined

/** The reply to an operation's first example, at this installation's address; null where there is none. */
export function realReply(operation: string, url: string): unknown {
  known ??= JSON.parse(readFileSync(new URL('src/platform/docs/replies.json', root), 'utf8').replaceAll(written, url))
  return Object(known)[operation] ?? null
}

/** The reply of an operation, or else of another that answers with the same thing, such as what was changed and can be read. */
export function replyLike(routes: readonly Route[], { operation, reply, kind }: Route, url: string): unknown {
  const own = realReply(operation, url)
  if (own !== null) return own
  const isAlike = (one: Route) =>
    one.kind !== 'download' &&
    one.kind !== 'stream' &&
    one.reply.schema === reply.schema &&
    one.reply.list === reply.list
  // What says only that something was deleted would name a thing of another kind.
  if (kind === 'stream' || Object.keys(Object(Object(reply.schema).properties)).length < leastMembers) return null
  for (const one of routes.filter(isAlike)) {
    const found = realReply(one.operation, url)
    if (found !== null) return found
  }
  return null
}
