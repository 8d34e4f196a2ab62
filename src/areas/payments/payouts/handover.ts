// SPDX-License-Identifier: Apache-2.0
// Handover of payouts from the sender to the provider's callback: the callback needs the owner and the terms, which do
// not change. The payout is read under its lock when it is settled. Taken once; otherwise read from the database.
import type { App } from '../../../platform/app.ts'
import { Handover } from '../../../platform/concurrency/handover.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { PayoutRow } from './store.ts'

const sentForMs = 30_000
const maxRemembered = 10_000

const sentBy = onePerApp(() => new Handover<PayoutRow>(sentForMs, maxRemembered))

/** Keeps a payout before the provider is asked, so that its call cannot come too early. */
export function keepSent(app: App, payout: PayoutRow): void {
  const { account_id: account, environment, id } = payout
  sentBy(app).keep(`${account} ${environment} ${id}`, payout)
}

export function takeSent(app: App, { account, environment }: Tenant, id: string): PayoutRow | null {
  return sentBy(app).take(`${account} ${environment} ${id}`)
}
