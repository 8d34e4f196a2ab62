// SPDX-License-Identifier: Apache-2.0
// Reply to bytes that are not an HTTP request, in our format and with the usual headers.
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { App } from '../app.ts'
import { rateHeaders } from '../limits/headers.ts'
import { addressPolicy, transportSecurity } from './admission.ts'
import { errorBody } from './answer.ts'
import type { ListenerOptions } from './listener.ts'

/** Builds the reply. Such requests count towards the IP address limit without credentials. */
export function malformed(app: App): ListenerOptions['malformed'] {
  return ({ code, message }, status, peer) => {
    const nowMs = app.clock.nowMs()
    const id = newId('request', nowMs)
    const admission = app.limits.admit([addressPolicy(peer.replace(/^::ffff:/, ''))])
    const details = {
      // Errors of Node's parser have a code; others have a message.
      400: code === undefined ? message : (parserWords[code] ?? 'the bytes are not an HTTP request'),
      408: 'the request took too long to arrive',
      413: 'the body is too large',
      431: 'the headers are too large',
    }
    const headers = {
      'x-request-id': id,
      'cache-control': 'no-store',
      'strict-transport-security': transportSecurity,
      ...(admission instanceof Promise ? {} : rateHeaders(admission, nowMs)),
    }
    return { status, headers, body: errorBody(app, { id }, new AppError('INVALID_REQUEST', details[status])) }
  }
}

const parserWords: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD:
    'the request does not begin with a method that is known; those of the API are GET, HEAD, POST, PUT, PATCH and DELETE',
}
