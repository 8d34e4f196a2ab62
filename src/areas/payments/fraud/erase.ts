// SPDX-License-Identifier: Apache-2.0
// Erasure of what the risk checks of a person's payments were decided by.
import { statement } from '../../../platform/db.ts'
import type { Erasable } from '../../../platform/operator/erasing.ts'
import type { Tenant } from '../../../platform/tenant.ts'

const empty = statement.tenant<Tenant & { phones: readonly string[]; emails: readonly string[] }, { id: string }>(
  'payments.erase_risk_checks',
  `update payments.risk_checks c
      set inputs = jsonb_build_object('totals', '{}'::jsonb, 'listed', '[]'::jsonb,
            'facts', case when jsonb_typeof(c.inputs -> 'facts') = 'array' then '[]' else '{}' end::jsonb), watched = '[]'
     from payments.payments p
    where p.bucket = $bucket and p.account_id = $account and p.environment = $environment
      and (p.phone = any($phones::text[]) or (p.phone is null and lower(p.customer ->> 'email') = any($emails::text[])))
      and c.bucket = p.bucket and c.account_id = p.account_id and c.environment = p.environment and c.id = p.id
    returning c.id`,
)

/** Asked before the payments lose the number by which their checks are found. */
export const eraseRiskChecks: Erasable<unknown> = {
  kind: 'risk_checks',
  async erase(_app, tx, { tenant: { bucket, account, environment } }, { phones, emails }) {
    const rows = await tx.query(empty, { bucket, account, environment, phones, emails })
    const reason = rows.length > 0 ? 'score and decision stay' : null
    return { kind: 'risk_checks', erased: rows.length, kept: 0, reason, resources: [] }
  },
}
