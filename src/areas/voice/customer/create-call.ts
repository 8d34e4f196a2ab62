// SPDX-License-Identifier: Apache-2.0
// Accepts a call: validates its flow and numbers, holds the money of the first minute and queues the job that places it.
import type { Static } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { dayMs, parseMoment } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { liveNodes } from '../../../platform/nodes/nodes.ts'
import { dialectOf } from '../../../platform/outbound/dialect-url.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { isBlocked } from '../calls/blocked-prefixes.ts'
import { conversationOf } from '../calls/call.ts'
import { holdSeconds } from '../calls/call-record.ts'
import { currencyOf } from '../calls/currency.ts'
import { deliverEventsJob } from '../calls/event-delivery.ts'
import { minutePriceOf } from '../calls/minute-price.ts'
import { mp3Problem } from '../engines/mp3-encoding.ts'
import { callEvents } from '../events.ts'
import { readActions } from '../flow/action.ts'
import { urlOf } from '../legs/websocket-endpoint.ts'
import { ownership } from '../numbers/store.ts'
import type { CallCreate } from '../schema.ts'
import { ssmlProblem } from '../speech/ssml.ts'
import { type CallPlan, type CallRow, callsUnderWay, holdFor, insertCall } from '../store.ts'
import { telephoneNetworkOf } from '../trunks/telephone-network.ts'
import { placeJob } from './place-call.ts'

type Wanted = Static<typeof CallCreate>

const farthestMs = 30 * dayMs

/** Validates a call before anything is written. */
export async function checkCall(app: App, wanted: Wanted, { tenant, nowMs }: Caller): Promise<CallPlan> {
  const plan = planOf(wanted)
  for (const [field, url] of [...urlsOf(wanted), ...socketsOf(plan)])
    await app.outbound.checkUrl(dialectOf(url).url, 'callback', tenant.environment, field)
  const at = wanted.scheduled_at === undefined ? null : parseMoment(wanted.scheduled_at)
  if (at && at.getTime() > nowMs + farthestMs) throw invalid('scheduled_at', 'must be at most 30 days ahead')
  await checkNumbers(app, tenant, { from: wanted.from, to: wanted.to, isLater: at !== null && at.getTime() > nowMs })
  checkFormats(app, plan)
  return plan
}

/** Checks that an account may call a number, may show its caller id, and that a trunk leads there. */
export async function checkNumbers(
  app: App,
  tenant: Tenant,
  { from, to, isLater = false }: { readonly from: string; readonly to: string; readonly isLater?: boolean },
): Promise<void> {
  if (isBlocked(app, to)) throw new AppError('DESTINATION_NOT_ALLOWED', `to: calls to ${to.slice(0, 5)}… are blocked`)
  await requireOwned(app, tenant, from)
  if (!telephoneNetworkOf(app).leadsTo(tenant.environment, to))
    throw new AppError('PROVIDER_UNAVAILABLE', 'no available trunk serves this number', { retryAfterSeconds: 30 })
  if (!isLater) await requireRoom(app)
}

/** Refuses a call for whose audio there is no room, here or on another node that places calls. */
async function requireRoom(app: App): Promise<void> {
  const network = telephoneNetworkOf(app)
  const refusal = network.isOpen ? network.media.refusal : null
  if (refusal === null) return
  const nodes = await liveNodes(app.db)
  if (nodes.some(({ id, roles }) => id !== app.nodeId && roles.includes(placeJob.role))) return
  throw new AppError('PROVIDER_UNAVAILABLE', `no capacity for the call: ${refusal}`, { retryAfterSeconds: 5 })
}

/** Requires the caller id: a test key may show any number not registered by another account; a live key only its own. */
async function requireOwned(app: App, tenant: Tenant, number: string): Promise<void> {
  if ((await ownership(app, tenant, number)) !== 'own')
    throw new AppError('NUMBER_NOT_OWNED', `from: ${number} is not a number of this account`)
}

function planOf(wanted: Wanted): CallPlan {
  const sources = [wanted.answer_url, wanted.tts, wanted.actions].filter((source) => source !== undefined)
  if (sources.length !== 1) throw invalid('answer_url', 'give exactly one of answer_url, tts and actions')
  const { answer_url, answer_method, event_method, fallback_url, ring_timeout, machine_detection } = wanted
  const rest = {
    ...(answer_url === undefined ? {} : { answer_url }),
    ...(answer_method === undefined ? {} : { answer_method }),
    ...(event_method === undefined ? {} : { event_method }),
    ...(fallback_url === undefined ? {} : { fallback_url }),
    ...(ring_timeout === undefined ? {} : { ring_timeout }),
    ...(machine_detection === undefined ? {} : { machine_detection }),
  }
  if (wanted.tts) {
    const problem = ssmlProblem(wanted.tts.text)
    if (problem) throw invalid('tts.text', problem)
    return { ...rest, actions: [{ action: 'talk', ...wanted.tts }] }
  }
  if (!wanted.actions) return rest
  const [problem] = readActions(wanted.actions).problems
  if (problem) throw new AppError('INVALID_CALL_FLOW', `actions[${problem.index}]: ${problem.message}`)
  return { ...rest, actions: wanted.actions }
}

