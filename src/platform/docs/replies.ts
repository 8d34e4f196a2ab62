// SPDX-License-Identifier: Apache-2.0
// Replies that examples really got, in replies.json: the test of all examples (test/laws/routes.test.ts) writes them and holds
// the file against what is answered today. Keys and secrets are cut short in it.
import { readFileSync } from 'node:fs'
import { root } from '../root.ts'

/** Where the file says the API is. */
const written = 'https://localhost:8443'

let known: Readonly<Record<string, unknown>> | undefined

/** The reply to an operation's first example, at this installation's address; null where there is none. */
export function realReply(operation: string, url: string): unknown {
  known ??= JSON.parse(readFileSync(new URL('src/platform/docs/replies.json', root), 'utf8').replaceAll(written, url))
  return Object(known)[operation] ?? null
}
