// SPDX-License-Identifier: Apache-2.0
// SQL of capture sessions and of the parts of their pictures.
import { statement } from '../../../platform/db.ts'
import type { Window } from '../../../platform/schema/lists.ts'
import { type Environment, mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import type { DueRow } from '../verify/store.ts'
import type { SessionStatus } from './schema.ts'

export interface SessionRow {
  readonly bucket: number
  readonly account_id: string
  readonly environment: Environment
  readonly id: string
  readonly token: Buffer
  readonly status: SessionStatus
  readonly document_types: string[] | null
  readonly country: string | null
  readonly checks: string[]
  readonly redirect_url: string | null
  readonly language: string | null
  readonly created_by: string
  readonly person_sealed: Buffer | null
  readonly browser_hash: Buffer | null
  readonly consent: unknown
  readonly tries: number
  readonly tries_allowed: number
  readonly refusals: number
  readonly failure_reasons: unknown
  readonly verification_id: string | null
  readonly created_at: Date
  readonly expires_at: Date
  readonly opened_at: Date | null
  readonly submitted_at: Date | null
  readonly completed_at: Date | null
}

const columns = `bucket, account_id, environment, id, token, status, document_types, country, checks, redirect_url, language,
  created_by, person_sealed, browser_hash, consent, tries, tries_allowed, refusals, failure_reasons, verification_id,
  created_at, expires_at, opened_at, submitted_at, completed_at`

export const insertSession = statement.tenant<
  One & {
    token: Buffer
    types: readonly string[] | null
    country: string | null
    checks: readonly string[]
    redirectUrl: string | null
    language: string | null
    by: string
    person: Buffer | null
    subject: Buffer | null
    tries: number
    at: Date
    expires: Date
  },
  SessionRow
>(
  'identity.insert_session',
  `insert into identity.sessions (bucket, account_id, environment, id, token, status, document_types, country, checks,
     redirect_url, language, created_by, person_sealed, subject_index, tries_allowed, created_at, expires_at)
   values ($bucket, $account, $environment, $id, $token, 'created', $types::text[], $country, $checks::text[], $redirectUrl,
     $language, $by, $person, $subject, $tries, $at, $expires)
   returning ${columns}`,
)

export const findSession = statement.tenant<One, SessionRow>(
  'identity.find_session',
  `select ${columns} from identity.sessions where ${mine} and id = $id`,
)

export const lockSession = statement.tenant<One, SessionRow>(
  'identity.lock_session',
  `select ${columns} from identity.sessions where ${mine} and id = $id for update`,
)

/** Session with what its page needs of its account. */
export type VisitedRow = SessionRow & {
  readonly account_name: string
  readonly brand: Brand
  readonly time_zone: string
  readonly is_suspended: boolean
  readonly clock_offset_ms: bigint
}

export const findSessionByToken = statement.tenant<{ bucket: number; token: Buffer }, VisitedRow>(
  'identity.find_session_by_token',
  `select ${columns}, accounts.clock_offset_ms(account_id, environment) as clock_offset_ms,
          accounts.name_of(account_id) as account_name, accounts.brand_of(account_id) as brand,
          accounts.timezone_of(account_id) as time_zone, accounts.is_suspended(account_id) as is_suspended
     from identity.sessions where bucket = $bucket and token = $token`,
)

/** Status that is shown: one that nobody used in time is expired before the chore says so. */
const shownStatus = `case when status in ('created', 'opened', 'capturing') and expires_at <= $now::timestamptz then 'expired'
                         else status end`

export const listSessions = statement.tenant<
  Tenant & Window & { status: string | null; subject: Buffer | null; now: Date },
  SessionRow
>(
  'identity.list_sessions',
  `select ${columns} from identity.sessions
    where ${mine} and ($status::text is null or $status = ${shownStatus})
      and ($subject::bytea is null or subject_index = $subject)
      and ($after::uuid is null or case when $descending then id < $after else id > $after end)
    order by case when $descending then id end desc, case when not $descending then id end limit $limit::int + 1`,
)

/** Moves a session on, from one of the states it may be in. */
export const moveSession = statement.tenant<
  One & { from: readonly string[]; to: SessionStatus; at: Date; reasons: string | null; completed: boolean },
  SessionRow
>(
  'identity.move_session',
  `update identity.sessions
      set status = $to, failure_reasons = coalesce($reasons::jsonb, failure_reasons),
          opened_at = case when $to = 'opened' then $at else opened_at end,
          completed_at = case when $completed::boolean then coalesce(completed_at, $at) else completed_at end
    where ${mine} and id = $id and status = any($from::text[])
   returning ${columns}`,
)

/** Binds a session to the browser in which the person agreed. */
export const bindSession = statement.tenant<One & { browser: Buffer; consent: string }, SessionRow>(
  'identity.bind_session',
  `update identity.sessions set status = 'capturing', browser_hash = $browser, consent = $consent::jsonb
    where ${mine} and id = $id and status = 'opened' and browser_hash is null
   returning ${columns}`,
)

export const submitSession = statement.tenant<One & { verification: string; at: Date }, SessionRow>(
  'identity.submit_session',
  `update identity.sessions
      set status = 'submitted', verification_id = $verification, submitted_at = $at, tries = tries + 1,
          received_bytes = 0, failure_reasons = '[]'
    where ${mine} and id = $id and status = 'capturing'
   returning ${columns}`,
)

/** Counts pictures that were refused before they were judged. */
export const refuseSession = statement.tenant<One, SessionRow>(
  'identity.refuse_session',
  `update identity.sessions set refusals = refusals + 1 where ${mine} and id = $id and status = 'capturing'
   returning ${columns}`,
)

export const findSessionOf = statement.tenant<Tenant & { verification: string }, SessionRow>(
  'identity.find_session_of',
  `select ${columns} from identity.sessions where ${mine} and verification_id = $verification`,
)

/** Takes the bytes of a part from what the session may still send; nothing when it is too much. */
export const countBytes = statement.tenant<One & { bytes: number; most: number }, { id: string }>(
  'identity.count_session_bytes',
  `update identity.sessions set received_bytes = received_bytes + $bytes::int
    where ${mine} and id = $id and status = 'capturing' and received_bytes + $bytes::int <= $most::int
   returning id`,
)

type Of = Tenant & { session: string }

export const addPart = statement.tenant<
  Of & { picture: string; start: number; bytes: number; file: string },
  { start: number }
>(
  'identity.add_session_part',
  `insert into identity.session_parts (bucket, account_id, environment, session_id, picture, start, bytes, file_id)
   values ($bucket, $account, $environment, $session, $picture, $start, $bytes, $file)
   on conflict do nothing returning start`,
)

export const receivedOf = statement.tenant<Of & { picture: string }, { bytes: number }>(
  'identity.received_of_picture',
  `select coalesce(sum(bytes), 0)::int as bytes from identity.session_parts
    where ${mine} and session_id = $session and picture = $picture`,
)

export const partsOf = statement.tenant<Of & { picture: string }, { file_id: string }>(
  'identity.parts_of_picture',
  `select file_id from identity.session_parts where ${mine} and session_id = $session and picture = $picture order by start`,
)

export const dropParts = statement.tenant<Of, { file_id: string }>(
  'identity.drop_session_parts',
  `delete from identity.session_parts where ${mine} and session_id = $session returning file_id`,
)

export const dueSessions = statement.everywhere<{ buckets: readonly number[]; now: Date; most: number }, DueRow>(
  'identity.due_sessions',
  `select bucket, account_id, environment, id, accounts.clock_offset_ms(account_id, environment) as offset_ms
     from identity.sessions
    where bucket = any($buckets::smallint[]) and status in ('created', 'opened', 'capturing')
      and expires_at < $now::timestamptz + accounts.clock_offset_ms(account_id, environment) * interval '1 millisecond'
    limit $most::int`,
)

/** Forgets who old sessions were about; what became of them stays as long as they do. */
export const purgeSessions = statement.everywhere<{ buckets: readonly number[]; before: Date; most: number }, object>(
  'identity.purge_sessions',
  `delete from identity.sessions s using (
     select bucket, account_id, environment, id from identity.sessions
      where bucket = any($buckets::smallint[]) and created_at < $before
        and status not in ('created', 'opened', 'capturing', 'submitted') limit $most::int) old
    where s.bucket = old.bucket and s.account_id = old.account_id and s.environment = old.environment and s.id = old.id`,
)
