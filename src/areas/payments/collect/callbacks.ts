// SPDX-License-Identifier: Apache-2.0
// Callback route of providers. The address names its subject, and the taker declared for the subject handles the call. Of a
// collection it is a hint: that money came is believed when the provider says so itself, asked by us.
import { timingSafeEqual } from 'node:crypto'
import { idOf } from '../../../kernel/ids.ts'
import { hook, json, jsonOf } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { followDisputes } from '../disputes/follow.ts'
import { methodOf } from '../methods/payment-methods.ts'
import { addressOf, type Call, nothingHere, type Subject } from '../records/callback-address.ts'
import { noteCallback } from '../records/provider-trace.ts'
import { attemptAndPayment } from '../records/store.ts'
import { followRefunds } from '../refunds/follow.ts'
import { takeAsked } from './handover.ts'
import { settle } from './settle.ts'

const maxBodyBytes = 64 * 1024
/** About one thing that a provider was asked. */
const callsPerSecond = 20

/** Handler of a callback: returns the answer for the provider, or null when its address expects no such call. */
export type Taker = (app: App, call: Call) => Promise<object | null>

const takers = new Map<Subject, Taker>([['attempt', takeAttempt]])

export function declareTaker(subject: Subject, taker: Taker): void {
  takers.set(subject, taker)
}

export const callbackHook = hook({
  // Some providers call with PUT.
  methods: ['POST', 'PUT'],
  path: '/hooks/p/:name',
  operation: 'payments.takeCallback',
  summary: 'Receive a payment provider’s callback',
  maxBytes: maxBodyBytes,
  limits: [{ by: 'name', perSecond: callsPerSecond }],
  handle: async (app, { params, bytes, headers }) => {
    const address = addressOf(params.name)
    const thanks = await takers.get(address.subject)?.(app, { ...address, bytes, headers, body: jsonOf({ bytes }) })
    if (!thanks) throw nothingHere()
    return json(thanks)
  },
})

/** Handles a call about an attempt to collect. */
async function takeAttempt(app: App, call: Call): Promise<object | null> {
  const { tenant, id, token } = call
  const found = (await takeAsked(app, tenant, id)) ?? (await attemptAndPayment(app.db, tenant, id))
  if (!found || !timingSafeEqual(found.attempt.token, token)) return null
  const { attempt, payment } = found
  const heard = await methodOf(payment).heard(app, tenant, attempt, call, payment)
  const resource = idOf('payment', payment.id)
  const called = { resource, provider: attempt.provider, clockOffsetMs: Number(attempt.clock_offset_ms) }
  noteCallback(app, tenant, called, call.body, heard !== null)
  if (!heard) return null
  let after = payment
  for (const verdict of heard.verdicts) after = await settle(app, tenant, attempt, verdict, after)
  // A notice that could not be followed is not taken, so that the provider tells it again.
  if (heard.follows === 'dispute' && !(await followDisputes(app, tenant, attempt))) return null
  if (heard.follows === 'refund' && !(await followRefunds(app, tenant, attempt))) return null
  return heard.thanks
}
