// SPDX-License-Identifier: Apache-2.0
// Where providers call back. The address names what it is about, and whoever looks after that takes what is said there. Of a
// collection it is a hint: that money came is believed when the provider says so itself, asked by us.
import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../platform/app.ts'
import { followDisputes } from '../disputes/follow.ts'
import type { Callback } from '../method.ts'
import { methodOf } from '../payment-methods.ts'
import { followRefunds } from '../refunds/follow.ts'
import { recallAsked } from '../remembered.ts'
import { settle } from '../settle.ts'
import { attemptAndPayment } from '../store.ts'
import { type Address, addressOf, nothingHere, type Subject } from './address.ts'

const maxBodyBytes = 64 * 1024

/** What somebody says who called an address. Whether it may be believed is for the taker to decide, by the token first. */
export interface Call extends Address, Callback {}

/** Gives what the provider wants to hear, or null when nothing like this is expected there. */
export type Taker = (app: App, call: Call) => Promise<object | null>

const takers = new Map<Subject, Taker>([['attempt', takeAttempt]])

export function declareTaker(subject: Subject, taker: Taker): void {
  takers.set(subject, taker)
}

export function mountCallbacks(http: FastifyInstance, app: App): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) =>
      done(null, body),
    )
    // Some providers call with PUT.
    const method = ['POST', 'PUT']
    const url = '/hooks/p/:name'
    const handler = async (request: FastifyRequest<{ Params: { name: string } }>, reply: FastifyReply) => {
      const address = addressOf(request.params.name)
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const call = { ...address, bytes, headers: request.headers, body: jsonOf(bytes) }
      const thanks = await takers.get(address.subject)?.(app, call)
      if (!thanks) throw nothingHere()
      return reply.send(thanks)
    }
    scope.route<{ Params: { name: string } }>({ method, url, config: { open: true }, handler })
  })
}

/** What is said of an attempt to collect. */
async function takeAttempt(app: App, call: Call): Promise<object | null> {
  const { tenant, id, token } = call
  const found = (await recallAsked(app, tenant, id)) ?? (await attemptAndPayment(app.db, tenant, id))
  if (!found || !timingSafeEqual(found.attempt.token, token)) return null
  const { attempt, payment } = found
  const heard = await methodOf(payment).heard(app, tenant, attempt, call)
  if (!heard) return null
  let after = payment
  for (const verdict of heard.verdicts) after = await settle(app, tenant, attempt, verdict, after)
  // A notice that could not be followed is not taken, so that the provider tells it again.
  if (heard.follows === 'dispute' && !(await followDisputes(app, tenant, attempt))) return null
  if (heard.follows === 'refund' && !(await followRefunds(app, tenant, attempt))) return null
  return heard.thanks
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return null
  }
}
