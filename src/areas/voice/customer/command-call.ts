// SPDX-License-Identifier: Apache-2.0
// Commands of the API on an existing call: find it, hang it up, play into it. Commands on a live call run on its node.
import type { Static } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { newIdAndUuid, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import { dialectOf } from '../../../platform/outbound/dialect-url.ts'
import { type One, type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { isOver } from '../calls/call.ts'
import { CallRecord, type EndOfCall } from '../calls/call-record.ts'
import { takeHere } from '../calls/call-sessions.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { readActions } from '../flow/action.ts'
import type { PlayRequest, RedirectRequest } from '../schema.ts'
import { ssmlProblem } from '../speech/ssml.ts'
import { type CallRow, findCall } from '../store.ts'

export async function callOf(app: App, tenant: Tenant, id: string): Promise<CallRow> {
  const uuid = uuidOf('call', id)
  const row = uuid === null ? null : await maybe(app.db.query(findCall, { ...tenant, id: uuid }))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such call; ids of calls begin with call_')
  return row
}

const oneOf = (tenant: Tenant, row: CallRow): One => ({ ...tenant, id: row.id })

/** Hangs up a call; idempotent. */
export async function hangupCall(app: App, tenant: Tenant, id: string, reason: string): Promise<CallRow> {
  const row = await callOf(app, tenant, id)
  if (isOver(row.status)) return row
  const hangUp = () => sessionsOf(app).command(oneOf(tenant, row), { do: 'hangup', reason })
  // One that was placed meanwhile has a session now.
  if ((await hangUp()) === null && !(await endUnplaced(app, row, 'api'))) await hangUp()
  return callOf(app, tenant, id)
}

/** Ends a queued call without a node and releases its hold; false if a node has taken it. A node that dies meanwhile leaves a session. */
export async function endUnplaced(app: App, row: CallRow, by: EndOfCall['by']): Promise<boolean> {
  if (isOver(row.status) || row.node !== null) return false
  const call = oneOf(tenantOf(row), row)
  const ended = await takeHere(app, { ...call, isAgain: false }, async (taken) => {
    const record = new CallRecord(app, taken, await clockOffsetOf(app, row.account_id, row.environment))
    record.end({ status: 'failed', cause: 'cancelled', by })
    await record.settled()
    if (!record.isLost) await sessionsOf(app).end(call)
    return true
  })
  return ended ?? false
}

/** Gives an answered call another flow in place of the one it runs. */
export async function redirectCall(
  app: App,
  { tenant }: Caller,
  id: string,
  { actions, answer_url: url }: Static<typeof RedirectRequest>,
): Promise<CallRow> {
  const row = await callOf(app, tenant, id)
  if ((actions === undefined) === (url === undefined))
    throw invalid('answer_url', 'give exactly one of answer_url and actions')
  if (url !== undefined) await app.outbound.checkUrl(dialectOf(url).url, 'callback', tenant.environment, 'answer_url')
  const [problem] = readActions(actions ?? []).problems
  if (problem) throw new AppError('INVALID_CALL_FLOW', `actions[${problem.index}]: ${problem.message}`)
  if (row.status !== 'answered') throw new AppError('CALL_NOT_ACTIVE', `the call is ${row.status}`)
  const flow = { actions: actions ?? [{ action: 'notify', payload: {}, eventUrl: [url] }] }
  const isGiven = await sessionsOf(app).command(oneOf(tenant, row), { do: 'resume', flow, by: '' })
  if (isGiven !== true) throw new AppError('CALL_NOT_ACTIVE', 'the call has ended')
  return row
}

export async function playInto(
  app: App,
  { tenant, receivedMs, nowMs }: Caller,
  id: string,
  wanted: Static<typeof PlayRequest>,
) {
  const row = await callOf(app, tenant, id)
  const spoken =
    wanted.tts ?? (wanted.text === undefined ? null : { text: wanted.text, language: wanted.language ?? 'en-US' })
  const sources = [wanted.tts, wanted.text, wanted.url].filter((source) => source !== undefined)
  if (sources.length !== 1) throw invalid('tts', 'give exactly one of tts, text and url')
  const problem = spoken && ssmlProblem(spoken.text)
  if (problem) throw invalid('text', problem)
  if (wanted.url !== undefined) await app.outbound.checkUrl(wanted.url, 'callback', tenant.environment, 'url')
  if (row.status !== 'answered') throw new AppError('CALL_NOT_ACTIVE', `the call is ${row.status}`)
  const { id: play } = newIdAndUuid('play', receivedMs)
  const { loop = 1, target = 'all', interrupt = true, url } = wanted
  const command = { id: play, ...spoken, ...(url === undefined ? {} : { url }), loop, target, interrupt }
  const outcome = await sessionsOf(app).command(oneOf(tenant, row), { do: 'play', play: command })
  if (outcome === null || outcome === 'not active') throw new AppError('CALL_NOT_ACTIVE', 'the call has ended')
  if (outcome !== true) throw new AppError('PROVIDER_UNAVAILABLE', String(outcome), { retryAfterSeconds: 60 })
  return { call_id: id, play_id: play, status: 'playing' as const, started_at: new Date(nowMs) }
}

export async function stopPlaying(app: App, { tenant, nowMs }: Caller, id: string) {
  const row = await callOf(app, tenant, id)
  if (row.status !== 'answered') throw new AppError('CALL_NOT_ACTIVE', `the call is ${row.status}`)
  const stopped = await sessionsOf(app).command(oneOf(tenant, row), { do: 'stop_all_plays' })
  const play = typeof stopped === 'string' ? stopped : null
  return { call_id: id, play_id: play, status: 'stopped' as const, started_at: new Date(nowMs) }
}

/** Command the simulated phone of a test call; false when the call has none. */
export async function commandPhone(app: App, tenant: Tenant, id: string, command: object): Promise<boolean> {
  const row = await callOf(app, tenant, id)
  return (await sessionsOf(app).command(oneOf(tenant, row), command)) === true
}
