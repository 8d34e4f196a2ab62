// SPDX-License-Identifier: Apache-2.0
// From the queue to a carrier. A message waits at the bind that it is to go over, in the lane of its class, and is run by
// the node that has this bind open: it asks the carriers of its route, one after the other, until one takes it, hands it
// on when the next one is open elsewhere, and stores what came of it. A message that nobody can take now waits at no bind,
// and is tried again until its validity is over.
import type { Static } from 'typebox'
import { backoffMs } from '../../../kernel/backoff.ts'
import type { App } from '../../../platform/app.ts'
import { gathered } from '../../../platform/gathered.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import { suspendedMs } from '../../../platform/suspended.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job, Outcome, Run } from '../../../platform/work.ts'
import type { OutboundMessage, Route, SubmitOutcome } from '../carrier.ts'
import { hasOptedOut } from '../consent/store.ts'
import { isOurAnswer, priorityOf } from '../message.ts'
import { isSandbox, networkOf } from '../network/network.ts'
import { wishFor } from '../sandbox/behaviour.ts'
import { permissionOf } from '../senders/permissions.ts'
import { whileStoring } from './answered.ts'
import { lanes, nextReference, Submission } from './queue.ts'
import { applyEarly, endUndelivered } from './receipts.ts'
import { recallAccepted } from './remembered.ts'
import { changeOf, commitSurely, failed, loadMessages, mark, type Stored, taken, tell, transferId } from './status.ts'

/** Waits before a message is offered again that nobody could take; the last one goes on. */
const retrySeconds = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300]
const jitter = 0.2
/** A test message on a node without a simulator is left to one that has it. */
const elsewhereMs = 1_000
const maxOffers = 32_767
/** Carriers that take a message and do not answer may deliver it all the same: after so many it is given up. */
const maxUnanswered = 5
/** So soon after it was accepted nothing is asked anew: most messages are sent at once. */
const freshMs = 5_000
/** How long a message waits whose bind is just being opened anew. */
const reopenMs = 100

type SubmitJob = Job<App, typeof Submission>

function submitJob(lane: string): SubmitJob {
  return {
    lane,
    role: 'carriers',
    payload: Submission,
    concurrency: 2_000,
    // Only for what nobody foresaw: a message that cannot be sent now comes back as often as its validity allows.
    retrySeconds: [1, 5, 30, 60, 300, 600],
    async handle(app, run) {
      if (!run.tenant) throw new Error('a message belongs to an account')
      return submit(app, run.tenant, run)
    },
  }
}

export const submitJobs: readonly SubmitJob[] = Object.values(lanes).map(submitJob)

const loader = onePerApp((app) =>
  gathered(async (asked: readonly { tenant: Tenant; id: string }[]): Promise<(Stored | null)[]> => {
    const rows = await app.db.query(loadMessages, {
      buckets: asked.map(({ tenant }) => tenant.bucket),
      accounts: asked.map(({ tenant }) => tenant.account),
      environments: asked.map(({ tenant }) => tenant.environment),
      ids: asked.map(({ id }) => id),
    })
    const byId = new Map(rows.map((row) => [row.id, row]))
    return asked.map(({ id }) => byId.get(id) ?? null)
  }),
)

type SubmitRun = Run<Static<typeof Submission>>

/** One run of a message's job, and what those before it left to know. */
class Errand {
  readonly run: SubmitRun
  readonly #began: number
  #isUnsent: boolean
  #offers: number
  #unanswered: number

  constructor(run: SubmitRun) {
    const { attempt, payload } = run
    this.run = run
    this.#began = attempt
    // A run that was not settled, because its node died or could not store what it knew, may have sent the message.
    this.#isUnsent = attempt === 1 || payload.unsent === attempt - 1
    this.#offers = payload.offers ?? 0
    this.#unanswered = payload.unanswered ?? 0
  }

