// SPDX-License-Identifier: Apache-2.0
// SQL of one-time codes.
import { gone } from '../../../platform/db/merging.ts'
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

export interface OtpRow {
  readonly id: string
  readonly phone_sealed: Buffer
  readonly purpose: string
  readonly channel: string
  readonly code_length: number
  readonly status: string
  readonly attempts: number
  readonly sends: number
  readonly verification: string | null
  readonly sent_at: Date
  readonly expires_at: Date
  readonly verified_at: Date | null
}

const columns = `id, phone_sealed, purpose, channel, code_length, status, attempts, sends, verification, sent_at, expires_at,
          verified_at`

type Phone = Tenant & { phone: Buffer; purpose: string }

export const findOtp = statement.tenant<One, OtpRow>(
  'identity.find_otp',
  `select ${columns} from identity.otps where ${mine} and id = $id`,
)

/** Latest code of a phone, including a verified one, so that a repeat is answered. */
export const latestOtp = statement.tenant<Phone, OtpRow>(
  'identity.latest_otp',
  `select ${columns} from identity.otps
    where ${mine} and phone_index = $phone and purpose = $purpose order by created_at desc limit 1`,
)

export const pendingOtp = statement.tenant<Phone, OtpRow>(
  'identity.pending_otp',
  `select ${columns} from identity.otps
    where ${mine} and phone_index = $phone and purpose = $purpose and status = 'pending'`,
)

export const addOtp = statement.tenant<
  One & {
    phone: Buffer
    prefix: Buffer
    ip: Buffer | null
    sealed: Buffer
    purpose: string
    channel: string
    length: number
    verification: string | null
    at: Date
    expires: Date
  },
  { id: string }
>(
  'identity.add_otp',
  `insert into identity.otps (bucket, account_id, environment, id, phone_index, prefix_index, ip_index, phone_sealed,
                              purpose, channel, code_length, status, sends, verification, created_at, sent_at, expires_at)
   values ($bucket, $account, $environment, $id, $phone, $prefix, $ip, $sealed, $purpose, $channel, $length, 'pending', 1,
           $verification, $at, $at, $expires)
   on conflict do nothing
   returning id`,
)

/** Verification a code belongs to, by id. */
export const knownVerification = statement.tenant<One, { id: string }>(
  'identity.verification_of_otp',
  `select id from identity.verifications where ${mine} and id = $id`,
)

/** Locks the counters of the guard: concurrent requests see each other's codes. */
export const lockCounted = statement.tenant<Tenant & { keys: readonly string[] }, object>(
  'identity.lock_counted_otps',
  `select pg_advisory_xact_lock(k.key) as locked from (select unnest($keys::bigint[]) as key order by 1) k
    where $bucket::smallint is not null and $account::uuid is not null and $environment::text is not null`,
)

/** Counts a resend, unless another request did at the same time. */
export const countSend = statement.tenant<One & { sends: number; at: Date }, { id: string }>(
  'identity.count_otp_send',
  `update identity.otps set sends = sends + 1, sent_at = $at
    where ${mine} and id = $id and sends = $sends and status = 'pending' returning id`,
)

/** Undoes a failed send: the whole code, or its last resend. */
export const takeBackSend = statement.tenant<One & { before: Date }, object>(
  'identity.take_back_otp_send',
  `update identity.otps set sends = sends - 1, sent_at = $before where ${mine} and id = $id and sends > 1`,
)

export const removeOtp = statement.tenant<One, object>(
  'identity.remove_otp',
  `delete from identity.otps where ${mine} and id = $id and sends = 1 and status = 'pending'`,
)

export const setChannel = statement.tenant<One & { channel: string }, object>(
  'identity.set_otp_channel',
  `update identity.otps set channel = $channel where ${mine} and id = $id`,
)

/** Counts an attempt before checking it, so that concurrent guesses all count. */
export const countAttempt = statement.tenant<One & { most: number }, { attempts: number }>(
  'identity.count_otp_attempt',
  `update identity.otps set attempts = attempts + 1
    where ${mine} and id = $id and status = 'pending' and attempts < $most returning attempts`,
)

export const endOtp = statement.tenant<One & { status: string; at: Date | null }, { id: string }>(
  'identity.end_otp',
  `update identity.otps set status = $status, verified_at = $at
    where ${mine} and id = $id and status = 'pending' returning id`,
)

/** Counts of codes for the guard: per phone, prefix, IP address and account. */
export const countOtps = statement.tenant<
  Tenant & { phone: Buffer; prefix: Buffer; ip: Buffer | null; hour: Date; day: Date; most: number },
  { by_hour: number; by_day: number; by_ip: number; by_prefix: number; prefix_verified: number; by_account: number }
>(
  'identity.count_otps',
  `select (select count(*)::int from identity.otps
            where ${mine} and phone_index = $phone and created_at > $hour) as by_hour,
          (select count(*)::int from identity.otps
            where ${mine} and phone_index = $phone and created_at > $day) as by_day,
          (select count(*)::int from identity.otps
            where ${mine} and ip_index = $ip and created_at > $hour) as by_ip,
          (select count(*)::int from identity.otps
            where ${mine} and prefix_index = $prefix and created_at > $hour) as by_prefix,
          (select count(*)::int from identity.otps
            where ${mine} and prefix_index = $prefix and created_at > $hour and status = 'verified') as prefix_verified,
          (select count(*)::int from (select from identity.otps
            where ${mine} and created_at > $day limit $most::int) today) as by_account`,
)

/** Recent results for a phone: failed codes, those that nobody typed in time, and whether one was ever verified. */
export const otpHistory = statement.tenant<
  Tenant & { phone: Buffer; day: Date; now: Date },
  { failed: number; unverified: number; verified: number }
>(
  'identity.otp_history',
  `select count(*) filter (where status = 'failed' and created_at > $day)::int as failed,
          count(*) filter (where status <> 'verified' and (status <> 'pending' or expires_at <= $now))::int as unverified,
          count(*) filter (where status = 'verified')::int as verified
     from identity.otps where ${mine} and phone_index = $phone`,
)

export const purgeOtps = statement.everywhere<
  { buckets: readonly number[]; before: Date; most: number },
  { gone: number }
>(
  'identity.purge_otps',
  `with gone as (
     delete from identity.otps
      where bucket = any($buckets::smallint[])
        and ctid = any(array(select o.ctid from identity.otps o
                              where o.bucket = any($buckets::smallint[]) and o.created_at < $before limit $most))
     returning 1
   ) select count(*)::int as gone from gone`,
  gone,
)
