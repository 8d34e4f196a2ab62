// SPDX-License-Identifier: Apache-2.0
// Return URL: where a payer lands after a provider's page, an address of the account's own, with the outcome, signed.
import { createHmac } from 'node:crypto'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import { callbackSecret, inForce } from '../../webhooks/area.ts'
import type { PaymentRow } from './store.ts'

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Throw INVALID_URL unless a browser may be sent there. This program itself never calls it. */
export function checkReturnUrl(given: string | undefined, environment: Environment, field = 'return_url'): void {
  if (given === undefined) return
  const url = parsed(given)
  const isPlayed = environment === 'test' && url?.protocol === 'http:' && loopback.has(url.hostname)
  if (!url || (url.protocol !== 'https:' && !isPlayed) || url.username !== '' || url.password !== '')
    throw new AppError('INVALID_URL', `${field} must be an absolute https:// URL without a user name.`)
}

/** `sig` is the HMAC-SHA256 of `payment_id.status` in hexadecimal, under the account's callback secret. */
export async function landingUrl(
  app: App,
  tenant: Tenant,
  payment: PaymentRow,
  returnUrl: string,
  nowMs: number,
): Promise<string> {
  const { current } = inForce(await callbackSecret(app, tenant), nowMs)
  const url = new URL(returnUrl)
  const id = idOf('payment', payment.id)
  const { status } = payment
  url.searchParams.set('payment_id', id)
  url.searchParams.set('status', status)
  url.searchParams.set('sig', createHmac('sha256', current).update(`${id}.${status}`).digest('hex'))
  return url.href
}

function parsed(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
