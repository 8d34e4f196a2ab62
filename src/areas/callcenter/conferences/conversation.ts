// SPDX-License-Identifier: Apache-2.0
// Action `conversation`: calls whose flows name the same conversation share a room, a conference without ringing. A
// call's flow continues when it leaves or the conversation ends.
import { newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type CallFacts, type CallFollower, type LegChange, liveCalls, type Refusal } from '../../voice/area.ts'
import { followerName } from '../caller/destination.ts'
import { atSwitchboard } from '../switchboard.ts'
import { all, endConference, gone, joined } from './conference.ts'
import {
  type ConferenceRow,
  findConference,
  insertConference,
  insertParticipant,
  listParticipants,
  openConversation,
  type ParticipantRow,
} from './store.ts'

type Handed = Parameters<NonNullable<CallFollower['took']>>[2]
type Wish = Extract<Handed, { action: 'conversation' }>

const most = 50
/** Retries while another node opens the room. */
const tries = 10
const betweenMs = 200

export async function joinConversation(app: App, call: CallFacts, wish: Wish): Promise<true | Refusal> {
  const { tenant } = call
  for (const isLast of [false, true]) {
    const place = await takePlace(app, call, wish)
    if (place === null) return { code: 'CONFERENCE_FULL', message: `${wish.name} takes ${most} people at most` }
    const { conference, participant, isNew } = place
    if ((!isNew || (await liveCalls(app).openRoom(tenant, conference.id))) && (await isInRoom(app, call, conference))) {
      const music = (Array.isArray(wish.musicOnHoldUrl) ? wish.musicOnHoldUrl[0] : wish.musicOnHoldUrl) ?? 'default'
      await joined(app, call, conference.id, participant.id, { mayBegin: wish.startOnEnter, music })
      return true
    }
    // The room's node died or lacks capacity: start another conversation, once.
    await forget(app, tenant, conference, participant)
    if (isLast || isNew) break
  }
  return { code: 'PROVIDER_UNAVAILABLE', message: `there is no room for ${wish.name} now` }
}

/** Adds a participant to the conversation of this name; the first starts it. */
function takePlace(app: App, { tenant, direction, from, to }: CallFacts, wish: Wish) {
  return atSwitchboard(app, tenant, async (tx, { receivedMs, nowMs }) => {
    const open = await maybe(tx.query(openConversation, { ...tenant, name: wish.name }))
    const options = {
      from: direction === 'inbound' ? to : from,
      moderator: null,
      start_on_moderator: false,
      mute_on_entry: false,
      max_participants: most,
      is_conversation: true,
    }
    const named = { ...tenant, id: newUuid(receivedMs), name: wish.name, record: wish.record }
    const conference =
      open ??
      (await one(tx.query(insertConference, { ...named, options: JSON.stringify(options), at: new Date(nowMs) })))
    const present = await tx.query(listParticipants, { ...tenant, conference: conference.id })
    if (present.filter(({ status }) => status !== 'left' && status !== 'failed').length >= most) return null
    const participant = await one(
      tx.query(insertParticipant, {
        ...tenant,
        conference: conference.id,
        id: newUuid(receivedMs),
        endpoint: direction === 'inbound' ? from : to,
        agent: null,
        // A moderator ends the conversation for all on leaving.
        role: wish.endOnExit ? 'moderator' : 'participant',
        muted: wish.mute,
      }),
    )
    return { conference, participant, isNew: open === null }
  })
}

async function isInRoom(app: App, { tenant, call }: CallFacts, { id }: ConferenceRow): Promise<boolean> {
  for (let i = 0; i < tries; i++) {
    if (await liveCalls(app).join(tenant, call, id)) return true
    await new Promise((resume) => setTimeout(resume, betweenMs))
  }
  return false
}

/** A call left a conversation, or the room closed: its own flow continues. */
export async function leftConversation(app: App, { tenant, call, room }: LegChange): Promise<void> {
  const conference = await maybe(app.db.query(findConference, { ...tenant, id: room }))
  if (!conference?.options.is_conversation) return
  const rows = await app.db.query(listParticipants, { ...tenant, conference: room })
  const row = rows.find((each) => each.call_id === call && (each.status === 'joined' || each.status === 'held'))
  if (!row) return
  await gone(app, tenant, room, row.id)
  if (row.role === 'moderator') await endNow(app, tenant, room)
  const live = liveCalls(app)
  await live.hold(tenant, call, null)
  if (row.muted) await live.mute(tenant, call, false)
  await live.mark(tenant, call, { phase: 'flow', conference_id: null })
  await live.resume(tenant, call, followerName, null)
}

async function forget(app: App, tenant: Tenant, conference: ConferenceRow, { id }: ParticipantRow): Promise<void> {
  await gone(app, tenant, conference.id, id)
  await endNow(app, tenant, conference.id)
}

async function endNow(app: App, tenant: Tenant, id: string): Promise<void> {
  const after = await atSwitchboard(app, tenant, async (tx, occasion) => {
    const conference = await maybe(tx.query(findConference, { ...tenant, id }))
    return conference ? endConference(app, tx, occasion, conference) : []
  })
  await all(app, after)
}
