// SPDX-License-Identifier: Apache-2.0
// From a handset to the customer: its parts joined, stored and told of, what STOP, START and HELP ask for done, and the
// keyword's own reply sent. All of it in one transaction, after which the carrier hears that it arrived.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Incoming } from '../carrier.ts'
import { isSandbox, networkOf } from '../network/network.ts'
import { findPlaces } from '../ported/places.ts'
import { countriesOf, handsetOf, isLocal } from './handset.ts'
import { forNobody, join } from './join.ts'
import { claimsTo, homesOf, type Whose } from './owner.ts'
import { receive } from './receive.ts'

/** A message that a request of this node has just asked the simulator for. */
interface Expected {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly by: Whose
  arrived(id: string): void
}

const expected = onePerApp(() => new Set<Expected>())

/** Has the simulator bring a message, and gives the id under which it was stored. */
export async function bring(
  app: App,
  tenant: Tenant,
  clockOffsetMs: number,
  message: { from: string; to: string; text: string },
): Promise<string> {
  const { smsc } = app.simulators
  if (smsc === null) throw new Error('there is no simulator on this node')
  let stored: string | null = null
  const wanted: Expected = {
    ...message,
    by: { tenant, clockOffsetMs },
    arrived: (id) => {
      stored = id
    },
  }
  expected(app).add(wanted)
  try {
    // The other side answers once it has stored it.
    await smsc.inbound(message.from, message.to, message.text)
  } catch (cause) {
    throw new AppError('PROVIDER_UNAVAILABLE', 'the sandbox is not connected', { cause, retryAfterSeconds: 1 })
  } finally {
    expected(app).delete(wanted)
  }
  if (stored === null) throw new AppError('SERVICE_UNAVAILABLE', 'the message was not stored', { retryAfterSeconds: 1 })
  return stored
}

/** Takes what a handset sent; fulfilled when it is stored. Throws INVALID_REQUEST when nobody can have sent it. */
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
    (await app.db.tx(async (tx) => {
      const whole = await join(app, tx, keeper, message)
      const owner = whole && claims.ownerOf(whole.text)
      if (whole && !owner) forNobody(app, message)
      return owner && receive(app, tx, owner, whole)
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

/** A part of it is enough to know it by; one that comes whole is expected no longer. */
function expectedOf(app: App, { from, to, text, part }: Incoming): Expected | undefined {
  for (const wanted of expected(app))
    if (isSameNumber(wanted.from, from) && isSameNumber(wanted.to, to) && wanted.text.includes(text)) {
      if (part === null) expected(app).delete(wanted)
      return wanted
    }
  return undefined
}

function isSameNumber(a: string, b: string): boolean {
  return a.replace('+', '') === b.replace('+', '')
}
