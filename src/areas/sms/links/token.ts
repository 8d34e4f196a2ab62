// SPDX-License-Identifier: Apache-2.0
// What the links in texts end with, by which they are found again.
import { randomBytes } from 'node:crypto'
import { html } from '../../../platform/web/html.ts'
import { notice, type Page } from '../../../platform/web/shell.ts'

/** 55 random bits: enough that nobody finds somebody else's, in few characters. */
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

export const noSuchLink: Page = {
  title: 'No such page',
  content: notice('bad', 'No such page', html`<p>There is no such link. Copy all of it from the message.</p>`),
}
