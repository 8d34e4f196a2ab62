// SPDX-License-Identifier: Apache-2.0
// Session transitions: an input, a page turn, the next screen, or the end. The update is guarded by the step it was
// read at; the loser of a race changes nothing.
import { newUuid } from '../../kernel/ids.ts'
import { currencyOf } from '../../ledger/currencies.ts'
import { post } from '../../ledger/wallets.ts'
import type { App } from '../../platform/app.ts'
import { commitIn, type RowOf } from '../../platform/commit.ts'
import { maybe, type Tx } from '../../platform/db.ts'
import { sealedObject } from '../../platform/events/sealed.ts'
import { type NewEvent, type Occasion, occasionNow, type SealedObject } from '../../platform/events.ts'
import { tenantOf } from '../../platform/tenant.ts'
import { responsePayload } from './application.ts'
import { ussdEvents } from './events.ts'
import type { MenuState } from './menu.ts'
import type { Data } from './schema.ts'
import { isUnshownPush, type Reason, reasonDetail, type Session, secondsBetween, stepAt } from './session.ts'
import { advanceOperation, noteShown, resealedData, setCost } from './store.ts'

export interface ScreenMove {
  readonly kind: 'screen'
  readonly text: string
  readonly ends: boolean
  readonly data?: Data | undefined
  readonly menu?: MenuState | undefined
  readonly appMs?: number | null
  /** Input as the application reported it. */
  readonly input?: string
}

interface InputMove {
  readonly kind: 'input'
  readonly text: string
  readonly mark: string | null
  /** Next screen, where it is known already: stored in the same commit. */
  readonly answer?: ScreenMove | undefined
}

export type Move =
  | InputMove
  | ScreenMove
  | { readonly kind: 'page'; readonly page: number; readonly mark: string | null }
  | {
      readonly kind: 'end'
      readonly status: 'completed' | 'expired'
      readonly reason: Reason
      /** Last screen shown. */
      readonly screen?: string
      /** Why the application's answer was not shown. */
      readonly appError?: string | undefined
    }

interface Advance {
  readonly item: RowOf<(typeof advanceOperation)['takes']>
  /** Events: the subscriber answered; the session ended. */
  readonly asked: NewEvent | null
  readonly over: NewEvent | null
  /** Session after the transition. */
  readonly next: Session
}

/** Step limit per session; the last step ends it, so that a looping menu does not grow for ever. */
const maxSteps = 250

/** Whether a session that ends is paid for: not when the subscriber saw no screen, as far as is known. */
function isPaid(session: Session, move: Move, reason: Reason | null): boolean {
  if (reason === null || reason === 'undeliverable') return false
  // Who cancels it has seen it.
  return move.kind !== 'end' || reason === 'user_cancelled' || !isUnshownPush(session)
}

/** Advances a session; null when another transition came first. */
export async function advance(app: App, session: Session, move: Move): Promise<Session | null> {
  const made = await advanceOf(app, session, move)
  const told = await app.commit(advanceOperation, made.item)
  if (told.stored !== true) return null
  tell(app, made, told)
  return made.next
}

/** Advances a session inside a transaction. */
export async function advanceIn(app: App, tx: Tx, session: Session, move: Move): Promise<Session | null> {
  const made = await advanceOf(app, session, move)
  const told = await commitIn(tx, app.nodeId, advanceOperation, made.item)
  if (told.stored !== true) return null
  tx.afterCommit(() => tell(app, made, told))
  return made.next
}

/**
 * The network took the first screen of a push. One that its application ended or replaced while the network had not answered
 * was free, and is paid for now; `session` is as it was pushed. A wallet that is empty since pays nothing.
 */
export async function pushShown(app: App, session: Session): Promise<void> {
  const tenant = tenantOf(session)
  const { id, cost, currency } = session
  await app.db.tx(tenant, async (tx) => {
    const noted = await maybe(tx.query(noteShown, { ...tenant, id }))
    if (!noted?.is_free || cost === 0n) return
    const legs = [{ debit: 'wallet', credit: 'revenue:ussd', micros: cost, currency: currencyOf(currency) }]
    const posted = await post(tx, tenant, { sourceId: id, step: 'charge' }, legs, app.clock.nowMs())
    if (posted === 'posted') await tx.query(setCost, { ...tenant, id, cost })
  })
}

function tell(app: App, { asked, over }: Advance, told: RowOf<(typeof advanceOperation)['gives']>): void {
  if (asked) app.outbox.begin(asked, told.deliveries)
  if (over) app.outbox.begin(over, told.over_to)
}

