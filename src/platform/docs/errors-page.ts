// SPDX-License-Identifier: Apache-2.0
// `/docs/errors`: all error codes and a page for each: meaning, remedy, and the operations that return it. `doc_url` of
// an error links there.
import { STATUS_CODES } from 'node:http'
import { type ErrorCode, errors } from '../../kernel/errors.ts'
import { tagOf } from '../api/reference.ts'
import type { Route } from '../api/route.ts'
import { codesInOrder, errorCodesOf } from '../openapi/route-errors.ts'
import { breakable, type Html, html, json } from '../web/html.ts'
import { page, type Reference } from './frame.ts'
import { codeBlock } from './operations.ts'

export function errorsPage(reference: Reference): string {
  const statuses = [...new Set(codesInOrder.map((code) => errors[code][0]))]
  const links = statuses.map(
    (status) => html`<li><a href="#s${status}">${status} ${STATUS_CODES[status] ?? ''}</a></li>`,
  )
  const content = html`
    <article class="operation intro">
      <div class="text">
        <h1>Errors</h1>
        <p>A program decides by <code>code</code>, a person reads <code>message</code> and <code>details</code>. Codes are always text. These three, <code>request_id</code> and <code>timestamp</code> are always there; some codes add members of their own.</p>
        <p>Repeat a request after 429, 500, 503 and <code>REQUEST_IN_PROGRESS</code>, waiting for <code>Retry-After</code> where it is given. Repeating any other error gives the same answer until something changes.</p>
      </div>
      <div class="code">${codeBlock('An error', json(sampleError('VALIDATION_ERROR')))}</div>
    </article>
    ${statuses.map((status) => html`<h2 id="s${status}">${status} ${STATUS_CODES[status] ?? ''}</h2>${codesOf(status).map(errorEntry)}`)}`
  return page(reference, { title: 'Errors', path: '/docs/errors', links, content })
}

function errorEntry(code: ErrorCode): Html {
  const [status, message] = errors[code]
  return html`
    <article id="${code}" class="error">
      <h3><a href="/docs/errors/${code}"><code>${breakable(code)}</code></a> <span class="status s${Math.floor(status / 100)}">${status}</span></h3>
      <p>${message}</p>
    </article>`
}

/** Page of one error code, the target of `doc_url`. */
export function errorPage(reference: Reference, code: ErrorCode): string {
  const [status, message] = errors[code]
  const [cause = message, ...rest] = message.split(/(?<=[.!?]) (?=[A-Z])/)
  const routes = reference.areas.flatMap((area) => area.routes)
  const met = routes.filter((route) => errorCodesOf(route).includes(code))
  const content = html`
    <article class="operation intro">
      <div class="text">
        <h1><code>${breakable(code)}</code> <span class="status s${Math.floor(status / 100)}">${status}</span></h1>
        <h2>Cause</h2>
        <p>${cause}</p>
        <h2>Fix</h2>
        <p>${rest.join(' ') || cause} <code>details</code> in the answer says what exactly is meant, and <code>request_id</code> finds the request again with <code>GET /v1/logs/{request_id}</code>.</p>
        <p>${advice(status, code)}</p>
        ${met.length > 0 && (met.length === routes.length ? html`<p class="soft">Any operation can answer with it.</p>` : whereMet(met))}
      </div>
      <div class="code">${codeBlock(`${status} ${STATUS_CODES[status] ?? ''}`, json(sampleError(code)))}</div>
    </article>`
  return page(reference, { title: code, path: `/docs/errors/${code}`, content })
}

/** Whether a retry helps. */
function advice(status: number, code: ErrorCode): string {
  if (status === 429) return 'Wait for as many seconds as Retry-After says, and send the same request again.'
  if (status >= 500) return 'It may work later: repeat it with the same Idempotency-Key, each time after a longer wait.'
  if (code === 'REQUEST_IN_PROGRESS') return 'Repeat it with the same Idempotency-Key until the first answer is there.'
  return 'The same request is answered the same until something changes: do not repeat it unchanged.'
}

function sampleError(code: ErrorCode): string {
  const isField = code === 'VALIDATION_ERROR'
  const [status, message] = errors[code]
  return JSON.stringify(
    {
      success: false,
      error: {
        code,
        message,
        details: isField
          ? 'name must have 1 to 100 characters'
          : (details[code] ?? (message.split('. ')[0] ?? '').toLowerCase()),
        request_id: 'req_01jb2c3d4e5f6g7h8j9kamnpqr',
        timestamp: '2026-03-01T09:15:30.000Z',
        ...(isField ? { fields: [{ field: 'name', code, message: 'must have 1 to 100 characters' }] } : {}),
        ...(status === 429 ? { retry_after: 12 } : {}),
        doc_url: `…/docs/errors/${code}`,
      },
    },
    null,
    2,
  )
}

/** Details of the most frequent codes. */
const details: Readonly<Partial<Record<ErrorCode, string>>> = {
  UNAUTHORIZED: 'the Authorization header is not of the form Bearer <key>',
  FORBIDDEN: 'this needs the scope sms:write',
  NOT_FOUND: 'there is no such message',
  INVALID_PHONE: 'to must be a phone number in international form, such as +254711000001',
  INSUFFICIENT_BALANCE: 'this costs KES 0.8 and the wallet has KES 0.2',
  DUPLICATE_REFERENCE: 'the reference order-4512 was used before',
}

function codesOf(status: number): ErrorCode[] {
  return codesInOrder.filter((code) => errors[code][0] === status)
}

function whereMet(routes: readonly Route[]): Html {
  const count = `${routes.length} ${routes.length === 1 ? 'operation' : 'operations'}`
  const links = routes.map(
    (route) => html`<a href="/docs/reference/${tagOf(route)}#${route.operation}">${route.operation}</a> `,
  )
  return html`<details><summary>Where it is met <span>${count}</span></summary><p class="codes fold">${links}</p></details>`
}
