// SPDX-License-Identifier: Apache-2.0
// Route of the risk score: phone, email, IP address, device, person and an earlier verification. A signal that cannot
// be read does not count, and is named.
import { type Static, Type } from 'typebox'
import { invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { At, CountryCode, Day, Metadata, OneOf } from '../../../platform/schema/fields.ts'
import { actorOf, appendAudit } from '../audit-chain.ts'
import { blockedAmong } from '../blocklist.ts'
import { chargeFor, costFields, priceOf } from '../charging.ts'
import { claimed } from '../documents/judge.ts'
import { ageOf, isUnderage, type Policy, policyOf } from '../policy.ts'
import { contactSigns, type Signs } from '../signals/contact.ts'
import { assess, type Raised, riskLevels } from '../signals/risk-score.ts'
import { findingsOf, verificationWith } from '../verify/record.ts'
import { personal } from '../verify/schema.ts'
import type { VerificationRow } from '../verify/store.ts'
import { outcomeOf } from '../verify/transition.ts'

const RiskRequest = Type.Object({
  phone: personal('Phone number in E.164; evaluated by validity, kind and number of codes sent', 20),
  email: personal('Email address; evaluated by its ability to receive mail, and against disposable addresses', 254),
  ip: personal('IP address of the user; evaluated by the number of your users who share it', 45),
  device: Type.Optional(
    Type.Object(
      {
        device_id: personal('Your own id for the device; evaluated by the number of your users who share it', 128),
        user_agent: personal('Accepted, but not evaluated', 500),
        timezone: personal('Accepted, but not evaluated', 60),
        language: personal('Accepted, but not evaluated', 20),
      },
      { description: 'Device of the user' },
    ),
  ),
  subject: Type.Optional(
    Type.Object(
      {
        first_name: personal('Given names; compared with the document of `verification_id`', 120),
        last_name: personal('Family name; compared with the document of `verification_id`', 120),
        date_of_birth: Type.Optional(
          Day({
            sensitive: true,
            description:
              'Date of birth; compared with `minimum_age` of your policy and the document of `verification_id`',
          }),
        ),
        country: Type.Optional(
          CountryCode({
            description:
              'Country of residence; a number of another country raises the score. Default: the country of the document',
          }),
        ),
      },
      { description: 'Details stated by the user' },
    ),
  ),
  verification_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of a verification of the person, whose flags are included' }),
  ),
  event: Type.Optional(
    OneOf(['signup', 'login', 'payout', 'sim_change', 'custom'], {
      description:
        'Action of the user, recorded in the audit. For a `login`, `impossible_travel` is listed as unavailable, since it needs the location of an IP address',
    }),
  ),
  account_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Your own id for the user, for velocity checks' }),
  ),
  amount: Type.Optional(Type.Number({ description: 'Accepted, but not evaluated' })),
  currency: Type.Optional(Type.String({ maxLength: 3, description: 'Accepted, but not evaluated' })),
  metadata: Type.Optional(Metadata),
})
type RiskRequest = Static<typeof RiskRequest>

const RiskScore = Type.Object(
  {
    risk_id: Type.String({ description: 'Id of the score, such as `rsk_…`' }),
    risk_score: Type.Integer({ minimum: 0, maximum: 100, description: 'Risk score from 0 (none) to 100' }),
    risk_level: OneOf(riskLevels, { description: 'Risk level derived from the score' }),
    flags: Type.Array(Type.String(), { description: 'Reasons that raised the score, such as `phone_voip`' }),
    factors: Type.Array(
      Type.Object({
        flag: Type.String({ description: 'Name from `flags`' }),
        weight: Type.Number({ description: 'Points that it adds to the score' }),
        detail: Type.String({ description: 'Reason for the flag' }),
      }),
      { description: 'Weight of each flag, with the reason' },
    ),
    unavailable_signals: Type.Array(Type.String(), {
      description: 'Signals that were not available, and were not evaluated',
    }),
    metadata: Metadata,
    created_at: At({ description: 'Time of the scoring' }),
    ...costFields,
  },
  { title: 'IdentityRiskScore' },
)

