// SPDX-License-Identifier: Apache-2.0
// Error page for browsers that request an API path, an unknown one, or come without TLS. Programs get JSON: they do not
// ask for text/html.
import { STATUS_CODES } from 'node:http'
import { type AppError, errors } from '../../kernel/errors.ts'
import type { HookAnswer } from '../api/hook.ts'
import { html } from './html.ts'
import { notice, page } from './shell.ts'

/** Whether a browser asks: HTML is first in Accept. */
export function isBrowsing(method: string | undefined, accept: string | undefined): boolean {
  return (method === 'GET' || method === 'HEAD') && accept !== undefined && /^\s*text\/html\b/.test(accept)
}

/** `details` are safe to show. */
export function errorPage(
  publicUrl: string,
  requestId: string,
  { code, status }: Pick<AppError, 'code' | 'status'>,
  details: string,
): HookAnswer {
  const title = status === 404 ? 'There is nothing here' : (STATUS_CODES[status] ?? code)
  const [, message] = errors[code]
  const content = html`<p>${message}</p>${details !== '' && html`<p class="soft">${details}</p>`}
<p><a class="button" href="${publicUrl}/docs">Documentation</a></p>
<footer><a href="${publicUrl}/docs/errors/${code}">${code}</a> · <span class="soft">${requestId}</span></footer>`
  return page(status, { title, content: notice('bad', title, content) })
}
