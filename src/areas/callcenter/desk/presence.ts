// SPDX-License-Identifier: Apache-2.0
// Connection of a browser desk: agents can be rung while it is connected, and have half a minute to reconnect.
// Meanwhile the customer of a live call hears music.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { type SessionKind, sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { liveCalls } from '../../voice/area.ts'
import { agentNamed, become, keepPresence } from '../agents/presence.ts'
import { type AgentRow, agentOfDesk } from '../agents/store.ts'
import { otherSpeaker } from '../caller/next-contact.ts'
import { contactNamed } from '../contact/lifecycle.ts'
import { transferOfCall } from '../contact/transfer-store.ts'
import { atSwitchboard } from '../switchboard.ts'
import { tickLater } from '../tick.ts'

const lostMs = 30_000
const reason = 'desk_lost'

/** The desk connects for its agent and replaces an earlier one. */
export async function deskConnected(app: App, tenant: Tenant, agent: string, desk: string): Promise<void> {
  const { before, held } = await atSwitchboard(app, tenant, async (tx, occasion) => {
    const row = await agentNamed(tx, occasion, agent)
    if (!row || row.session_id === null) throw new AppError('AGENT_NOT_LOGGED_IN', `${agent} is not logged in`)
    const here = await keepPresence(app, tx, occasion, row, { desk_id: desk, desk_lost_at: null })
    if (here.status === 'away' && here.reason === reason) await become(app, tx, occasion, here, 'available')
    await tickLater(app, tx, tenant, 0)
    return { before: row.desk_id, held: await customerOf(tx, occasion, row) }
  })
  if (before !== null) void sessionsOf(app).command({ ...tenant, id: before }, { do: 'replaced' })
  if (held !== null) await liveCalls(app).hold(tenant, held, null)
}

/** The desk disconnected, with its browser or its node. */
export async function deskDisconnected(app: App, tenant: Tenant, agent: string, desk: string): Promise<void> {
  const lost = await atSwitchboard(app, tenant, async (tx, occasion) => {
    const row = await agentNamed(tx, occasion, agent)
    if (row?.desk_id !== desk) return null
    const now = await keepPresence(app, tx, occasion, row, { desk_id: null, desk_lost_at: new Date(occasion.nowMs) })
    await tickLater(app, tx, tenant, lostMs)
    return { leg: now.status === 'ringing' ? now.leg_id : null, customer: await customerOf(tx, occasion, now) }
  })
  const live = liveCalls(app)
  if (lost?.leg) await live.hangUp(tenant, lost.leg)
  if (lost?.customer) await live.hold(tenant, lost.customer, { music: 'default' })
}

/** Call of the agent's customer, unless it is on hold anyway, or another agent speaks with them. */
async function customerOf(
  tx: Parameters<typeof contactNamed>[0],
  occasion: Parameters<typeof contactNamed>[1],
  { status, contact_id }: AgentRow,
): Promise<string | null> {
  const contact = status === 'on_call' && contact_id !== null ? await contactNamed(tx, occasion, contact_id) : null
  if (contact?.state !== 'connected' || contact.held_since !== null) return null
  const { call_id: call } = contact
  const transfer = await maybe(tx.query(transferOfCall, { ...occasion.tenant, call }))
  return transfer === null && (await otherSpeaker(tx, occasion, contact)) === null ? call : null
}

/** Recovery of a dead node's desks: they count as lost. */
export const deskSessions: SessionKind = {
  name: 'desk',
  async orphaned(app, { id, ...tenant }) {
    const row = await maybe(app.db.query(agentOfDesk, { ...tenant, desk: id }))
    if (row) await deskDisconnected(app, tenant, row.agent_id, id)
  },
}
