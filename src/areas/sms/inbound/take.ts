// SPDX-License-Identifier: Apache-2.0
// Inbound messages: parts are joined, the message is stored and becomes an event, STOP, START and HELP are carried out,
// and the keyword's reply is sent. All in one transaction, after which the carrier gets its acknowledgement.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import type { Incoming } from '../carrier.ts'
import { countriesOf, handsetOf, isLocal } from '../handset.ts'
import { isSandbox, networkOf } from '../network/network.ts'
import { findPlaces } from '../ported/number-network.ts'
import { expectedOf } from '../sandbox/bring.ts'
import { forNobody, join } from './join.ts'
import { claimsTo, homesOf } from './owner.ts'
import { receive } from './receive.ts'
import { noteIncoming } from './trace.ts'

/** Takes a message from a handset; fulfilled when it is stored. Throws INVALID_REQUEST for an impossible sender. */
export async function takeIncoming(app: App, brought: Incoming): Promise<void> {
  const { carrier } = brought
  const isTest = isSandbox(carrier)
  const wanted = isTest ? expectedOf(app, brought) : undefined
  const message = isTest ? brought : await named(app, brought)
  const { from, to } = message
  const claims = await claimsTo(app, { from, to, isTest, expectedBy: wanted?.by ?? null })
  const { keeper } = claims
  // Here, because within the transaction it would wait for a second connection.
  await findPlaces(app, [from])
  const id =
    keeper &&
    (await app.db.acrossTx(async (tx) => {
      const whole = await join(app, tx, keeper, message)
      const owner = whole && claims.ownerOf(whole.text)
      if (whole && !owner) forNobody(app, message)
      const stored = owner && (await receive(app, tx, owner, whole))
      if (owner && stored !== null) tx.afterCommit(() => noteIncoming(app, owner, stored, message))
      return stored
    }))
  if (keeper === null) forNobody(app, message)
  if (id !== null) wanted?.arrived(id)
}

/**
 * With its numbers as E.164. What is written as in a country is completed with that of the number which it was sent to, of
 * the routes over its bind, or of the accounts that have the number, whichever says it first.
 */
async function named(app: App, message: Incoming): Promise<Incoming> {
  const served = networkOf(app).countriesOver(message.carrier)
  const to = handsetOf(message.to, [countriesOf(message.from), served]) ?? message.to
  const homes = isLocal(message.from) ? await homesOf(app, to) : []
  const from = handsetOf(message.from, [countriesOf(to), served, homes])
  if (from === null) throw new AppError('INVALID_REQUEST', `${message.from} is no number of a known country`)
  return { ...message, from, to }
}
