// SPDX-License-Identifier: Apache-2.0
// Turn of a session: store the input, ask the application, and store its screen before it is shown. Shared by all
// network protocols.
import { AppError } from '../../kernel/errors.ts'
import type { App } from '../../platform/app.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import { tenantOf } from '../../platform/tenant.ts'
import { advance, type Move } from './advance.ts'
import { askApplication, deadlineMs, type Said } from './application.ts'
import type { MenuState } from './menu.ts'
import { queueActions } from './menu-actions.ts'
import { knownScreen, runStoredMenu } from './menus.ts'
import { gatewaysOf } from './network/gateways.ts'
import { turnedTo } from './screen.ts'
import { pagesShown, type Reason, type Session } from './session.ts'
import { sessionOf } from './store.ts'
import { screenWaits } from './waiting.ts'

/** Grace period for applications when a node stops: the longest reply time. */
const graceMs = 5_000

/** Requests in progress on this node: a repeated input waits for the first one's reply. */
const asking = onePerApp(() => new Map<string, Promise<Session>>())

/**
 * Stores an input. A repeat, known by its mark, or an input while the application is being asked, changes nothing.
 * Returns the current session.
 */
export async function typed(app: App, session: Session, text: string, mark: string | null): Promise<Session> {
  if (session.awaiting !== 'user' || (mark !== null && session.mark === mark)) return session
  const page = turnedTo(text, session.page, pagesShown(session).length)
  const move: Move = page === null ? { kind: 'input', text, mark } : { kind: 'page', page, mark }
  return (await advance(app, session, move)) ?? reloaded(app, session)
}

/** Takes an input and its answer. */
export async function typedAndAnswered(
  app: App,
  session: Session,
  text: string,
  mark: string | null,
): Promise<Session> {
  const isTaken = session.awaiting === 'user' && (mark === null || session.mark !== mark)
  if (!isTaken) return answered(app, session)
  return (await takenOn(app, session, text, mark)) ?? answered(app, await reloaded(app, session))
}

/**
 * Takes a new input and its answer; null when the session is no longer where it was read. A screen that a menu knows by
 * itself is stored with the input, in one commit.
 */
export async function takenOn(app: App, session: Session, text: string, mark: string | null): Promise<Session | null> {
  const page = turnedTo(text, session.page, pagesShown(session).length)
  const known = page === null ? await knownScreen(app, { ...session, input: text }) : null
  const input = { kind: 'input', text, mark } as const
  const answer = known ? { ...input, answer: known.move } : input
  const next = await advance(app, session, page === null ? answer : { kind: 'page', page, mark })
  if (next && known) await queueActions(app, next, known.doing)
  return next && answered(app, next)
}

/** Session after the application's reply or its timeout. */
export function answered(app: App, session: Session): Promise<Session> {
  if (session.awaiting !== 'app') return Promise.resolve(session)
  const key = `${session.id} ${session.step}`
  const known = asking(app).get(key)
  if (known) return known
  const answer = asked(app, session).finally(() => asking(app).delete(key))
  asking(app).set(key, answer)
  return answer
}

async function asked(app: App, session: Session): Promise<Session> {
  // The sandbox network ends with its node: no node could resume its sessions.
  const isLeft = session.gateway !== gatewaysOf(app).sandboxName
  const whose = { ...tenantOf(session), id: session.id }
  const wait = screenWaits.of(app).until(whose, deadlineMs(session), isLeft ? graceMs : 0)
  try {
    const isMoved = wait.over.then(() => null)
    const answer = await Promise.race([ask(app, session), isMoved])
    if (answer?.said.kind === 'screen') {
      const { said, tookMs, menu, doing = [] } = answer
      const { text, ends, data } = said
      const next = await advance(app, session, { kind: 'screen', text, ends, data, menu, appMs: tookMs })
      if (next) await queueActions(app, next, doing)
      return next ?? (await reloaded(app, session))
    }
    if (answer?.said.kind === 'nothing')
      return await unanswered(app, session, answer.said.isLate ? 'app_timeout' : 'app_error', answer.said.why)
    return await unanswered(app, session, (await wait.over) === 'stopped' && isLeft ? 'stopped' : 'app_timeout')
  } finally {
    wait.stop()
  }
}

interface Answer {
  readonly said: Said
  readonly tookMs: number
  readonly menu?: MenuState | undefined
  /** Menu nodes with actions. */
  readonly doing?: readonly string[]
}

function ask(app: App, session: Session): Promise<Answer> {
  return session.setup.mode === 'menu' ? runStoredMenu(app, session) : askApplication(app, session)
}

/**
 * Reply missing: unless it advanced meanwhile, the session ends with the shortcode's message for this. A stopping node
 * leaves it to another, or to its next start, where a repeated gateway request is answered.
 */
async function unanswered(app: App, session: Session, reason: Reason | 'stopped', appError?: string): Promise<Session> {
  const now = await reloaded(app, session)
  if (now.awaiting !== 'app' || now.step !== session.step) return now
  if (reason === 'stopped')
    throw new AppError('PROVIDER_UNAVAILABLE', 'this node is stopping: repeat the call', { retryAfterSeconds: 1 })
  const screen = session.setup.error_message
  const move = { kind: 'end', status: 'expired', reason, screen, appError } as const
  return (await advance(app, now, move)) ?? reloaded(app, session)
}

export async function reloaded(app: App, session: Session): Promise<Session> {
  const now = await sessionOf(app, tenantOf(session), session.id)
  if (!now) throw new Error('a session that is under way is gone')
  return now
}
