// SPDX-License-Identifier: Apache-2.0
// SQL of files.
import { firstBy, gone } from '../db/merging.ts'
import { statement } from '../db.ts'
import { mine, type One, type Tenant } from '../tenant.ts'

export interface FileRow {
  id: string
  kind: string
  state: 'arriving' | 'kept' | 'dropped'
  place: string
  key: Buffer | null
  name: string | null
  type: string
  bytes: bigint
  sha256: Buffer | null
  created_at: Date
  expires_at: Date | null
}

/** Inserted before the first byte is stored, so that no bytes lack a row. */
export const addArriving = statement.tenant<
  One & { kind: string; place: string; key: Buffer; name: string | null; type: string; at: Date; expires: Date | null },
  object
>(
  'platform.add_arriving_file',
  `insert into platform.files
     (bucket, account_id, environment, id, kind, state, place, key, name, type, created_at, expires_at)
   values ($bucket, $account, $environment, $id, $kind, 'arriving', $place, $key, $name, $type, $at, $expires)`,
)

export const keepFile = statement.tenant<One & { type: string; bytes: bigint; sha256: Buffer }, { id: string }>(
  'platform.keep_file',
  `update platform.files set state = 'kept', type = $type, bytes = $bytes, sha256 = $sha256
    where ${mine} and id = $id and state = 'arriving' returning id`,
)

export const findFile = statement.tenant<One, FileRow>(
  'platform.find_file',
  `select id, kind, state, place, key, name, type, bytes, sha256, created_at, expires_at
     from platform.files where ${mine} and id = $id`,
)

/** Drops files with their keys: without one a file is unreadable, whatever becomes of its bytes. */
export const dropFiles = statement.tenant<
  Tenant & { ids: readonly string[] },
  { id: string; kind: string; place: string }
>(
  'platform.drop_files',
  `update platform.files set state = 'dropped', key = null, dropped_at = now()
    where ${mine} and id = any($ids::uuid[]) and state <> 'dropped' returning id, kind, place`,
)

export const noteRemoved = statement.tenant<One, object>(
  'platform.note_removed_file',
  `update platform.files set removed_at = now() where ${mine} and id = $id and state = 'dropped'`,
)

export const dropExpired = statement.everywhere<
  { buckets: readonly number[]; now: Date; most: number },
  { gone: number }
>(
  'platform.drop_expired_files',
  `with old as (
     select bucket, account_id, environment, id from platform.files
      where bucket = any($buckets::smallint[]) and state = 'kept' and expires_at < $now limit $most
   ), gone as (
     update platform.files f set state = 'dropped', key = null, dropped_at = now() from old
      where (f.bucket, f.account_id, f.environment, f.id) = (old.bucket, old.account_id, old.environment, old.id)
     returning 1
   ) select count(*)::int as gone from gone`,
  gone,
)

/** Deletes files that never completed or were not kept. */
export const dropOrphans = statement.everywhere<
  { buckets: readonly number[]; before: string; most: number },
  { gone: number }
>(
  'platform.drop_orphaned_files',
  `with old as (
     select bucket, account_id, environment, id from platform.files
      where bucket = any($buckets::smallint[]) and state = 'arriving' and id < $before::uuid limit $most
   ), gone as (
     update platform.files f set state = 'dropped', key = null, dropped_at = now() from old
      where (f.bucket, f.account_id, f.environment, f.id) = (old.bucket, old.account_id, old.environment, old.id)
     returning 1
   ) select count(*)::int as gone from gone`,
  gone,
)

export const findToRemove = statement.everywhere<
  { buckets: readonly number[]; after: string; most: number },
  { bucket: number; account_id: string; environment: 'test' | 'live'; id: string; kind: string; place: string }
>(
  'platform.find_files_to_remove',
  `select bucket, account_id, environment, id, kind, place from platform.files
    where bucket = any($buckets::smallint[]) and state = 'dropped' and removed_at is null and id > $after::uuid
    order by id limit $most`,
  {
    merge: firstBy(
      ({ id }) => id,
      ({ most }) => most,
    ),
  },
)

export const forgetRemoved = statement.everywhere<
  { buckets: readonly number[]; before: Date; most: number },
  { gone: number }
>(
  'platform.forget_removed_files',
  `with gone as (
     delete from platform.files
      where bucket = any($buckets::smallint[])
        and ctid = any(array(select f.ctid from platform.files f
                              where f.bucket = any($buckets::smallint[]) and f.state = 'dropped' and f.removed_at < $before
                              limit $most))
     returning 1
   ) select count(*)::int as gone from gone`,
  gone,
)
