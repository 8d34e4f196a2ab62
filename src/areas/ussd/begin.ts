// SPDX-License-Identifier: Apache-2.0
// Create a session: hold of money, row, timer job and event in one commit.
import { idOf, newUuid } from '../../kernel/ids.ts'
import { placeOf } from '../../kernel/phone.ts'
import type { App } from '../../platform/app.ts'
import { commitIn, type RowOf } from '../../platform/commit.ts'
import type { Tx } from '../../platform/db.ts'
import type { NewEvent, Occasion } from '../../platform/events.ts'
import { advance, advanceIn } from './advance.ts'
import { responsePayload } from './application.ts'
import { ussdEvents } from './events.ts'
import type { Data } from './schema.ts'
import { type Session, type Setup, stepAt } from './session.ts'
import { beginOperation, liveSessions, resumableSession, sealedData } from './store.ts'
import { timerJob } from './timer.ts'

export interface Beginning {
  /** Session id of the caller; null generates one. */
  readonly sessionId: string | null
  readonly direction: 'push' | 'dial'
  readonly phone: string
  readonly shortcode: string
  readonly gateway: string
  /** Dialog id of the network; null uses the session's id. */
  readonly dialog: string | null
  readonly network: string | null
  readonly language: string | null
  /** Dial: the part after the shortcode. */
  readonly input: string | null
  readonly mark: string | null
  /** Push: the first screen. */
  readonly screen: string | null
  readonly timeout: number
  readonly setup: Setup
  readonly data: Data
  readonly metadata: string | null
  readonly cost: bigint
  readonly currency: string
  readonly resumedFrom: string | null
  readonly requestHash: string | null
}

type Verdict = 'begun' | 'duplicate' | 'insufficient'

interface Made {
  readonly session: Session
  readonly item: RowOf<(typeof beginOperation)['takes']>
  readonly started: NewEvent
  readonly told: NewEvent | null
}

/** Create a session for a dialled code. */
export async function begin(
  app: App,
  occasion: Occasion,
  beginning: Beginning,
): Promise<{ verdict: Verdict; session: Session }> {
  const made = await madeOf(app, occasion, beginning)
  const { verdict, deliveries, told_to: told } = await app.commit(beginOperation, made.item)
  if (verdict === 'begun') begun(app, made, deliveries, told)
  return { verdict: verdictOf(verdict), session: made.session }
}

/** Create a pushed session inside a transaction. */
export async function beginIn(
  app: App,
  tx: Tx,
  occasion: Occasion,
  beginning: Beginning,
): Promise<{ verdict: Verdict; session: Session }> {
  const made = await madeOf(app, occasion, beginning)
  const { verdict, deliveries, told_to: told } = await commitIn(tx, app.nodeId, beginOperation, made.item)
  if (verdict === 'begun') tx.afterCommit(() => begun(app, made, deliveries, told))
  return { verdict: verdictOf(verdict), session: made.session }
}

/** End other sessions of a phone on a shortcode: it has one at a time. */
export async function replaceLive(
  app: App,
  occasion: Occasion,
  phone: string,
  shortcode: string,
  tx?: Tx,
): Promise<void> {
  const old = await liveSessions(app, tx ?? app.db, occasion.tenant, phone, shortcode)
  for (const session of old) {
    const move = { kind: 'end', status: 'completed', reason: 'replaced' } as const
    await (tx ? advanceIn(app, tx, session, move) : advance(app, session, move))
  }
}

/** Expired session that a subscriber resumes by dialling again in time. */
export function resumed(
  app: App,
  { tenant, nowMs }: Occasion,
  phone: string,
  { code, resume_window: seconds }: { readonly code: string; readonly resume_window: number },
): Promise<Session | null> {
  if (seconds === 0) return Promise.resolve(null)
  return resumableSession(app, tenant, phone, code, new Date(nowMs - seconds * 1_000))
}

async function madeOf(app: App, occasion: Occasion, beginning: Beginning): Promise<Made> {
  const { tenant, receivedMs } = occasion
  const session = sessionFrom(occasion, beginning)
  const timer = app.work.prepare(timerJob, tenant, { session: session.id }, { delayMs: session.timeout * 1_000 })
  const { session_id, phone, shortcode, data } = session
  const started = app.outbox.prepare(ussdEvents.sessionStarted, occasion, session_id, {
    ...{ session_id, phone, shortcode, data },
    initiated_by: session.direction === 'dial' ? 'user' : 'application',
  })
  const isAsked = session.awaiting === 'app'
  const told = isAsked
    ? app.outbox.prepare(ussdEvents.response, occasion, session_id, responsePayload(session, occasion.nowMs))
    : null
  const item = {
    bucket: tenant.bucket,
    account: tenant.account,
    environment: tenant.environment,
    id: session.id,
    session_id,
    direction: session.direction,
    phone,
    shortcode,
    network: session.network,
    language: session.language,
    gateway: session.gateway,
    dialog: session.dialog,
    awaiting: session.awaiting,
    input: session.input,
    mark: session.mark,
    screen: session.screen,
    message: session.message,
    timeout: session.timeout,
    setup: JSON.stringify(session.setup),
    menu: null,
    data: await sealedData(app, tenant, session.id, data),
    history: JSON.stringify(session.history),
    metadata: session.metadata,
    cost: session.cost,
    currency: session.currency,
    resumed_from: session.resumed_from,
    request_hash: session.request_hash,
    at: session.created_at,
    expires_at: session.expires_at,
    timer,
    event: started.row,
    told: told?.row ?? null,
  }
  return { session: { ...session, clock_offset_ms: BigInt(occasion.nowMs - receivedMs) }, item, started, told }
}

function sessionFrom({ tenant, receivedMs, nowMs }: Occasion, beginning: Beginning): Session {
  const { direction, phone, shortcode, screen, timeout, cost, currency } = beginning
  const id = newUuid(receivedMs)
  const at = new Date(nowMs)
  const message = newUuid(receivedMs)
  return {
    bucket: tenant.bucket,
    account_id: tenant.account,
    environment: tenant.environment,
    id,
    session_id: beginning.sessionId ?? idOf('ussdSession', id),
    direction,
    phone,
    shortcode,
    network: beginning.network ?? placeOf(phone).network,
    language: beginning.language,
    gateway: beginning.gateway,
    dialog: beginning.dialog ?? idOf('ussdSession', id),
    status: 'initiated',
    reason: null,
    awaiting: direction === 'dial' ? 'app' : 'user',
    step: 1,
    input: beginning.input,
    mark: beginning.mark,
    screen,
    page: 0,
    message,
    first_message: message,
    timeout,
    setup: beginning.setup,
    menu: null,
    data: beginning.data,
    history: screen === null ? [] : [stepAt(at, { step: 1, input: null, output: screen, app_ms: null })],
    metadata: beginning.metadata,
    cost,
    currency,
    resumed_from: beginning.resumedFrom,
    request_hash: beginning.requestHash,
    created_at: at,
    updated_at: at,
    expires_at: new Date(nowMs + timeout * 1_000),
    ended_at: null,
    clock_offset_ms: BigInt(nowMs - receivedMs),
  }
}

function begun(app: App, { started, told }: Made, deliveries: string | null, toldTo: string | null): void {
  app.outbox.begin(started, deliveries)
  if (told) app.outbox.begin(told, toldTo)
}

function verdictOf(text: string | null): Verdict {
  return text === 'begun' || text === 'duplicate' ? text : 'insufficient'
}
