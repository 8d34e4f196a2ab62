// SPDX-License-Identifier: Apache-2.0
// Incoming call: find the owner of the number, admit or refuse the call and start its session. The simulator states its
// tenant; a local program reaches the number's owner in the test environment.
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { withheldNumber } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { one } from '../../../platform/db.ts'
import { sessionsOf } from '../../../platform/nodes/live-sessions.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { type Environment, type Tenant, tenantOf } from '../../../platform/tenant.ts'
import type { SipCall } from '../../../protocols/sip/call.ts'
import { parseAddress, parseUri } from '../../../protocols/sip/header-values.ts'
import type { CallHandlers } from '../../../protocols/sip/switchboard.ts'
import { CallRecord, holdSeconds } from '../calls/call-record.ts'
import { callSessions } from '../calls/call-sessions.ts'
import { currencyOf } from '../calls/currency.ts'
import { deliverEventsJob } from '../calls/event-delivery.ts'
import { inboundPriceOf } from '../calls/minute-price.ts'
import { clockOffsetOf } from '../clock-offset.ts'
import { followersOf } from '../followers.ts'
import { CallSession } from '../live/session.ts'
import { type Answering, findFirstNumber } from '../numbers/store.ts'
import { type CallerVerification, type CallPlan, type CallRow, holdFor, insertCall } from '../store.ts'
import { readingsOf } from '../trunks/number-form.ts'
import { type Source, telephoneNetworkOf } from '../trunks/telephone-network.ts'

/** Length of the longest header Identity that is passed on. */
const maxIdentity = 8_192

/** Waiter for the id of a call the simulator was asked to make, by token. */
interface Expected {
  tenant: Tenant
  came(id: string | null): void
}

export const expectedCalls = onePerApp(() => new Map<string, Expected>())

export function takeIncoming(app: App, call: SipCall, source: Source): CallHandlers | number {
  // A registered trunk sends our registered name as request URI and the number in the To header.
  const numbers = [call.requestUri, parseAddress(call.to).uri.text].flatMap((uri) => numbersIn(uri, source.country))
  const from = callerOf(call, source) ?? withheldNumber
  if (numbers.length === 0) return 404
  const token = source.isSimulator ? call.header('x-pamoja-sandbox') : null
  const expected = token === null ? null : (expectedCalls(app).get(token) ?? null)
  // SIP needs its handlers now; the session is created once the database has answered.
  const handlers: CallHandlers = {}
  let isGone = false
  const verification = source.environment === 'live' ? verificationIn(call, from, source) : null
  const arrival = { from, numbers, expected, environment: source.environment, verification }
  begin(app, call, arrival, handlers, () => isGone).catch((error) => {
    app.log.error({ error }, 'incoming call not taken: the caller is refused; check the error and the database')
    call.reject(500)
    expected?.came(null)
  })
  // SIP copies these handlers, so they look up the session's handlers on each call.
  return {
    answered: (description, from) => handlers.answered?.(description, from),
    refused: (status, reason) => handlers.refused?.(status, reason),
    offered: (description, from) => handlers.offered?.(description, from) ?? null,
    isHeld: () => handlers.isHeld?.() ?? false,
    digit: (digit, durationMs) => handlers.digit?.(digit, durationMs),
    ended: (by, reason) => {
      isGone = true
      handlers.ended?.(by, reason)
    },
  }
}

/** Caller, number and tenant of an incoming call. */
interface Arrival {
  from: string
  /** Numbers that the call may be for; the first that somebody has, decides. */
  numbers: readonly string[]
  expected: Expected | null
  environment: Environment
  verification: CallerVerification | null
}

async function begin(
  app: App,
  call: SipCall,
  { from, numbers, expected, environment, verification }: Arrival,
  handlers: CallHandlers,
  isGone: () => boolean,
): Promise<void> {
  const number = await findFirstNumber(app.db, expected?.tenant.environment ?? environment, numbers)
  const to = number?.number ?? numbers[0] ?? ''
  const tenant = expected?.tenant ?? (number && tenantOf(number))
  const own = number && tenant && number.account_id === tenant.account ? number.settings : null
  if (!tenant || !(await isAnswered(app, tenant, from, to, own))) {
    expected?.came(null)
    return call.reject(404)
  }
  const offset = await clockOffsetOf(app, tenant.account, tenant.environment)
  const plan = { ...planOf(own), ...(verification ? { verification } : {}) }
  const row = await insertIncoming(app, tenant, { from, to, plan, eventUrl: own?.event_url ?? null }, offset)
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
  { from, to, plan, eventUrl }: { from: string; to: string; plan: CallPlan; eventUrl: string | null },
  offset: number,
): Promise<CallRow | null> {
  const nowMs = app.clock.nowMs()
  const id = newUuid(nowMs)
  const currency = await currencyOf(app, tenant.account)
  const minute = inboundPriceOf(app, tenant.account, currency)
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
        from_number: from,
        to_number: to,
        plan: JSON.stringify(plan),
        custom_data: '{}',
        event_url: eventUrl,
        record: false,
        started_at: new Date(nowMs + offset),
        minute_micros: minute,
        currency,
        node: app.nodeId,
      }),
    )
  })
}

/**
 * What the network of a caller says of the number that is shown; null where it says nothing, or says it of another number. The
 * signed header has the number in it, and is not shown where the caller withholds that.
 */
function verificationIn(call: SipCall, from: string, { country }: Source): CallerVerification | null {
  const hidden = isWithheld(call)
  const identity = hidden ? null : call.header('identity')
  const named = [call.header('p-asserted-identity'), call.from].flatMap((one) => one ?? [])
  const shown = named.find((one) => hidden || numbersIn(addressIn(one), country)[0] === from)
  const verstat = /;verstat=([A-Za-z-]{1,64})/.exec(shown ?? '')?.[1] ?? null
  if (identity === null && verstat === null) return null
  return { verstat, identity: identity !== null && identity.length <= maxIdentity ? identity : null }
}

/** Number of the caller: where From has none, the one that the network vouches for (RFC 3325); null when it is withheld. */
function callerOf(call: SipCall, { environment, country }: Source): string | null {
  const isLive = environment === 'live'
  if (isLive && isWithheld(call)) return null
  const asserted = isLive ? call.header('p-asserted-identity') : null
  const uris = [parseAddress(call.from).uri.text, ...(asserted === null ? [] : [addressIn(asserted)])]
  return uris.flatMap((uri) => numbersIn(uri, country))[0] ?? null
}

/** Whether the caller asks the network to show no number (RFC 3323, RFC 3325), in words or by an anonymous address. */
function isWithheld(call: SipCall): boolean {
  const isAnonymous = parseUri(addressIn(call.from)).host.toLowerCase() === 'anonymous.invalid'
  return isAnonymous || /\b(id|user|header|full)\b/i.test(call.header('privacy') ?? '')
}

/** URI of an address in a header that need not be well formed. */
function addressIn(header: string): string {
  try {
    return parseAddress(header).uri.text
  } catch {
    return 'sip:invalid'
  }
}

/** Numbers that a SIP or tel URI may name, the likeliest first. */
function numbersIn(uri: string, country: string | null): string[] {
  return readingsOf(parseUri(uri).user ?? '', country)
}
