// SPDX-License-Identifier: Apache-2.0
// A turn of a session: what the subscriber did is stored, the application is asked, and what it says is stored before anybody
// sees it. Networks of every kind come here, whatever they speak.
import { AppError } from '../../kernel/errors.ts'
import type { App } from '../../platform/app.ts'
import { onePerApp } from '../../platform/one-per-app.ts'
import { tenantOf } from '../../platform/tenant.ts'
import { advance, type Move } from './advance.ts'
import { askApplication, deadlineMs, type Said } from './application.ts'
import type { MenuState } from './menu.ts'
import { doLater } from './menu-actions.ts'
import { knownScreen, runStoredMenu } from './menus.ts'
import { gatewaysOf } from './network/gateways.ts'
import { turnedTo } from './screen.ts'
import { pagesShown, type Reason, type Session } from './session.ts'
import { sessionOf } from './store.ts'
import { screenWaits } from './waiting.ts'

/** Time that a node which stops leaves applications: as long as one may take to answer. */
const graceMs = 5_000

/** Questions that this node asks at the moment: a repeated input waits for the answer to the first. */
const asking = onePerApp(() => new Map<string, Promise<Session>>())

/**
 * Takes what the subscriber typed. A repeat, known by its mark, or an input while the application thinks, changes nothing. Gives
 * the session as it then is.
 */
export async function typed(app: App, session: Session, text: string, mark: string | null): Promise<Session> {
  if (session.awaiting !== 'user' || (mark !== null && session.mark === mark)) return session
  const page = turnedTo(text, session.page, pagesShown(session).length)
  const move: Move = page === null ? { kind: 'input', text, mark } : { kind: 'page', page, mark }
  return (await advance(app, session, move)) ?? reloaded(app, session)
}

/**
 * The same, and the session once it is answered. What a menu answers by itself is stored with the input: one commit for a step.
 */
export async function typedAndAnswered(
  app: App,
  session: Session,
  text: string,
  mark: string | null,
): Promise<Session> {
  const isTaken = session.awaiting === 'user' && (mark === null || session.mark !== mark)
  const isPage = turnedTo(text, session.page, pagesShown(session).length) !== null
  const input = { kind: 'input', text, mark } as const
  const known = isTaken && !isPage ? await knownScreen(app, { ...session, input: text }) : null
  if (!known) return answered(app, await typed(app, session, text, mark))
  const next = await advance(app, session, { ...input, answer: known.move })
  if (next) await doLater(app, next, known.doing)
  return next ?? answered(app, await reloaded(app, session))
}

/** The session once its application has said what comes next, or the time for that is over. */
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
  // The network of the sandbox ends with its node: nobody would go on with its sessions.
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
      if (next) await doLater(app, next, doing)
      return next ?? (await reloaded(app, session))
    }
    if (answer?.said.kind === 'nothing')
      return await unanswered(app, session, answer.said.isLate ? 'app_timeout' : 'app_error')
    return await unanswered(app, session, (await wait.over) === 'stopped' && isLeft ? 'stopped' : 'app_timeout')
  } finally {
    wait.stop()
  }
}

interface Answer {
  readonly said: Said
  readonly tookMs: number
  readonly menu?: MenuState | undefined
  /** Screens of a menu that do something besides. */
  readonly doing?: readonly string[]
}

function ask(app: App, session: Session): Promise<Answer> {
  return session.setup.mode === 'menu' ? runStoredMenu(app, session) : askApplication(app, session)
}

/**
 * Where nobody went on with it meanwhile, the session ends with the words that its shortcode has for this. A node that stops
 * leaves it to another one, or to its own next start: a gateway that repeats its call is answered there.
 */
async function unanswered(app: App, session: Session, reason: Reason | 'stopped'): Promise<Session> {
  const now = await reloaded(app, session)
  if (now.awaiting !== 'app' || now.step !== session.step) return now
  if (reason === 'stopped')
    throw new AppError('PROVIDER_UNAVAILABLE', 'this node stops: repeat the call', { retryAfterSeconds: 1 })
  const screen = session.setup.error_message
  return (await advance(app, now, { kind: 'end', status: 'expired', reason, screen })) ?? reloaded(app, session)
}

export async function reloaded(app: App, session: Session): Promise<Session> {
  const now = await sessionOf(app, tenantOf(session), session.id)
  if (!now) throw new Error('a session that is under way is gone')
  return now
}
