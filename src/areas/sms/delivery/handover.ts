// SPDX-License-Identifier: Apache-2.0
// Handover of messages within one node, so that rows just written are not read back: from the commit that accepted a message to
// its submit job, and from the submission to the carrier's receipt. Each is taken once; what is not found here is read from the
// database. Only speed depends on it: states move by guarded updates.
import type { App } from '../../../platform/app.ts'
import { Handover } from '../../../platform/concurrency/handover.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { NamedPart, StoredMessage } from './load.ts'

/** Time that an accepted message is kept: well within the lease of its job, so that no other node has it. */
const acceptedForMs = 5_000
const takenForMs = 30_000
const maxKept = 10_000

interface Handovers {
  /** Accepted messages by id. */
  readonly accepted: Handover<StoredMessage>
  /** Parts that carriers took, by carrier and its id. */
  readonly taken: Handover<NamedPart>
}

const handoversOf = onePerApp((app): Handovers => {
  const made = {
    accepted: new Handover<StoredMessage>(acceptedForMs, maxKept),
    taken: new Handover<NamedPart>(takenForMs, maxKept),
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

/** Keeps a message for its submit job, which this node begins at once. */
export function keepAccepted(app: App, message: StoredMessage): void {
  if (app.signals.connected) handoversOf(app).accepted.keep(message.id, message)
}

/** Message as it was accepted: no other node has had its job, and it cannot have been cancelled. */
export function takeAccepted(app: App, id: string): StoredMessage | null {
  return handoversOf(app).accepted.take(id)
}

/** Part whose message is being stored as sent. A receipt often comes before that is done, and waits for it here. */
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
    if (only !== undefined && isAwaited && verdict.changed) keepTaken(app, carrier, only, message)
    return verdict
  } finally {
    for (const id of carrierIds) known.delete(`${carrier} ${id}`)
  }
}

/** Keeps a message of one part for its receipt; a second receipt, or one of several parts, reads the database. */
function keepTaken(app: App, carrier: string, carrierId: string, message: StoredMessage): void {
  if (app.signals.connected)
    handoversOf(app).taken.keep(`${carrier} ${carrierId}`, { message, part: 0, parts: 1, holder: carrier })
}

/** Part that a carrier's id stands for, once its message is stored; null when this node does not know it, or storing failed. */
export async function takeTaken(app: App, carrier: string, carrierId: string): Promise<NamedPart | null> {
  // Yield a tick so that the submit continuation registers the id first: answer and receipt may have been read together.
  await new Promise((resolve) => setImmediate(resolve))
  const found = underWay(app).get(`${carrier} ${carrierId}`)
  if (!found) return handoversOf(app).taken.take(`${carrier} ${carrierId}`)
  found.isReported = true
  return (await found.stored) ? found : null
}
