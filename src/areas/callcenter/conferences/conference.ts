// SPDX-License-Identifier: Apache-2.0
// Conference: a room without a call, into which participants are rung. It starts with the first to join and ends with
// the last to leave.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { isE164 } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type LegChange, liveCalls } from '../../voice/area.ts'
import { agentNamed, become, becomeFree, noteLeg } from '../agents/presence.ts'
import type { After } from '../caller/next-contact.ts'
import { tagOf } from '../contact/leg-tags.ts'
import { targetOf } from '../contact/ring-target.ts'
import { conferenceEvents } from '../events.ts'
import { atSwitchboard } from '../switchboard.ts'
import {
  type ConferenceRow,
  findConference,
  insertParticipant,
  listParticipants,
  type ParticipantRow,
  saveConference,
  saveParticipant,
} from './store.ts'

const ringSeconds = 45
const beep = { music: 'beep' } as const

export function conferenceRecord(row: ConferenceRow, participants: readonly ParticipantRow[]) {
  return {
    conference_id: idOf('conference', row.id),
    name: row.name,
    status: row.status,
    record: row.record,
    recording_id: row.recording_id === null ? null : idOf('recording', row.recording_id),
    participants: participants.map(participantRecord),
    created_at: row.created_at,
  }
}

export function participantRecord({ id, call_id, endpoint, role, status, muted, joined_at }: ParticipantRow) {
  return {
    participant_id: idOf('participant', id),
    call_id: call_id === null ? null : idOf('call', call_id),
    endpoint,
    role,
    status,
    muted,
    joined_at,
  }
}

const isHere = ({ status }: ParticipantRow) => status === 'joined' || status === 'held'
const isCounted = ({ status }: ParticipantRow) => status === 'dialing' || status === 'joined' || status === 'held'

/** Adds a participant; ringing follows. */
export async function addParticipant(
  app: App,
  tx: Tx,
  occasion: Occasion,
  conference: ConferenceRow,
  endpoint: string,
): Promise<{ row: ParticipantRow; after: After }> {
  const { tenant, receivedMs } = occasion
  const present = await tx.query(listParticipants, { ...tenant, conference: conference.id })
  const { max_participants: most, moderator, mute_on_entry } = conference.options
  if (present.filter(isCounted).length >= most)
    throw new AppError('CONFERENCE_FULL', `the conference has at most ${most} participants`)
  const isNumber = isE164(endpoint)
  const agent = isNumber ? null : await agentNamed(tx, occasion, endpoint)
  const to = isNumber ? { phone: endpoint } : agent && targetOf(agent)
  if (!to || (agent && agent.status !== 'available'))
    throw new AppError(
      'AGENT_NOT_AVAILABLE',
      agent ? `${endpoint} is ${agent.status}, or cannot be reached` : `there is no agent ${endpoint}`,
    )
  if (agent) await become(app, tx, occasion, agent, 'ringing', { call_id: null, contact_id: null, leg_id: null })
  const row = await one(
    tx.query(insertParticipant, {
      ...tenant,
      conference: conference.id,
      id: newUuid(receivedMs),
      endpoint,
      agent: agent?.agent_id ?? null,
      role: endpoint === moderator ? 'moderator' : 'participant',
      muted: mute_on_entry && endpoint !== moderator,
    }),
  )
  const after = () => ring(app, tenant, conference, row, to)
  return { row, after }
}

async function ring(
  app: App,
  tenant: Tenant,
  conference: ConferenceRow,
  row: ParticipantRow,
  to: { phone: string } | NonNullable<ReturnType<typeof targetOf>>,
): Promise<void> {
  const tag = tagOf('participant', conference.id, row.id)
  const { from } = conference.options
  const agent = row.agent_id === null ? {} : { agentId: row.agent_id }
  const rung = await liveCalls(app).ring(tenant, conference.id, {
    ...{ to, from, timeoutSeconds: ringSeconds, tag },
    ...agent,
  })
  if ('refused' in rung) return gone(app, tenant, conference.id, row.id)
  await atSwitchboard(app, tenant, async (tx, occasion) => {
    const now = (await participants(tx, occasion, conference.id)).find(({ id }) => id === row.id)
    if (now && now.call_id === null) await save(tx, tenant, now, { call_id: rung.call })
    if (row.agent_id !== null) await noteLeg(app, tx, occasion, row.agent_id, rung.call)
  })
}

function participants(tx: Tx, { tenant }: Occasion, conference: string): Promise<ParticipantRow[]> {
  return tx.query(listParticipants, { ...tenant, conference })
}

export function save(
  tx: Tx,
  tenant: Tenant,
  row: ParticipantRow,
  change: Partial<ParticipantRow>,
): Promise<ParticipantRow> {
  const { call_id: call, status, muted, joined_at: joinedAt, left_at: leftAt } = { ...row, ...change }
  return one(
    tx.query(saveParticipant, {
      ...tenant,
      conference: row.conference_id,
      id: row.id,
      call,
      status,
      muted,
      joinedAt,
      leftAt,
    }),
  )
}

function keep(tx: Tx, tenant: Tenant, row: ConferenceRow, change: Partial<ConferenceRow>): Promise<ConferenceRow> {
  const { status, recording_id: recording, ended_at: endedAt } = { ...row, ...change }
  return one(tx.query(saveConference, { ...tenant, id: row.id, status, recording, endedAt }))
}

function tell(
  app: App,
  tx: Tx,
  occasion: Occasion,
  conference: ConferenceRow,
  what: keyof typeof conferenceEvents,
  participant: ParticipantRow | null,
  count: number,
) {
  return app.outbox.emit(tx, conferenceEvents[what], occasion, idOf('conference', conference.id), {
    account_id: idOf('account', occasion.tenant.account),
    conference_id: idOf('conference', conference.id),
    name: conference.name,
    participant: participant && {
      id: idOf('participant', participant.id),
      number: participant.agent_id === null ? participant.endpoint : null,
      agent_id: participant.agent_id,
    },
    participants: count,
  })
}

