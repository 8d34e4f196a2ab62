// SPDX-License-Identifier: Apache-2.0
// Replies to requests without TLS: an error, never a redirect, because a redirected client would keep sending its key
// in the clear.
import type { RequestListener } from 'node:http'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Door } from '../api/door.ts'
import type { App } from '../app.ts'
import { hashOf, isWellFormedKey } from '../auth.ts'
import { rateHeaders } from '../limits/headers.ts'
import type { Admission } from '../limits.ts'
import { errorPage, isBrowsing } from '../web/error-page.ts'
import { addressPolicy } from './admission.ts'
import { errorBody } from './answer.ts'
import { doorAt } from './doors.ts'

/** Refuses a request without TLS. A key it contained is compromised. */
export function refusePlain(app: App, doors: readonly Door[]): RequestListener {
  return (request, response) => {
    const nowMs = app.clock.nowMs()
    const id = newId('request', nowMs)
    const ip = request.socket.remoteAddress ?? ''
    const admission = app.limits.admit([addressPolicy(ip)])
    const refusal = new AppError('HTTPS_REQUIRED', `repeat the request to ${app.publicUrl}`)
    const { method = '', url = '', headers } = request
    const door = doorAt(doors, url)
    const about = { method, path: url, accept: headers.accept ?? '', requestId: id }
    const shown = door
      ? door.refused(refusal, about)
      : isBrowsing(method, headers.accept)
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
    const [path = '', search = ''] = url.split('?', 2)
    const key = door
      ? door.secretOf({ path, query: new URLSearchParams(search), headers })
      : /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
    if (key && isWellFormedKey(key))
      app.authenticator.exposed(hashOf(key), ip, id).catch((error) => {
        app.log.warn(
          { error, request: id },
          'API key sent over plain HTTP not marked as exposed: check the database, and ask the account to replace the key',
        )
      })
  }
}

/** Rate limit of lookups of keys sent in the clear. */
function isRefused({ config }: App, admission: Admission | Promise<Admission>): boolean {
  return config.PAMOJA_RATE_LIMITS === 'on' && !(admission instanceof Promise) && admission.refusedBy !== null
}
