// SPDX-License-Identifier: Apache-2.0
// Tokens at the end of links in texts, by which they are found.
import { randomBytes } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import type { HookAnswer, HookCall } from '../../../platform/hook.ts'
import { html } from '../../../platform/web/html.ts'
import { notice, page } from '../../../platform/web/shell.ts'

/** Length of tokens: 55 random bits cannot be found by guessing, in few characters. */
export const tokenLength = 11
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const form = new RegExp(`^[${alphabet}]{${tokenLength}}$`)
/** As long as a real one, so that texts are counted before their links are known. */
export const anyToken = '0'.repeat(tokenLength)

export function newToken(): string {
  return [...randomBytes(tokenLength)].map((byte) => alphabet[byte % alphabet.length]).join('')
}

/** Whether it can be one of ours: what stands in an address may be anything. */
export function isToken(text: string): boolean {
  return form.test(text)
}

export function noSuchLink(): AppError {
  return new AppError('NOT_FOUND', 'there is no such link')
}

export function linkRefused(_app: App, _call: HookCall, { status }: AppError): HookAnswer {
  const [title, sentence] =
    status === 404
      ? ['No such page', 'There is no such link. Copy all of it from the message.']
      : ['Not now', 'This could not be done just now. Open the link again in a moment.']
  return page(status, { title, content: notice('bad', title, html`<p>${sentence}</p>`) })
}
