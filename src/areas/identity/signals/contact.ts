// SPDX-License-Identifier: Apache-2.0
// Contact signals of a person: phone, email, IP address and device. A signal that cannot be read does not count, and is
// named.

import { buckets } from '../../../kernel/ids.ts'
import { factsOf } from '../../../kernel/phone.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { gone } from '../../../platform/db/merging.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { phoneIndex } from '../otp/send.ts'
import { otpHistory } from '../otp/store.ts'
import type { Raised } from './risk-score.ts'

/** Signals of a request: flags raised, and names of the signals that could not be read. */
export interface Signs {
  readonly raised: Raised[]
  readonly unavailable: string[]
}

/** Contact details of a person, as far as they are known. */
interface Reached {
  readonly phone: string | undefined
  readonly email: string | undefined
  readonly ip: string | undefined
  readonly device_id: string | undefined
  /** Customer's own id of the person, for velocity. */
  readonly user_id: string | undefined
  /** Country of the person or of the document. */
  readonly country: string | undefined
}

type Moment = Pick<Caller, 'tenant' | 'nowMs'>

export async function contactSigns(app: App, tx: Tx, moment: Moment, reached: Reached): Promise<Signs> {
  const signs: Signs = { raised: [], unavailable: [] }
  const { phone, email, ip } = reached
  if (phone !== undefined) await ofPhone(app, tx, moment, reached, phone, signs)
  if (email !== undefined) ofEmail(email, signs)
  if (ip !== undefined) signs.unavailable.push('ip_reputation')
  await ofVelocity(app, tx, moment, reached, signs)
  return signs
}

/** Sandbox number with a recent SIM swap. */
const swappedNumber = '+254700000004'

async function ofPhone(
  app: App,
  tx: Tx,
  { tenant, nowMs }: Moment,
  { country: home }: Reached,
  phone: string,
  signs: Signs,
): Promise<void> {
  const { valid, type, country } = factsOf(phone)
  const raise = (flag: string, detail: string) => signs.raised.push({ flag, detail })
  if (!valid) raise('phone_invalid', 'no such number in its country')
  else if (type === 'premium_rate') raise('phone_premium', 'a number that costs callers extra')
  else if (type === 'voip') raise('phone_voip', 'a number without a card')
  else if (type && !type.includes('mobile')) raise('phone_not_mobile', type)
  if (home && country && home !== country) raise('phone_country_mismatch', `${country}, not ${home}`)
  if (tenant.environment === 'test') {
    if (phone === swappedNumber) raise('sim_swap_recent', 'the card was changed lately')
  } else signs.unavailable.push('sim_swap')
  const history = await one(
    tx.query(otpHistory, {
      ...tenant,
      phone: phoneIndex(app, { tenant }, phone),
      day: new Date(nowMs - dayMs),
      now: new Date(nowMs),
    }),
  )
  if (history.failed > 0) raise('otp_failures', `${history.failed} codes were guessed wrong`)
  if (history.verified === 0 && history.unverified > 0) raise('otp_unverified', 'codes were sent, and none confirmed')
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

const forget = statement.tenant<Tenant & { user: Buffer }, object>(
  'identity.forget_user',
  `delete from identity.sightings where ${mine} and user_index = $user`,
)

const purge = statement.everywhere<{ buckets: readonly number[]; before: Date; most: number }, { gone: number }>(
  'identity.purge_sightings',
  `with gone as (
     delete from identity.sightings
      where bucket = any($buckets::smallint[])
        and ctid = any(array(select s.ctid from identity.sightings s
                              where s.bucket = any($buckets::smallint[]) and s.seen_at < $before limit $most))
     returning 1
   ) select count(*)::int as gone from gone`,
  gone,
)

/** Chore that deletes what velocity no longer counts. */
export const sightingChore: Chore = {
  name: 'identity.purge_sightings',
  run: async (app) => {
    await app.db.query(purge, { buckets, before: new Date(app.clock.nowMs() - dayMs), most: 50_000 })
  },
}

/** Forgets with which phones, devices and addresses a person was seen. */
export async function forgetSightings(app: App, tx: Tx, tenant: Tenant, user_id: string): Promise<void> {
  await tx.query(forget, { ...tenant, user: sightingIndex(app, tenant, user_id) })
}

function sightingIndex(app: App, { account }: Tenant, value: string): Buffer {
  return app.secrets.fingerprint('identity.sighting', `${account} ${value}`)
}

const maxUsers = 5

/** Velocity: distinct users of the account per phone, device and IP address within a day. */
async function ofVelocity(
  app: App,
  tx: Tx,
  { tenant, nowMs }: Moment,
  { phone, device_id: device, ip, user_id }: Reached,
  signs: Signs,
): Promise<void> {
  if (user_id === undefined) {
    signs.unavailable.push('velocity')
    return
  }
  const index = (value: string) => sightingIndex(app, tenant, value)
  const user = index(user_id)
  for (const [kind, value] of Object.entries({ phone, device, ip })) {
    if (value === undefined) continue
    const key = index(value)
    await tx.query(see, { ...tenant, kind, key, user, at: new Date(nowMs) })
    const { users } = await one(tx.query(countUsers, { ...tenant, kind, key, since: new Date(nowMs - dayMs) }))
    if (users > maxUsers) signs.raised.push({ flag: `${kind}_velocity_high`, detail: `${users} accounts in 24 h` })
  }
}
