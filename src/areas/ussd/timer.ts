// SPDX-License-Identifier: Apache-2.0
// Timeout job of a session: it follows the account's clock and survives the node. A push that is not known to have
// reached its handset ends as undeliverable, which costs nothing.
import { Type } from 'typebox'
import { timeOfUuid } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Job } from '../../platform/work.ts'
import { advance } from './advance.ts'
import { releaseOnItsNode, showOnItsNode } from './network/gateways.ts'
import { isUnshownPush } from './session.ts'
import { sessionOf } from './store.ts'

/** Time that showing a push may take, by the real clock: an account can move its own past the timeout at once. */
const showingMs = 5_000

const Payload = Type.Object({ session: Type.String() })

export const timerJob: Job<App, typeof Payload> = {
  lane: 'ussd.expire',
  role: 'timers',
  payload: Payload,
  concurrency: 64,
  retrySeconds: [1, 5, 30, 60, 300],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a session belongs to an account')
    const session = await sessionOf(app, tenant, payload.session)
    if (!session || session.awaiting === 'nobody') return { kind: 'done' }
    const leftMs = session.expires_at.getTime() - (app.clock.nowMs() + Number(session.clock_offset_ms))
    if (leftMs > 0) return { kind: 'again', afterMs: leftMs }
    const isUnshown = isUnshownPush(session)
    const ageMs = app.clock.nowMs() - timeOfUuid(session.id).getTime()
    if (isUnshown && ageMs < showingMs) return { kind: 'again', afterMs: 500 }
    const isUnanswered = session.awaiting === 'app'
    const reason = isUnanswered ? 'app_timeout' : isUnshown ? 'undeliverable' : 'expired'
    const screen = isUnanswered ? { screen: session.setup.error_message } : {}
    const over = await advance(app, session, { kind: 'end', status: 'expired', reason, ...screen })
    // A sandbox handset closes unanswered dialogs itself.
    if (over && over.environment === 'live') await (isUnanswered ? showOnItsNode : releaseOnItsNode)(app, over)
    // The session advanced concurrently.
    return over ? { kind: 'done' } : { kind: 'again', afterMs: 1_000 }
  },
}
