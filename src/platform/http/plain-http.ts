// SPDX-License-Identifier: Apache-2.0
// Requests that came without TLS. They are answered, never redirected: a client that is redirected goes on sending its
// key in the clear first.
import type { RequestListener } from 'node:http'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { App } from '../app.ts'
import { hashOf, isWellFormedKey } from '../auth.ts'
import { rateHeaders } from '../limits/headers.ts'
import type { Admission } from '../limits.ts'
import { errorPage, isBrowsing } from '../web/error-page.ts'
import { addressPolicy } from './admission.ts'
import { errorBody } from './answer.ts'

/** Answers a request that came without TLS. A key that came with it has been seen by everyone on the way. */
export function refusePlain(app: App): RequestListener {
  return (request, response) => {
    const nowMs = app.clock.nowMs()
    const id = newId('request', nowMs)
    const ip = request.socket.remoteAddress ?? ''
    const admission = app.limits.admit([addressPolicy(ip)])
    const refusal = new AppError('HTTPS_REQUIRED', `repeat the request to ${app.publicUrl}`)
    const shown = isBrowsing(request.method, request.headers.accept)
      ? errorPage(app.publicUrl, id, refusal, refusal.details)
      : { headers: { 'content-type': 'application/json; charset=utf-8' }, body: errorBody(app, { id }, refusal) }
    response.writeHead(403, {
      ...shown.headers,
      'x-request-id': id,
      'cache-control': 'no-store',
      ...(admission instanceof Promise ? {} : rateHeaders(admission, nowMs)),
      connection: 'close',
    })
    response.end(shown.body)
    if (isRefused(app, admission)) return
    const key = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (key && isWellFormedKey(key))
      app.authenticator.exposed(hashOf(key), ip, id).catch((error) => {
        app.log.warn(
          { error, request: id },
          'API key sent over plain HTTP not marked as exposed: check the database, and ask the account to replace the key',
        )
      })
  }
}

/** Nobody makes the database busy with keys in the clear by sending many. */
function isRefused({ config }: App, admission: Admission | Promise<Admission>): boolean {
  return config.PAMOJA_RATE_LIMITS === 'on' && !(admission instanceof Promise) && admission.refusedBy !== null
}
