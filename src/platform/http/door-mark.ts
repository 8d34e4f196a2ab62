// SPDX-License-Identifier: Apache-2.0
// Mark of an operation that a door runs: the request log shows the door's path. A value that only this process knows goes
// before it, so that no client can write it.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const known = `${randomBytes(16).toString('hex')} `

export const doorMark = 'pamoja-door'

export function markFor(path: string): string {
  return known + encodeURI(path)
}

/** Path of the door that a request came through; null of a request to the own API. */
export function doorPathOf(headers: IncomingHttpHeaders): string | null {
  const mark = headers[doorMark]
  return typeof mark === 'string' && mark.startsWith(known) ? mark.slice(known.length) : null
}
