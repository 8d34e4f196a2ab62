// SPDX-License-Identifier: Apache-2.0
// Payments that are collected while no payer is there, such as those of a subscription or an automatic top-up: from whom that
// is possible, and how much.
import { AppError } from '../../../kernel/errors.ts'
import type { Currency, Money } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import type { Tx } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { cardTermsOf, requireSavedCard } from './card.ts'
import { mobileTermsOf, providerFor, requireProvider } from './mobile-money-providers.ts'

/** Saved card or phone that is charged. Neither: a customer pays by itself. */
export interface Payer {
  readonly card_token: string | null
  readonly phone: string | null
  readonly provider: string | null
}

/** Requires a way to collect an amount without the payer. */
export async function requireUnattended(
  app: App,
  tx: Tx,
  tenant: Tenant,
  { card_token, phone, provider }: Payer,
  money: Money,
): Promise<void> {
  if (card_token !== null) await requireSavedCard(app, tx, tenant, card_token, money)
  if (phone === null) return
  const { name, confirmsOn } = requireProvider(app, tenant, 'in', { phone, provider: provider ?? undefined }, money)
  if (confirmsOn === 'page')
    throw new AppError(
      'UNSUPPORTED_PROVIDER',
      `payers of ${name} confirm each payment on a page, so that somebody has to be there; use another provider, or a saved card`,
    )
}

/** The part of an amount that cannot be collected: all of one that is too small, and parts of a unit where only whole ones are taken. */
export function uncollectableOf(
  app: App,
  tenant: Tenant,
  { card_token, phone, provider }: Payer,
  { currency, micros }: Money,
): bigint {
  if (micros <= 0n) return 0n
  if (card_token !== null) return micros < cardTermsOf(app, tenant, currency).min ? micros : 0n
  const found = phone === null ? null : providerOf(currency, phone, provider ?? undefined)
  if (!found) return 0n
  if (micros < mobileTermsOf(app, tenant, 'in', found).min) return micros
  return found.wholeUnitsOnly ? micros % 1_000_000n : 0n
}

/** Provider of a phone; null when none collects from it any more, which the payment itself then reports. */
function providerOf(currency: Currency, phone: string, provider: string | undefined) {
  try {
    return providerFor(currency, phone, provider)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
