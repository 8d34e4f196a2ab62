// SPDX-License-Identifier: Apache-2.0
// Return URL: where a payer lands after a provider's page, an address of the account's own, with the outcome, signed.
import { createHmac } from 'node:crypto'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { callbackSecret, inForce } from '../../webhooks/area.ts'
import type { PaymentRow } from './store.ts'

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