async function signsOf(app: App, tx: Tx, caller: Caller, policy: Policy, input: RiskRequest): Promise<Signs> {
  const { verification_id: id, subject, phone, email, ip, device, account_id: user_id } = input
  const verification = id === undefined ? null : await verificationWith(tx, caller.tenant, id)
  const country = subject?.country ?? verification?.country
  const reached = { phone, email, ip, device_id: device?.device_id, user_id, country }
  const signs = await contactSigns(app, tx, caller, reached)
  // The places of two logins are those of their IP addresses, for which there is no database.
  if (input.event === 'login') signs.unavailable.push('impossible_travel')
  await ofBlocklist(app, tx, caller, input, signs)
  if (subject) ofAge(subject, policy, caller, signs)
  if (verification) await ofVerification(app, caller, verification, subject ?? {}, signs)
  return { ...signs, raised: onceEach(signs.raised) }
}

/** One of each flag: what the verification found too weighs once. */
function onceEach(raised: readonly Raised[]): Raised[] {
  return raised.filter(({ flag }, i) => raised.findIndex((other) => other.flag === flag) === i)
}

type Subject = NonNullable<RiskRequest['subject']>

function ofAge({ date_of_birth }: Subject, policy: Policy, { nowMs }: Caller, { raised }: Signs): void {
  if (isUnderage(policy, ageOf(date_of_birth ?? null, nowMs)))
    raised.push({ flag: 'age_under_minimum', detail: `under ${policy.minimum_age}` })
}

/** Flags of a verification, and whether its document is of the person who is named now. */
async function ofVerification(
  app: App,
  { tenant }: Caller,
  row: VerificationRow,
  subject: Subject,
  { raised, unavailable }: Signs,
): Promise<void> {
  for (const flag of outcomeOf(row)?.risk_assessment?.flags ?? []) raised.push({ flag, detail: 'of the verification' })
  const { country: _country, ...said } = subject
  if (Object.keys(said).length === 0) return
  const findings = await findingsOf(app, tenant, row)
  const check = findings && claimed(said, findings.document)
  if (!check) unavailable.push('name_match')
  else if (check.result === 'fail') raised.push({ flag: 'name_mismatch', detail: check.detail })
}

async function ofBlocklist(app: App, tx: Tx, { tenant }: Caller, input: RiskRequest, { raised }: Signs): Promise<void> {
  const { phone, email, device, account_id: external_id } = input
  const blocked = await blockedAmong(app, tx, tenant, { phone, email, device: device?.device_id, external_id })
  if (blocked.length > 0) raised.push({ flag: 'subject_blocklisted', detail: blocked.join(', ') })
}

const riskScore = write({
  method: 'POST',
  path: '/v1/identity/risk-score',
  operation: 'identity.scoreRisk',
  summary: 'Score the risk of an action',
  scope: 'identity:write',
  limit: 'identity',
  body: RiskRequest,
  reply: { status: 200, schema: RiskScore },
  errors: ['NOT_FOUND', 'DESTINATION_NOT_ALLOWED', 'INSUFFICIENT_BALANCE'],
  examples: [
    {
      name: 'A login',
      body: { phone: '+254711000001', email: 'ada@mailinator.com', event: 'login', account_id: 'u-1' },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const { phone, email, ip, device, subject, verification_id } = body
    if ([phone, email, ip, device, subject, verification_id].every((signal) => signal === undefined))
      throw invalid('phone', 'or another signal is needed: email, ip, device, subject or verification_id')
    const id = newUuid(caller.receivedMs)
    const price = priceOf(app, caller, 'risk_score')
    await chargeFor(tx, caller, 'risk_score', id, price)
    const policy = await policyOf(tx, caller.tenant)
    const { raised, unavailable } = await signsOf(app, tx, caller, policy, body)
    const { risk_score, risk_level, factors } = assess(raised)
    const { tenant, receivedMs, nowMs } = caller
    const risk_id = idOf('riskCheck', id)
    const flags = factors.map(({ flag }) => flag)
    await appendAudit(app, tx, tenant, {
      resourceId: risk_id,
      action: 'risk.scored',
      actor: actorOf(caller),
      details: { risk_score, flags, event: body.event ?? null, policy_version: policy.version },
      receivedMs,
      nowMs,
    })
    const shown = factors.map(({ flag, weight, detail }) => ({ flag, weight, detail }))
    return {
      risk_id,
      risk_score,
      risk_level,
      flags,
      factors: shown,
      unavailable_signals: unavailable,
      metadata: body.metadata ?? {},
      created_at: new Date(nowMs),
      ...price,
    }
  },
})

export const riskRoutes: readonly Route[] = [riskScore]
