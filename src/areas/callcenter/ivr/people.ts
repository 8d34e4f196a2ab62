// SPDX-License-Identifier: Apache-2.0
// Agents as menus find them by name.
import type { Queryable } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { namedAgents } from '../agents/store.ts'
import type { Person } from './directory.ts'
import type { IvrDocument } from './ivr.ts'

/** None where no menu asks for the name of an agent. */
export async function agentsFor(
  queryable: Queryable,
  tenant: Tenant,
  ivrs: readonly IvrDocument[],
): Promise<readonly Person[]> {
  const isAsked = ivrs.some(({ menus }) =>
    Object.values(menus).some(({ directory }) => directory && directory.agents !== false),
  )
  const agents = isAsked ? await queryable.query(namedAgents, tenant) : []
  return agents.map(({ agent_id, name }) => ({ name, action: { type: 'agent', id: agent_id } }))
}
