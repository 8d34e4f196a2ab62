// SPDX-License-Identifier: Apache-2.0
// From the queue to a carrier: the job of a message asks the carriers of its route, one after the other, until one takes
// it, and stores what came of it. A message that nobody can take now is tried again until its validity is over. One that
// was under way when its node died is sent again, whatever its route says: its job cannot tell that it was.
import { Type } from 'typebox'
import { backoffMs } from '../../kernel/backoff.ts'
import type { App } from '../../platform/app.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Job, Outcome, Run } from '../../platform/work.ts'
import { whileStoring } from './answered.ts'
import { inOrder, type Route, type SubmitOutcome } from './carrier.ts'
import { gathered, onePerApp } from './gather.ts'
import { networkOf } from './network.ts'
import { accepted, changeOf, commitSurely, failed, loadMessages, type Stored, tell, transferId } from './outcome.ts'
import { applyEarly } from './receipts.ts'

/** Waits before a message is offered again that nobody could take; the last one goes on. */
const retrySeconds = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300]
const jitter = 0.2
/** A test message on a node without a simulator is left to one that has it. */
const elsewhereMs = 1_000
const maxAttempts = 32_767

const Payload = Type.Object({ message: Type.String() })

export const submitJob: Job<App, typeof Payload> = {
  lane: 'sms.submit',
  role: 'carriers',
  payload: Payload,
  concurrency: 2_000,
  leaseSeconds: 15,
  // Only for what nobody foresaw: a message that cannot be sent now comes back as often as its validity allows.
  retrySeconds: [1, 5, 30, 60, 300, 600],
  async handle(app, run) {
    if (!run.tenant) throw new Error('a message belongs to an account')
    return submit(app, run.tenant, run)
  },
}

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

type SubmitRun = Run<{ message: string }>

async function submit(app: App, tenant: Tenant, run: SubmitRun): Promise<Outcome> {
  const network = networkOf(app)
  const message = await loader(app)({ tenant, id: run.payload.message })
  if (message?.status !== 'queued') return { kind: 'done' }
  const leftMs = expiresMs(message) - (app.clock.nowMs() + Number(message.clock_offset_ms))
  if (leftMs <= 0) return fail(app, message, run, 'EXPIRED', null, null)
  const route = network.routeFor(message)
  if (!route)
    return tenant.environment === 'test' && !network.hasSandbox
      ? { kind: 'again', afterMs: elsewhereMs }
      : fail(app, message, run, 'NO_ROUTE', null, null)
  for (const name of inOrder(route, Math.random)) {
    const carrier = network.carrier(name)
    if (!carrier?.isUp) continue
    const outcome = await carrier.submit({
      id: message.id,
      to: message.recipient,
      from: message.sender,
      text: message.body ?? '',
      encoding: message.encoding,
      validitySeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
    })
    const settled = await settle(app, message, run, route, name, outcome)
    if (settled) return settled
  }
  const attempt = Math.min(run.attempt, retrySeconds.length)
  const waitMs = backoffMs(retrySeconds, attempt, jitter, Math.random()) ?? elsewhereMs
  return { kind: 'again', afterMs: Math.min(waitMs, leftMs) }
}

/** Null: the next carrier may be asked. */
async function settle(
  app: App,
  message: Stored,
  run: SubmitRun,
  route: Route,
  carrier: string,
  outcome: SubmitOutcome,
): Promise<Outcome | null> {
  switch (outcome.kind) {
    case 'sent':
      return sent(app, message, run, carrier, outcome.carrierIds)
    case 'rejected':
      return fail(app, message, run, outcome.code, outcome.carrierCode, carrier)
    case 'retry':
      return { kind: 'again', afterMs: outcome.afterMs }
    case 'unknown':
      app.log.warn({ carrier, sms: message.id, reason: outcome.reason }, 'a carrier did not answer')
      return route.onUnknown === 'maybe_twice' ? null : fail(app, message, run, 'CARRIER_ERROR', 'NO_ANSWER', carrier)
    case 'reroute':
      return null
  }
}

async function sent(
  app: App,
  message: Stored,
  run: SubmitRun,
  carrier: string,
  carrierIds: readonly string[],
): Promise<Outcome> {
  const change = changeOf(app, message, 'sent', null)
  const verdict = await whileStoring(app, message, carrier, carrierIds, () =>
    commitSurely(app, accepted, {
      bucket: message.bucket,
      account: message.account_id,
      environment: message.environment,
      id: message.id,
      job: run.id,
      carrier,
      carrier_ids: JSON.stringify(carrierIds),
      attempts: Math.min(run.attempt, maxAttempts),
      at: change.at,
      ...change.columns,
    }),
  )
  tell(app, change, verdict)
  if (verdict.early !== null) await applyEarly(app, carrier, JSON.parse(verdict.early))
  return { kind: 'settled' }
}

async function fail(
  app: App,
  message: Stored,
  run: SubmitRun,
  errorCode: string,
  carrierCode: string | null,
  carrier: string | null,
): Promise<Outcome> {
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
    attempts: Math.min(run.attempt, maxAttempts),
    at: change.at,
    transfer: transferId(app),
    ...change.columns,
  })
  tell(app, change, verdict)
  return { kind: 'settled' }
}

function expiresMs({ created_at, scheduled_at, validity }: Stored): number {
  return (scheduled_at ?? created_at).getTime() + validity * 1_000
}
