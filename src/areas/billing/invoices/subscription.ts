// SPDX-License-Identifier: Apache-2.0
// The subscription that an invoice goes with, as far as invoices need it: that it exists, and that it stays as it is.
import { AppError } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

const findId = statement.tenant<One, { id: string }>(
  'billing.find_subscription_id',
  `select id from billing.subscriptions where ${mine} and id = $id`,
)

/** Keeps others from changing the subscription until this transaction ends. */
export const holdSubscription = statement.tenant<One, { id: string }>(
  'billing.hold_subscription',
  `select id from billing.subscriptions where ${mine} and id = $id for update`,
)

/** UUID of the subscription that a request names; throws when there is none. */
export async function requireSubscriptionId(queryable: Queryable, tenant: Tenant, named: string): Promise<string> {
  const id = uuidOf('subscription', named)
  const found = id && (await maybe(queryable.query(findId, { ...tenant, id })))
  if (!found) throw noSuchSubscription()
  return found.id
}

export function noSuchSubscription(): AppError {
  return new AppError('NOT_FOUND', 'there is no such subscription; the ids of subscriptions begin with sub_')
}
