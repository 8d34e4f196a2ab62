// SPDX-License-Identifier: Apache-2.0
// Subscription of an invoice, as far as invoices need it: existence check and lock.
import { AppError } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

const findId = statement.tenant<One, { id: string }>(
  'billing.find_subscription_id',
  `select id from billing.subscriptions where ${mine} and id = $id`,
)

/** Locks a subscription until the transaction ends. */
export const holdSubscription = statement.tenant<One, { id: string }>(
  'billing.hold_subscription',
  `select id from billing.subscriptions where ${mine} and id = $id for update`,
)

/** UUID of the subscription in a request; throws when it does not exist. */
export async function requireSubscriptionId(queryable: Queryable, tenant: Tenant, named: string): Promise<string> {
  const id = uuidOf('subscription', named)
  const found = id && (await maybe(queryable.query(findId, { ...tenant, id })))
  if (!found) throw noSuchSubscription()
  return found.id
}

export function noSuchSubscription(): AppError {
  return new AppError('NOT_FOUND', 'there is no such subscription; the ids of subscriptions begin with sub_')
}
