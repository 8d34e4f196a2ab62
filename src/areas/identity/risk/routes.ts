// SPDX-License-Identifier: Apache-2.0
// Route of the risk score: phone, IP address, device and an earlier verification. A signal that cannot be read does not
// count, and is named.
import { type Static, Type } from 'typebox'
import { invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { factsOf } from '../../../kernel/phone.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import { At, CountryCode, Metadata, OneOf } from '../../../platform/schema/fields.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { actorOf, appendAudit } from '../audit-chain.ts'
import { blockedAmong } from '../blocklist.ts'
import { chargeFor, costFields, priceOf } from '../charging.ts'
import { phoneIndex } from '../otp/send.ts'
import { otpHistory } from '../otp/store.ts'
import { verificationWith } from '../verify/record.ts'
import { assess, type Raised } from '../verify/risk-score.ts'
import { riskLevels } from '../verify/schema.ts'
import { outcomeOf } from '../verify/transition.ts'

const text = (description: string, maxLength: number) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, sensitive: true, description }))

const RiskRequest = Type.Object({
  phone: text('In E.164: whether it exists, what kind of number it is, how often it was sent codes', 20),
  email: text('Whether it can be written to, and is no throw-away address', 254),
  ip: text('Address of the user: how many users of yours share it', 45),
  device: Type.Optional(
    Type.Object(
      {
        device_id: text('By which you know the device again: how many users of yours share it', 128),
        user_agent: text('Taken, and not judged yet', 500),
        timezone: text('Taken, and not judged yet', 60),
        language: text('Taken, and not judged yet', 20),
      },
      { description: 'What the user holds in hand' },
    ),
  ),
  subject: Type.Optional(
    Type.Object(
      {
        first_name: text('Taken, and not judged yet', 120),
        last_name: text('Taken, and not judged yet', 120),
        date_of_birth: text('YYYY-MM-DD; taken, and not judged yet', 10),
        country: Type.Optional(
          CountryCode({ description: 'Where they live: a number of another country raises the score' }),
        ),
      },
      { description: 'Who the user says they are' },
    ),
  ),
  verification_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'A verification of the person, whose flags count too' }),
  ),
  event: Type.Optional(
    OneOf(['signup', 'login', 'payout', 'sim_change', 'custom'], {
      description: 'What the user is doing; taken, and not judged yet',
    }),
  ),
  account_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Your own id of the user, for velocity' }),
  ),
  amount: Type.Optional(Type.Number({ description: 'Taken, and not judged yet' })),
  currency: Type.Optional(Type.String({ maxLength: 3, description: 'Taken, and not judged yet' })),
  metadata: Type.Optional(Metadata),
})
type RiskRequest = Static<typeof RiskRequest>

const RiskScore = Type.Object(
  {
    risk_id: Type.String({ description: 'Id of the score, such as `rsk_…`' }),
    risk_score: Type.Integer({ minimum: 0, maximum: 100, description: '0 for none to 100' }),
    risk_level: OneOf(riskLevels, { description: 'The score in a word' }),
    flags: Type.Array(Type.String(), { description: 'What raised it, such as `phone_voip`' }),
    factors: Type.Array(Type.Object({ flag: Type.String(), weight: Type.Number(), detail: Type.String() }), {
      description: 'How much each flag weighs, and why',
    }),
    unavailable_signals: Type.Array(Type.String(), { description: 'What could not be asked, and so did not count' }),
    created_at: At(),
    ...costFields,
  },
  { title: 'IdentityRiskScore' },
)

interface Signs {
  readonly raised: Raised[]
  readonly unavailable: string[]
}

async function signsOf(app: App, tx: Tx, caller: Caller, input: RiskRequest): Promise<Signs> {
  const signs: Signs = { raised: [], unavailable: [] }
  if (input.phone !== undefined) await ofPhone(app, tx, caller, input, input.phone, signs)
  if (input.email !== undefined) ofEmail(input.email, signs)
  if (input.ip !== undefined) signs.unavailable.push('ip_reputation')
  await ofVelocity(app, tx, caller, input, signs)
  await ofBlocklist(app, tx, caller, input, signs)
  if (input.verification_id !== undefined) {
    const row = await verificationWith(tx, caller.tenant, input.verification_id)
    for (const flag of outcomeOf(row)?.risk_assessment?.flags ?? [])
      signs.raised.push({ flag, detail: 'of the verification' })
  }
  return signs
}

async function ofBlocklist(app: App, tx: Tx, { tenant }: Caller, input: RiskRequest, { raised }: Signs): Promise<void> {
  const { phone, email, device, account_id: external_id } = input
  const blocked = await blockedAmong(app, tx, tenant, { phone, email, device: device?.device_id, external_id })
  if (blocked.length > 0) raised.push({ flag: 'subject_blocklisted', detail: blocked.join(', ') })
}

const day = 86_400_000
/** Sandbox numbers with a recent SIM swap. */
const swappedNumber = '+254700000004'

