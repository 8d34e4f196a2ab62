// SPDX-License-Identifier: Apache-2.0
// Creates a session: hold of money, row, timer job and event in one commit.
import { idOf, newUuid } from '../../kernel/ids.ts'
import { placeOf } from '../../kernel/phone.ts'
import type { App } from '../../platform/app.ts'
import { commitIn, type RowOf } from '../../platform/commit.ts'
import type { Tx } from '../../platform/db.ts'
import type { NewEvent, Occasion } from '../../platform/events.ts'
import { advance, advanceIn, askedEvent, movedBy, sealedInEvent } from './advance.ts'
import { ussdEvents } from './events.ts'
import { queueActions } from './menu-actions.ts'
import { knownScreen } from './menus.ts'
import type { Data } from './schema.ts'
import { isNoticeUnderWay, type Session, type Setup, stepAt } from './session.ts'
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
  /** Refuses with `live` when the phone has an open session on the shortcode. */
  readonly isAlone: boolean
  /** Refuses with `known` when the dialog exists. */
  readonly isNew: boolean
  /** The reply to the dial carries the first screen: store it with the session where a menu knows it. */
  readonly isShownAtOnce: boolean
}

const verdicts = ['begun', 'duplicate', 'insufficient', 'live', 'known'] as const
/** `live`: the phone has an open session on the shortcode. `known`: the dialog or a session of its name exists. */
type Verdict = (typeof verdicts)[number]

interface Made {
  readonly session: Session
  readonly item: RowOf<(typeof beginOperation)['takes']>
  readonly started: NewEvent
  readonly told: NewEvent | null
  /** Menu screens with actions. */
  readonly doing: readonly string[]
}

/** Creates a session for a dialled code. */
export async function begin(
  app: App,
  occasion: Occasion,
  beginning: Beginning,
): Promise<{ verdict: Verdict; session: Session }> {
  const made = await madeOf(app, occasion, beginning)
  const { verdict, deliveries, told_to: told } = await app.commit(beginOperation, made.item)
  if (verdict === 'begun') {
    begun(app, made, deliveries, told)
    await queueActions(app, made.session, made.doing)
  }
  return { verdict: verdictOf(verdict), session: made.session }
}

/** Creates a pushed session inside a transaction. */
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

/**
 * Ends other sessions of a phone on a shortcode: it has one at a time. One that moved on since it was read, such as a push that
 * the network has shown meanwhile, is looked at once more.
 */
export async function replaceLive(
  app: App,
  occasion: Occasion,
  phone: string,
  shortcode: string,
  tx?: Tx,
): Promise<void> {
  const move = { kind: 'end', status: 'completed', reason: 'replaced' } as const
  for (let isAgain = false; ; isAgain = true) {
    const old = await liveSessions(app, tx ?? app.db, occasion.tenant, phone, shortcode)
    let isMet = false
    for (const session of old.filter((one) => !isNoticeUnderWay(one))) {
      const ended = await (tx ? advanceIn(app, tx, session, move) : advance(app, session, move))
      if (!ended) isMet = true
    }
    if (!isMet || isAgain) return
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
  const { tenant } = occasion
  const begins = sessionFrom(occasion, beginning)
  const first = beginning.isShownAtOnce ? await knownScreen(app, begins) : null
  const isShown = first !== null && !first.move.ends
  const session = isShown ? shownFirst(movedBy(begins, first.move, occasion)) : begins
  const timer = app.work.prepare(timerJob, tenant, { session: session.id }, { delayMs: session.timeout * 1_000 })
  const { session_id, phone, shortcode } = session
  const payload = {
    ...{ session_id, phone, shortcode, data: begins.data },
    initiated_by: session.direction === 'dial' ? ('user' as const) : ('application' as const),
  }
  const sealed = await sealedInEvent(app, begins)
  const started = app.outbox.prepare(ussdEvents.sessionStarted, occasion, session_id, payload, { sealed })
  const told = begins.awaiting === 'app' ? await askedEvent(app, occasion, begins) : null
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
    status: session.status,
    awaiting: session.awaiting,
    input: session.input,
    mark: session.mark,
    screen: session.screen,
    message: session.message,
    timeout: session.timeout,
    setup: JSON.stringify(session.setup),
    menu: session.menu === null ? null : JSON.stringify(session.menu),
    data: await sealedData(app, tenant, session.id, session.data),
    history: JSON.stringify(session.history),
    metadata: session.metadata,
    cost: session.cost,
    currency: session.currency,
    resumed_from: session.resumed_from,
    request_hash: session.request_hash,
    at: session.created_at,
    expires_at: session.expires_at,
    is_alone: beginning.isAlone,
    is_new: beginning.isNew,
    timer,
    event: started.row,
    told: told?.row ?? null,
  }
  return { session, item, started, told, doing: isShown ? first.doing : [] }
}

/** Session whose first screen is its first message. */
function shownFirst(session: Session): Session {
  return { ...session, first_message: session.message }
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
    shown_at: null,
    clock_offset_ms: BigInt(nowMs - receivedMs),
  }
}

function begun(app: App, { started, told }: Made, deliveries: string | null, toldTo: string | null): void {
  app.outbox.begin(started, deliveries)
  if (told) app.outbox.begin(told, toldTo)
}

function verdictOf(text: string | null): Verdict {
  return verdicts.find((one) => one === text) ?? 'insufficient'
}
