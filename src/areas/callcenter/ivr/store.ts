// SPDX-License-Identifier: Apache-2.0
// SQL of IVRs, of their saved versions and of the calls in them.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { IvrDocument } from './ivr.ts'
import type { WalkState } from './walk.ts'

export interface IvrRow {
  id: string
  version: number
  document: IvrDocument
  created_at: Date
  updated_at: Date
}

const columns = 'id, version, document, created_at, updated_at'

export const insertIvr = statement.tenant<One & { document: string; at: Date }, IvrRow>(
  'callcenter.insert_ivr',
  `insert into callcenter.ivrs (bucket, account_id, environment, id, version, document, created_at, updated_at)
   values ($bucket, $account, $environment, $id, 1, $document::jsonb, $at, $at)
   returning ${columns}`,
)

export const findIvr = statement.tenant<One, IvrRow>(
  'callcenter.find_ivr',
  `select ${columns} from callcenter.ivrs where ${mine} and id = $id`,
)

export const lockIvr = statement.tenant<One, IvrRow>(
  'callcenter.lock_ivr',
  `select ${columns} from callcenter.ivrs where ${mine} and id = $id for update`,
)

export const listIvrs = statement.tenant<Tenant, IvrRow>(
  'callcenter.list_ivrs',
  `select ${columns} from callcenter.ivrs where ${mine} order by id desc limit 1000`,
)

export const saveIvr = statement.tenant<One & { document: string; at: Date }, IvrRow>(
  'callcenter.save_ivr',
  `update callcenter.ivrs set version = version + 1, document = $document::jsonb, updated_at = $at where ${mine} and id = $id
   returning ${columns}`,
)

/** Versions kept of an IVR: the newest ones. */
export const maxVersions = 50

/** Version without its menus. */
export interface VersionSummary {
  version: number
  status: IvrDocument['status']
  restored_from: number | null
  saved_by: string | null
  saved_at: Date
}

export interface VersionRow extends VersionSummary {
  document: IvrDocument
}

type VersionKey = Tenant & { ivr: string; version: number }

const versionColumns = `version, document ->> 'status' as status, restored_from, saved_by, saved_at`

/** Keeps the IVR as it was just saved, and forgets the versions beyond the newest. */
export const keepVersion = statement.tenant<
  VersionKey & { document: string; restoredFrom: number | null; by: string; at: Date; forgotten: number },
  object
>(
  'callcenter.keep_ivr_version',
  `with forgotten as (
     delete from callcenter.ivr_versions where ${mine} and ivr_id = $ivr and version <= $forgotten
   )
   insert into callcenter.ivr_versions
     (bucket, account_id, environment, ivr_id, version, document, restored_from, saved_by, saved_at)
   values ($bucket, $account, $environment, $ivr, $version, $document::jsonb, $restoredFrom, $by, $at)`,
)

export const listVersions = statement.tenant<Tenant & { ivr: string }, VersionSummary & { menu_count: number }>(
  'callcenter.list_ivr_versions',
  `select ${versionColumns}, (select count(*)::int from jsonb_object_keys(document -> 'menus')) as menu_count
     from callcenter.ivr_versions where ${mine} and ivr_id = $ivr order by version desc limit ${maxVersions}`,
)

export const findVersion = statement.tenant<VersionKey, VersionRow>(
  'callcenter.find_ivr_version',
  `select ${versionColumns}, document from callcenter.ivr_versions where ${mine} and ivr_id = $ivr and version = $version`,
)

interface RunRow {
  ivr_id: string
  document: IvrDocument
  state: WalkState
}

/** Stores the position of a call in its IVR, with the version it started with. */
export const keepRun = statement.tenant<
  Tenant & { call: string; ivr: string; document: string; state: string; at: Date },
  object
>(
  'callcenter.keep_run',
  `insert into callcenter.ivr_runs (bucket, account_id, environment, call_id, ivr_id, document, state, updated_at)
   values ($bucket, $account, $environment, $call, $ivr, $document::jsonb, $state::jsonb, $at)
   on conflict (bucket, account_id, environment, call_id) do update
      set ivr_id = excluded.ivr_id, document = excluded.document, state = excluded.state, updated_at = excluded.updated_at`,
)

export const findRun = statement.tenant<Tenant & { call: string }, RunRow>(
  'callcenter.find_run',
  `select ivr_id, document, state from callcenter.ivr_runs where ${mine} and call_id = $call`,
)

export const forgetRuns = statement.everywhere<{ buckets: readonly number[]; before: Date }, object>(
  'callcenter.forget_runs',
  `delete from callcenter.ivr_runs where bucket = any($buckets::smallint[]) and updated_at < $before`,
)
