// SPDX-License-Identifier: Apache-2.0
// Payouts that this node is sending, for the call that tells what became of them: it needs to know whose it is and what was
// agreed on, which does not change. Whoever settles it reads it under its lock, as ever. Told of once; whatever is not found
// here is read.
import type { App } from '../../../platform/app.ts'
import { Memory } from '../../../platform/concurrency/handover.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { PayoutRow } from './store.ts'

const sentForMs = 30_000
const maxRemembered = 10_000

const sentBy = onePerApp(() => new Memory<PayoutRow>(sentForMs, maxRemembered))

/** Before the provider is asked, so that its call cannot come too early. */
export function rememberSent(app: App, payout: PayoutRow): void {
  const { account_id: account, environment, id } = payout
  sentBy(app).keep(`${account} ${environment} ${id}`, payout)
}

export function recallSent(app: App, { account, environment }: Tenant, id: string): PayoutRow | null {
  return sentBy(app).take(`${account} ${environment} ${id}`)
}
