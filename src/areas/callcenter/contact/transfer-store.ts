// SPDX-License-Identifier: Apache-2.0
// SQL of transfers. Changes need the switchboard lock.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

export interface TransferRow {
  id: string
  call_id: string
  kind: 'warm' | 'cold'
  destination: string
  status: 'ringing' | 'consulting' | 'completed' | 'failed' | 'cancelled'
  from_agent: string | null
  to_agent: string | null
  leg_id: string | null
  message: string | null
  started_at: Date
  ended_at: Date | null
}

const columns = 'id, call_id, kind, destination, status, from_agent, to_agent, leg_id, message, started_at, ended_at'

export const insertTransfer = statement.tenant<
  One & {
    call: string
    kind: string
    destination: string
    status: string
    fromAgent: string | null
    toAgent: string | null
    message: string | null
    at: Date
  },
  TransferRow
>(
  'callcenter.insert_transfer',
  `insert into callcenter.transfers (bucket, account_id, environment, id, call_id, kind, destination, status, from_agent, to_agent,
                                     message, started_at)
   values ($bucket, $account, $environment, $id, $call, $kind, $destination, $status, $fromAgent, $toAgent, $message, $at)
   returning ${columns}`,
)

export const findTransfer = statement.tenant<One, TransferRow>(
  'callcenter.find_transfer',
  `select ${columns} from callcenter.transfers where ${mine} and id = $id`,
)

export const openTransfers = statement.tenant<Tenant, TransferRow>(
  'callcenter.open_transfers',
  `select ${columns} from callcenter.transfers where ${mine} and status in ('ringing', 'consulting') order by id limit 10000`,
)

/** Opens transfer of a call. */
export const transferOfCall = statement.tenant<Tenant & { call: string }, TransferRow>(
  'callcenter.transfer_of_call',
  `select ${columns} from callcenter.transfers
    where ${mine} and call_id = $call and status in ('ringing', 'consulting') order by id desc limit 1`,
)

export const saveTransfer = statement.tenant<
  One & { status: string; leg: string | null; endedAt: Date | null },
  TransferRow
>(
  'callcenter.save_transfer',
  `update callcenter.transfers set status = $status, leg_id = $leg, ended_at = $endedAt where ${mine} and id = $id
   returning ${columns}`,
)

/** Notes the leg of a transfer's target, which may have answered or ended already. */
export const noteTargetLeg = statement.tenant<One & { leg: string }, object>(
  'callcenter.note_target_leg',
  `update callcenter.transfers set leg_id = $leg where ${mine} and id = $id and leg_id is null`,
)
