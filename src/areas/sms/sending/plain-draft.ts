// SPDX-License-Identifier: Apache-2.0
// A message that no request describes in detail, such as a reply or a notice: transactional, sent now, and paid for in the
// currency of its account at that account's price.
import { AppError } from '../../../kernel/errors.ts'
import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { one, type Queryable, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { findPlaces, placeFor } from '../ported/places.ts'
import { priceOf } from '../prices/pricing.ts'
import { mostValiditySeconds } from '../schema.ts'
import type { Draft } from './draft.ts'

const standingOf = statement<{ account: string }, { currency: string; is_suspended: boolean }>(
  'sms.standing_of',
  `select accounts.currency_of($account::uuid) as currency, accounts.is_suspended($account) as is_suspended`,
)

/** Gives why there is none when the account is suspended. What else it may send, and who takes it, is for the caller to ask. */
export async function plainDraft(
  app: App,
  queryable: Queryable,
  { tenant: { account }, receivedMs }: { tenant: Tenant; receivedMs: number },
  said: Pick<Draft, 'uuid' | 'to' | 'from' | 'text'>,
): Promise<Draft | AppError> {
  const { currency, is_suspended } = await one(queryable.query(standingOf, { account }))
  if (is_suspended) return new AppError('ACCOUNT_SUSPENDED', 'the account is suspended')
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  await findPlaces(app, [said.to])
  const place = placeFor(app, said.to)
  const unitPrice = priceOf(app, { account, currency, atMs: receivedMs }, place)
  return {
    ...said,
    place,
    unitPrice,
    cost: unitPrice * BigInt(said.text.segments),
    currency,
    scheduledAt: null,
    type: 'transactional',
    validity: mostValiditySeconds,
    metadata: {},
    reference: null,
    callbackUrl: null,
  }
}
