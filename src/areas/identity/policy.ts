// SPDX-License-Identifier: Apache-2.0
// Policy of an account for its checks; defaults apply where it is not set.
import { type Static, Type } from 'typebox'
import Value from 'typebox/value'
import { maybe, one, type Queryable, statement, type Tx } from '../../platform/db.ts'
import { CountryCode, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'

const days = (most: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: most, rule: `must be 0 to ${most} days`, description })

export const Policy = Type.Object(
  {
    manual_review: Type.Boolean({
      description: 'True sends doubtful cases to manual review; false rejects them',
    }),
    registry_on_outage: OneOf(['retry', 'fail'], {
      description: 'Handling of a registry that does not respond',
    }),
    consent_required: Type.Boolean({ description: 'True refuses verifications without `consent`' }),
    four_eyes: Type.Boolean({
      description: 'True prevents the requester of a rejected verification from approving it',
    }),
    accept_passive_liveness: OneOf(['low_risk', 'never'], {
      description: 'Acceptance of a single picture as proof of liveness',
    }),
    minimum_age: Type.Integer({
      minimum: 0,
      maximum: 120,
      rule: 'must be 0 to 120',
      description: 'Minimum age; younger persons are rejected as UNDERAGE. Default 0, for any age',
    }),
    capture_tries: Type.Integer({
      minimum: 1,
      maximum: 10,
      rule: 'must be 1 to 10',
      description: 'Maximum number of submissions on the hosted page; default 3',
    }),
    privacy_notice_url: Nullable(
      Type.String({ pattern: '^https://\\S+$', maxLength: 2_048, rule: 'must be an https:// URL, or null' }),
      { description: 'URL of the privacy notice on the hosted page; null for none' },
    ),
    image_days: days(365, 'Retention of pictures in days; 0 erases them with the verdict'),
    record_days: days(3_650, 'Retention of the extracted data in days'),
    otp_guard: OneOf(['block', 'monitor'], { description: 'Handling of suspicious codes: blocked, or only recorded' }),
    otp_countries: Type.Array(CountryCode(), {
      maxItems: 250,
      description: 'Countries that codes can be sent to; empty: all',
    }),
    otp_daily_limit: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      rule: 'must be 1 to 1000000',
      description: 'Maximum number of codes of the account in 24 hours; default 10000',
    }),
  },
  { title: 'IdentityPolicy' },
)
export type Policy = Static<typeof Policy>

export const PolicyChange = Type.Partial(Policy)

const usual: Policy = {
  manual_review: true,
  registry_on_outage: 'retry',
  consent_required: false,
  four_eyes: true,
  accept_passive_liveness: 'low_risk',
  minimum_age: 0,
  capture_tries: 3,
  privacy_notice_url: null,
  image_days: 30,
  record_days: 365,
  otp_guard: 'block',
  otp_countries: [],
  otp_daily_limit: 10_000,
}

const findPolicy = statement.tenant<Tenant, { policy: unknown; version: number }>(
  'identity.find_policy',
  `select policy, version from identity.policies where ${mine}`,
)

const putPolicy = statement.tenant<Tenant & { policy: string }, { version: number }>(
  'identity.put_policy',
  `insert into identity.policies as p (bucket, account_id, environment, policy, version)
   values ($bucket, $account, $environment, $policy::jsonb, 1)
   on conflict (bucket, account_id, environment) do update set policy = excluded.policy, version = p.version + 1
   returning version`,
)

export async function policyOf(queryable: Queryable, tenant: Tenant): Promise<Policy & { version: number }> {
  const { bucket, account, environment } = tenant
  const row = await maybe(queryable.query(findPolicy, { bucket, account, environment }))
  const own = Value.Check(PolicyChange, row?.policy) ? row.policy : {}
  return { ...usual, ...own, version: row?.version ?? 0 }
}

export async function changePolicy(
  tx: Tx,
  tenant: Tenant,
  change: Static<typeof PolicyChange>,
): Promise<Policy & { version: number }> {
  const { version: _, ...before } = await policyOf(tx, tenant)
  const policy = { ...before, ...change }
  const { version } = await one(tx.query(putPolicy, { ...tenant, policy: JSON.stringify(policy) }))
  return { ...policy, version }
}

/** Whether a person is younger than the policy allows; not when the age is unknown. */
export function isUnderage({ minimum_age }: Policy, ageYears: number | null): boolean {
  return ageYears !== null && ageYears < minimum_age
}

/** Age in whole years; null without a birth date. */
export function ageOf(birth: string | null, nowMs: number): number | null {
  if (!birth) return null
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return Number(today.slice(0, 4)) - Number(birth.slice(0, 4)) - (today.slice(5) < birth.slice(5) ? 1 : 0)
}
