// SPDX-License-Identifier: Apache-2.0
// The installation at a glance: nodes, queues, versions.
import { Type } from 'typebox'
import { idOf } from '../../kernel/ids.ts'
import { liveNodes } from '../../platform/nodes/nodes.ts'
import { type Route, read } from '../../platform/route.ts'
import { At } from '../../platform/schema.ts'
import { queues } from '../../platform/work/queues.ts'

const System = Type.Object(
  {
    version: Type.String(),
    nodes: Type.Array(
      Type.Object({
        id: Type.String(),
        host: Type.String(),
        version: Type.String(),
        roles: Type.Array(Type.String()),
        started_at: At(),
        seen_at: At(),
      }),
    ),
    queues: Type.Array(
      Type.Object({
        lane: Type.String(),
        due: Type.Integer({ description: 'Jobs that could run now' }),
        running: Type.Integer({ description: 'Jobs leased to a node' }),
        scheduled: Type.Integer({ description: 'Jobs for later' }),
        failed: Type.Integer({ description: 'Jobs that used up their attempts and wait for a person' }),
        oldest_seconds: Type.Number({ description: 'How long the oldest due job has waited' }),
      }),
    ),
  },
  { title: 'System' },
)

const getSystem = read({
  method: 'GET',
  path: '/v1/operator/system',
  operation: 'operator.system',
  summary: 'See the nodes, queues and version of this installation',
  scope: 'operator',
  reply: { status: 200, schema: System },
  examples: [{ name: 'At a glance' }],
  handle: async ({ db, version }) => {
    const [nodes, lanes] = await Promise.all([liveNodes(db), queues(db)])
    return { version, nodes: nodes.map(({ id, ...node }) => ({ id: idOf('node', id), ...node })), queues: lanes }
  },
})

export const systemRoutes: readonly Route[] = [getSystem]
