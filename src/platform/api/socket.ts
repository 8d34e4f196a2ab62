// SPDX-License-Identifier: Apache-2.0
// Websocket of an area: JSON messages both ways while the credential is valid. The declaration limits message size and
// rate; the platform handles authentication, heartbeats and shutdown.
import type { App } from '../app.ts'
import type { Caller } from '../auth.ts'

/** Connection as its area uses it. */
export interface Connection {
  /** Whether the connection is open; false once disconnected. */
  readonly isOpen: boolean
  /** Sends a message. A reader whose buffer is full is cut off. */
  send(message: object): void
  /** Closes with a code of RFC 6455, or 4000 to 4999 for the area's own reasons. */
  close(code: number, reason: string): void
  /** Current caller. Throws UNAUTHORIZED when the credential is no longer valid. */
  caller(): Promise<Caller>
}

/** Handlers of a connection. */
export interface Conversation {
  heard(message: unknown): Promise<void> | void
  closed(): Promise<void> | void
}

export interface Socket {
  /** Path below /v1, like routes. */
  readonly path: string
  /** Operation `area.verb`: log field. */
  readonly operation: string
  readonly scope: string
  readonly maxMessageBytes: number
  readonly messagesPerSecond: number
  /** Connections per account and node. */
  readonly perAccount: number
  /** Accepts a connection, or throws an AppError, which closes it with that code. */
  open(app: App, connection: Connection, caller: Caller): Promise<Conversation>
}
