// SPDX-License-Identifier: Apache-2.0
// What this node knows of messages without asking the database: those that it has just accepted and is about to submit, and
// those that a carrier has just taken and will report on. Each is told of once and then forgotten; whatever is not found
// here is read. Nothing depends on it: states move by guarded updates, whoever asks for them.
import type { App } from '../../../platform/app.ts'
import { Memory } from '../../../platform/memory.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Stored } from './status.ts'

/** Well within the lease of a job that was born here: until then no other node has the message. */
const acceptedForMs = 5_000
const takenForMs = 30_000
const maxRemembered = 10_000

/** A part of a message: which of how many in which it was handed over, and to whom. */
export interface NamedPart {
  readonly message: Stored
  readonly part: number
  readonly parts: number
  readonly holder: string | null
}

interface Memories {
  /** By the message's id. */
  readonly accepted: Memory<Stored>
  /** By the carrier and its id. */
  readonly taken: Memory<NamedPart>
}

const memories = onePerApp((app): Memories => {
  const made = {
    accepted: new Memory<Stored>(acceptedForMs, maxRemembered),
    taken: new Memory<NamedPart>(takenForMs, maxRemembered),
  }
  const forget = (): void => {
    made.accepted.clear()
    made.taken.clear()
  }
  // A test account may have moved its clock, by which the moments of its messages are told.
  app.signals.on('accounts', forget)
  app.signals.onGap(forget)
  return made
})

/** For the job of a message that this node has accepted and begins at once. */
export function rememberAccepted(app: App, message: Stored): void {
  if (app.signals.connected) memories(app).accepted.keep(message.id, message)
}

/** The message as it was accepted: no node but this one has had its job, and nobody can have taken it back. */
export function recallAccepted(app: App, id: string): Stored | null {
  return memories(app).accepted.take(id)
}

/** For the receipt of a message that went out whole: a second one for it, or one of several parts, asks the database. */
export function rememberTaken(app: App, carrier: string, carrierId: string, message: Stored): void {
  if (app.signals.connected)
    memories(app).taken.keep(`${carrier} ${carrierId}`, { message, part: 0, parts: 1, holder: carrier })
}

export function recallTaken(app: App, carrier: string, carrierId: string): NamedPart | null {
  return memories(app).taken.take(`${carrier} ${carrierId}`)
}