async function ofPhone(app: App, tx: Tx, caller: Caller, input: RiskRequest, phone: string, signs: Signs) {
  const { valid, type, country } = factsOf(phone)
  const raise = (flag: string, detail: string) => signs.raised.push({ flag, detail })
  if (!valid) raise('phone_invalid', 'no such number in its country')
  else if (type === 'premium_rate') raise('phone_premium', 'a number that costs callers extra')
  else if (type === 'voip') raise('phone_voip', 'a number without a card')
  else if (type && !type.includes('mobile')) raise('phone_not_mobile', type)
  const home = input.subject?.country
  if (home && country && home !== country) raise('phone_country_mismatch', `${country}, not ${home}`)
  if (caller.tenant.environment === 'test') {
    if (phone === swappedNumber) raise('sim_swap_recent', 'the card was changed lately')
  } else signs.unavailable.push('sim_swap')
  const history = await one(
    tx.query(otpHistory, {
      ...caller.tenant,
      phone: phoneIndex(app, caller, phone),
      day: new Date(caller.nowMs - day),
    }),
  )
  if (history.failed > 0) raise('otp_failures', `${history.failed} codes were guessed wrong`)
}

/** Well-known providers of disposable email addresses. */
const disposable = new Set(
  (
    'mailinator.com guerrillamail.com 10minutemail.com yopmail.com tempmail.com temp-mail.org trashmail.com getnada.com ' +
    'sharklasers.com dispostable.com maildrop.cc throwawaymail.com fakeinbox.com mintemail.com mohmal.com emailondeck.com'
  ).split(' '),
)
const roles = new Set([
  'admin',
  'info',
  'support',
  'sales',
  'contact',
  'noreply',
  'no-reply',
  'postmaster',
  'webmaster',
])

function ofEmail(email: string, { raised, unavailable }: Signs): void {
  const [, name, domain] = /^([^@\s]{1,64})@([a-z0-9-]+(?:\.[a-z0-9-]+)+)$/i.exec(email) ?? []
  if (!name || !domain) {
    raised.push({ flag: 'email_invalid', detail: 'not written as an address' })
    return
  }
  if (disposable.has(domain.toLowerCase()))
    raised.push({ flag: 'email_disposable', detail: 'domain on the disposable list' })
  if (roles.has(name.toLowerCase()))
    raised.push({ flag: 'email_role', detail: 'an address of a role, not of a person' })
  unavailable.push('email_mx')
}

const see = statement.tenant<Tenant & { kind: string; key: Buffer; user: Buffer; at: Date }, object>(
  'identity.see_user',
  `insert into identity.sightings (bucket, account_id, environment, kind, key_index, user_index, seen_at)
   values ($bucket, $account, $environment, $kind, $key, $user, $at)
   on conflict (bucket, account_id, environment, kind, key_index, user_index) do update set seen_at = excluded.seen_at`,
)

const countUsers = statement.tenant<Tenant & { kind: string; key: Buffer; since: Date }, { users: number }>(
  'identity.count_users',
  `select count(*)::int as users from (select from identity.sightings
    where ${mine} and kind = $kind and key_index = $key and seen_at > $since limit 1000) seen`,
)

const maxUsers = 5

/** Velocity: distinct users of the account per phone, device and IP address within a day. */
async function ofVelocity(app: App, tx: Tx, caller: Caller, input: RiskRequest, signs: Signs): Promise<void> {
  const { tenant, nowMs } = caller
  if (input.account_id === undefined) {
    signs.unavailable.push('velocity')
    return
  }
  const index = (value: string) => app.secrets.fingerprint('identity.sighting', `${tenant.account} ${value}`)
  const user = index(input.account_id)
  const keys = { phone: input.phone, device: input.device?.device_id, ip: input.ip }
  for (const [kind, value] of Object.entries(keys)) {
    if (value === undefined) continue
    const key = index(value)
    await tx.query(see, { ...tenant, kind, key, user, at: new Date(nowMs) })
    const { users } = await one(tx.query(countUsers, { ...tenant, kind, key, since: new Date(nowMs - day) }))
    if (users > maxUsers) signs.raised.push({ flag: `${kind}_velocity_high`, detail: `${users} accounts in 24 h` })
  }
}

const riskScore = write({
  method: 'POST',
  path: '/v1/identity/risk-score',
  operation: 'identity.scoreRisk',
  summary: 'Score the risk of a moment, flag by flag',
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
    const { raised, unavailable } = await signsOf(app, tx, caller, body)
    const { risk_score, risk_level, factors } = assess(raised)
    const { tenant, receivedMs, nowMs } = caller
    const risk_id = idOf('riskCheck', id)
    const flags = factors.map(({ flag }) => flag)
    await appendAudit(tx, tenant, {
      resourceId: risk_id,
      action: 'risk.scored',
      actor: actorOf(caller),
      details: { risk_score, flags },
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
      created_at: new Date(nowMs),
      ...price,
    }
  },
})

export const riskRoutes: readonly Route[] = [riskScore]
