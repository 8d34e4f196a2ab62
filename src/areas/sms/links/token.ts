// SPDX-License-Identifier: Apache-2.0
// Tokens at the end of links in texts, by which they are found.
import { randomBytes } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import type { HookAnswer, HookCall } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { refusalPage } from '../../../platform/web/refusal.ts'
import { linkTexts } from './link-texts.ts'

/** Length of tokens: 55 random bits cannot be found by guessing, in few characters. */
export const tokenLength = 11
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const form = new RegExp(`^[${alphabet}]{${tokenLength}}$`)
/** Placeholder as long as a real token, so that segments are counted before links exist. */
export const anyToken = '0'.repeat(tokenLength)

export function newToken(): string {
  return [...randomBytes(tokenLength)].map((byte) => alphabet[byte % alphabet.length]).join('')
}

/** Whether a text has the form of a token: an address may contain anything. */
export function isToken(text: string): boolean {
  return form.test(text)
}

export function noSuchLink(): AppError {
  return new AppError('NOT_FOUND', 'there is no such link')
}

export function linkRefused(_app: App, call: HookCall, error: AppError): HookAnswer {
  return refusalPage(call, error, ({ words }) => words(linkTexts)('noSuchLink'))
}
