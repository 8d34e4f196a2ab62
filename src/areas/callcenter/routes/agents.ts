// SPDX-License-Identifier: Apache-2.0
// Routes of agents: login, status and call context.
import { Type } from 'typebox'
import { invalid } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { one } from '../../../platform/db.ts'
import { pageQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { liveCalls } from '../../voice/area.ts'
import { agentRow, login, logout, queueUuids, requireSelf, setStatus } from '../agent/login.ts'
import {
  Agent,
  AgentChange,
  AgentContext,
  LoggedIn,
  LoggedOut,
  Login,
  Logout,
  StatusChange,
  StatusChanged,
} from '../agents/schema.ts'
import { type AgentEndpoint, type AgentRow, keepAgent, listAgents } from '../agents/store.ts'
import { all } from '../conferences/conference.ts'
import { contextOf } from '../metrics/agent-context.ts'
import { holdSwitchboard } from '../switchboard.ts'
import { tickLater } from '../tick.ts'

const AgentParam = Type.Object({ agent_id: Type.String({ description: 'Your own id for the agent' }) })
const anAgent = { operation: 'callcenter.login', id: 'agent_id' }

/** Requires a complete endpoint. */
function requireEndpoint(endpoint: AgentEndpoint | undefined): void {
  if (endpoint?.type === 'phone' && endpoint.number === undefined)
    throw invalid('endpoint.number', 'is needed for a phone')
  if (endpoint?.type === 'sip' && endpoint.uri === undefined)
    throw invalid('endpoint.uri', 'is needed for a SIP phone, such as sip:ada@example.org')
}

const loginRoute = write({
  method: 'POST',
  path: '/v1/voice/agent/login',
  operation: 'callcenter.login',
  summary: 'Log an agent in',
  description:
    'The first login creates the agent. A new login ends the earlier session. Absent fields are left unchanged. The token is valid for this agent only.',
  scope: 'callcenter:agent',
  body: Login,
  reply: { status: 200, schema: LoggedIn },
  errors: ['INVALID_PHONE', 'UNSUPPORTED_LANGUAGE', 'CONFLICT'],
  examples: [
    {
      name: 'An agent with a phone',
      body: {
        agent_id: 'amina',
        name: 'Amina',
        skills: [{ name: 'billing', level: 4 }],
        endpoint: { type: 'phone', number: '+254711000040' },
      },
    },
  ],
  prepare: async (_app, { body }) => requireEndpoint(body.endpoint),
  handle: (app, tx, { body }, caller) => login(app, tx, body, caller),
})

const statusRoute = write({
  method: 'POST',
  path: '/v1/voice/agent/status',
  operation: 'callcenter.setAgentStatus',
  summary: 'Set an agent’s status',
  description: 'During a call the change is stored as next_status and applies at its end.',
  scope: 'callcenter:agent',
  body: StatusChange,
  needs: anAgent,
  reply: { status: 200, schema: StatusChanged },
  errors: ['NOT_FOUND', 'AGENT_NOT_LOGGED_IN'],
  examples: [{ name: 'A break', body: { agent_id: 'amina', status: 'break', reason: 'lunch' } }],
  handle: (app, tx, { body }, caller) => setStatus(app, tx, body, caller),
})

const logoutRoute = write({
  method: 'POST',
  path: '/v1/voice/agent/logout',
  operation: 'callcenter.logout',
  summary: 'Log an agent out',
  scope: 'callcenter:agent',
  body: Logout,
  needs: anAgent,
  reply: { status: 200, schema: LoggedOut },
  errors: ['NOT_FOUND', 'AGENT_NOT_LOGGED_IN', 'AGENT_BUSY'],
  examples: [{ name: 'End of the shift', body: { agent_id: 'amina' } }],
  handle: async (app, tx, { body }, caller) => {
    const { reply, leg, after } = await logout(app, tx, body, caller)
    if (leg !== null) tx.afterCommit(() => hangUpSoon(app, caller.tenant, leg))
    tx.afterCommit(() => void all(app, after))
    return reply
  },
})

function hangUpSoon(app: App, tenant: Tenant, leg: string): void {
  liveCalls(app)
    .hangUp(tenant, leg)
    .catch((error) =>
      app.log.warn(
        { error },
        'agent logged out but the leg stays up: its node did not answer; it ends when the agent hangs up',
      ),
    )
}

const context = read({
  method: 'GET',
  path: '/v1/voice/agent/:agent_id/context',
  operation: 'callcenter.agentContext',
  summary: 'Get an agent’s current call and its caller',
  scope: 'callcenter:read',
  params: AgentParam,
  needs: anAgent,
  query: Type.Object({
    call_id: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          'Id of a call to show instead of the current one; agents see calls of their own customers of the last day',
      }),
    ),
    phone: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'Number of the customer, if there is no call; agents learn nothing of customers of others',
      }),
    ),
  }),
  reply: { status: 200, schema: AgentContext },
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query }, caller) => {
    const agent = await agentRow(app.db, caller.tenant, params.agent_id)
    requireSelf(caller, params.agent_id)
    return contextOf(app, caller, agent, query)
  },
})

function agentRecord(row: AgentRow) {
  const { agent_id, name, email, status, reason, since, next_status, skills, endpoint, languages } = row
  const { max_calls, external_ref, logged_in_at, created_at } = row
  return {
    agent_id,
    name,
    email,
    status,
    reason,
    since,
    next_status,
    next_offer_at: row.offer_after,
    skills,
    queues: row.queues.map((id) => idOf('queue', id)),
    endpoint,
    languages,
    max_calls,
    external_ref,
    call_id: row.call_id === null ? null : idOf('call', row.call_id),
    logged_in_at,
    created_at,
  }
}

const listOwn = list({
  path: '/v1/voice/agent',
  operation: 'callcenter.listAgents',
  summary: 'List agents',
  scope: 'callcenter:read',
  query: Type.Object(pageQuery),
  row: Agent,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant }) => {
    const rows = await app.db.query(listAgents, tenant)
    return pageOfWhole({ limit: 50, ...query }, rows.map(agentRecord), ({ agent_id }) => agent_id)
  },
})

const change = write({
  method: 'PATCH',
  path: '/v1/voice/agent/:agent_id',
  operation: 'callcenter.changeAgent',
  summary: 'Update an agent',
  scope: 'callcenter:write',
  params: AgentParam,
  needs: anAgent,
  body: AgentChange,
  reply: { status: 200, schema: Agent },
  errors: ['NOT_FOUND', 'INVALID_PHONE', 'UNSUPPORTED_LANGUAGE'],
  prepare: async (_app, { body }) => requireEndpoint(body.endpoint),
  handle: async (app, tx, { params, body }, { tenant, nowMs }) => {
    await holdSwitchboard(tx, tenant)
    const row = await agentRow(tx, tenant, params.agent_id)
    const changed = await one(
      tx.query(keepAgent, {
        ...tenant,
        agent: row.agent_id,
        name: body.name ?? row.name,
        email: body.email ?? row.email,
        skills: JSON.stringify(body.skills ?? row.skills),
        queues: body.queues ? await queueUuids(tx, tenant, body.queues) : row.queues,
        endpoint: JSON.stringify(body.endpoint ?? row.endpoint),
        languages: body.languages ?? row.languages,
        max_calls: body.max_calls ?? row.max_calls,
        external_ref: body.external_ref ?? row.external_ref,
        at: new Date(nowMs),
      }),
    )
    await tickLater(app, tx, tenant, 0)
    return agentRecord(changed)
  },
})

export const agentRoutes: readonly Route[] = [loginRoute, statusRoute, logoutRoute, context, listOwn, change]
