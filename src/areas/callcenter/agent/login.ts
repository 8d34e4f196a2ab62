// SPDX-License-Identifier: Apache-2.0
// Login, logout and status of agents. A login issues a token for that agent alone.
import type { Static } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { parseMoment } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { allows } from '../../../platform/auth/scopes.ts'
import { type Caller, secondsOfKey } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { iceServers } from '../../voice/area.ts'
import { isOnCall } from '../agents/agent.ts'
import { become, keepPresence, secondsSince } from '../agents/presence.ts'
import type { Login, Logout, StatusChange } from '../agents/schema.ts'
import { type AgentRow, findAgent, keepAgent } from '../agents/store.ts'
import { type After, notTaken } from '../caller/next-contact.ts'
import { contactNamed, wrappedUp } from '../contact/lifecycle.ts'
import { agentEvents } from '../events.ts'
import { requireFewer } from '../limits.ts'
import { findQueue } from '../queues/store.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { tickLater } from '../tick.ts'

const tokenSeconds = 8 * 3_600
/** Prefix of an agent token's subject; the agent and the session follow, separated by a colon. */
const subject = 'agent:'

/** Agent and session of a token; null for a key or another token. */
function tokenOf({ principal }: Caller): { agent: string; session: string | null } | null {
  const prefix = `token:${subject}`
  if (!principal.isToken || !principal.actor.startsWith(prefix)) return null
  const [agent = '', session = null] = principal.actor.slice(prefix.length).split(':')
  return { agent, session }
}

/** Agent that a member of the console is: one of the member's own id. Null without a session. */
function memberOf({ principal }: Caller): string | null {
  return principal.signedInAtMs === null ? null : principal.actor.slice('member:'.length)
}

/** Agent whose desk a caller has: that of a token, or the member's own. */
export function deskAgentOf(caller: Caller): string | null {
  return tokenOf(caller)?.agent ?? memberOf(caller)
}

/** The one agent that a caller acts for; null for a key, and for a member who runs the call centre. */
export function agentOf(caller: Caller): string | null {
  return tokenOf(caller)?.agent ?? (allows(caller.principal.scopes, 'callcenter:write') ? null : memberOf(caller))
}

/** Requires the session of an agent's token to last: it ends with a logout, or with another login. */
export async function requireSession(app: App, caller: Caller): Promise<void> {
  const token = tokenOf(caller)
  if (token === null || token.session === null) return
  const row = await maybe(app.db.query(findAgent, { ...caller.tenant, agent: token.agent }))
  if (!row?.session_id || idOf('session', row.session_id) !== token.session)
    throw new AppError('UNAUTHORIZED', `${token.agent} has logged out or started a new session: log in with an API key`)
}

/** Requires an agent's token to act on that agent only. */
export function requireSelf(caller: Caller, agent: string): void {
  const own = agentOf(caller)
  if (own !== null && own !== agent)
    throw new AppError('FORBIDDEN', `this token is limited to the agent ${own}`, {
      extra: { required_scope: 'callcenter:write' },
    })
}

/** Refuses skills and queues of a member's own choice: supervisors give them. */
function requireOwnFields(caller: Caller, { skills, queues }: Static<typeof Login>): void {
  if (memberOf(caller) !== null && agentOf(caller) !== null && (skills ?? queues) !== undefined)
    throw new AppError('FORBIDDEN', 'only a supervisor can set skills and queues', {
      extra: { required_scope: 'callcenter:write' },
    })
}

export async function agentRow(queryable: Queryable, tenant: Tenant, agent: string): Promise<AgentRow> {
  const row = await maybe(queryable.query(findAgent, { ...tenant, agent }))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such agent; agents are created by their first login')
  return row
}

/** UUIDs of queues; throws when one is unknown. */
export async function queueUuids(queryable: Queryable, tenant: Tenant, ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const [i, id] of ids.entries()) {
    const uuid = uuidOf('queue', id)
    if (uuid === null || !(await maybe(queryable.query(findQueue, { ...tenant, id: uuid }))))
      throw invalid(`queues[${i}]`, 'must be the id of a queue, que_…')
    found.push(uuid)
  }
  return found
}

