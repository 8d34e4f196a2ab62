// SPDX-License-Identifier: Apache-2.0
// Submission of messages from the queue to a carrier. A message waits at its bind, in the lane of its class, and is run
// by the node that has this bind open: it offers it to the carriers of its route one after the other until one takes
// it, hands it over when the next one is open on another node, and stores the outcome. A message that no carrier can
// take now waits at no bind, and is retried until its validity ends.
import { backoffMs } from '../../../kernel/backoff.ts'
import type { App } from '../../../platform/app.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { suspendedMs } from '../../../platform/work/suspended.ts'
import type { Job, Outcome } from '../../../platform/work.ts'
import type { OutboundMessage, Route } from '../carrier.ts'
import { hasOptedOut } from '../consent/store.ts'
import { isOurAnswer, priorityOf } from '../message.ts'
import { isSandbox, networkOf } from '../network/network.ts'
import { wishFor } from '../sandbox/behaviour.ts'
import { permissionOf } from '../senders/permissions.ts'
import { takeAccepted } from './handover.ts'
import { loadMessage, type StoredMessage } from './load.ts'
import { fail, settle } from './outcome.ts'
import { lanes, nextReference, Submission, type SubmitRun } from './queue.ts'
import { mark, type SubmitState, submitStateOf, tryLater, unmark } from './submit-state.ts'
import { traceOf } from './trace.ts'

/** Delays before a message that no carrier could take is offered again; the last one repeats. */
const retrySeconds = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300]
const jitter = 0.2
/** A test message on a node without a simulator is left to one that has it. */
const elsewhereMs = 1_000
/** Age up to which opt-outs and permissions are not checked again: most messages are sent at once. */
const freshMs = 5_000
/** Wait of a message whose bind is being reopened. */
const reopenMs = 100

type SubmitJob = Job<App, typeof Submission>

function submitJob(lane: string): SubmitJob {
  return {
    lane,
    role: 'carriers',
    payload: Submission,
    concurrency: 2_000,
    // For unforeseen errors only: a message that cannot be sent now comes back as often as its validity allows.
    retrySeconds: [1, 5, 30, 60, 300, 600],
    async handle(app, run) {
      if (!run.tenant) throw new Error('a message belongs to an account')
      return submit(app, run.tenant, run)
    },
  }
}

export const submitJobs: readonly SubmitJob[] = Object.values(lanes).map(submitJob)

async function submit(app: App, tenant: Tenant, run: SubmitRun): Promise<Outcome> {
  const state = submitStateOf(run)
  const { undelivered, message: id } = run.payload
  const message = takeAccepted(app, id) ?? (await loadMessage(app, tenant, id))
  if (message?.status !== (undelivered ? 'sent' : 'queued')) return { kind: 'done' }
  const nowMs = app.clock.nowMs() + Number(message.clock_offset_ms)
  const leftMs = expiresMs(message) - nowMs
  if (leftMs <= 0) return fail(app, state, message, 'EXPIRED')
  // Its text is past its retention, and without it there is nothing to send.
  const { body: text, country, network } = message
  if (text === null) return fail(app, state, message, 'UNDELIVERABLE')
  // Recipients who opted out since the acceptance do not get it.
  const isStale = hasWaited(message, nowMs)
  if (isStale && (await hasOptedOut(app, tenant, message.recipient, message.sender)))
    return fail(app, state, message, 'OPTED_OUT')
  const route = networkOf(app).routeFor({ ...tenant, country, network })
  if (!route) return noRoute(app, state, message)
  const { weight, isSuspended, problem } = await permissionOf(app, tenant)
  // Nor does anything go out that its account may no longer send.
  const forbidden = isStale ? problem(message.sender, country) : null
  if (forbidden) return fail(app, state, message, forbidden.code)
  const isMarked = route.onUnknown === 'maybe_never'
  if (message.under_way && isMarked) {
    // Marked by a run whose node died before the outcome was stored.
    state.offers++
    return fail(app, state, message, 'CARRIER_ERROR', { carrier: message.route, carrierCode: 'NO_ANSWER' })
  }
  if (isSuspended) return tryLater(state, null, Math.min(suspendedMs, leftMs))
  const outcome = await offer(app, state, message, { text, route, weight, leftMs, isMarked })
  if (outcome === null || outcome.kind === 'move') await unmark(app, state, message)
  return outcome ?? nobodyNow(state, leftMs)
}