export async function participantChanged(
  app: App,
  change: LegChange,
  conference: string,
  participant: string,
): Promise<void> {
  if (change.kind === 'answered') return joined(app, change, conference, participant)
  if (change.kind === 'ended') return gone(app, change.tenant, conference, participant)
}

/** Options for a call that joins a conversation; participants of a conference wait for its moderator. */
interface Entry {
  mayBegin: boolean
  music: string
}

export async function joined(
  app: App,
  { tenant, call }: Pick<LegChange, 'tenant' | 'call'>,
  id: string,
  participant: string,
  entry: Entry | null = null,
): Promise<void> {
  const live = liveCalls(app)
  const after = await atSwitchboard(app, tenant, async (tx, occasion): Promise<After[]> => {
    const conference = await maybe(tx.query(findConference, { ...tenant, id }))
    const all = await participants(tx, occasion, id)
    const row = all.find((each) => each.id === participant)
    if (!conference || !row || conference.status === 'ended' || row.status !== 'dialing')
      return [() => live.hangUp(tenant, call)]
    const waitsForModerator =
      conference.options.start_on_moderator &&
      row.role !== 'moderator' &&
      !all.some((each) => each.role === 'moderator' && isHere(each))
    const waits = entry ? !entry.mayBegin && conference.status === 'initiated' : waitsForModerator
    const status = waits ? 'held' : 'joined'
    const now = await save(tx, tenant, row, { status, call_id: call, joined_at: new Date(occasion.nowMs) })
    const agent = row.agent_id === null ? null : await agentNamed(tx, occasion, row.agent_id)
    if (agent) await become(app, tx, occasion, agent, 'on_call', { call_id: call, leg_id: call })
    const isFirst = conference.status === 'initiated' && !(entry && waits)
    if (isFirst) await keep(tx, tenant, conference, { status: 'active' })
    const count = all.filter(isHere).length + 1
    if (isFirst) await tell(app, tx, occasion, conference, 'started', null, count)
    await tell(app, tx, occasion, conference, 'participantJoined', now, count)
    const isBegun = entry ? isFirst : now.role === 'moderator'
    const released = isBegun ? all.filter((each) => each.status === 'held') : []
    for (const other of released) await save(tx, tenant, other, { status: 'joined' })
    return [
      () => live.mark(tenant, call, { phase: 'conference', conference_id: idOf('conference', id) }),
      ...(now.muted ? [() => live.mute(tenant, call, true)] : []),
      ...(waits ? [() => live.hold(tenant, call, { music: entry?.music ?? 'default' })] : []),
      ...released.map((other) => () => live.hold(tenant, other.call_id ?? '', null)),
      ...(conference.options.entry_tone ? [() => live.play(tenant, id, beep, { toRoom: true, interrupt: false })] : []),
      ...(isFirst && conference.record ? [() => record(app, tenant, id)] : []),
    ]
  })
  await all(app, after)
}

async function record(app: App, tenant: Tenant, id: string): Promise<void> {
  const recording = await liveCalls(app).record(tenant, id, { channels: 1 })
  await atSwitchboard(app, tenant, async (tx) => {
    const row = await maybe(tx.query(findConference, { ...tenant, id }))
    if (row && recording !== null) await keep(tx, tenant, row, { recording_id: recording })
  })
}

/** A participant left or never joined; the last one ends the conference. */
export async function gone(app: App, tenant: Tenant, id: string, participant: string): Promise<void> {
  const after = await atSwitchboard(app, tenant, async (tx, occasion): Promise<After[]> => {
    const conference = await maybe(tx.query(findConference, { ...tenant, id }))
    const list = await participants(tx, occasion, id)
    const row = list.find((each) => each.id === participant)
    if (!conference || !row || !isCounted(row)) return []
    const was = isHere(row)
    const now = await save(tx, tenant, row, { status: was ? 'left' : 'failed', left_at: new Date(occasion.nowMs) })
    const agent = row.agent_id === null ? null : await agentNamed(tx, occasion, row.agent_id)
    if (agent && (agent.leg_id === null || agent.leg_id === row.call_id)) await becomeFree(app, tx, occasion, agent)
    const rest = list.filter((each) => each.id !== participant)
    if (was) await tell(app, tx, occasion, conference, 'participantLeft', now, rest.filter(isHere).length)
    if (conference.status === 'ended' || rest.some(isCounted)) return []
    await endIt(app, tx, occasion, conference)
    return [() => liveCalls(app).closeRoom(tenant, id)]
  })
  await all(app, after)
}

async function endIt(app: App, tx: Tx, occasion: Occasion, conference: ConferenceRow): Promise<ConferenceRow> {
  const ended = await keep(tx, occasion.tenant, conference, { status: 'ended', ended_at: new Date(occasion.nowMs) })
  await tell(app, tx, occasion, conference, 'ended', null, 0)
  return ended
}

/** Ends a conference for all participants. */
export async function endConference(app: App, tx: Tx, occasion: Occasion, conference: ConferenceRow): Promise<After[]> {
  if (conference.status === 'ended') return []
  await endIt(app, tx, occasion, conference)
  return [() => liveCalls(app).closeRoom(occasion.tenant, conference.id)]
}

export async function all(app: App, acts: readonly After[]): Promise<void> {
  for (const act of acts)
    await act().catch((error) =>
      app.log.warn(
        { error },
        'conference not notified of a call’s change: its session ended or its node is down; nothing to do if the call is over',
      ),
    )
}
