// SPDX-License-Identifier: Apache-2.0
// What this node knows of messages without asking the database: those that it has just accepted and is about to submit, and
// those that a carrier has taken and will report on. Each is told of once and then forgotten; whatever is not found here is
// read. Nothing depends on it: states move by guarded updates, whoever asks for them.
import type { App } from '../../../platform/app.ts'
import { Memory } from '../../../platform/concurrency/handover.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { NamedPart, StoredMessage } from './load.ts'

/** Well within the lease of a job that was born here: until then no other node has the message. */
const acceptedForMs = 5_000
const takenForMs = 30_000
const maxRemembered = 10_000

interface Memories {
  /** By the message's id. */
  readonly accepted: Memory<StoredMessage>
  /** By the carrier and its id. */
  readonly taken: Memory<NamedPart>
}

const memories = onePerApp((app): Memories => {
  const made = {
    accepted: new Memory<StoredMessage>(acceptedForMs, maxRemembered),
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
export function rememberAccepted(app: App, message: StoredMessage): void {
  if (app.signals.connected) memories(app).accepted.keep(message.id, message)
}

/** The message as it was accepted: no node but this one has had its job, and nobody can have taken it back. */
export function recallAccepted(app: App, id: string): StoredMessage | null {
  return memories(app).accepted.take(id)
}

/** A part whose message is being stored as sent. A receipt often comes sooner than that is done, and waits for it here. */
interface Taking extends NamedPart {
  /** Whether it was stored. */
  readonly stored: Promise<boolean>
  /** A receipt for it has come already. */
  isReported: boolean
}

/** Carrier and its id -> the part. No more than the messages that are being submitted. */
const underWay = onePerApp(() => new Map<string, Taking>())

/** Stores that a carrier took a message; meanwhile receipts for its ids find it. */
export async function whileStoring<Verdict extends { changed: boolean | null }>(
  app: App,
  message: StoredMessage,
  carrier: string,
  carrierIds: readonly string[],
  store: () => Promise<Verdict>,
): Promise<Verdict> {
  const known = underWay(app)
  const storing = store()
  const stored = storing.then(
    () => true,
    () => false,
  )
  carrierIds.forEach((id, part) => {
    known.set(`${carrier} ${id}`, {
      message,
      part,
      parts: carrierIds.length,
      holder: carrier,
      stored,
      isReported: false,
    })
  })
  try {
    const verdict = await storing
    const [only] = carrierIds
    const isAwaited = carrierIds.length === 1 && known.get(`${carrier} ${only}`)?.isReported === false
    if (only !== undefined && isAwaited && verdict.changed) rememberTaken(app, carrier, only, message)
    return verdict
  } finally {
    for (const id of carrierIds) known.delete(`${carrier} ${id}`)
  }
}

/** For the receipt of a message that went out whole: a second one for it, or one of several parts, asks the database. */
function rememberTaken(app: App, carrier: string, carrierId: string, message: StoredMessage): void {
  if (app.signals.connected)
    memories(app).taken.keep(`${carrier} ${carrierId}`, { message, part: 0, parts: 1, holder: carrier })
}

/** The part that an id stands for, once its message is stored; null when this node does not know it, or that failed. */
export async function recallTaken(app: App, carrier: string, carrierId: string): Promise<NamedPart | null> {
  // The answer that names the id may have been read together with the receipt; who waits for it goes first.
  await new Promise((resolve) => setImmediate(resolve))
  const found = underWay(app).get(`${carrier} ${carrierId}`)
  if (!found) return memories(app).taken.take(`${carrier} ${carrierId}`)
  found.isReported = true
  return (await found.stored) ? found : null
}
