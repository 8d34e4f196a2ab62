// SPDX-License-Identifier: Apache-2.0
// Where providers call back: an address for each attempt, which nobody else can know. What is said there is a hint. That
// money came is believed when the provider says so itself, asked by us.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../platform/app.ts'
import { one } from '../../platform/db.ts'
import { attemptNamed, nothingHere } from './callback-address.ts'
import { methodOf } from './payment-methods.ts'
import { settle } from './settle.ts'
import { findPayment } from './store.ts'

const maxBodyBytes = 64 * 1024

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
      const { tenant, attempt } = await attemptNamed(app, request.params.name)
      const payment = await one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const heard = await methodOf(payment).heard(app, tenant, attempt, { bytes, headers: request.headers })
      if (!heard) throw nothingHere()
      for (const verdict of heard.verdicts) await settle(app, tenant, attempt, verdict)
      return reply.send(heard.thanks)
    }
    scope.route<{ Params: { name: string } }>({ method, url, config: { open: true }, handler })
  })
}
