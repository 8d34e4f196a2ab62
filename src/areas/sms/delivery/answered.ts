// SPDX-License-Identifier: Apache-2.0
// Messages that a carrier has taken and whose commit is under way. A receipt often comes sooner than that commit is done:
// it waits for it here, which saves it the way through the database. What is not found here waits there.
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import { type NamedPart, recallTaken, rememberTaken } from './remembered.ts'
import type { Stored } from './status.ts'

/** One whose message is being stored as sent. */
interface Answered extends NamedPart {
  /** Whether it was stored. */
  readonly stored: Promise<boolean>
  /** A receipt for it has come already. */
  isReported: boolean
}

/** Carrier and its id -> the part. No more than the messages that are being submitted. */
const underWay = onePerApp(() => new Map<string, Answered>())

/** Stores that a carrier took a message; meanwhile receipts for its ids find it. */
export async function whileStoring<Verdict extends { changed: boolean | null }>(
  app: App,
  message: Stored,
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

/** The part that an id stands for, once its message is stored; null when this node does not know it, or that failed. */
export async function whenStored(app: App, carrier: string, carrierId: string): Promise<NamedPart | null> {
  // The answer that names the id may have been read together with the receipt; who waits for it goes first.
  await new Promise((resolve) => setImmediate(resolve))
  const found = underWay(app).get(`${carrier} ${carrierId}`)
  if (!found) return recallTaken(app, carrier, carrierId)
  found.isReported = true
  return (await found.stored) ? found : null
}