function noRoute(app: App, state: SubmitState, message: StoredMessage): Outcome | Promise<Outcome> {
  const isElsewhere = message.environment === 'test' && !networkOf(app).hasSandbox
  return isElsewhere ? tryLater(state, state.run.place, elsewhereMs) : fail(app, state, message, 'NO_ROUTE')
}

/** Terms on which a message goes out. */
interface Terms {
  readonly text: string
  readonly route: Route
  readonly weight: number
  /** Time left of its validity. */
  readonly leftMs: number
  /** Whether the message is marked as under way before a carrier is asked. */
  readonly isMarked: boolean
}

/** Asks the carriers of its route, one after the other, until one takes the message; null: none can now. */
async function offer(app: App, state: SubmitState, message: StoredMessage, terms: Terms): Promise<Outcome | null> {
  const { run } = state
  const { route, isMarked } = terms
  const network = networkOf(app)
  // Binds that are down here count as tried for the next node.
  const tried = [...(run.payload.tried ?? []), ...(run.payload.undelivered?.without ?? []), ...network.down(route)]
  for (let name = first(app, route, run.place, tried); name !== null; name = network.choose(route, tried)) {
    const carrier = network.carrier(name)
    // The bind is open on another node; or it is being opened here, or was just lost.
    if (!carrier || run.place === null) return tryLater(state, name, name === run.place ? reopenMs : 0, tried)
    const wish = isSandbox(name)
      ? await wishFor(app, tenantOf(message), message.recipient, Number(message.clock_offset_ms))
      : null
    state.offers++
    const answer = await carrier.submit({
      ...handedOver(message, terms, run.payload.reference ?? nextReference()),
      permit: isMarked ? () => mark(app, state, message, carrier.name) : null,
      trace: traceOf(app, message),
      ...(wish ? { wish } : {}),
    })
    const outcome = await settle(app, state, message, route, name, answer)
    if (outcome) return outcome
    tried.push(name)
  }
  return null
}

/** Message as carriers get it. */
function handedOver(
  message: StoredMessage,
  { text, weight, leftMs }: Terms,
  reference: number,
): Omit<OutboundMessage, 'wish' | 'permit' | 'trace'> {
  return {
    id: message.id,
    account: message.account_id,
    priority: priorityOf(message.type, message.batch_id !== null),
    weight,
    to: message.recipient,
    from: message.sender,
    text,
    encoding: message.encoding,
    reference,
    validitySeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
  }
}

/** No carrier can take it now: it waits at no bind, and then all of them are asked again. */
function nobodyNow(state: SubmitState, leftMs: number): Outcome {
  const attempt = Math.min(state.run.attempt, retrySeconds.length)
  const waitMs = backoffMs(retrySeconds, attempt, jitter, Math.random()) ?? elsewhereMs
  return tryLater(state, null, Math.min(waitMs, leftMs))
}

/** The bind at which the message waited, while its route still names it. */
function first(app: App, route: Route, place: string | null, tried: readonly string[]): string | null {
  const network = networkOf(app)
  const isNamed = route.tiers.some((tier) => tier.some(({ bind }) => bind === place))
  return place !== null && isNamed && !tried.includes(place) ? place : network.choose(route, tried)
}

/** Whether a message was accepted so long ago that opt-outs and permissions are checked again. */
function hasWaited(message: StoredMessage, nowMs: number): boolean {
  const { scheduled_at, created_at } = message
  return !isOurAnswer(message) && (scheduled_at !== null || nowMs > created_at.getTime() + freshMs)
}

function expiresMs({ created_at, scheduled_at, validity }: StoredMessage): number {
  return (scheduled_at ?? created_at).getTime() + validity * 1_000
}
