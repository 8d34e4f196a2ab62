// SPDX-License-Identifier: Apache-2.0
// SQL of verifications.
import { statement } from '../../../platform/db.ts'
import type { Window } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

export type Status = 'pending' | 'verified' | 'rejected' | 'expired'
export type Stage = 'queued' | 'processing' | 'awaiting_registry' | 'awaiting_review' | 'done'

export interface VerificationRow {
  readonly id: string
  readonly status: Status
  readonly stage: Stage
  readonly document_type: string
  readonly country: string
  readonly checks: string[]
  readonly reference: string | null
  readonly previous: string | null
  readonly callback_url: string | null
  readonly request_id: string | null
  readonly created_by: string
  readonly metadata: Readonly<Record<string, string | number | boolean>>
  readonly record_key: Buffer | null
  readonly claims_sealed: Buffer | null
  readonly findings_sealed: Buffer | null
  readonly images: unknown
  readonly outcome: unknown
  readonly tries: number
  readonly registry_until: Date | null
  readonly is_held: boolean
  readonly images_until: Date
  readonly record_until: Date
  readonly erased_at: Date | null
  readonly created_at: Date
  readonly completed_at: Date | null
  /** Price in micros, held when accepted. */
  readonly cost: bigint
  readonly currency: string
}

const columns = `id, status, stage, document_type, country, checks, reference, previous, callback_url, request_id, created_by,
          metadata, record_key, claims_sealed, findings_sealed, images, outcome, tries, registry_until, is_held, images_until,
          record_until, erased_at, created_at, completed_at, cost, currency`

export const insertVerification = statement.tenant<
  One & {
    type: string
    country: string
    checks: readonly string[]
    reference: string | null
    previous: string | null
    callback: string | null
    request: string
    by: string
    metadata: string
    key: Buffer
    claims: Buffer
    images: string
    subject: Buffer | null
    device: Buffer | null
    imagesUntil: Date
    recordUntil: Date
    at: Date
    cost: bigint
    currency: string
  },
  object
>(
  'identity.insert_verification',
  `insert into identity.verifications (bucket, account_id, environment, id, status, stage, document_type, country, checks,
     reference, previous, callback_url, request_id, created_by, metadata, record_key, claims_sealed, images, subject_index,
     device_index, images_until, record_until, created_at, cost, currency)
   values ($bucket, $account, $environment, $id, 'pending', 'queued', $type, $country, $checks::text[], $reference,
           $previous, $callback, $request, $by, $metadata::jsonb, $key, $claims, $images::jsonb, $subject, $device,
           $imagesUntil, $recordUntil, $at, $cost, $currency)`,
)

export const findVerification = statement.tenant<One, VerificationRow>(
  'identity.find_verification',
  `select ${columns} from identity.verifications where ${mine} and id = $id`,
)

export const lockVerification = statement.tenant<One, VerificationRow>(
  'identity.lock_verification',
  `select ${columns} from identity.verifications where ${mine} and id = $id for update`,
)

export const listVerifications = statement.tenant<
  Tenant &
    Window & {
      status: string | null
      stage: string | null
      reference: string | null
      from: Date | null
      to: Date | null
    },
  VerificationRow
>(
  'identity.list_verifications',
  `select ${columns} from identity.verifications
    where ${mine} and ($status::text is null or status = $status) and ($stage::text is null or stage = $stage and (erased_at is null or stage = 'done'))
      and ($reference::text is null or reference = $reference)
      and ($from::timestamptz is null or created_at >= $from) and ($to::timestamptz is null or created_at < $to)
      and ($after::uuid is null or case when $descending then id < $after else id > $after end)
    order by case when $descending then id end desc, case when not $descending then id end limit $limit::int + 1`,
)

/** Verifications of the person of another one: by the account's id of them, or with the same document. */
export const listOfPerson = statement.tenant<Tenant & Window & { like: string }, VerificationRow>(
  'identity.list_verifications_of_person',
  `select ${columns} from identity.verifications
    where ${mine} and id <> $like
      and (subject_index = (select v.subject_index from identity.verifications v
                             where v.bucket = $bucket and v.account_id = $account and v.environment = $environment
                               and v.id = $like)
           or number_index = (select v.number_index from identity.verifications v
                               where v.bucket = $bucket and v.account_id = $account and v.environment = $environment
                                 and v.id = $like))
      and ($after::uuid is null or case when $descending then id < $after else id > $after end)
    order by case when $descending then id end desc, case when not $descending then id end limit $limit::int + 1`,
)

/** Decisions of people in a time, by what the machine had said and why they were asked. */
export const countReviews = statement.tenant<
  Tenant & { from: string; to: string },
  { machine: string; check: string | null; approved: bigint; rejected: bigint }
>(
  'identity.count_reviews',
  `select coalesce(outcome -> 'review' ->> 'machine', 'unsure') as machine, outcome -> 'doubt' ->> 'check' as "check",
          count(*) filter (where outcome -> 'review' ->> 'decision' = 'approve') as approved,
          count(*) filter (where outcome -> 'review' ->> 'decision' = 'reject') as rejected
     from identity.verifications
    where ${mine} and outcome -> 'review' ->> 'at' >= $from and outcome -> 'review' ->> 'at' < $to
    group by 1, 2 order by 1, 2 limit 100`,
)

/** Verdicts of the machine in a time, also those that a person turned round. */
export const countVerdicts = statement.tenant<Tenant & { from: Date; to: Date }, { verdicts: bigint }>(
  'identity.count_verdicts',
  `select count(*) as verdicts from identity.verifications
    where ${mine} and created_at >= $from and created_at < $to and stage = 'done' and outcome is not null
      and coalesce(outcome -> 'review' ->> 'machine', 'verdict') <> 'unsure'`,
)

