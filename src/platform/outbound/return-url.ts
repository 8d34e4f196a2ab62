// SPDX-License-Identifier: Apache-2.0
// Return URL: an address of the account's own where a person lands after a page of ours or of a provider.
import { AppError } from '../../kernel/errors.ts'
import type { Environment } from '../tenant.ts'

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Throws INVALID_URL unless a browser may be sent there. This program itself never calls it. */
export function checkReturnUrl(given: string | undefined, environment: Environment, field = 'return_url'): void {
  if (given === undefined) return
  const url = parsed(given)
  const isPlayed = environment === 'test' && url?.protocol === 'http:' && loopback.has(url.hostname)
  if (!url || (url.protocol !== 'https:' && !isPlayed) || url.username !== '' || url.password !== '')
    throw new AppError('INVALID_URL', `${field} must be an absolute https:// URL without a user name.`)
}

function parsed(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
