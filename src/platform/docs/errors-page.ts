// SPDX-License-Identifier: Apache-2.0
// `/docs/errors`: every code, what it means and where it is met. `doc_url` of an error leads to its anchor.
import { STATUS_CODES } from 'node:http'
import { type ErrorCode, errors } from '../../kernel/errors.ts'
import { codesInOrder, errorCodesOf } from '../openapi/route-errors.ts'
import type { Route } from '../route.ts'
import { breakable, type Html, html, json } from '../web/html.ts'
import { navGroup, page, type Reference } from './frame.ts'
import { codeBlock } from './operations.ts'

export function errorsPage({ version, areas }: Reference): string {
  const statuses = [...new Set(codesInOrder.map((code) => errors[code][0]))]
  const routes = areas.flatMap((area) => area.routes)
  const met = whoAnswers(routes)
  const links = html`${statuses.map((status) =>
    navGroup(
      `${status} ${STATUS_CODES[status] ?? ''}`,
      codesOf(status).map((code) => html`<li><a href="#${code}"><span>${breakable(code)}</span></a></li>`),
    ),
  )}`
  const content = html`
    <article class="operation intro">
      <div class="text">
        <h1>Errors</h1>
        <p>A program decides by <code>code</code>, a person reads <code>message</code> and <code>details</code>. Codes are always text. These three, <code>request_id</code> and <code>timestamp</code> are always there; some codes add members of their own.</p>
        <p>Repeat a request after 429, 500, 503 and <code>REQUEST_IN_PROGRESS</code>, waiting for <code>Retry-After</code> where it is given. Repeating any other error gives the same answer until something changes.</p>
      </div>
      <div class="code">${codeBlock('An error', json(sampleError))}</div>
    </article>
    ${statuses.map((status) => html`<h2>${status} ${STATUS_CODES[status] ?? ''}</h2>${codesOf(status).map((code) => errorArticle(code, met.get(code) ?? [], routes.length))}`)}`
  return page({ title: 'Errors', version, links, content })
}

const sampleError = JSON.stringify(
  {
    success: false,
    error: {
      code: 'VALIDATION_ERROR',
      message: errors.VALIDATION_ERROR[1],
      details: 'name must have 1 to 100 characters',
      request_id: 'req_01jb2c3d4e5f6g7h8j9kamnpqr',
      timestamp: '2026-03-01T09:15:30.000Z',
      fields: [{ field: 'name', code: 'VALIDATION_ERROR', message: 'must have 1 to 100 characters' }],
      doc_url: '…/docs/errors#VALIDATION_ERROR',
    },
  },
  null,
  2,
)

function codesOf(status: number): ErrorCode[] {
  return codesInOrder.filter((code) => errors[code][0] === status)
}

/** Which operations answer with a code. */
function whoAnswers(routes: readonly Route[]): Map<ErrorCode, string[]> {
  const met = new Map<ErrorCode, string[]>()
  for (const route of routes)
    for (const code of errorCodesOf(route)) met.set(code, [...(met.get(code) ?? []), route.operation])
  return met
}

function errorArticle(code: ErrorCode, operations: readonly string[], total: number): Html {
  const [status, message] = errors[code]
  return html`
    <article id="${code}" class="error">
      <h3><a href="#${code}"><code>${code}</code></a> <span class="status s${Math.floor(status / 100)}">${status}</span></h3>
      <p>${message}</p>
      ${operations.length > 0 && (operations.length === total ? html`<p class="soft">Any operation can answer with it.</p>` : whereMet(operations))}
    </article>`
}

function whereMet(operations: readonly string[]): Html {
  const count = `${operations.length} ${operations.length === 1 ? 'operation' : 'operations'}`
  const links = operations.map((operation) => html`<a href="/docs#${operation}">${operation}</a> `)
  return html`<details><summary>Where it is met <span>${count}</span></summary><p class="codes fold">${links}</p></details>`
}
