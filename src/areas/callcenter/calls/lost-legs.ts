// SPDX-License-Identifier: Apache-2.0
// Legs without a contact whose node died: participants of a conference, targets of a transfer, supervisors. The dead node reports
// no change of theirs, so their end is learnt from the event of the call.
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { isOnCall } from '../agents/agent.ts'
import { becomeFree } from '../agents/presence.ts'
import { agentOfLeg } from '../agents/store.ts'
import { gone } from '../conferences/conference.ts'
import { participantOfCall } from '../conferences/store.ts'
import { atSwitchboard } from '../switchboard.ts'

/** Removes the leg from its conference and free its agent. */
export async function legLost(app: App, tenant: Tenant, call: string): Promise<void> {
  const place = await maybe(app.db.query(participantOfCall, { ...tenant, call }))
  if (place) await gone(app, tenant, place.conference_id, place.id)
  await atSwitchboard(app, tenant, async (tx, occasion) => {
    const agent = await maybe(tx.query(agentOfLeg, { ...tenant, leg: call }))
    if (agent && agent.contact_id === null && isOnCall(agent.status)) await becomeFree(app, tx, occasion, agent)
  })
}
