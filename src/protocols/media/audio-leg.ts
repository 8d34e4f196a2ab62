// SPDX-License-Identifier: Apache-2.0
// A member of a room that hears and is heard: a telephone by RTP, or a customer's program by websocket.
import type { Quality } from '../rtp/reception.ts'

export interface AudioLeg {
  /** When anything last came from the other side. */
  readonly lastHeardMs: number
  /** Whether the other side is known; one that rings says nothing yet. */
  readonly isConnected: boolean
  readonly figures: { sent: number; received: number }
  /** Writes the next 20 ms of what the other side says. */
  hear(into: Int16Array): void
  /** Sends 20 ms. */
  say(frame: Int16Array): void
  /** Time that passed without a frame. */
  skip(frames: number): void
  /** Sends keys. */
  dial(digits: string): void
  quality(): Quality | null
  close(): void
}
