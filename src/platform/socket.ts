// SPDX-License-Identifier: Apache-2.0
// A websocket of an area: JSON messages both ways for as long as a credential is good. Whoever declares one says how large a
// message may be and how many may come; authentication, life signs and the end with the node are the platform's part.
import type { App } from './app.ts'
import type { Caller } from './auth.ts'

/** One connection, as its area speaks to it. */
export interface Connection {
  /** False once nobody is there any more. */
  readonly isOpen: boolean
  /** Sends a message. A reader that takes nothing of what waits for it is cut off. */
  send(message: object): void
  /** Ends it; the code is one of RFC 6455, or 4000 to 4999 for reasons of the area's own. */
  close(code: number, reason: string): void
  /** Who speaks, as of now. Refuses with UNAUTHORIZED when the credential is not good any more. */
  caller(): Promise<Caller>
}

/** What an area does with a connection. */
export interface Conversation {
  heard(message: unknown): Promise<void> | void
  closed(): Promise<void> | void
}

export interface Socket {
  /** Below /v1, as routes are. */
  readonly path: string
  /** `area.verb`: log field. */
  readonly operation: string
  readonly scope: string
  readonly maxMessageBytes: number
  readonly messagesPerSecond: number
  /** Connections that one account may have on one node. */
  readonly perAccount: number
  /** Takes a connection, or refuses it with an AppError; then it ends with the code of the refusal. */
  open(app: App, connection: Connection, caller: Caller): Promise<Conversation>
}