  /** How often carriers were asked to take it. */
  get offers(): number {
    return Math.min(this.#offers, maxOffers)
  }

  offered(): void {
    this.#offers++
  }

  /** It may be out, or not. False: it may have been out often enough. */
  doubt(): boolean {
    this.#isUnsent = false
    return ++this.#unanswered < maxUnanswered
  }

  /** The message did not go out, as far as is known: it waits, and whoever takes it next knows as much. */
  goesOn(place: string | null, afterMs: number, tried: readonly string[] = []): Outcome {
    const { attempt, payload } = this.run
    const { tried: _tried, unsent: _unsent, ...rest } = payload
    // An attempt that grew meanwhile is that of a lease which was lost: another node may have had the message.
    const isUnsent = this.#isUnsent && attempt === this.#began
    return {
      kind: 'move',
      place,
      payload: {
        ...rest,
        ...(tried.length > 0 && { tried }),
        ...(this.#offers > 0 && { offers: this.#offers }),
        ...(this.#unanswered > 0 && { unanswered: this.#unanswered }),
        ...(isUnsent && { unsent: attempt }),
      },
      afterMs,
    }
  }
}

async function submit(app: App, tenant: Tenant, run: SubmitRun): Promise<Outcome> {
  const network = networkOf(app)
  const errand = new Errand(run)
  const { undelivered, message: id } = run.payload
  const message = recallAccepted(app, id) ?? (await loader(app)({ tenant, id }))
  if (message?.status !== (undelivered ? 'sent' : 'queued')) return { kind: 'done' }
  const nowMs = app.clock.nowMs() + Number(message.clock_offset_ms)
  const leftMs = expiresMs(message) - nowMs
  if (leftMs <= 0) return fail(app, message, errand, 'EXPIRED')
  // Its text is no longer kept, and without it there is nothing to send.
  const { body: text } = message
  if (text === null) return fail(app, message, errand, 'UNDELIVERABLE')
  // Who has opted out since it was accepted does not get it.
  const isStale = hasWaited(message, nowMs)
  if (isStale && (await hasOptedOut(app, tenant, message.recipient, message.sender)))
    return fail(app, message, errand, 'OPTED_OUT')
  const { country, network: operator } = message
  const route = network.routeFor({ ...tenant, country, network: operator })
  if (!route)
    return tenant.environment === 'test' && !network.hasSandbox
      ? errand.goesOn(run.place, elsewhereMs)
      : fail(app, message, errand, 'NO_ROUTE')
  const { weight, isSuspended, problem } = await permissionOf(app, tenant)
  // The same holds for what its account may no longer send.
  const forbidden = isStale ? problem(message.sender, country) : null
  if (forbidden) return fail(app, message, errand, forbidden.code)
  const permit = route.onUnknown === 'maybe_never' ? new Permit(app, message, run) : null
  if (message.under_way && permit) {
    // By a run that did not live to tell of it.
    errand.offered()
    return fail(app, message, errand, 'CARRIER_ERROR', { carrier: message.route, carrierCode: 'NO_ANSWER' })
  }
  if (isSuspended) return errand.goesOn(null, Math.min(suspendedMs, leftMs))
  // Those that are down here have had their chance, whoever is asked next.
  const tried = [...(run.payload.tried ?? []), ...(undelivered?.without ?? []), ...network.down(route)]
  for (let name = first(app, route, run.place, tried); name !== null; name = network.choose(route, tried)) {
    const carrier = network.carrier(name)
    if (!carrier || run.place === null) {
      await permit?.takeBack()
      // It is being opened here, or has just been lost.
      const afterMs = name === run.place ? reopenMs : 0
      return errand.goesOn(name, afterMs, tried)
    }
    const wish = isSandbox(name) ? await wishFor(app, tenant, message.recipient, Number(message.clock_offset_ms)) : null
    errand.offered()
    const outcome = await carrier.submit({
      permit: permit ? () => permit.ask(carrier.name) : null,
      ...handedOver(message, text, run.payload.reference ?? nextReference(), weight, leftMs),
      ...(wish ? { wish } : {}),
    })
    const settled = await settle(app, message, errand, route, name, outcome)
    if (settled?.kind === 'move') await permit?.takeBack()
    if (settled) return settled
    tried.push(name)
  }
  await permit?.takeBack()
  return nobodyNow(errand, leftMs)
}

/** What carriers are told of a message. */
function handedOver(
  message: Stored,
  text: string,
  reference: number,
  weight: number,
  leftMs: number,
): Omit<OutboundMessage, 'wish' | 'permit'> {
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

/** Nobody can take it now: it waits at no bind, and then all of them are asked anew. */
function nobodyNow(errand: Errand, leftMs: number): Outcome {
  const attempt = Math.min(errand.run.attempt, retrySeconds.length)
  const waitMs = backoffMs(retrySeconds, attempt, jitter, Math.random()) ?? elsewhereMs
  return errand.goesOn(null, Math.min(waitMs, leftMs))
}

/** The bind at which the message waited, while its route still names it. */
function first(app: App, route: Route, place: string | null, tried: readonly string[]): string | null {
  const network = networkOf(app)
  const isNamed = route.tiers.some((tier) => tier.some(({ bind }) => bind === place))
  return place !== null && isNamed && !tried.includes(place) ? place : network.choose(route, tried)
}

/** For messages that must not go out twice: noted as under way before they are, so that it is known if this node dies. */
class Permit {
  readonly #app: App
  readonly #message: Stored
  readonly #run: SubmitRun
  #isGiven = false

  constructor(app: App, message: Stored, run: SubmitRun) {
    this.#app = app
    this.#message = message
    this.#run = run
  }

  /** False: another node has the message. */
  async ask(carrier: string): Promise<boolean> {
    this.#isGiven = await this.#note(carrier)
    return this.#isGiven
  }

  /** It did not go out after all. */
  async takeBack(): Promise<void> {
    if (this.#isGiven) await this.#note(null)
    this.#isGiven = false
  }

  async #note(carrier: string | null): Promise<boolean> {
    const { bucket, account_id: account, environment, id } = this.#message
    const { id: job, attempt } = this.#run
    const item = { bucket, account, environment, id, job, attempt, carrier }
    // What did not go out must not be taken for out because the database was away for a moment.
    const { marked } = await (carrier === null ? commitSurely(this.#app, mark, item) : this.#app.commit(mark, item))
    return marked === true
  }
}

/** Null: the next carrier may be asked. */
async function settle(
  app: App,
  message: Stored,
  errand: Errand,
  route: Route,
  carrier: string,
  outcome: SubmitOutcome,
): Promise<Outcome | null> {
  switch (outcome.kind) {
    case 'sent':
      return sent(app, message, errand, carrier, outcome.carrierIds)
    case 'rejected':
      return fail(app, message, errand, outcome.code, { carrier, carrierCode: outcome.carrierCode })
    case 'retry':
      return errand.goesOn(errand.run.place, outcome.afterMs)
    case 'unknown': {
      const mayGoOn = errand.doubt() && route.onUnknown === 'maybe_twice'
      app.log.warn({ carrier, sms: message.id, reason: outcome.reason }, 'a carrier did not answer')
      void outcome.late
        ?.then((carrierIds) => sent(app, message, errand, carrier, carrierIds))
        .catch((error) => app.log.warn({ error, carrier, sms: message.id }, 'a late answer could not be stored'))
      return mayGoOn ? null : fail(app, message, errand, 'CARRIER_ERROR', { carrier, carrierCode: 'NO_ANSWER' })
    }
    case 'withheld':
      return { kind: 'settled' }
    case 'reroute':
      return null
  }
}

async function sent(
  app: App,
  message: Stored,
  { run, offers }: Errand,
  carrier: string,
  carrierIds: readonly string[],
): Promise<Outcome> {
  const change = changeOf(app, message, 'sent', null)
  const verdict = await whileStoring(app, message, carrier, carrierIds, () =>
    commitSurely(app, taken, {
      bucket: message.bucket,
      account: message.account_id,
      environment: message.environment,
      id: message.id,
      job: run.id,
      carrier,
      carrier_ids: JSON.stringify(carrierIds),
      attempts: offers,
      at: change.at,
      ...change.columns,
    }),
  )
  tell(app, change, verdict)
  if (verdict.early !== null) await applyEarly(app, carrier, JSON.parse(verdict.early))
  return { kind: 'settled' }
}

/** What a carrier said of a message that it did not take. */
interface CarrierWord {
  readonly carrier: string | null
  readonly carrierCode: string | null
}

async function fail(
  app: App,
  message: Stored,
  { run, offers }: Errand,
  errorCode: string,
  { carrier, carrierCode }: CarrierWord = { carrier: null, carrierCode: null },
): Promise<Outcome> {
  // It was sent once, and not delivered: that is what remains to be said of it.
  if (run.payload.undelivered) {
    await endUndelivered(app, message, run.payload.undelivered)
    return { kind: 'done' }
  }
  const change = changeOf(app, message, 'failed', errorCode)
  const verdict = await commitSurely(app, failed, {
    bucket: message.bucket,
    account: message.account_id,
    environment: message.environment,
    id: message.id,
    job: run.id,
    attempt: run.attempt,
    error_code: errorCode,
    carrier_code: carrierCode,
    carrier,
    attempts: offers,
    at: change.at,
    transfer: transferId(app),
    ...change.columns,
  })
  tell(app, change, verdict)
  return { kind: 'settled' }
}

/** Whether it was accepted so long ago that it is asked anew whether it may go out. */
function hasWaited(message: Stored, nowMs: number): boolean {
  const { scheduled_at, created_at } = message
  return !isOurAnswer(message) && (scheduled_at !== null || nowMs > created_at.getTime() + freshMs)
}

function expiresMs({ created_at, scheduled_at, validity }: Stored): number {
  return (scheduled_at ?? created_at).getTime() + validity * 1_000
}
