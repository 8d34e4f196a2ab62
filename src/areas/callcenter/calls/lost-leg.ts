// SPDX-License-Identifier: Apache-2.0
// A leg whose node died belongs to no call of the call centre's own: somebody in a conference, whom a transfer rang, a supervisor.
// Nobody tells what became of it there, so that its end is heard of by its event.
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { isOnCall } from '../agents/agent.ts'
import { becomeFree } from '../agents/presence.ts'
import { agentOfLeg } from '../agents/store.ts'
import { atSwitchboard } from '../switchboard.ts'
import { gone } from './conference.ts'
import { participantOfCall } from './conferences.ts'

/** Takes the leg out of its conference, and frees its agent. */
export async function legLost(app: App, tenant: Tenant, call: string): Promise<void> {
  const place = await maybe(app.db.query(participantOfCall, { ...tenant, call }))
  if (place) await gone(app, tenant, place.conference_id, place.id)
  await atSwitchboard(app, tenant, async (tx, occasion) => {
    const agent = await maybe(tx.query(agentOfLeg, { ...tenant, leg: call }))
    if (agent && agent.contact_id === null && isOnCall(agent.status)) await becomeFree(app, tx, occasion, agent)
  })
}
