// SPDX-License-Identifier: Apache-2.0
// SQL of monitors.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

export type MonitorMode = 'listen' | 'whisper' | 'barge'

export interface MonitorRow {
  id: string
  call_id: string
  supervisor_id: string | null
  endpoint: { type: 'phone' | 'sip'; number?: string; uri?: string } | null
  mode: MonitorMode
  status: 'connecting' | 'active' | 'ended'
  leg_id: string | null
  started_at: Date
  ended_at: Date | null
}

const columns = 'id, call_id, supervisor_id, endpoint, mode, status, leg_id, started_at, ended_at'

export const insertMonitor = statement.tenant<
  One & { call: string; supervisor: string | null; endpoint: string | null; mode: string; at: Date },
  MonitorRow
>(
  'callcenter.insert_monitor',
  `insert into callcenter.monitors (bucket, account_id, environment, id, call_id, supervisor_id, endpoint, mode, status, started_at)
   values ($bucket, $account, $environment, $id, $call, $supervisor, $endpoint::jsonb, $mode, 'connecting', $at)
   returning ${columns}`,
)

export const findMonitor = statement.tenant<One, MonitorRow>(
  'callcenter.find_monitor',
  `select ${columns} from callcenter.monitors where ${mine} and id = $id`,
)

export const monitorsOfCall = statement.tenant<Tenant & { call: string }, MonitorRow>(
  'callcenter.monitors_of_call',
  `select ${columns} from callcenter.monitors where ${mine} and call_id = $call and status <> 'ended' order by id`,
)

export const saveMonitor = statement.tenant<
  One & { mode: string; status: string; leg: string | null; endedAt: Date | null },
  MonitorRow
>(
  'callcenter.save_monitor',
  `update callcenter.monitors set mode = $mode, status = $status, leg_id = $leg, ended_at = $endedAt where ${mine} and id = $id
   returning ${columns}`,
)
