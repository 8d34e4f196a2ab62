// SPDX-License-Identifier: Apache-2.0
// Session: its stored row, what the subscriber sees, and the object of the API. Pure.
import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { momentText } from '../../kernel/time.ts'
import type { Environment } from '../../platform/tenant.ts'
import type { MenuState } from './menu.ts'
import type { Data, SessionRecord } from './schema.ts'
import { pagesOf, transliterated } from './screen.ts'

export type Reason =
  | 'completed'
  | 'expired'
  | 'user_cancelled'
  | 'network_released'
  | 'app_timeout'
  | 'app_error'
  | 'replaced'
  | 'undeliverable'

/** Shortcode settings, copied when the session started. */
export interface Setup {
  readonly mode: 'webhook' | 'text' | 'menu'
  readonly url: string | null
  readonly fallback_url: string | null
  readonly menu_id: string | null
  readonly menu_version: number | null
  /** Network timeout for a screen in seconds. */
  readonly network_limit: number
  readonly error_message: string
  readonly more: string
  readonly back: string
  readonly transliterate: boolean
  /** A screen without an input. */
  readonly is_notice: boolean
}

export interface Step {
  readonly step: number
  readonly input: string | null
  readonly output: string
  readonly at: string
  /** Response time of the application in milliseconds; null when it was not asked. */
  readonly app_ms: number | null
  /** Why the application's answer could not be shown, where it could not. */
  readonly app_error?: string
  /** Input as the application understood it, where different. */
  readonly app_input?: string
}

export interface SessionRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  session_id: string
  direction: 'push' | 'dial'
  phone: string
  shortcode: string
  network: string | null
  language: string | null
  gateway: string
  dialog: string
  status: 'initiated' | 'active' | 'completed' | 'expired'
  reason: Reason | null
  awaiting: 'app' | 'user' | 'nobody'
  step: number
  input: string | null
  mark: string | null
  screen: string | null
  page: number
  message: string
  first_message: string
  timeout: number
  setup: Setup
  menu: MenuState | null
  data: Buffer | null
  history: Step[]
  metadata: string | null
  cost: bigint
  currency: string
  resumed_from: string | null
  request_hash: string | null
  created_at: Date
  updated_at: Date
  expires_at: Date
  ended_at: Date | null
  /** When the network took a push; null: not known that it did. */
  shown_at: Date | null
  clock_offset_ms: bigint
}

/** Session with decrypted data. */
export type Session = Omit<SessionRow, 'data'> & { readonly data: Data }

/** Whether a session that an application began has not reached its handset, as far as is known. */
export function isUnshownPush({ direction, status, awaiting, shown_at: shownAt }: Session): boolean {
  return direction === 'push' && status === 'initiated' && awaiting === 'user' && shownAt === null
}

/** Whether a push was over before its first screen was shown: it cost nothing, and has no last screen either. */
export function isOverUnshown({ direction, awaiting, step, shown_at: shownAt }: Session): boolean {
  return direction === 'push' && awaiting === 'nobody' && step === 1 && shownAt === null
}

/** Whether a session is a notice that may be on its way: it ends by itself, when the network has taken it or has not. */
export function isNoticeUnderWay(session: Session): boolean {
  return session.setup.is_notice && isUnshownPush(session)
}

/** Pages of a session's screen. */
export function pagesShown({ screen, setup }: Pick<Session, 'screen' | 'setup'>): readonly string[] {
  if (screen === null) return []
  return pagesOf(setup.transliterate ? transliterated(screen) : screen, setup)
}

/** Text shown on the handset. */
export function shownText(session: Pick<Session, 'screen' | 'setup' | 'page'>): string {
  const pages = pagesShown(session)
  return pages[session.page] ?? pages[0] ?? ''
}

/** Inputs so far, including one that waits for the application. */
export function inputsOf({ history, input, awaiting }: Pick<Session, 'history' | 'input' | 'awaiting'>): string[] {
  const before = history.flatMap((step) => (step.input === null ? [] : [step.input]))
  return awaiting === 'app' && input !== null ? [...before, input] : before
}

export function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, Math.round((to.getTime() - from.getTime()) / 1_000))
}

export function recordOf(session: Session): Static<typeof SessionRecord> {
  const { history, ended_at: endedAt, metadata } = session
  return {
    session_id: session.session_id,
    phone: session.phone,
    shortcode: session.shortcode,
    status: session.status,
    created_at: session.created_at,
    last_activity: session.updated_at,
    expires_at: endedAt === null ? session.expires_at : null,
    data: session.data,
    history: history.map((step) => ({ ...step, at: new Date(step.at) })),
    direction: session.direction,
    network: session.network,
    language: session.language,
    timeout: session.timeout,
    ended_at: endedAt,
    reason: session.reason,
    reason_detail: reasonDetail(session),
    duration: secondsBetween(session.created_at, endedAt ?? session.updated_at),
    total_steps: session.step,
    screen_pages: pagesShown(session).length,
    cost: session.cost,
    currency: session.currency,
    resumed_from: session.resumed_from,
    metadata: metadata === null ? {} : JSON.parse(metadata),
  }
}

/** What was wrong with the answer of the application that a session ended by; null where it ended by something else. */
export function reasonDetail({ reason, history }: Pick<Session, 'reason' | 'history'>): string | null {
  return reason === 'app_error' || reason === 'app_timeout' ? (history.at(-1)?.app_error ?? null) : null
}

const overWords: Readonly<Record<Reason, string>> = {
  completed: 'It was completed',
  expired: 'It ran out of time',
  user_cancelled: 'The subscriber cancelled it',
  network_released: 'The network released it',
  app_timeout: 'Your application gave no screen in time',
  app_error: 'The answer of your application could not be shown',
  replaced: 'The subscriber or a push began another',
  undeliverable: 'Its screen could not be delivered',
}

/** Error for whoever wants to go on with a session that is over; says what it ended by. */
export function sessionOver({ status, reason, history }: Pick<Session, 'status' | 'reason' | 'history'>): AppError {
  const detail = reasonDetail({ reason, history })
  const words = overWords[reason ?? 'completed'] + (detail === null ? '' : `: ${detail}`)
  return new AppError(status === 'expired' ? 'SESSION_EXPIRED' : 'SESSION_ENDED', `${words} (${reason})`)
}

/** Mark of an input, by which its repeat is known: the number that the network gives it, and its text. */
export function markOf(sequence: string | number | null, text: string): string | null {
  return sequence === null ? null : `${sequence} ${text}`
}

/** History step with its time. */
export function stepAt(at: Date, step: Omit<Step, 'at'>): Step {
  return { ...step, at: momentText(at) }
}