/** Updates a verification, guarded by the stage it was read at. */
export const moveVerification = statement.tenant<
  One & {
    fromStatus: string
    fromStage: string
    status: string
    stage: string
    outcome: string | null
    findings: Buffer | null
    template: Buffer | null
    number: Buffer | null
    expires: string | null
    registryUntil: Date | null
    reviewUntil: Date | null
    completed: Date | null
    isFree: boolean
    images: string
  },
  VerificationRow
>(
  'identity.move_verification',
  `update identity.verifications
      set status = $status, stage = $stage, outcome = coalesce($outcome::jsonb, outcome),
          findings_sealed = coalesce($findings, findings_sealed), template_sealed = coalesce($template, template_sealed),
          number_index = coalesce($number, number_index), expires_on = coalesce($expires::date, expires_on),
          registry_until = coalesce($registryUntil::timestamptz, registry_until), review_until = $reviewUntil,
          completed_at = coalesce(completed_at, $completed::timestamptz),
          images = images || $images::jsonb, cost = case when $isFree::boolean then 0 else cost end
    where ${mine} and id = $id and status = $fromStatus and stage = $fromStage and erased_at is null
   returning ${columns}`,
)

export const claimVerification = statement.tenant<One, VerificationRow>(
  'identity.claim_verification',
  `update identity.verifications set stage = 'processing', tries = tries + 1
    where ${mine} and id = $id and stage in ('queued', 'processing', 'awaiting_registry') and status = 'pending'
      and erased_at is null
   returning ${columns}`,
)

/** Clears the file ids together with the deleted files. */
export const forgetImages = statement.tenant<One & { at: Date }, object>(
  'identity.forget_images',
  `update identity.verifications set images = '{}', images_erased_at = $at where ${mine} and id = $id`,
)

/** Destroys the record's key and everything sealed, indexed or said about the person. */
export const shredVerification = statement.tenant<One & { at: Date }, object>(
  'identity.shred_verification',
  `update identity.verifications
      set record_key = null, claims_sealed = null, findings_sealed = null, template_sealed = null, number_index = null,
          subject_index = null, device_index = null, expires_on = null, reference = null, metadata = '{}', images = '{}',
          images_erased_at = coalesce(images_erased_at, $at), erased_at = $at
    where ${mine} and id = $id`,
)

/** Verifications of other people with the same document or device. */
export const findSame = statement.tenant<
  One & { number: Buffer | null; device: Buffer | null; subject: Buffer | null },
  { id: string; is_number: boolean }
>(
  'identity.find_same',
  `select id, number_index is not distinct from $number and $number::bytea is not null as is_number
     from identity.verifications
    where ${mine} and id <> $id and erased_at is null
      and (number_index = $number::bytea or device_index = $device::bytea)
      and ($subject::bytea is null or subject_index is distinct from $subject::bytea)
    order by id desc limit 20`,
)

/** Page of the account's face templates, newest first. */
export const findTemplates = statement.tenant<
  One & { after: string; subject: Buffer | null; limit: number },
  { id: string; record_key: Buffer; template_sealed: Buffer }
>(
  'identity.find_templates',
  `select id, record_key, template_sealed from identity.verifications
    where ${mine} and id <> $id and id < $after and template_sealed is not null and record_key is not null
      and ($subject::bytea is null or subject_index is distinct from $subject::bytea)
    order by id desc limit $limit::int`,
)

export const ofSubject = statement.tenant<Tenant & { subject: Buffer }, VerificationRow>(
  'identity.verifications_of_subject',
  `select ${columns} from identity.verifications where ${mine} and subject_index = $subject order by id limit 1000`,
)

/** Forgets who the sessions of a person were about. */
export const eraseSessions = statement.tenant<Tenant & { subject: Buffer }, { id: string }>(
  'identity.erase_sessions',
  `update identity.sessions set person_sealed = null, subject_index = null where ${mine} and subject_index = $subject
   returning id`,
)

export interface DueRow {
  readonly bucket: number
  readonly account_id: string
  readonly environment: 'test' | 'live'
  readonly id: string
  /** Clock offset of the account. */
  readonly offset_ms: bigint
}

/** Current time of the account's clock. */
const theirNow = `$now::timestamptz + accounts.clock_offset_ms(account_id, environment) * interval '1 millisecond'`

const due = (condition: string) =>
  `select bucket, account_id, environment, id, accounts.clock_offset_ms(account_id, environment) as offset_ms
     from identity.verifications where bucket = any($buckets::smallint[]) and ${condition} limit $most::int`

type DueParameters = { buckets: readonly number[]; now: Date; most: number }

export const dueExpiries = statement.everywhere<DueParameters, DueRow>(
  'identity.due_expiries',
  due(`status = 'verified' and expires_on < (${theirNow})::date`),
)
export const dueReviews = statement.everywhere<DueParameters, DueRow>(
  'identity.due_reviews',
  due(`stage = 'awaiting_review' and erased_at is null and review_until < ${theirNow}`),
)
export const dueImages = statement.everywhere<DueParameters, DueRow>(
  'identity.due_images',
  due(`images_erased_at is null and images_until < ${theirNow} and not is_held`),
)
export const dueRecords = statement.everywhere<DueParameters, DueRow>(
  'identity.due_records',
  due(`erased_at is null and record_until < ${theirNow} and not is_held`),
)
