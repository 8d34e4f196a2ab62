// SPDX-License-Identifier: Apache-2.0
// A campaign: how it is shown, and how its state changes.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { campaignEvents } from './events.ts'
import type { Campaign, State } from './schema.ts'
import { type CampaignRow, findCampaign, lockCampaign, moveCampaign } from './store.ts'

const noSuchCampaign = () =>
  new AppError('NOT_FOUND', 'there is no such campaign; the ids of campaigns begin with cmp_')

/** Reads a campaign. Throws NOT_FOUND. */
export async function campaignWith(queryable: Queryable, tenant: Tenant, id: string): Promise<CampaignRow> {
  const uuid = uuidOf('campaign', id)
  const row = uuid === null ? null : await maybe(queryable.query(findCampaign, { ...tenant, id: uuid }))
  if (row === null) throw noSuchCampaign()
  return row
}

/** Locks a campaign that is in one of some states. Throws NOT_FOUND, CAMPAIGN_STATE. */
export async function lockedCampaign(
  tx: Tx,
  tenant: Tenant,
  id: string,
  states: readonly State[],
): Promise<CampaignRow> {
  const uuid = uuidOf('campaign', id)
  const row = uuid === null ? null : await maybe(tx.query(lockCampaign, { ...tenant, id: uuid }))
  if (row === null) throw noSuchCampaign()
  if (!states.includes(row.state))
    throw new AppError('CAMPAIGN_STATE', `the campaign is ${row.state}; required state: ${states.join(',  ')}`, {
      extra: { current_state: row.state },
    })
  return row
}

/** Refuses a change of a campaign that is another than the caller has read. Throws CONFLICT. */
export function requireUnchanged({ updated_at }: CampaignRow, since: string | undefined): void {
  if (since !== undefined && Date.parse(since) !== updated_at.getTime())
    throw new AppError('CONFLICT', 'the campaign has changed since it was read; read it again', {
      extra: { updated_at: updated_at.toISOString() },
    })
}

const ended: readonly State[] = ['completed', 'cancelled', 'stopped_budget']

/** Changes of a campaign's state. */
export interface Move {
  readonly state: State
  readonly reason?: string | null
  /** Job that runs it from now on; none unless given. */
  readonly job?: string | null
  readonly startedBy?: string
}

/** Changes the state of a campaign whose row is locked, and tell of it. */
export async function move(
  app: App,
  tx: Tx,
  occasion: Occasion,
  before: CampaignRow,
  { state, reason = null, job = null, startedBy }: Move,
): Promise<CampaignRow> {
  const { tenant, nowMs } = occasion
  const at = new Date(nowMs)
  const isStart = state === 'running' && before.started_at === null
  const row = await one(
    tx.query(moveCampaign, {
      ...{ ...tenant, id: before.id, state, reason, job, at },
      startedBy: startedBy ?? before.started_by,
      startedAt: isStart ? at : before.started_at,
      finishedAt: ended.includes(state) ? at : null,
    }),
  )
  const event = isStart
    ? campaignEvents.started
    : state === 'paused'
      ? campaignEvents.paused
      : ended.includes(state)
        ? campaignEvents.ended
        : null
  const { content: _, variants: __, ...told } = shown(row)
  if (event !== null) await app.outbox.emit(tx, event, occasion, idOf('campaign', row.id), { campaign: told })
  return row
}

export function shown(row: CampaignRow): Static<typeof Campaign> {
  const { name, state, reason, content, variants, schedule, quiet_hours, rate, budget, spent, currency } = row
  const { started_at, finished_at, created_at, updated_at, asked_by, asked_at } = row
  return {
    ...{ id: idOf('campaign', row.id), name, state, reason },
    segment_id: row.segment_id && idOf('segment', row.segment_id),
    channel: row.channels,
    ...{ content, variants, schedule, quiet_hours, rate, budget, spent, currency },
    four_eyes: asked_by === null || asked_at === null ? null : { asked_by, asked_at },
    ...{ started_at, finished_at, created_at, updated_at },
  }
}
