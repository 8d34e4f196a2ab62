// SPDX-License-Identifier: Apache-2.0
// Queues of messages: a lane per class, so that none takes the room of another, and in it a place per bind, so that a
// slow one holds up no other. Messages without a decided bind wait at no place.
import { type Static, Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { NewJob, Run } from '../../../platform/work.ts'
import type { Encoding } from '../../../protocols/smpp/charset.ts'
import type { Priority } from '../message.ts'
import { freeStrays, networkOf } from '../network/network.ts'

/** A message's bind is decided when it is sent, not when it is scheduled. */
const soonMs = 1_000
const strayMs = 10_000

/** Receipt of a message that could not be delivered and now goes over other binds than `without`. */
const UndeliveredShape = Type.Object({
  without: Type.Array(Type.String()),
  part: Type.Integer(),
  carrier: Type.String(),
  carrierId: Type.String(),
  errorCode: Type.Union([Type.String(), Type.Null()]),
  carrierCode: Type.Union([Type.String(), Type.Null()]),
})

export type Undelivered = Static<typeof UndeliveredShape>

/**
 * `reference`: names the parts of a long message to the handset. The job keeps it, so that parts which are sent again after
 * a crash take the places of the first ones, and none is left to be mixed into a later message. A message that was not
 * delivered and goes over another tier has a new job, and a new reference.
 * `wantedEncoding`: what its sender asked for, in case that its text is changed before it goes out.
 * `tried`: the binds that could not take it now, when it is handed from one to the other.
 * `offers`: how often carriers were asked to take it, `unanswered`: how often they said nothing.
 * `unsent`: the attempt of the last run, if it is known that the message went out neither in this one nor before. While
 * nobody has the job and its attempt is still this one, the message can be taken back.
 */
export const Submission = Type.Object({
  message: Type.String(),
  reference: Type.Optional(Type.Integer()),
  wantedEncoding: Type.Optional(Type.String()),
  tried: Type.Optional(Type.Array(Type.String())),
  offers: Type.Optional(Type.Integer()),
  unanswered: Type.Optional(Type.Integer()),
  unsent: Type.Optional(Type.Integer()),
  undelivered: Type.Optional(UndeliveredShape),
})

export type SubmitRun = Run<Static<typeof Submission>>

export const lanes: Readonly<Record<Priority, string>> = {
  otp: 'sms.otp',
  transactional: 'sms.submit',
  bulk: 'sms.bulk',
}

interface Submittable {
  readonly id: string
  readonly segments: number
  readonly country: string | null
  readonly network: string | null
  readonly priority: Priority
  readonly wantedEncoding?: Encoding | null
  /** Set when it was sent before and not delivered. */
  readonly undelivered?: Undelivered
}

let lastReference = Math.floor(Math.random() * 65_536)

/** Long messages to one handset must differ in it while they are under way; their lowest eight bits are all that counts. */
export function nextReference(): number {
  lastReference = (lastReference + 1) % 65_536
  return lastReference
}

/** The job that will submit a message; it waits at a bind if it is known which. */
export function submission(app: App, tenant: Tenant, message: Submittable, delayMs = 0): NewJob {
  const { id, segments, country, network, priority, wantedEncoding, undelivered } = message
  const { environment, account } = tenant
  const route = delayMs > soonMs ? null : networkOf(app).routeFor({ environment, account, country, network })
  const place = route && networkOf(app).choose(route, undelivered?.without)
  const payload = {
    message: id,
    ...(segments > 1 && { reference: nextReference() }),
    ...(wantedEncoding && { wantedEncoding }),
    ...(undelivered && { undelivered }),
  }
  return app.work.prepare({ lane: lanes[priority], payload: Submission }, tenant, payload, { delayMs, place })
}

/** Chore that moves messages from binds that were removed. */
export const strayChore: Chore = {
  name: 'sms of former binds',
  everyMs: strayMs,
  run: ({ db }) => freeStrays(db, Object.values(lanes)),
}