function urlsOf({ answer_url, event_url, fallback_url }: Wanted): [string, string][] {
  const all: [string, string | undefined][] = [
    ['answer_url', answer_url],
    ['event_url', event_url],
    ['fallback_url', fallback_url],
  ]
  return all.flatMap(([field, url]) => (url === undefined ? [] : [[field, url] as [string, string]]))
}

/** Refuses a recording that could not be made here. */
function checkFormats(app: App, { actions = [] }: CallPlan): void {
  const at = readActions(actions).actions.findIndex((action) => action.action === 'record' && action.format === 'mp3')
  const problem = at < 0 ? null : mp3Problem(app)
  if (problem !== null) throw new AppError('PROVIDER_UNAVAILABLE', `actions[${at}].format: ${problem}`)
}

/** Websockets of a flow that came with the request, by where they stand in it. */
function socketsOf({ actions = [] }: CallPlan): [string, string][] {
  return readActions(actions).actions.flatMap((action, i) =>
    action.action !== 'connect'
      ? []
      : action.endpoint.flatMap((endpoint, j): [string, string][] =>
          endpoint.type === 'websocket' ? [[`actions[${i}].endpoint[${j}].uri`, urlOf(endpoint.uri)]] : [],
        ),
  )
}

/** Validated call. */
interface NewCall {
  readonly from: string
  readonly to: string
  readonly plan: CallPlan
  readonly customData?: Readonly<Record<string, unknown>>
  readonly eventUrl?: string | null
  readonly record?: boolean
  readonly delayMs?: number
  /** False: the call waits until it is rung into a room. */
  readonly isPlaced?: boolean
  /** Account currency, where known. */
  readonly currency?: string
}

export function createCall(app: App, tx: Tx, wanted: Wanted, caller: Caller, plan: CallPlan): Promise<CallRow> {
  const at = wanted.scheduled_at === undefined ? null : parseMoment(wanted.scheduled_at)
  return newCall(app, tx, caller, {
    currency: caller.principal.facts.currency,
    from: wanted.from,
    to: wanted.to,
    plan,
    customData: wanted.custom_data ?? {},
    eventUrl: wanted.event_url ?? null,
    record: wanted.record ?? false,
    delayMs: Math.max(0, (at?.getTime() ?? caller.nowMs) - caller.nowMs),
  })
}

/** Refuses calls beyond the concurrency limit of the account. */
export async function requireFreeCalls(app: App, tx: Tx, tenant: Tenant, count = 1): Promise<void> {
  const most = app.config.PAMOJA_VOICE_CALLS_PER_ACCOUNT
  if ((await callsUnderWay(tx, tenant)) + count > most)
    throw new AppError('CONCURRENCY_LIMIT', `at most ${most} calls may be under way`, { retryAfterSeconds: 5 })
}

/** Holds the money of the first minute, stores the call, emits its event and queues the job that places it. */
export async function newCall(app: App, tx: Tx, occasion: Occasion, wanted: NewCall): Promise<CallRow> {
  const { plan, customData = {}, eventUrl = null, record = false, delayMs = 0, isPlaced = true } = wanted
  const { tenant, receivedMs, nowMs, requestId } = occasion
  await requireFreeCalls(app, tx, tenant)
  const id = newUuid(receivedMs)
  const currency = wanted.currency ?? (await currencyOf(app, tenant.account))
  const minute = minutePriceOf(app, tenant, currency, wanted.to)
  if (minute === null)
    throw new AppError(
      'DESTINATION_NOT_ALLOWED',
      `the operator has set no price in ${currency} for calls to this number`,
    )
  if (!(await holdFor(tx, { ...tenant, id }, currency, (minute * BigInt(holdSeconds)) / 60n)))
    throw new AppError('INSUFFICIENT_BALANCE', `the ${currency} wallet does not cover the first minute of the call`)
  const row = await one(
    tx.query(insertCall, {
      ...tenant,
      id,
      conversation: id,
      parent: null,
      direction: 'outbound',
      from_number: wanted.from,
      to_number: wanted.to,
      plan: JSON.stringify(plan),
      custom_data: JSON.stringify(customData),
      event_url: eventUrl,
      record,
      started_at: new Date(nowMs),
      minute_micros: minute,
      currency,
      node: null,
    }),
  )
  await app.outbox.emit(tx, callEvents.initiated, { tenant, receivedMs, nowMs, requestId }, idOf('call', id), {
    account_id: idOf('account', tenant.account),
    call_id: idOf('call', id),
    conversation_uuid: conversationOf(row),
    direction: 'outbound',
    from: row.from_number,
    to: row.to_number,
    agent_id: null,
    queue_id: null,
    custom_data: customData,
    sequence: 0,
    status: 'initiated',
    started_at: row.started_at,
  })
  if (isPlaced) {
    const place = app.work.prepare(placeJob, tenant, { call: id }, { delayMs })
    await app.work.add(tx, place)
    tx.afterCommit(() => app.work.begin(place))
  }
  if (row.event_url !== null) await app.work.add(tx, deliverEventsJob(app, tenant, id, nowMs - receivedMs, delayMs))
  return row
}
