// SPDX-License-Identifier: Apache-2.0
// Customer who has a phone number, as other areas know them.
import { maybe } from '../../platform/db.ts'
import type { FindProfile } from '../../platform/operator/profile.ts'
import { findCustomer, findOwners } from './store.ts'

export const customerProfile: FindProfile = async (queryable, tenant, phone) => {
  const [owner] = await queryable.query(findOwners, { ...tenant, kinds: ['phone'], addresses: [phone] })
  const row = owner ? await maybe(queryable.query(findCustomer, { ...tenant, id: owner.customer_id })) : null
  if (!row || row.erased_at !== null) return null
  const { name, email, emails, language, tags, attributes } = row
  return { name, email: email ?? emails[0] ?? null, language, tags, attributes }
}
