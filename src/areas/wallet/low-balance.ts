// SPDX-License-Identifier: Apache-2.0
// Tells of wallets that fell below their threshold: once for each fall, and again only after it was above in between. It is
// looked at regularly, so that no charge pays for it; a fall that was made good between two looks is not told.
import { nilUuid } from '../../kernel/ids.ts'
import type { Currency } from '../../kernel/money.ts'
import { type Wallet, walletsOfMany } from '../../ledger/wallets.ts'
import type { App } from '../../platform/app.ts'
import { maybe, one } from '../../platform/db.ts'
import { tellOwners } from '../../platform/events/owner-notices.ts'
import type { Chore } from '../../platform/nodes/maintenance.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { walletEvents } from './events.ts'
import { clockOffset, nextThresholds, noteLow, noteRisen, type Threshold, toldLow } from './store.ts'
import { currentWallet, isLow, thresholdIn, toldOf, walletId } from './wallet.ts'

/** Accounts per query. */
const accountsAtOnce = 500

export const lowBalanceChore: Chore = { name: 'low balances', everyMs: 30_000, run: watchBalances }

export async function watchBalances(app: App): Promise<void> {
  let after: string | undefined = nilUuid
  while (after !== undefined) {
    const watched: Threshold[] = await app.db.query(nextThresholds, { after, most: accountsAtOnce })
    await watchSome(app, watched)
    after = watched[accountsAtOnce - 1]?.account_id
  }
}

async function watchSome(app: App, watched: readonly Threshold[]): Promise<void> {
  if (watched.length === 0) return
  const thresholds = new Map(watched.map((one) => [one.account_id, one]))
  const found = await walletsOfMany(app.db, [...thresholds.keys()])
  const buckets = [...new Set(found.map(({ tenant }) => tenant.bucket))]
  const told = await app.db.query(toldLow, { buckets, accounts: [...thresholds.keys()] })
  const known = new Set(told.map(({ account_id, environment, currency }) => `${account_id}/${environment}/${currency}`))
  for (const { tenant, wallet } of found) {
    const threshold = thresholdIn(thresholds.get(tenant.account) ?? null, wallet.currency)
    const wasLow = known.has(`${tenant.account}/${tenant.environment}/${wallet.currency}`)
    if (isLow(wallet, threshold) === wasLow) continue
    await (wasLow ? forgetFall(app, tenant, wallet) : tellFall(app, tenant, wallet.currency))
  }
}

async function forgetFall(app: App, tenant: Tenant, { currency }: Wallet): Promise<void> {
  await app.db.query(noteRisen, { ...tenant, currency })
}

/**
 * Checks again in the transaction that emits the event: the wallet may be filled, or another node may have emitted it.
 */
async function tellFall(app: App, tenant: Tenant, currency: Currency): Promise<void> {
  const { account, environment } = tenant
  await app.db.tx(tenant, async (tx) => {
    const receivedMs = app.clock.nowMs()
    const current = await currentWallet(tx, tenant, currency, receivedMs)
    if (!isLow(current.wallet, current.threshold)) return
    const noted = await maybe(tx.query(noteLow, { ...tenant, currency }))
    if (!noted) return
    const { offset_ms } = await one(tx.query(clockOffset, { account, environment }))
    const occasion = { tenant, receivedMs, nowMs: receivedMs + Number(offset_ms), requestId: null }
    const payload = toldOf(tenant, current, noted.sequence)
    await app.outbox.emit(tx, walletEvents.lowBalance, occasion, walletId(tenant, currency), payload)
    await tellOwners(app, tx, tenant, {
      subject: `Your ${currency} wallet is low`,
      text: [
        `The ${currency} wallet of your account (${environment}) has ${payload.available} left, which is below ${payload.threshold}.`,
        'Top it up before what you send is refused.',
      ],
      key: `low ${currency} ${noted.sequence}`,
    })
  })
}
