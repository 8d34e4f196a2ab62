// SPDX-License-Identifier: Apache-2.0
// Incoming call: find the owner of the number, admit or refuse the call and start its session. The simulator states its
// tenant; a local program reaches the number's owner in the test environment.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { one } from '../../../platform/db.ts'
import { sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { type Environment, type Tenant, tenantOf } from '../../../platform/tenant.ts'
import type { SipCall } from '../../../protocols/sip/call.ts'
import { parseAddress, parseUri } from '../../../protocols/sip/header-values.ts'
import type { CallHandlers } from '../../../protocols/sip/switchboard.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { followersOf } from '../followers.ts'
import { type Answering, findNumber } from '../numbers/store.ts'
import { type CallPlan, type CallRow, holdFor, insertCall } from '../store.ts'
import { type Source, telephoneNetworkOf } from '../trunks/telephone-network.ts'
import { currencyOf } from './currency.ts'
import { inboundPriceOf } from './price.ts'
import { CallRecord, holdSeconds } from './record.ts'
import { CallSession } from './session.ts'
import { callSessions } from './session-kind.ts'
import { deliverEventsJob } from './tell.ts'

/** Waiter for the id of a call the simulator was asked to make, by token. */
interface Expected {
  tenant: Tenant
  came(id: string | null): void
}

export const expectedCalls = onePerApp(() => new Map<string, Expected>())

export function takeIncoming(app: App, call: SipCall, source: Source): CallHandlers | number {
  // A registered trunk sends our registered name as request URI and the number in the To header.
  const to = numberIn(call.requestUri) ?? numberIn(parseAddress(call.to).uri.text)
  const from = numberIn(parseAddress(call.from).uri.text) ?? '+10000000000'
  if (to === null) return 404
  const token = source.isSimulator ? call.header('x-pamoja-sandbox') : null
  const expected = token === null ? null : (expectedCalls(app).get(token) ?? null)
  // SIP needs its handlers now; the session is created once the database has answered.
  const handlers: CallHandlers = {}
  let isGone = false
  begin(app, call, { from, to, expected, environment: source.environment }, handlers, () => isGone).catch((error) => {
    app.log.error({ error }, 'incoming call not taken: the caller is refused; check the error and the database')
    call.reject(500)
    expected?.came(null)
  })
  // SIP copies these handlers, so they look up the session's handlers on each call.
  return {
    answered: (description) => handlers.answered?.(description),
    refused: (status, reason) => handlers.refused?.(status, reason),
    offered: (description) => handlers.offered?.(description) ?? null,
    digit: (digit, durationMs) => handlers.digit?.(digit, durationMs),
    referred: (target) => handlers.referred?.(target) ?? false,
    ended: (by, reason) => {
      isGone = true
      handlers.ended?.(by, reason)
    },
  }
}

/** Caller, number and tenant of an incoming call. */
interface Arrival {
  from: string
  to: string
  expected: Expected | null
  environment: Environment
}

async function begin(
  app: App,
  call: SipCall,
  { from, to, expected, environment }: Arrival,
  handlers: CallHandlers,
  isGone: () => boolean,
): Promise<void> {
  const number = await findNumber(app.db, expected?.tenant.environment ?? environment, to)
  const tenant = expected?.tenant ?? (number && tenantOf(number))
  const own = number && tenant && number.account_id === tenant.account ? number.settings : null
  if (!tenant || !(await isAnswered(app, tenant, from, to, own))) {
    expected?.came(null)
    return call.reject(404)
  }
  const offset = await clockOffsetOf(app, tenant.account, tenant.environment)
  const row = await insertIncoming(app, tenant, from, to, own, offset)
  if (!row) {
    expected?.came(null)
    return call.reject(503)
  }
  const session = new CallSession(telephoneNetworkOf(app), new CallRecord(app, row, offset))
  session.begin()
  Object.assign(handlers, session.receive(call))
  expected?.came(idOf('call', row.id))
  if (isGone()) return handlers.ended?.('remote', 'cancelled')
  await session.welcome()
}

/** Whether a number is answered: by its assignment, or by an area that takes calls to any number. */
async function isAnswered(
  app: App,
  tenant: Tenant,
  from: string,
  to: string,
  number: Answering | null,
): Promise<boolean> {
  if (number?.answer_url) return true
  if (number?.target && number.target.type !== 'routing') return true
  for (const follower of followersOf(app)) if (await follower.answers?.(app, tenant, { from, to })) return true
  return false
}

function planOf(number: Answering | null): CallPlan {
  if (!number?.answer_url) return { target: number?.target ?? { type: 'routing' } }
  return {
    answer_url: number.answer_url,
    ...(number.fallback_url === null ? {} : { fallback_url: number.fallback_url }),
    answer_method: number.answer_method,
  }
}

async function insertIncoming(
  app: App,
  tenant: Tenant,
  from: string,
  to: string,
  number: Answering | null,
  offset: number,
): Promise<CallRow | null> {
  const nowMs = app.clock.nowMs()
  const id = newUuid(nowMs)
  const currency = await currencyOf(app, tenant.account)
  const minute = inboundPriceOf(app, tenant.account, currency)
  const plan = planOf(number)
  const eventUrl = number?.event_url ?? null
  return app.db.tx(tenant, async (tx) => {
    if (!(await holdFor(tx, { ...tenant, id }, currency, (minute * BigInt(holdSeconds)) / 60n))) return null
    if (eventUrl !== null) await app.work.add(tx, deliverEventsJob(app, tenant, id, offset))
    await sessionsOf(app).register(tx, callSessions, { ...tenant, id })
    return one(
      tx.query(insertCall, {
        ...tenant,
        id,
        conversation: id,
        parent: null,
        direction: 'inbound',
        from,
        to,
        plan: JSON.stringify(plan),
        custom: '{}',
        eventUrl,
        record: false,
        startedAt: new Date(nowMs + offset),
        minuteMicros: minute,
        currency,
        node: app.nodeId,
      }),
    )
  })
}

/** Number in a SIP or tel URI, with its plus. */
function numberIn(uri: string): string | null {
  const { user } = parseUri(uri)
  const digits = user?.replace(/[^\d+]/g, '') ?? ''
  const number = digits.startsWith('+') ? digits : `+${digits}`
  return /^\+[1-9]\d{1,14}$/.test(number) ? number : null
}