async function advanceOf(app: App, session: Session, move: Move): Promise<Advance> {
  const tenant = tenantOf(session)
  const occasion = occasionNow(app.clock, tenant, session.clock_offset_ms)
  const taken = move.kind === 'input' ? inputTaken(session, move, occasion) : null
  const answer = move.kind === 'input' ? move.answer : move
  const after = answer ? movedBy(taken ?? session, answer, occasion) : (taken ?? session)
  const isOver = after.awaiting === 'nobody'
  const isFree = isOver && !isPaid(session, move, after.reason)
  const next = isFree ? { ...after, cost: 0n } : after
  const asked = taken && (await askedEvent(app, occasion, taken))
  const over = isOver ? await overEvent(app, occasion, next) : null
  const data = next.data === session.data ? null : await resealedData(app, tenant, session.id, next.data)
  const entry = next.history.length > session.history.length ? next.history.at(-1) : null
  const item = {
    bucket: tenant.bucket,
    account: tenant.account,
    environment: tenant.environment,
    id: session.id,
    step: session.step,
    awaiting: session.awaiting,
    page: session.page,
    next_step: next.step,
    next_awaiting: next.awaiting,
    next_page: next.page,
    status: next.status,
    reason: next.reason,
    input: next.input,
    mark: next.mark,
    screen: next.screen,
    message: next.message,
    menu: next.menu === session.menu ? null : JSON.stringify(next.menu),
    data,
    entry: entry ? JSON.stringify([entry]) : null,
    at: next.updated_at,
    expires_at: next.expires_at,
    transfer: isOver && !isFree ? newUuid(occasion.receivedMs) : null,
    event: asked?.row ?? null,
    over: over?.row ?? null,
  }
  return { item, asked, over, next }
}

/** Session after an input, waiting for the application. */
function inputTaken(
  session: Session,
  { text, mark }: Pick<InputMove, 'text' | 'mark'>,
  { nowMs, receivedMs }: Occasion,
): Session {
  return {
    ...session,
    status: 'active',
    // The event of the input has this id too, until the screen has one of its own.
    message: newUuid(receivedMs),
    updated_at: new Date(nowMs),
    expires_at: new Date(nowMs + session.timeout * 1_000),
    step: session.step + 1,
    awaiting: 'app',
    page: 0,
    input: text,
    mark,
  }
}

/** Session after a transition that is no input. */
export function movedBy(session: Session, move: Exclude<Move, InputMove>, occasion: Occasion): Session {
  const { nowMs, receivedMs } = occasion
  const at = new Date(nowMs)
  const active = {
    ...session,
    status: 'active' as const,
    updated_at: at,
    expires_at: new Date(nowMs + session.timeout * 1_000),
  }
  if (move.kind === 'page') return { ...active, status: session.status, page: move.page, mark: move.mark }
  if (move.kind === 'screen') {
    const shown = screenOf(session, move, at)
    const message = newUuid(receivedMs)
    const on = { ...active, ...shown, screen: move.text, page: 0, message, ...dataOf(session, move) }
    return move.ends || shown.step >= maxSteps
      ? { ...on, awaiting: 'nobody', status: 'completed', reason: 'completed', ended_at: at }
      : { ...on, awaiting: 'user' }
  }
  const { status, reason, screen, appError } = move
  const last = screen === undefined ? {} : screenOf(session, { text: screen, appError }, at)
  return {
    ...session,
    ...last,
    screen: screen ?? session.screen,
    page: 0,
    updated_at: at,
    awaiting: 'nobody',
    status,
    reason,
    ended_at: at,
  }
}

/** A screen completes the step that asked for it, or adds one. */
function screenOf(
  session: Session,
  {
    text,
    input,
    appMs = null,
    appError,
  }: Pick<ScreenMove, 'text' | 'input' | 'appMs'> & { appError?: string | undefined },
  at: Date,
): Pick<Session, 'step' | 'history' | 'input'> {
  const isAsked = session.awaiting === 'app'
  const step = isAsked ? session.step : session.step + 1
  const typed = isAsked ? session.input : (input ?? null)
  const differs = isAsked && input !== undefined && input !== session.input ? { app_input: input } : {}
  const problem = appError === undefined ? {} : { app_error: appError }
  const entry = stepAt(at, { step, input: typed, output: text, app_ms: appMs, ...differs, ...problem })
  return { step, history: [...session.history, entry], input: typed }
}

function dataOf(session: Session, { data, menu }: { data?: Data | undefined; menu?: MenuState | undefined }) {
  return { data: data ?? session.data, menu: menu ?? session.menu }
}

/** Event of a dial or an answer that the application is to reply to. */
export async function askedEvent(app: App, occasion: Occasion, session: Session): Promise<NewEvent> {
  const payload = responsePayload(session, occasion.nowMs)
  const sealed = await sealedInEvent(app, session)
  return app.outbox.prepare(ussdEvents.response, occasion, session.session_id, payload, {
    ...{ sealed, uuid: session.message },
  })
}

async function overEvent(app: App, occasion: Occasion, next: Session): Promise<NewEvent | null> {
  if (next.reason === null) return null
  const payload = {
    session_id: next.session_id,
    phone: next.phone,
    reason: next.reason,
    reason_detail: reasonDetail(next),
    duration: secondsBetween(next.created_at, next.updated_at),
    total_steps: next.step,
    status: next.status === 'expired' ? ('expired' as const) : ('completed' as const),
    data: next.data,
  }
  const sealed = await sealedInEvent(app, next)
  return app.outbox.prepare(ussdEvents.sessionEnded, occasion, next.session_id, payload, { sealed })
}

/** Data of a session as its events store it. */
export function sealedInEvent(app: App, { session_id: id, data, ...row }: Session): Promise<SealedObject | null> {
  return sealedObject(app, tenantOf(row), id, 'data', data)
}