export async function login(app: App, tx: Tx, wanted: Static<typeof Login>, caller: Caller) {
  const { tenant, nowMs, receivedMs } = caller
  requireSelf(caller, wanted.agent_id)
  requireOwnFields(caller, wanted)
  const occasion: Occasion = { ...caller }
  await holdSwitchboard(tx, tenant)
  const before = await maybe(tx.query(findAgent, { ...tenant, agent: wanted.agent_id }))
  const queues = wanted.queues ? await queueUuids(tx, tenant, wanted.queues) : (before?.queues ?? [])
  const kept = await one(
    tx.query(keepAgent, {
      ...tenant,
      agent: wanted.agent_id,
      name: wanted.name ?? before?.name ?? null,
      email: wanted.email ?? before?.email ?? null,
      skills: JSON.stringify(wanted.skills ?? before?.skills ?? []),
      queues,
      endpoint: JSON.stringify(wanted.endpoint ?? before?.endpoint ?? { type: 'webrtc' }),
      languages: wanted.languages ?? before?.languages ?? [],
      max_calls: wanted.max_calls ?? before?.max_calls ?? 1,
      external_ref: wanted.external_ref ?? before?.external_ref ?? null,
      at: new Date(nowMs),
    }),
  )
  if (!before) await requireFewer(tx, tenant, 'agents')
  // A second login replaces the first; a live call continues.
  if (kept.session_id !== null) await tellSession(app, tx, occasion, kept, 'loggedOut', 'replaced')
  const session = newUuid(receivedMs)
  const started = { session_id: session, logged_in_at: new Date(nowMs), desk_lost_at: null }
  const row = isOnCall(kept.status)
    ? await keepPresence(app, tx, occasion, kept, started)
    : await become(app, tx, occasion, { ...kept, calls_taken: 0 }, wanted.status ?? 'available', {
        ...started,
        calls_taken: 0,
      })
  await tellSession(app, tx, occasion, row, 'loggedIn', null)
  if (row.status === 'available') await tickLater(app, tx, tenant, 0)
  const seconds = Math.min(tokenSeconds, secondsOfKey(caller))
  // A session of the console is a credential itself, and makes none.
  const token =
    memberOf(caller) === null
      ? await app.tokens.issue({
          keyUuid: caller.principal.facts.keyUuid,
          accountId: caller.accountId,
          account: tenant.account,
          environment: tenant.environment,
          scopes: ['callcenter:agent'],
          subject: `${subject}${row.agent_id}:${idOf('session', session)}`,
          expiresInSeconds: seconds,
        })
      : null
  return {
    agent_id: row.agent_id,
    session_id: idOf('session', session),
    status: row.status,
    skills: row.skills,
    queues: row.queues.map((id) => idOf('queue', id)),
    endpoint: row.endpoint,
    logged_in_at: new Date(nowMs),
    token,
    token_expires_at: token === null ? null : new Date(receivedMs + seconds * 1_000),
    desk: { ws_url: `${app.publicUrl.replace(/^http/, 'ws')}/v1/voice/desk`, ice_servers: iceServers(app) },
  }
}

function tellSession(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: AgentRow,
  what: 'loggedIn' | 'loggedOut',
  reason: string | null,
) {
  return app.outbox.emit(tx, agentEvents[what], occasion, row.agent_id, {
    account_id: idOf('account', occasion.tenant.account),
    agent_id: row.agent_id,
    session_id: idOf('session', row.session_id ?? newUuid(occasion.receivedMs)),
    status: what === 'loggedOut' ? 'offline' : row.status,
    duration: what === 'loggedOut' && row.logged_in_at ? secondsSince(row.logged_in_at, occasion.nowMs) : 0,
    reason,
  })
}

export async function setStatus(app: App, tx: Tx, wanted: Static<typeof StatusChange>, caller: Caller) {
  const { tenant, nowMs } = caller
  requireSelf(caller, wanted.agent_id)
  await holdSwitchboard(tx, tenant)
  const row = await agentRow(tx, tenant, wanted.agent_id)
  if (row.session_id === null) throw new AppError('AGENT_NOT_LOGGED_IN', `${row.agent_id} is not logged in`)
  const until = wanted.until === undefined ? null : parseMoment(wanted.until)
  if (until && until.getTime() <= nowMs) throw invalid('until', 'must be in the future')
  const reason = wanted.reason ?? null
  const isKept = isOnCall(row.status)
  await wrappedUp(tx, { ...caller }, row)
  const next = isKept
    ? await keepPresence(app, tx, { ...caller }, row, { next_status: wanted.status, next_reason: reason })
    : await become(app, tx, { ...caller }, row, wanted.status, {
        reason,
        until,
        missed_offers: 0,
        offer_after: null,
        call_id: null,
        leg_id: null,
        contact_id: null,
        next_status: null,
        next_reason: null,
      })
  if (until) await tickLater(app, tx, tenant, until.getTime() - nowMs)
  if (next.status === 'available') await tickLater(app, tx, tenant, 0)
  return {
    agent_id: row.agent_id,
    status: next.status,
    previous_status: row.status,
    reason: next.reason,
    since: next.since,
    next_status: next.next_status,
  }
}

/** Ends an agent's session, by request or because the desk was lost. A call that rang there is offered again. */
export async function endSession(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: AgentRow,
  reason: string | null,
): Promise<After[]> {
  await wrappedUp(tx, occasion, row)
  await tellSession(app, tx, occasion, row, 'loggedOut', reason)
  const session = { session_id: null, logged_in_at: null, next_status: null, next_reason: null }
  const offered = row.status === 'ringing' && row.contact_id !== null ? row.contact_id : null
  const none = offered === null ? {} : { call_id: null, leg_id: null, contact_id: null }
  await become(app, tx, occasion, row, 'offline', { ...session, ...none, reason, desk_id: null, desk_lost_at: null })
  const contact = offered === null ? null : await contactNamed(tx, occasion, offered)
  return contact ? notTaken(app, tx, occasion, contact) : []
}

/** Logs out; returns the leg of the agent's call to hang up, and further commands to calls. */
export async function logout(app: App, tx: Tx, wanted: Static<typeof Logout>, caller: Caller) {
  const { tenant, nowMs } = caller
  requireSelf(caller, wanted.agent_id)
  await holdSwitchboard(tx, tenant)
  const row = await agentRow(tx, tenant, wanted.agent_id)
  if (row.session_id === null) throw new AppError('AGENT_NOT_LOGGED_IN', `${row.agent_id} is not logged in`)
  if (isOnCall(row.status) && !wanted.force)
    throw new AppError('AGENT_BUSY', `${row.agent_id} is ${row.status === 'ringing' ? 'being called' : 'on a call'}`)
  const occasion: Occasion = { ...caller }
  const after = await endSession(app, tx, occasion, row, wanted.force ? 'forced' : null)
  return {
    reply: {
      agent_id: row.agent_id,
      status: 'offline' as const,
      logged_out_at: new Date(nowMs),
      session_seconds: row.logged_in_at ? secondsSince(row.logged_in_at, nowMs) : 0,
    },
    leg: row.leg_id,
    after,
  }
}
