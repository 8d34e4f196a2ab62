// SPDX-License-Identifier: Apache-2.0
// Commands to calls after a commit: ring agents, route callers, play announcements. Each may fail alone: the end of a
// lost call arrives as an event.
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Flow, liveCalls } from '../../voice/area.ts'
import { becomeFree, keepPresence, offerFailed } from '../agents/presence.ts'
import { type AgentRow, findAgent } from '../agents/store.ts'
import { followerName, sendOn } from '../caller/destination.ts'
import { type After, endCall, notOffered } from '../caller/next-contact.ts'
import { tagOf } from '../contact/leg-tags.ts'
import { contactNamed, over } from '../contact/lifecycle.ts'
import { targetOf } from '../contact/ring-target.ts'
import type { ContactRow } from '../contacts.ts'
import { compileDestination } from '../ivr/compile.ts'
import { announcementOf, sentencesIn } from '../queue-sentences.ts'
import type { QueueRow } from '../queues/store.ts'
import type { DestinationOf } from '../schema.ts'
import { atSwitchboard } from '../switchboard.ts'

export type Act =
  | { do: 'offer'; tenant: Tenant; contact: ContactRow; agent: AgentRow; seconds: number }
  | { do: 'flow'; tenant: Tenant; call: string; flow: Flow }
  | { do: 'go'; tenant: Tenant; contact: ContactRow; destination: DestinationOf }
  | { do: 'play'; tenant: Tenant; call: string; text: string; language: string }
  | { do: 'hangup'; tenant: Tenant; call: string }
  | { do: 'after'; after: After }

export function offer(tenant: Tenant, contact: ContactRow, agent: AgentRow, seconds: number): Act {
  return { do: 'offer', tenant, contact, agent, seconds }
}

/** Routes a caller who leaves a queue; without a destination, play a message. */
export function leaveQueue(tenant: Tenant, contact: ContactRow, action: DestinationOf | null, language: string): Act {
  const own = sentencesIn(language)
  const destination = action ?? { type: 'message' as const, text: own.words('sorry') }
  const actions = compileDestination(destination, action ? language : own.language, {
    variables: contact.data,
    path: contact.ivr_path,
  })
  if (actions === null) return { do: 'go', tenant, contact, destination }
  const isOwn = destination.type !== 'application'
  return { do: 'flow', tenant, call: contact.call_id, flow: { actions, isOwn } }
}

export function playAnnouncement(
  tenant: Tenant,
  contact: ContactRow,
  { document }: QueueRow,
  position: number,
  estimatedWait: number | null,
): Act {
  const { announcements, language } = document
  const said = announcementOf(announcements ?? {}, announcements?.language ?? language, position, estimatedWait)
  return { do: 'play', tenant, call: contact.call_id, ...said }
}

export async function doAll(app: App, acts: readonly Act[]): Promise<void> {
  await Promise.all(
    acts.map((act) =>
      carryOut(app, act).catch((error) =>
        app.log.warn(
          { error, act: act.do },
          'command not passed to a call: its session ended or its node is down; nothing to do if the call is over',
        ),
      ),
    ),
  )
}

async function carryOut(app: App, act: Act): Promise<void> {
  const live = liveCalls(app)
  switch (act.do) {
    case 'offer':
      return ringAgent(app, act.tenant, act.contact, act.agent, act.seconds)
    case 'flow':
      await live.stopPlay(act.tenant, act.call)
      await live.resume(act.tenant, act.call, followerName, act.flow)
      return
    case 'go':
      await live.stopPlay(act.tenant, act.contact.call_id)
      return sendOn(app, act.tenant, act.contact, act.destination)
    case 'play':
      await live.play(act.tenant, act.call, { text: act.text, language: act.language })
      return
    case 'hangup':
      await live.hangUp(act.tenant, act.call)
      return
    case 'after':
      await act.after()
  }
}

/** Rings an agent for a contact. The room of an outbound call is opened first, once. */
async function ringAgent(
  app: App,
  tenant: Tenant,
  contact: ContactRow,
  agent: AgentRow,
  seconds: number,
): Promise<void> {
  const live = liveCalls(app)
  const to = targetOf(agent)
  const isOurs = contact.room_id !== contact.call_id
  // A customer who was reached and then handed on waits in the room, which may be recorded.
  const isOpen = !isOurs || (await live.find(tenant, contact.call_id))?.status === 'answered'
  const hasRoom = to !== null && (isOpen || (await live.openRoom(tenant, contact.room_id)))
  const from = contact.direction === 'inbound' ? contact.to_number : contact.from_number
  const tag = tagOf('offer', contact.id, agent.agent_id)
  const rung =
    to !== null && hasRoom
      ? await live.ring(tenant, contact.room_id, { to, from, timeoutSeconds: seconds, tag, agentId: agent.agent_id })
      : { refused: 'network_error' as const }
  if ('refused' in rung) return notRung(app, tenant, contact, agent, rung.refused)
  await atSwitchboard(app, tenant, async (tx, occasion) => {
    const now = await maybe(tx.query(findAgent, { ...tenant, agent: agent.agent_id }))
    if (now?.contact_id === contact.id && now.leg_id === null)
      await keepPresence(app, tx, occasion, now, { leg_id: rung.call })
  })
}

/** Agent not rung: the agent stays available and the call is offered again, unless the caller is gone. */
async function notRung(app: App, tenant: Tenant, contact: ContactRow, agent: AgentRow, reason: string): Promise<void> {
  const after = await atSwitchboard(app, tenant, async (tx, occasion): Promise<After[]> => {
    const now = await maybe(tx.query(findAgent, { ...tenant, agent: agent.agent_id }))
    if (now?.contact_id !== contact.id || now.status !== 'ringing') return []
    if (reason === 'gone') await becomeFree(app, tx, occasion, now)
    else await offerFailed(app, tx, occasion, now, reason)
    const then = await contactNamed(tx, occasion, contact.id)
    if (then?.state !== 'offered') return []
    if (reason !== 'gone') return notOffered(app, tx, occasion, then)
    await over(app, tx, occasion, then, 'abandoned')
    return endCall(app, tenant, then, 'system')
  })
  for (const act of after) await act()
}
