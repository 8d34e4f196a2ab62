// SPDX-License-Identifier: Apache-2.0
// Interfaces between a call and its surroundings: what it tells its owner, what it needs of the endpoint, and what an
// invitation says.
import type { Credentials } from './digest.ts'
import type { SipRequest } from './message.ts'
import type { ClientHandlers, ClientTransaction, Timing } from './transaction.ts'
import type { Peer } from './transport.ts'

/** Handlers of a call's owner. A call that was refused or ended tells so exactly once. */
export interface CallHandlers {
  /** Runs when the phone rings, or a voice announces something before the answer. */
  progress?(status: number, description: string | null, from: Peer): void
  /** Runs when both sides have agreed; the description is the other side's, and `from` is where it came from. */
  answered?(description: string, from: Peer): void
  /** Runs when the call is refused; `contacts` are the addresses that a redirect names. */
  refused?(status: number, reason: string, contacts?: readonly string[]): void
  ended?(by: 'local' | 'remote' | 'lost', reason: string): void
  /** The other side wants to change the session: the description that answers it, or null to keep what is. */
  offered?(description: string, from: Peer): string | null
  /** Whether the other side said that it sends no audio; absent: it sends some, whose end its owner hears. */
  isHeld?(): boolean
  digit?(digit: string, durationMs: number): void
  /** The other side asks this one to call somebody else in its place (REFER); `tell` reports how that goes, as SIP statuses. */
  referred?(target: string, tell: (status: number) => void): boolean
}

/** The endpoint, as far as a call needs it. */
export interface Switchboard<Call> {
  readonly timing: Timing
  /** Pause between two questions to a held side without a session timer whether it is still there; 0: it is not asked. */
  readonly signOfLifeMs: number
  contact(peer: Peer): string
  enter(dialog: string, call: Call): void
  leave(dialog: string): void
  /** Sends a request in a transaction of its own; a CANCEL keeps the Via of its INVITE. */
  transmit(request: SipRequest, to: Peer, handlers: ClientHandlers, stamped?: boolean): ClientTransaction | null
  /** Sends what nobody answers, an ACK. */
  sendDirect(request: SipRequest, to: Peer): void
}

export interface Invitation {
  /** Request-URI and address of the other side. */
  uri: string
  peer: Peer
  from: string
  to?: string
  description: string
  credentials?: Credentials
  /** Further headers, such as P-Asserted-Identity. */
  headers?: readonly (readonly [string, string])[]
  sessionSeconds?: number
  /** Other hosts than the one that answers that its routes may lead to; absent allows all. */
  mayReach?(host: string): boolean
}
