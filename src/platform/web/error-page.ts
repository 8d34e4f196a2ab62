// SPDX-License-Identifier: Apache-2.0
// A refusal as a page, for people whose browser went to an address of the API, to one that does not exist, or came without
// TLS. Programs get the same as JSON: none of them asks for text/html.
import { STATUS_CODES } from 'node:http'
import { type AppError, errors } from '../../kernel/errors.ts'
import type { HookAnswer } from '../hook.ts'
import { html } from './html.ts'
import { notice, page } from './shell.ts'

/** Whether a browser asks, to show what it gets: it names HTML before anything else. */
export function isBrowsing(method: string | undefined, accept: string | undefined): boolean {
  return (method === 'GET' || method === 'HEAD') && accept !== undefined && /^\s*text\/html\b/.test(accept)
}

/** `details` as they may be shown. */
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
