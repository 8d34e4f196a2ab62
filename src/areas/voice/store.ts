// SPDX-License-Identifier: Apache-2.0
// SQL of calls. A live call belongs to the node in its row: only that node writes it.
import { stored } from '../../platform/db/stored.ts'
import { type Queryable, statement, type Tx } from '../../platform/db.ts'
import { mine, type One, type Tenant } from '../../platform/tenant.ts'
import type { DialogState } from '../../protocols/sip/dialog.ts'

export type CallStatus =
  | 'initiated'
  | 'started'
  | 'ringing'
  | 'answered'
  | 'completed'
  | 'failed'
  | 'rejected'
  | 'busy'
  | 'timeout'

export interface CallRow {
  bucket: number
  account_id: string
  environment: Tenant['environment']
  id: string
  conversation: string
  parent: string | null
  direction: 'inbound' | 'outbound'
  from_number: string
  to_number: string
  status: CallStatus
  phase: string | null
  agent_id: string | null
  queue_id: string | null
  ivr_id: string | null
  conference_id: string | null
  /** Disposition noted by the agent during the call. */
  disposition: string | null
  held_seconds: number
  plan: CallPlan
  custom_data: string
  event_url: string | null
  record: boolean
  recordings: string[]
  started_at: Date
  ringing_at: Date | null
  answered_at: Date | null
  ended_at: Date | null
  duration: number
  hangup_cause: string | null
  hangup_by: string | null
  sip_code: number | null
  minute_micros: bigint
  cost: bigint
  currency: string
  quality: CallQuality | null
  node: string | null
  position: number
  sequence: number
  told: number
}

export interface CallQuality {
  mos: number
  jitter_ms: number
  packet_loss_pct: number
  rtt_ms: number
}

/** Target of a number other than an application; its area interprets it. */
export interface Target {
  readonly type: string
  readonly [field: string]: unknown
}

/** Request of a call: its flow and how to place it. */
export interface CallPlan {
  answer_url?: string
  answer_method?: 'POST' | 'GET'
  event_method?: 'POST' | 'GET'
  fallback_url?: string
  actions?: readonly unknown[]
  /** Target in another area that supplies the flow. */
  target?: Target
  ring_timeout?: number
  /** Text for the called party, such as that the call is recorded; the area that rings it into a room plays it. */
  caller_prompt?: { readonly text: string; readonly language: string }
  machine_detection?: 'none' | 'hangup' | 'continue' | 'leave_message'
  /** What the network says of the caller's number (STIR/SHAKEN). */
  verification?: CallerVerification
}

/** Signed claim of the caller's network and the verdict of the last network, as they came. */
export interface CallerVerification {
  verstat: string | null
  identity: string | null
}

const columns = `bucket, account_id, environment, id, conversation, parent, direction, from_number, to_number, status, phase,
  agent_id, queue_id, ivr_id, conference_id, disposition, held_seconds, plan,
  custom_data, event_url, record, recordings, started_at, ringing_at, answered_at, ended_at, duration, hangup_cause, hangup_by,
  sip_code, minute_micros, cost, currency, quality, node, position, sequence, told`

/** Columns that a call comes with. */
const begun =
  stored(`conversation, parent, direction, from_number, to_number, plan::jsonb, custom_data, event_url, record, started_at,
  minute_micros, currency, node`)

/** Columns that change while a call lives. */
const lived =
  stored(`status, phase, agent_id, queue_id, ivr_id, conference_id, disposition, held_seconds, recordings::uuid[],
  ringing_at, answered_at, ended_at, duration, hangup_cause, hangup_by, sip_code, cost, quality::jsonb, position, sequence`)

type Begun = Pick<
  CallRow,
  | 'conversation'
  | 'parent'
  | 'direction'
  | 'from_number'
  | 'to_number'
  | 'custom_data'
  | 'event_url'
  | 'record'
  | 'started_at'
  | 'minute_micros'
  | 'currency'
  | 'node'
> & { plan: string }

export const insertCall = statement.tenant<One & Begun, CallRow>(
  'voice.insert_call',
  `insert into voice.calls (bucket, account_id, environment, id, ${begun.names})
   values ($bucket, $account, $environment, $id, ${begun.values})
   returning ${columns}`,
)

export const findCall = statement.tenant<One, CallRow>(
  'voice.find_call',
  `select ${columns} from voice.calls where ${mine} and id = $id`,
)

/** Calls of a sandbox phone, in either direction. */
export const callsOfPhone = statement.tenant<
  Tenant & { phone: string; after: string | null; descending: boolean; limit: number },
  CallRow
