// SPDX-License-Identifier: Apache-2.0
// Colleagues and queues that an agent can hand a call to, as they are now.
import { idOf } from '../../../kernel/ids.ts'
import type { Queryable } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { liveOf } from '../queues/live.ts'
import { readScene } from '../routing/surroundings.ts'

const maxShown = 200

/** Free colleagues first, then by name; queues that take calls. */
export async function colleaguesOf(queryable: Queryable, tenant: Tenant, own: string, nowMs: number) {
  const scene = await readScene(queryable, tenant)
  const agents = scene.agents
    .filter(({ agent_id, session_id }) => agent_id !== own && session_id !== null)
    .map(({ agent_id, name, status, since, skills }) => ({ agent_id, name: name ?? agent_id, status, since, skills }))
    .sort((a, b) => Number(b.status === 'available') - Number(a.status === 'available') || a.name.localeCompare(b.name))
  const queues = scene.queues
    .filter(({ status }) => status === 'open')
    .map((queue) => {
      const { waiting, agents: counts } = liveOf(queue, scene, nowMs, null)
      return {
        queue_id: idOf('queue', queue.id),
        name: queue.name,
        waiting: waiting.length,
        agents_available: counts.available,
      }
    })
  return { agents: agents.slice(0, maxShown), queues: queues.slice(0, maxShown) }
}