>(
  'voice.calls_of_phone',
  `select ${columns} from voice.calls
    where ${mine} and ((direction = 'outbound' and to_number = $phone) or (direction = 'inbound' and from_number = $phone))
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** Calls of an account, by the index of its rows; those of a number by calls_of_caller and calls_of_called. */
export const listCalls = statement.tenant<
  Tenant & {
    from: string
    to: string
    number: string | null
    status: string | null
    direction: string | null
    after: string | null
    descending: boolean
    limit: number
  },
  CallRow
>(
  'voice.list_calls',
  `select ${columns} from voice.calls
    where ${mine}
      and ($number::text is null or from_number = $number or to_number = $number)
      and ($status::text is null or status = $status) and ($direction::text is null or direction = $direction)
      and id >= $from::uuid and id < $to::uuid
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** Takes a queued call for this node, once; a call that this node took without learning of it is taken again. */
export const takeCall = statement.tenant<One & { node: string; isAgain: boolean }, CallRow>(
  'voice.take_call',
  `update voice.calls set node = $node
    where ${mine} and id = $id and (node is null or ($isAgain and node = $node)) and status = 'initiated'
   returning ${columns}`,
)

/** Takes a queued call that is rung into a room. */
export const takeCallInto = statement.tenant<
  One & { node: string; parent: string | null; conversation: string },
  CallRow
>(
  'voice.take_call_into',
  `update voice.calls set node = $node, parent = $parent, conversation = $conversation
    where ${mine} and id = $id and node is null and ended_at is null returning ${columns}`,
)

export const saveCall = statement.tenant<
  One & Omit<CallRow, keyof Begun | 'account_id' | 'quality' | 'told'> & { quality: string | null },
  { id: string }
>('voice.save_call', `update voice.calls set ${lived.set} where ${mine} and id = $id and ended_at is null returning id`)

export const insertEvent = statement.tenant<
  One & { position: number; sequence: number | null; kind: string; at: Date; data: string },
  object
>(
  'voice.insert_event',
  `insert into voice.call_events (bucket, account_id, environment, call_id, position, sequence, kind, at, data)
   values ($bucket, $account, $environment, $id, $position, $sequence, $kind, $at, $data::json)`,
)

export interface EventRow {
  position: number
  sequence: number | null
  kind: string
  at: Date
  data: Record<string, unknown>
}

export const listEvents = statement.tenant<One & { after: number; limit: number }, EventRow>(
  'voice.list_events',
  `select position, sequence, kind, at, data from voice.call_events
    where ${mine} and call_id = $id and position > $after order by position limit $limit`,
)

export const untold = statement.tenant<One & { told: number }, { sequence: number; at: Date; body: string }>(
  'voice.untold_events',
  `select sequence, at, data::text as body from voice.call_events
    where ${mine} and call_id = $id and sequence > $told order by sequence limit 20`,
)

export const tellCall = statement.tenant<One & { told: number }, object>(
  'voice.tell_call',
  `update voice.calls set told = $told where ${mine} and id = $id and told < $told`,
)

export const keepDialog = statement.tenant<One & { dialog: string }, object>(
  'voice.keep_dialog',
  `update voice.calls set dialog = $dialog::json where ${mine} and id = $id`,
)

/** SIP dialog of a call, by which a node that never had it can end it. */
export const findDialog = statement.tenant<One, { dialog: DialogState | null }>(
  'voice.find_dialog',
  `select dialog from voice.calls where ${mine} and id = $id`,
)

const underWay = statement.tenant<Tenant, { count: number }>(
  'voice.count_under_way',
  `select count(*)::int as count from voice.calls
    where ${mine} and status in ('initiated', 'started', 'ringing', 'answered')`,
)

export async function callsUnderWay(queryable: Queryable, tenant: Tenant): Promise<number> {
  const [row] = await queryable.query(underWay, tenant)
  return row?.count ?? 0
}

// --- money ---

const step = 'call'

const hold = statement.tenant<One & { currency: string; amount: bigint }, { verdict: string }>(
  'voice.hold',
  `select ledger.hold($bucket::smallint, $account::uuid, $environment::text, $id::uuid, '${step}', $currency::text,
                      $amount::bigint) as verdict`,
)

const extend = statement.tenant<One & { amount: bigint }, { verdict: string | null }>(
  'voice.extend_hold',
  `select (ledger.extend_holds(array[row($bucket::smallint, $account::uuid, $environment::text, $id::uuid, '${step}',
             $amount::bigint)::ledger.extension_item]))[1] as verdict`,
)

const capture = statement.tenant<One & { amount: bigint; transfer: string }, { verdict: string }>(
  'voice.capture',
  `select ledger.capture($bucket::smallint, $account::uuid, $environment::text, $id::uuid, '${step}', 'talk', $amount::bigint,
                         'revenue:voice', $transfer::uuid) as verdict`,
)

const release = statement.tenant<One, { verdict: string }>(
  'voice.release',
  `select ledger.release($bucket::smallint, $account::uuid, $environment::text, $id::uuid, '${step}') as verdict`,
)

/** Holds the money of the first minute; false when the wallet does not cover it. */
export async function holdFor(tx: Tx, call: One, currency: string, amount: bigint): Promise<boolean> {
  if (amount === 0n) return true
  const [row] = await tx.query(hold, { ...call, currency, amount })
  return row?.verdict !== 'insufficient'
}

export async function extendHold(queryable: Queryable, call: One, amount: bigint): Promise<boolean> {
  const [row] = await queryable.query(extend, { ...call, amount })
  return row?.verdict === 'extended'
}

const held = statement.tenant<One, { micros: bigint | null }>(
  'voice.held_for',
  `select h.amount - h.captured - h.released as micros
     from ledger.lock_hold($bucket::smallint, $account::uuid, $environment::text, $id::uuid, '${step}') h`,
)

/** Amount held for a call. */
export async function heldFor(queryable: Queryable, call: One): Promise<bigint> {
  const [row] = await queryable.query(held, call)
  return row?.micros ?? 0n
}

/** Charges the cost of a call and releases the rest of the hold. */
export async function settleHold(tx: Tx, call: One, amount: bigint, transfer: string): Promise<void> {
  if (amount > 0n) await tx.query(capture, { ...call, amount, transfer })
  await tx.query(release, call)
}
